"""The approval page: what it shows, and the steps that a human makes on it."""

import hashlib
import re
from contextlib import suppress
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from adclient._core import jsontext
from adclient.testing._approval.drafts import (
    AuditEvent,
    DraftStatus,
    EventKind,
    FakeDraft,
    is_armed_by,
)
from adclient.testing._approval.steps import ApprovalRefused
from adclient.testing._service import FakeAdService
from adclient.testing.server.diffs import Tree, pretty, tree_of, visible
from adclient.testing.server.middleware import host_of

_MAX_SHOWN = 50
_MAX_PARTS = 4 * _MAX_SHOWN
_STATES: dict[DraftStatus, str] = {
    "pending_approval": "waits for approval",
    "armed": "is armed: confirm it within ten minutes",
    "applied": "is applied",
    "rejected": "is rejected",
    "stale": "is stale: the live data has changed since it was staged",
    "apply_failed": "could not be applied: its name is taken, or budgets or dates do not fit",
    "rolled_back": "was applied, and is rolled back",
}
_KINDS: dict[EventKind, str] = {"stale": "closed as stale", "apply_failed": "failed to apply"}
_ARMED_BY_ONE_OF_TWO = "is armed: another person must confirm it within ten minutes"
_EXPIRED = "is stale: nobody approved it within 48 hours"
_NEEDS_WHOLE = ("arm", "confirm")
_ACRONYMS = {"dco": "DCO"}
_BREAKS = re.compile(r"(?<=[._/&?=])(?=[^\W\d])")


