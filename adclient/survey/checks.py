"""The checks, which follow from the table of operations."""

from collections.abc import Iterator
from typing import Literal

import attrs

from adclient.extend import OPERATIONS

Verdict = Literal["passed", "failed", "open", "not run"]


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


_OF_A_READ = {
    "HTTP status": ("4.2", "200"),
    "body": ("2.2", "a JSON object"),
    "data": ("2.2", "an array of objects"),
    "data.id": ("2.2", "a string in each item, not empty"),
    "data.name": ("2.2", "a string in each item"),
    "data.status": ("2.2", "a string in each item"),
    "distinct ids": ("2.2", "each id once in a listing, as it identifies an item"),
    "page": ("2.2", "an object"),
    "page.next": ("2.2", "null on the last page, to which the others lead"),
    "without account_id": ("4", "a refusal, as it is required"),
    "unknown account_id": ("1", "a refusal or no items, as an operation is scoped by an account"),
}
_OF_A_WRITE = {
    "HTTP status": ("4.1", "201"),
    "body": ("2.1", "a JSON object"),
    "draft_id": ("2.1", "a string draft_<id> that identifies the change"),
    "status": ("2.1", "pending_approval"),
    "diff": ("2.1", "an object"),
    "diff.field": ("2.1", "a string"),
    "diff.before": ("2.1", "the value before the change"),
    "diff.after": ("2.1", "the value after the change"),
    "requires": ("2.1", "human_two_step_approve"),
    "nothing live": ("4, rule 1", "no change before a human approves the draft"),
    "by GET": ("4.1", "no draft by this method"),
}


def _derived() -> Iterator[ConformCheck]:
    for operation in OPERATIONS:
        name, is_write = operation.full_name, operation.is_write
        for what, (section, expected) in (_OF_A_WRITE if is_write else _OF_A_READ).items():
            yield ConformCheck(name, what, section, expected)
        for parameter in operation.parameters:
            if not is_write and not parameter.required:
                expected = "200 and a collection, as it is a parameter"
                yield ConformCheck(name, f"with {parameter.name}", "4.2", expected)
            # A write without an account could reach one that nobody named.
            if is_write and parameter.required and parameter.name != "account_id":
                expected = "a refusal, as it is required"
                yield ConformCheck(name, f"without {parameter.name}", "4.1", expected)
            if is_write:
                expected = "a refusal, as its type is another"
                yield ConformCheck(name, f"{parameter.name} of another type", "4.1", expected)


CHECKS: tuple[ConformCheck, ...] = tuple(_derived())
"""All checks, in the order of the operations in section 4 of the interface."""
