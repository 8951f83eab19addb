"""One request of a survey, what came of it, and the one view of a page."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import attrs

from adclient._core.decode import end_of
from adclient._core.response import problem_of
from adclient._values.jsontext import JSONError, dumps, loads
from adclient._values.redact import one_line
from adclient.conventions import Conventions, EndOfListing
from adclient.extend import Call, Failure, Operation, Outcome, RawResponse
from adclient.models import JSON

Effect = Literal[
    "continues", "no items", "same items", "overlap", "does not move on", "refused", "no evidence"
]
# Client errors that are temporary, not caused by the request.
PASSING = frozenset({408, 425, 429, *range(500, 600)})


@attrs.frozen(kw_only=True, repr=False)
class Probe:
    """A request with any arguments, and what it is to show.

    It is sent under `conventions`, or `as_client` under those of the client. If it is not needed,
    no problem follows from its failure; if it is not retried, an error of the
    service is an answer.
    """

    purpose: str = ""
    operation: Operation
    arguments: Mapping[str, JSON]
    cursor: JSON = None
    conventions: Conventions = attrs.field(factory=Conventions)
    as_client: bool = False
    path: str | None = None
    has_credentials: bool = True
    is_needed: bool = True
    is_retried: bool = True

    @property
    def account_id(self) -> str:
        """The account that it names."""
        return str(self.arguments.get("account_id", ""))

    def call(self) -> Call:
        """The call that this probe makes; an error if it cannot be made."""
        if self.conventions.continuation is not None and self.cursor is not None:
            self.conventions.continuation(self.cursor)
        encoded = {name: dumps(value, name) for name, value in self.arguments.items()}
        dumps(self.cursor, "page.next")
        return Call(self.operation, self.account_id, None, self.arguments, encoded, self.cursor)

    def __str__(self) -> str:
        return f"GET {self.operation.path}: {self.purpose}"


class PageView(NamedTuple):
    """A page as far as it has the documented outline, whatever its items are.

    `end` is how it says that it is the last; `next` is then None. `extra` is what is besides `data`
    and `next`; `rows` are the items as texts.
    """

    items: list[JSON]
    ids: tuple[str, ...]
    rows: tuple[str, ...]
    next: JSON
    end: EndOfListing | None
    extra: dict[str, JSON]

    def keys(self, *, by_row: bool) -> tuple[str, ...]:
        """What tells its items apart."""
        return self.rows if by_row else self.ids


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Observation:
    """A probe, and its response or failure."""

    probe: Probe
    outcome: Outcome

    @property
    def response(self) -> RawResponse | None:
        """The whole response; None if it failed or broke off."""
        outcome = self.outcome
        if isinstance(outcome, Failure) or outcome.broken is not None:
            return None
        return None if outcome.defect is not None else outcome

    @property
    def status(self) -> int | None:
        """The status of a whole response."""
        return None if self.response is None else self.response.status

    @cached_property
    def body(self) -> JSON:
        """The JSON in the body; None if it is no JSON."""
        try:
            return None if self.response is None else loads(self.response.body)
        except JSONError:
            return None

    @property
    def fields(self) -> dict[str, JSON]:
        """The members of the JSON object in the body; none if it is something else."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def items(self) -> list[JSON] | None:
        """The items of a collection; None if there is no array of them."""
        items = self.fields.get("data")
        return items if isinstance(items, list) else None

    @cached_property
    def page(self) -> PageView | None:
        """The page in a successful response; None if it contains none."""
        page, data = self.fields.get("page"), self.fields.get("data", False)
        if not self.is_success or not isinstance(page, dict) or not isinstance(data, list | None):
            return None
        items, end = data or [], end_of(page)
        found = (item["id"] if isinstance(item, dict) and "id" in item else item for item in items)
        besides = {name: value for name, value in page.items() if name != "next"}
        extra = {name: value for name, value in self.fields.items() if name != "data"}
        return PageView(
            items=items,
            ids=texts(found),
            rows=texts(items),
            next=None if end else page["next"],
            end=end,
            extra={**extra, "page": besides},
        )

    @property
    def ids(self) -> tuple[str, ...] | None:
        """What tells its items apart; None if there is no page."""
        return None if self.page is None else self.page.ids

    @property
    def view(self) -> PageView:
        """The page, where it is known that there is one."""
        assert self.page is not None
        return self.page

    @property
    def is_sent(self) -> bool:
        """Whether there was a request: not if a client could not make one."""
        return not (isinstance(self.outcome, Failure) and self.outcome.is_permanent)

    @property
    def is_success(self) -> bool:
        """Whether there is a whole response with a status of success."""
        return self.response is not None and self.response.is_success

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed another time, so that nothing follows from it."""
        return self.response is None or self.response.status in PASSING

    @property
    def is_refused(self) -> bool:
        """Whether the service refused the request, and would refuse it again."""
        response = self.response
        return response is not None and 400 <= response.status < 500 and not self.is_temporary

    def effect(self, *known: "Observation", by_row: bool = False) -> Effect:
        """What a request that varies one thing brought, in comparison with known pages.

        Items are told apart by their ids, or by all of their fields (`by_row`).
        """
        if self.page is None:
            return "refused" if self.is_refused or self.is_success else "no evidence"
        ours, *others = (each.view.keys(by_row=by_row) for each in (self, *known))
        if ours and ours == others[0]:
            return "same items"
        if any(set(ours) & set(each) for each in others):
            return "overlap"
        return "continues" if ours else "no items"

    @property
    def text(self) -> str:
        """The status and the message of a response, or why there is none."""
        response = self.response
        if response is None:
            defect = getattr(self.outcome, "defect", None)
            more = f", with a body that cannot be used: {defect}" if defect else ""
            return f"{self.outcome}{more}"
        if 300 <= response.status < 400:
            # The query, the fragment and the user may be credentials of the service.
            location = re.split("[?#]", response.headers.get("location", "nowhere"))[0]
            return f"{response.status} to {re.sub('//[^/]*@', '//', location)}"
        message = None if response.is_success else problem_of(response).message
        return f"{response.status} {message or ''}".strip()

    def __str__(self) -> str:
        """What came of the probe, in a few words."""
        page = self.page
        if page is not None:
            more = "" if page.end is None else ", the last page"
            return f"{self.status}, {len(page.items)} items{more}"
        if self.is_success:
            return f"{self.status}, not the documented shape: {self.outline}"
        return one_line(self.text, 100)

    @property
    def outline(self) -> str:
        """The names in the JSON of a body, without what they stand for."""
        is_json = self.body is not None or (self.response and self.response.body == b"null")
        return one_line(_outline(self.body, 3), 100) if is_json else "(no JSON)"


def texts(values: Iterable[JSON]) -> tuple[str, ...]:
    """Values as JSON, to compare them."""
    return tuple(dumps(each, "data", errors="backslashreplace") for each in values)


def _outline(value: JSON, depth: int) -> str:
    if isinstance(value, dict) and depth:
        inner = {name: _outline(child, depth - 1) for name, child in value.items()}
        return f"{{{', '.join(name + (text and ' ' + text) for name, text in inner.items())}}}"
    if isinstance(value, list):
        return f"[{_outline(value[0], depth)}]" if value else "[]"
    return "" if depth < 3 else type(value).__name__
