"""The checks, which follow from the table of operations, and the report on them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Literal, get_args

import attrs

from adclient._show.records import Table
from adclient._show.reports import ReportRecord
from adclient._values.json_values import is_array, is_object
from adclient._values.jsontext import dumps, kind_of
from adclient._values.text import NOTE
from adclient.extend import OPERATIONS, READS
from adclient.models import HUMAN_TWO_STEP_APPROVE, JSON, PENDING_APPROVAL

DATE_RANGE = "date_range"  # the parameter of reads of which a value is known
MISSING: Final = object()  # in the place of a field that is not there
Verdict = Literal["failed", "open", "not run", "passed"]


@attrs.frozen
class ConformCheck:
    """One thing that the interface says about an operation.

    Attributes:
        operation: The operation, such as `"gamma.list_ads"`.
        name: What is checked, such as `"data.id"`.
        section: The section of the interface that says it.
        expected: What is expected, in words.

    Examples:
        >>> from adclient.conform import CHECKS
        >>> print(CHECKS[0])
        alpha.update_campaign_targeting: HTTP status
        >>> CHECKS[0].expected
        '201'
    """

    operation: str
    name: str
    section: str
    expected: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.name}"


@attrs.frozen
class ConformResult:
    """The result of one check.

    Attributes:
        check: The check.
        verdict: `"passed"`, `"failed"`, `"open"` if the interface does not say whether what was
            received is right, or `"not run"`.
        seen: What was received, or why the check was not run; without credentials.

    Examples:
        >>> from adclient.conform import CHECKS, ConformResult
        >>> print(ConformResult(CHECKS[0], "failed", "200"))
        alpha.update_campaign_targeting: HTTP status: expected 201 (section 4.1); 200
    """

    check: ConformCheck
    verdict: Verdict
    seen: str = ""

    def __str__(self) -> str:
        check = self.check
        return f"{check}: expected {check.expected} (section {check.section}); {self.seen}"


@attrs.frozen(kw_only=True)
class ConformReport(ReportRecord):
    """What the checks of a service found; `print` shows all but what passed.

    `report[check]` is the result of a check.

    Attributes:
        base_url: The address of the service.
        results: One result for each of `CHECKS`, in their order.
        sent: How many requests were sent.
        staged_in: The accounts in which drafts could be staged; empty if nothing was written.
        stopped: Why the run ended early; None if it did not.

    Examples:
        >>> from adclient.conform import CHECKS, conform
        >>> from adclient.testing import FakeAdService
        >>> report = conform(FakeAdService().client(), account_id="account_b204")
        >>> report.failed, report.exit_code
        ((), 3)
        >>> report[CHECKS[0]].verdict, report.counts["failed"]
        ('not run', 0)
    """

    base_url: str
    results: tuple[ConformResult, ...]
    sent: int
    staged_in: tuple[str, ...] = ()
    stopped: str | None = None

    _json: ClassVar = (
        *("format_version", "base_url", "exit_code", "sent", "staged_in", "stopped"),
        *("counts", "results"),
    )

    def __getitem__(self, check: ConformCheck) -> ConformResult:
        return {each.check: each for each in self.results}[check]

    @property
    def failed(self) -> tuple[ConformResult, ...]:
        """The results of the checks that failed."""
        return tuple(each for each in self.results if each.verdict == "failed")

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this report.

        - 0: no check failed, and every operation that was to be checked accepted a request
        - 1: a check failed, or the run ended early
        - 3: no check failed, but an operation accepted no request, so little is known of it
        """
        if self.failed or self.stopped is not None:
            return 1
        for check, verdict in ((each.check, each.verdict) for each in self.results):
            is_asked = bool(self.staged_in) or check.operation in READS
            if is_asked and check.name == "HTTP status" and verdict in ("open", "not run"):
                return 3
        return 0

    @property
    def counts(self) -> dict[str, int]:
        """How many checks have each verdict."""
        found = Counter(each.verdict for each in self.results)
        return {verdict: found[verdict] for verdict in get_args(Verdict)}

    def _show(self) -> Table:
        alike: dict[tuple[Verdict, str], list[str]] = {}  # of which operations the same is true
        for verdict in get_args(Verdict)[:-1]:  # what passed is only counted
            for each in self.results:
                if each.verdict == verdict:
                    what = each.seen if verdict == "not run" else str(each).partition(": ")[2]
                    alike.setdefault((verdict, what), []).append(each.check.operation)
        rows: list[dict[str, str]] = []
        for (verdict, what), names in alike.items():
            first, *others = dict.fromkeys(names)
            more = f" and {len(others)} more" * bool(others)
            rows.append({"verdict": verdict, "operation": f"{first}{more}", "result": what})
        where = f"drafts in {', '.join(self.staged_in)}" if self.staged_in else "no write"
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        return Table(
            f"{self.base_url}: {self.sent} request{'s' * (self.sent != 1)}, {where}",
            rows,
            len(rows),
            [counts if self.stopped is None else f"{counts}; ended early: {self.stopped}"],
            limit=NOTE,
            lead=1,
        )


