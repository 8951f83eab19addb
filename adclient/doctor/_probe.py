"""One read that the doctor sends, and what came of it."""

from functools import cached_property
from typing import NamedTuple

import attrs

from adclient._core.decode import end_of
from adclient._core.response import problem_of
from adclient._values.jsontext import JSONError, dumps, loads
from adclient._values.redact import one_line
from adclient.conventions import Conventions, EndOfListing
from adclient.extend import Call, Failure, Operation, Outcome, RawResponse, validated
from adclient.models import JSON

Read = Operation

# Client errors that are temporary, not caused by the request.
PASSING = frozenset({408, 425, 429, *range(500, 600)})


def _check_read(_: object, __: object, operation: Read) -> None:
    if operation.is_write:
        raise ValueError(f"{operation.full_name} is a write, which the doctor never sends")


@attrs.frozen(kw_only=True, repr=False)
class Probe:
    """One read under certain conventions, and what it is to show.

    If it is not needed, no problem follows from its failure.
    """

    purpose: str
    operation: Read = attrs.field(validator=_check_read)
    account_id: str
    conventions: Conventions = attrs.field(factory=Conventions)
    targeting: JSON = None
    cursor: JSON = None
    has_credentials: bool = True
    is_needed: bool = True

    def call(self) -> Call:
        """The call that this probe sends; an error if it cannot be sent."""
        if self.conventions.continuation is not None and self.cursor is not None:
            self.conventions.continuation(self.cursor)
        arguments: dict[str, object] = {
            parameter.name: None for parameter in self.operation.parameters
        }
        arguments["account_id"] = self.account_id
        if self.targeting is not None:
            arguments["targeting"] = self.targeting
        return validated(self.operation, arguments, self.cursor)

    def __str__(self) -> str:
        return f"GET {self.operation.path}: {self.purpose}"


class PageView(NamedTuple):
    """A page as far as it has the documented outline, whatever its items are.

    `end` is how it says that it is the last; `next` is then None. `page` and `extra` are what is
    besides `next`, and besides `data` and `page`.
    """

    items: list[JSON]
    ids: tuple[str, ...]
    next: JSON
    end: EndOfListing | None
    page: dict[str, JSON]
    extra: dict[str, JSON]


@attrs.frozen(kw_only=True, repr=False)
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

    @cached_property
    def body(self) -> JSON:
        """The body of a successful response; None if it is no JSON."""
        response = self.response
        try:
            return loads(response.body) if response is not None and response.is_success else None
        except JSONError:
            return None

    @cached_property
    def page(self) -> PageView | None:
        """The page in a successful response; None if it contains none."""
        body = self.body if isinstance(self.body, dict) else {}
        items, page = body.get("data", ""), body.get("page")
        items = [] if items is None else items
        if not isinstance(items, list) or not isinstance(page, dict):
            return None
        found = (item["id"] if isinstance(item, dict) and "id" in item else item for item in items)
        ids = tuple(dumps(each, "data", errors="backslashreplace") for each in found)
        rest = {name: value for name, value in page.items() if name != "next"}
        extra = {name: value for name, value in body.items() if name not in ("data", "page")}
        end = end_of(page)
        return PageView(items, ids, None if end else page["next"], end, rest, extra)

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
    def is_temporary(self) -> bool:
        """Whether the same request may succeed another time, so that nothing follows from it."""
        return self.response is None or self.response.status in PASSING

    @property
    def is_refused(self) -> bool:
        """Whether the service refused the request, and would refuse it again."""
        response = self.response
        return response is not None and 400 <= response.status < 500 and not self.is_temporary

    def __str__(self) -> str:
        """What came of the probe, in a few words."""
        response, page = self.response, self.page
        if response is None:
            return one_line(str(self.outcome), 100)
        if page is not None:
            more = "" if page.end is None else ", the last page"
            return f"{response.status}, {len(page.items)} items{more}"
        if response.is_success:
            return f"{response.status}, not the documented shape: {self.outline}"
        return one_line(f"{response.status} {problem_of(response).message or ''}", 100)

    @property
    def outline(self) -> str:
        """The names in the JSON of a body, without what they stand for."""
        response = self.response
        try:
            body = None if response is None else loads(response.body)
        except JSONError:
            return "(no JSON)" if response is not None and response.body else "(empty)"
        return one_line(_outline(body, 3), 100)


def _outline(value: JSON, depth: int) -> str:
    if isinstance(value, dict) and depth:
        inner = {name: _outline(child, depth - 1) for name, child in value.items()}
        return f"{{{', '.join(name + (text and ' ' + text) for name, text in inner.items())}}}"
    if isinstance(value, list):
        return f"[{_outline(value[0], depth)}]" if value else "[]"
    return "" if depth < 3 else type(value).__name__
