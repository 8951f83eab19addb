"""The approval page: what it shows, and the steps that a human makes on it."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import parse_qs, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from adclient._show import diffs
from adclient._values.text import NOTE, WHOLE, short
from adclient.testing._fake.approval import ApprovalRefused, DraftStatus, FakeDraft, is_armed_by
from adclient.testing._fake.service import FakeAdService
from adclient.testing.server.service import host_of

_STEPS = ("arm", "disarm", "confirm", "reject")  # the methods of the dashboard
_HEADERS = {
    # 'self' for frames: the playground of the documentation shows the page in one.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_MOST = 50
"""How many drafts and events a list has, and how many lines the change of a draft."""
_STATES: dict[DraftStatus, str] = {
    "pending_approval": "waits for approval",
    "armed": "is armed: confirm it within ten minutes",
    "applied": "is applied",
    "rejected": "is rejected",
    "stale": "is stale: the live data has changed since it was staged, or nobody approved it "
    "within 48 hours",
}


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
        self._environment.filters |= {
            "countdown": _countdown,
            "duration": _duration,
            "moment": _moment,
            "printable": partial(short, limit=NOTE),
            "title": _title,
        }

    async def show(self, request: Request) -> Response:
        """All open drafts, or the one that the path names; with a message after a step."""
        draft = self._find(request.query_params.get("draft", ""))
        message = f"{draft.draft_id} {_state(draft)}." if draft else ""
        return self._page(request, request.query_params.get("reviewer", ""), message)

    async def step(self, request: Request) -> Response:
        """Make a step in the name of a reviewer, and show the same page again."""
        form = parse_qs((await request.body()).decode(errors="replace"))
        reviewer = form.get("reviewer", [""])[0].strip()
        name = next((name for name in _STEPS if name in form), None)
        if name is None:
            return PlainTextResponse(f"a step is one of: {', '.join(_STEPS)}", status_code=400)
        try:
            draft = getattr(self._fake.dashboard, name)(form[name][0], reviewer=reviewer)
        except ApprovalRefused as refusal:
            return self._page(request, reviewer, f"Refused: {refusal}.", status=409)
        query = urlencode({"reviewer": reviewer, "draft": draft.draft_id})
        return RedirectResponse(f"?{query}", status_code=303)

    def _page(
        self, request: Request, reviewer: str, message: str, *, status: int = 200
    ) -> Response:
        dashboard = self._fake.dashboard
        drafts, events, alone = dashboard.pending(_MOST), dashboard.events[::-1], None
        if "draft_id" in request.path_params:
            alone = self._find(request.path_params["draft_id"])
            if alone is None:
                return PlainTextResponse("there is no such draft", status_code=404)
            drafts = (alone,)
            events = tuple(event for event in events if event.draft_id == alone.draft_id)
        prefix = urlsplit(self._fake.base_url).path.rstrip("/")
        content = self._environment.get_template("approval.html").render(
            root=request.scope.get("root_path", ""),
            base_url=f"{request.url.scheme}://{host_of(request.scope)}{prefix}",
            in_name=f"?{urlencode({'reviewer': reviewer})}" if reviewer else "",
            reviewer=reviewer,
            two_reviewers=dashboard.two_reviewers,
            message=message,
            now=self._fake.clock.now(),
            waiting=dashboard.waiting,
            alone=alone,
            state=_state(alone) if alone else "",
            drafts=[self._view(draft, reviewer, WHOLE if alone else _MOST) for draft in drafts],
            events=[(event, self._find(event.draft_id)) for event in events[:_MOST]],
            earlier=len(events) - _MOST,
        )
        return HTMLResponse(content, status_code=status, headers=_HEADERS)

    def _view(self, draft: FakeDraft, reviewer: str, most: int) -> dict[str, object]:
        """A draft for the template, with at most so many rows."""
        rows, notes = diffs.rows(draft.diff, most=WHOLE, currency=draft.currency)
        return {
            "draft": draft,
            "rows": rows[:most],
            "hidden": len(rows) - most,
            "notes": notes,
            "needs_another": self._fake.dashboard.two_reviewers and is_armed_by(draft, reviewer),
        }

    def _find(self, draft_id: str) -> FakeDraft | None:
        """A draft that is still stored."""
        with suppress(ApprovalRefused):
            return self._fake.dashboard.draft(draft_id)
        return None


def _state(draft: FakeDraft) -> str:
    reason = f" ({short(draft.reason, NOTE)})" if draft.reason else ""
    return f"{_STATES[draft.status]}{reason}"


def _title(draft: FakeDraft) -> str:
    title = draft.operation.partition(".")[2].replace("_", " ").replace("dco", "DCO")
    return title[0].upper() + title[1:]


def _duration(span: timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds() // 60), 60)
    if hours:
        return f"{hours}\xa0h {minutes}\xa0min"
    return f"{minutes}\xa0min" if minutes else "less than a minute"


def _countdown(span: timedelta) -> str:
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    return f"{minutes}:{seconds:02}"


def _moment(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