class ApprovalPage:
    """The pages of one fake service; the templates escape every text on them."""

    def __init__(self, fake: FakeAdService) -> None:
        self._fake = fake
        self._environment = Environment(
            loader=PackageLoader("adclient.testing.server"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["breakable"] = _breakable
        self._steps = {
            "arm": fake.dashboard.arm,
            "disarm": fake.dashboard.disarm,
            "confirm": fake.dashboard.confirm,
            "reject": fake.dashboard.reject,
        }
        self._parts: dict[str, tuple[Tree, str]] = {}

    async def show(self, request: Request) -> Response:
        """All open drafts, with a message after a step."""
        query, message = request.query_params, ""
        if "draft" in query:
            with suppress(ApprovalRefused):
                message = self._message(self._fake.dashboard.draft(query["draft"]))
        return self._list(request, query.get("reviewer", ""), message, query.get("skip", ""))

    async def show_draft(self, request: Request) -> Response:
        """One draft, open or not; all of its change, unless the query has `part`."""
        query, message = request.query_params, ""
        try:
            draft = self._fake.dashboard.draft(request.path_params["draft_id"])
        except ApprovalRefused as refusal:
            return PlainTextResponse(str(refusal), status_code=404)
        if "stepped" in query:
            message = self._message(draft)
        reviewer, whole = query.get("reviewer", ""), "part" not in query
        return self._draft(request, draft, reviewer, message, whole=whole)

    async def show_json(self, request: Request) -> Response:
        """The whole diff of a draft, as JSON."""
        try:
            draft = self._fake.dashboard.draft(request.path_params["draft_id"])
        except ApprovalRefused as refusal:
            return PlainTextResponse(str(refusal), status_code=404)
        return self._render(
            "json.html",
            request,
            reviewer=request.query_params.get("reviewer", ""),
            draft=draft,
            json=pretty(draft.diff.to_dict()),
        )

    async def step(self, request: Request) -> Response:
        """Make a step in the name of a reviewer."""
        form = parse_qs((await request.body()).decode(errors="replace"))
        reviewer, name, skip, alone = (
            form.get(key, [""])[0] for key in ("reviewer", "step", "skip", "alone")
        )
        draft_id: str = request.path_params["draft_id"]
        if name not in self._steps:
            return PlainTextResponse(f"a step is one of: {', '.join(self._steps)}", status_code=400)
        try:
            draft = self._fake.dashboard.draft(draft_id)
        except ApprovalRefused as refusal:
            return self._list(request, reviewer, f"Refused: {refusal}.", skip, status=409)
        try:
            if name in _NEEDS_WHOLE and request.query_params.get("shown") != self._part(draft)[1]:
                raise ApprovalRefused(f"display the whole change of {draft_id} first")
            self._steps[name](draft_id, reviewer=reviewer.strip())
        except ApprovalRefused as refusal:
            message = f"Refused: {refusal}."
            if alone:
                return self._draft(request, draft, reviewer, message, whole=True, status=409)
            return self._list(request, reviewer, message, skip, status=409)
        query, page = {"reviewer": reviewer.strip()}, f"{_root(request)}/approval"
        if alone:
            url = f"{page}/drafts/{draft_id}?{urlencode({**query, 'stepped': 1})}"
        else:
            url = f"{page}?{urlencode({**query, 'draft': draft_id, 'skip': _number(skip)})}"
        return RedirectResponse(url, status_code=303)

    def _list(
        self, request: Request, reviewer: str, message: str, skip: str, *, status: int = 200
    ) -> Response:
        dashboard = self._fake.dashboard
        events, waiting = dashboard.events, dashboard.waiting
        first = min(_number(skip), max(0, waiting - 1)) // _MAX_SHOWN * _MAX_SHOWN
        drafts = dashboard.pending(first + _MAX_SHOWN)[first:]
        prefix = urlsplit(self._fake.base_url).path.rstrip("/")
        return self._render(
            "approval.html",
            request,
            status,
            reviewer=reviewer,
            message=message,
            waiting=waiting,
            skip=first,
            step=_MAX_SHOWN,
            drafts=[self._view(draft, self._part(draft)[0], reviewer) for draft in drafts],
            events=[self._entry(event) for event in events[: -_MAX_SHOWN - 1 : -1]],
            earlier=max(0, len(events) - _MAX_SHOWN),
            base_url=f"{request.url.scheme}://{host_of(request.scope)}{prefix}",
        )

    def _draft(
        self,
        request: Request,
        draft: FakeDraft,
        reviewer: str,
        message: str,
        *,
        whole: bool,
        status: int = 200,
    ) -> Response:
        tree = tree_of(draft.diff, draft.currency, whole=True) if whole else self._part(draft)[0]
        mine = [e for e in self._fake.dashboard.events if e.draft_id == draft.draft_id]
        return self._render(
            "draft.html",
            request,
            status,
            reviewer=reviewer,
            message=message,
            draft=self._view(draft, tree, reviewer),
            state=self._state(draft),
            events=[self._entry(event) for event in reversed(mine)],
        )

    def _render(
        self,
        template: str,
        request: Request,
        status: int = 200,
        *,
        reviewer: str,
        **values: object,
    ) -> HTMLResponse:
        content = self._environment.get_template(template).render(
            root=_root(request),
            reviewer=reviewer,
            in_name=f"?{urlencode({'reviewer': reviewer})}" if reviewer else "",
            now=_date_and_time(self._fake.clock.now()),
            two_reviewers=self._fake.dashboard.two_reviewers,
            **values,
        )
        return HTMLResponse(content, status_code=status)

    def _message(self, draft: FakeDraft) -> str:
        return f"{draft.draft_id} {self._state(draft)}."

    def _state(self, draft: FakeDraft) -> str:
        if draft.status == "armed" and self._fake.dashboard.two_reviewers:
            return _ARMED_BY_ONE_OF_TWO
        ends = (e.at for e in self._fake.dashboard.events if e.draft_id == draft.draft_id)
        is_expired = draft.status == "stale" and draft.expires_at in ends
        return _EXPIRED if is_expired else _STATES[draft.status]

    def _part(self, draft: FakeDraft) -> tuple[Tree, str]:
        """A change as a list shows it, and its fingerprint; cached, as lists poll every second."""
        if draft.draft_id not in self._parts:
            if len(self._parts) >= _MAX_PARTS:
                del self._parts[next(iter(self._parts))]
            tree = tree_of(draft.diff, draft.currency)
            self._parts[draft.draft_id] = tree, fingerprint_of(draft)
        return self._parts[draft.draft_id]

    def _view(self, draft: FakeDraft, tree: Tree, reviewer: str) -> dict[str, object]:
        """The values of a draft for the templates."""
        now, until = self._fake.clock.now(), draft.armed_until
        return {
            "draft_id": draft.draft_id,
            "status": draft.status.replace("_", " "),
            "is_open": draft.is_open,
            "platform": draft.operation.partition(".")[0],
            "title": _title(draft),
            "account": (draft.account_name, f"{draft.account_id}, {draft.currency}"),
            "target": _target(draft),
            "tree": tree,
            "fingerprint": self._part(draft)[1],
            "age": _duration(now - draft.created_at),
            "expires": _duration(draft.expires_at - now),
            "armed_by": draft.reviewer if until else None,
            "left": _minutes_and_seconds(until - now) if until else None,
            "needs_another": self._fake.dashboard.two_reviewers and is_armed_by(draft, reviewer),
        }

    def _entry(self, event: AuditEvent) -> dict[str, object]:
        """The values of an entry of the audit trail for the templates."""
        try:
            draft = self._fake.dashboard.draft(event.draft_id)
        except ApprovalRefused:  # it is no longer stored
            draft = None
        return {
            "at": _date_and_time(event.at),
            "actor": event.actor,
            "kind": _KINDS.get(event.kind, event.kind.replace("_", " ")),
            "draft_id": event.draft_id,
            "title": draft and _title(draft),
            "target": draft and (_target(draft) or (draft.account_name, draft.account_id)),
        }


def _root(request: Request) -> str:
    """The path below which the application is mounted."""
    root: str = request.scope.get("root_path", "")
    return root


def _number(text: str) -> int:
    """The number of drafts to skip; 0 if the text is not a number."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _breakable(text: str) -> Markup:
    """A text that may be broken after what joins words, and not before a separator."""
    parts = _BREAKS.split(text.replace(" · ", "\xa0· "))
    return Markup("<wbr>").join(map(escape, parts))


def _title(draft: FakeDraft) -> str:
    words = draft.operation.partition(".")[2].split("_")
    title = " ".join(_ACRONYMS.get(word, word) for word in words)
    return f"Roll back: {title}" if draft.reverts is not None else title[0].upper() + title[1:]


def _target(draft: FakeDraft) -> tuple[str, str] | None:
    """The name and the id of what a draft would change."""
    if draft.target is None:
        return None
    return visible(draft.target_name or ""), draft.target


def _duration(span: timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds() // 60), 60)
    if hours:
        return f"{hours}\xa0h {minutes}\xa0min"
    return f"{minutes}\xa0min" if minutes else "less than a minute"


def _minutes_and_seconds(span: timedelta) -> str:
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    return f"{minutes}:{seconds:02}"


def _date_and_time(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def fingerprint_of(draft: FakeDraft) -> str:
    """A digest that identifies a change: a draft of another service may have the same id."""
    diff = draft.diff
    parts = [draft.account_id, draft.target, diff.field, diff.before, diff.after]
    return hashlib.sha256(jsontext.dumps(parts, "draft").encode()).hexdigest()
