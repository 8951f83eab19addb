"""The approval page: what it shows, and the steps that a human makes on it."""

from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from adclient.testing._approval.dashboard import ApprovalRefused
from adclient.testing._approval.drafts import DraftStatus
from adclient.testing._service import FakeAdService
from adclient.testing.server.cards import card_of, days_and_time
from adclient.testing.server.diffs import exact

_MOST = 50
_SAID: dict[DraftStatus, str] = {
    "pending_approval": "waits for approval",
    "armed": "is armed: confirm it within ten minutes",
    "applied": "is applied",
    "rejected": "is rejected",
    "stale": "is stale: what it would change is no longer as it was",
    "apply_failed": "could not be applied: that name is already taken",
    "rolled_back": "was applied, and is rolled back",
}


class ApprovalPage:
    """The page of one fake service; every text on it is escaped by the template."""

    def __init__(self, fake: FakeAdService) -> None:
        self._fake = fake
        templates = PackageLoader("adclient.testing.server")
        environment = Environment(
            loader=templates, autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._template = environment.get_template("approval.html")
        dashboard = fake.dashboard
        self._steps = {
            "arm": dashboard.arm,
            "confirm": dashboard.confirm,
            "reject": dashboard.reject,
        }

    async def show(self, request: Request) -> Response:
        """The page; after a step it says what came of it."""
        query = request.query_params
        said = self._said_of(query.get("draft"))
        return self._page(query.get("reviewer", ""), said, skip=_number(query.get("skip", "")))

    async def whole(self, request: Request) -> Response:
        """The whole diff of a draft, as JSON."""
        try:
            draft = self._fake.dashboard.draft(request.path_params["draft_id"])
        except ApprovalRefused as refusal:
            return PlainTextResponse(str(refusal), status_code=404)
        return Response(exact(draft.diff.to_dict()), media_type="application/json")

    async def step(self, request: Request) -> Response:
        """Make a step in the name of a reviewer."""
        form = parse_qs((await request.body()).decode(errors="replace"))
        reviewer, wanted, skip = (form.get(name, [""])[0] for name in ("reviewer", "step", "skip"))
        draft_id: str = request.path_params["draft_id"]
        step = self._steps.get(wanted)
        if step is None:
            return PlainTextResponse("a step is arm, confirm or reject", status_code=400)
        try:
            step(draft_id, reviewer=reviewer.strip())
        except ApprovalRefused as refusal:
            said = f"Refused: {refusal}."
            return self._page(reviewer, said, skip=_number(skip), status=409)
        query = urlencode({"reviewer": reviewer.strip(), "draft": draft_id, "skip": _number(skip)})
        return RedirectResponse(f"/approval?{query}", status_code=303)

    def _said_of(self, draft_id: str | None) -> str:
        if draft_id is None:
            return ""
        try:
            draft = self._fake.dashboard.draft(draft_id)
        except ApprovalRefused:
            return ""
        return f"{draft_id} {_SAID[draft.status]}."

    def _page(
        self, reviewer: str, message: str, *, skip: int = 0, status: int = 200
    ) -> HTMLResponse:
        now, dashboard = self._fake.clock.now(), self._fake.dashboard
        events, waiting = dashboard.events, dashboard.waiting
        skip = min(skip, max(0, waiting - 1)) // _MOST * _MOST
        content = self._template.render(
            reviewer=reviewer,
            message=message,
            now=days_and_time(now),
            waiting=waiting,
            skip=skip,
            step=_MOST,
            cards=[card_of(draft, now) for draft in dashboard.pending(skip + _MOST)[skip:]],
            events=events[: -_MOST - 1 : -1],
            earlier=max(0, len(events) - _MOST),
            days_and_time=days_and_time,
        )
        return HTMLResponse(content, status_code=status)


def _number(text: str) -> int:
    """How many drafts are passed over; 0 for what is no number of them."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0
