"""The approval page: what it shows, and the steps that a human makes on it."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from adclient.testing._approval.dashboard import ApprovalRefused
from adclient.testing._approval.drafts import DraftStatus, FakeDraft
from adclient.testing._service import FakeAdService
from adclient.testing.server.diffs import exact, lines_of, visible

_MAX_SHOWN = 50
_MESSAGES: dict[DraftStatus, str] = {
    "pending_approval": "waits for approval",
    "armed": "is armed: confirm it within ten minutes",
    "applied": "is applied",
    "rejected": "is rejected",
    "stale": "is stale: the live data has changed since it was staged",
    "apply_failed": "could not be applied: that name is already taken",
    "rolled_back": "was applied, and is rolled back",
}


class ApprovalPage:
    """The page of one fake service; the template escapes every text on it."""

    def __init__(self, fake: FakeAdService) -> None:
        self._fake = fake
        environment = Environment(
            loader=PackageLoader("adclient.testing.server"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
        )
        self._template = environment.get_template("approval.html")
        self._steps = {
            "arm": fake.dashboard.arm,
            "confirm": fake.dashboard.confirm,
            "reject": fake.dashboard.reject,
        }

    async def show(self, request: Request) -> Response:
        """The page, with a message after a step."""
        query, message = request.query_params, ""
        if "draft" in query:
            try:
                draft = self._fake.dashboard.draft(query["draft"])
                message = f"{draft.draft_id} {_MESSAGES[draft.status]}."
            except ApprovalRefused:
                pass
        return self._page(query.get("reviewer", ""), message, _number(query.get("skip", "")))

    async def show_draft(self, request: Request) -> Response:
        """The whole diff of a draft, as JSON."""
        try:
            draft = self._fake.dashboard.draft(request.path_params["draft_id"])
        except ApprovalRefused as refusal:
            return PlainTextResponse(str(refusal), status_code=404)
        return Response(exact(draft.diff.to_dict()), media_type="application/json")

    async def step(self, request: Request) -> Response:
        """Make a step in the name of a reviewer."""
        form = parse_qs((await request.body()).decode(errors="replace"))
        reviewer, name, skip = (form.get(key, [""])[0] for key in ("reviewer", "step", "skip"))
        draft_id: str = request.path_params["draft_id"]
        if name not in self._steps:
            return PlainTextResponse("a step is arm, confirm or reject", status_code=400)
        try:
            self._steps[name](draft_id, reviewer=reviewer.strip())
        except ApprovalRefused as refusal:
            return self._page(reviewer, f"Refused: {refusal}.", _number(skip), status=409)
        query = urlencode({"reviewer": reviewer.strip(), "draft": draft_id, "skip": _number(skip)})
        return RedirectResponse(f"/approval?{query}", status_code=303)

    def _page(self, reviewer: str, message: str, skip: int, *, status: int = 200) -> HTMLResponse:
        now, dashboard = self._fake.clock.now(), self._fake.dashboard
        events, waiting = dashboard.events, dashboard.waiting
        skip = min(skip, max(0, waiting - 1)) // _MAX_SHOWN * _MAX_SHOWN
        drafts = dashboard.pending(skip + _MAX_SHOWN)[skip:]
        content = self._template.render(
            reviewer=reviewer,
            message=message,
            now=_date_and_time(now),
            waiting=waiting,
            skip=skip,
            step=_MAX_SHOWN,
            drafts=[_view_of(draft, now) for draft in drafts],
            events=events[: -_MAX_SHOWN - 1 : -1],
            earlier=max(0, len(events) - _MAX_SHOWN),
            date_and_time=_date_and_time,
        )
        return HTMLResponse(content, status_code=status)


def _number(text: str) -> int:
    """How many drafts to skip; 0 if the text is not a number."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _view_of(draft: FakeDraft, now: datetime) -> dict[str, object]:
    """What the template shows of a draft."""
    platform, _, operation = draft.operation.partition(".")
    if draft.reverts is not None:
        operation = f"roll back {operation}"
    return {
        "draft_id": draft.draft_id,
        "platform": platform,
        "title": operation.replace("_", " ").capitalize(),
        "account": _label(draft.account_name, f"{draft.account_id}, {draft.currency}"),
        "target": None if draft.target is None else _label(draft.target_name, draft.target),
        "lines": lines_of(draft.diff),
        "age": _duration(now - draft.created_at),
        "expires": _duration(draft.expires_at - now),
        "armed_by": draft.reviewer if draft.status == "armed" else None,
    }


def _label(name: str | None, id: str) -> str:
    return id if name is None else f"{visible(name)} ({id})"


def _duration(span: timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds() // 60), 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else "less than a minute"


def _date_and_time(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