def _is(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def _matches(pattern: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.S) is not None


Row = tuple[str, str, Callable[[object], bool] | None]
OF_A_READ: dict[str, Row] = {
    "HTTP status": ("4.2", "200", None),
    "body": ("2.2", "a JSON object", _is(dict)),
    "data": ("2.2", "an array of objects", lambda it: is_array(it) and all(map(is_object, it))),
    "data.id": ("2.2", "a string in each item, not empty", _matches(".+")),
    "data.name": ("2.2", "a string in each item", _is(str)),
    "data.status": ("2.2", "a string in each item", _is(str)),
    "distinct ids": ("2.2", "each id once in a listing, as it identifies an item", None),
    "page": ("2.2", "an object", _is(dict)),
    "page.next": ("2.2", "null on the last page, to which the others lead", None),
    f"with {DATE_RANGE}": ("4.2", "200 and a collection, as it is a parameter", None),
    "without account_id": ("4", "a refusal, as it is required", None),
    "unknown account_id": ("1", "a refusal or no items, as an account scopes each call", None),
}
OF_A_WRITE: dict[str, Row] = {
    "HTTP status": ("4.1", "201", None),
    "body": ("2.1", "a JSON object", _is(dict)),
    "draft_id": ("2.1", "a string draft_<id>", _matches("draft_.+")),
    "status": ("2.1", PENDING_APPROVAL, _matches(PENDING_APPROVAL)),
    "diff": ("2.1", "an object", _is(dict)),
    "diff.field": ("2.1", "a string", _matches(".+")),
    "diff.before": ("2.1", "the value before the change", lambda it: it is not MISSING),
    "diff.after": ("2.1", "the value after the change", lambda it: it is not MISSING),
    "requires": ("2.1", HUMAN_TWO_STEP_APPROVE, _matches(HUMAN_TWO_STEP_APPROVE)),
    "nothing live": ("4, rule 1", "no change before a human approves the draft", None),
}


CHECKS: tuple[ConformCheck, ...] = tuple(
    ConformCheck(operation.full_name, name, section, expected)
    for operation in OPERATIONS
    for name, (section, expected, _) in (OF_A_WRITE if operation.is_write else OF_A_READ).items()
    if name != f"with {DATE_RANGE}" or DATE_RANGE in operation.names
)
"""All checks, in the order of the operations in section 4 of the interface."""


def judged(rows: Mapping[str, Row], bodies: Mapping[str, JSON]) -> Iterator[tuple[str, bool, str]]:
    """Whether fields are right in all bodies, by the place of each; not of what has no place."""
    for name, (_, _, is_right) in rows.items():
        if is_right is not None:
            path = [] if name == "body" else name.split(".")
            values = [pair for body in bodies.items() for pair in _values(path, *body)]
            wrong = [f"{place}: {_text(value)}" for place, value in values if not is_right(value)]
            if values:
                yield name, not wrong, wrong[0] if wrong else f"in all {len(values)}"


def _values(path: Sequence[str], place: str, value: JSON) -> Iterator[tuple[str, object]]:
    """What is at a path in a value, for each item of an array on the way, and where it is."""
    if not path:
        yield place, value
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _values(path, f"{place}[{number}]", each)
    elif isinstance(value, dict) and path[0] in value:
        yield from _values(path[1:], f"{place}, {path[0]}", value[path[0]])
    elif isinstance(value, dict) and len(path) == 1:
        yield f"{place}, {path[0]}", MISSING


def _text(value: object) -> str:
    if value is MISSING:
        return "missing"
    if is_array(value):
        return f"an array of {', '.join(sorted(set(map(kind_of, value)))) or 'nothing'}"
    return kind_of(value) if is_object(value) else dumps(value, "value", errors="backslashreplace")
