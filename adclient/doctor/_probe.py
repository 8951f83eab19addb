"""One read that the doctor sends, and what came of it."""

from functools import cached_property
from typing import NamedTuple

import attrs

from adclient._core.call import Call, validated
from adclient._core.decode import result_of
from adclient._core.jsontext import JSONError, dumps, loads
from adclient._core.operations import OPERATIONS, Operation
from adclient._core.redact import one_line
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.conventions import Conventions
from adclient.models import JSON, ResponseInfo, Result

Read = Operation[Result]

READS: tuple[Read, ...] = tuple(operation for operation in OPERATIONS if not operation.is_write)
READ = {operation.full_name: operation for operation in READS}

# Client errors that are temporary, not caused by the request.
_PASSING = (408, 425, 429)


def _check_read(_: object, __: object, operation: Read) -> None:
    if operation.is_write:
        raise ValueError(f"{operation.full_name} is a write, which the doctor never sends")


@attrs.frozen(kw_only=True, repr=False)
class Probe:
    """One read under certain conventions, and what it is to show."""

    purpose: str
    operation: Read = attrs.field(validator=_check_read)
    account_id: str
    conventions: Conventions = attrs.field(factory=Conventions)
    targeting: JSON = None
    cursor: JSON = None
    has_credentials: bool = True

    def call(self) -> Call[Result]:
        """The call that this probe sends."""
        arguments: dict[str, object] = {
            parameter.name: None for parameter in self.operation.parameters
        }
        arguments["account_id"] = self.account_id
        if self.targeting is not None:
            arguments["targeting"] = self.targeting
        return validated(self.operation, arguments, self.cursor)


class PageView(NamedTuple):
    """A page as far as it has the documented outline, whatever its items are."""

    items: list[JSON]
    ids: frozenset[str]
    next: JSON
    extra: dict[str, JSON]


@attrs.frozen(kw_only=True, repr=False)
class Observation:
    """A probe, and its response or failure."""

    probe: Probe
    outcome: Outcome
    seconds: float = 0.0

    @property
    def response(self) -> RawResponse | None:
        """The whole response; None if it failed or broke off."""
        outcome = self.outcome
        if isinstance(outcome, Failure) or outcome.broken is not None:
            return None
        return None if outcome.defect is not None else outcome

    @cached_property
    def page(self) -> PageView | None:
        """The page in a successful response; None if it contains none."""
        response = self.response
        if response is None or not response.is_success:
            return None
        try:
            body = loads(response.body)
            if not isinstance(body, dict):
                return None
            items, page = body.get("data"), body.get("page")
            if not isinstance(items, list) or not isinstance(page, dict):
                return None
            found = (
                item["id"] if isinstance(item, dict) and "id" in item else item for item in items
            )
            ids = frozenset(dumps(each, "data", errors="backslashreplace") for each in found)
        except JSONError:  # no JSON, or nested too deeply
            return None
        return PageView(items, ids, page.get("next"), page)

    @cached_property
    def mismatch(self) -> str | None:
        """How a response differs from the documented shape; None if it does not."""
        if self.page is None or self.response is None:
            return str(self)
        try:
            result_of(self.probe.call(), self.response, ResponseInfo())
        except JSONError as error:
            return one_line(str(error), 100)
        return None

    @property
    def is_refused(self) -> bool:
        """Whether the service refused the request, and would refuse it again."""
        response = self.response
        return (
            response is not None
            and 400 <= response.status < 500
            and response.status not in _PASSING
        )

    def __str__(self) -> str:
        """What came of the probe, in a few words."""
        response, page = self.response, self.page
        if page is not None and response is not None:
            return f"{response.status}, {len(page.items)} items"
        if response is not None and response.is_success:
            return f"{response.status}, not the documented shape"
        return one_line(str(self.outcome), 100)
