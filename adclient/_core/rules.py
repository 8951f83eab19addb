"""What a policy allows: pure functions of a call, of what a ledger holds, and of a diff."""

from collections.abc import Iterator
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import cast

from adclient import _diffs
from adclient._core.operations import Call
from adclient._json import JSON, is_array, is_object
from adclient._notebook import short
from adclient.models import Diff, Result
from adclient.policy import Policy, Refusal, Usage

# Arguments that say which entity a write concerns; all others say what it sets.
_IDS = ("account_id", "campaign_id", "creative_id", "ad_id")


def refusal_of(policy: Policy, call: Call[Result]) -> Refusal | None:
    """Why the policy does not allow a call, as far as that depends on nothing else."""
    name, account = call.operation.full_name, call.account_id
    if policy.accounts is not None and account not in policy.accounts:
        return Refusal("accounts", f"account {short(account)} is not one of the policy's accounts")
    if policy.operations is not None and not any(
        fnmatchcase(name, pattern) for pattern in policy.operations
    ):
        return Refusal("operations", f"{name} is not one of the policy's operations")
    if call.operation.is_write and (policy.fields is not None or policy.money is not None):
        return _refusal_of_values(policy, call)
    return None


def refusal_of_usage(policy: Policy, usage: Usage) -> Refusal | None:
    """Why the policy does not allow a write, given what the ledger holds."""
    if policy.change_at_most is not None and usage.over_limit is not None:
        reason = (
            f"change_at_most allows no further write to an account whose draft "
            f"{short(usage.over_limit)} is over the limit, until somebody settles it in the ledger"
        )
        return Refusal("change_at_most", reason)
    if policy.drafts_per_day is not None and usage.drafts_today >= policy.drafts_per_day:
        reason = (
            f"drafts_per_day allows {policy.drafts_per_day}, and today has {usage.drafts_today}"
        )
        return Refusal("drafts_per_day", reason)
    return None


def excess_of(policy: Policy, diff: Diff) -> str | None:
    """How a draft changes money by more than the policy allows, as far as its diff shows it."""
    limit, money = policy.change_at_most, policy.money
    if limit is None or money is None:
        return None
    for change in _diffs.changes_of(diff):
        if not any(key in money for key in _keys_of(change)):
            continue
        before, after = _number(change.before), _number(change.after)
        if before is not None and after is not None:
            if abs(after - before) * 100 <= limit * abs(before):
                continue
        elif diff.before is None and after is not None:
            continue  # something new has nothing to compare with; `money` limits it
        return f"{change}, and change_at_most allows {limit} %"
    return None


def _keys_of(change: _diffs.Change) -> Iterator[str | int]:
    """The key of a changed leaf, and those of all that it is in."""
    inner: _diffs.Change | None = change
    while inner is not None:
        yield inner.key
        inner = inner.within


def arguments_of(call: Call[Result]) -> dict[str, JSON]:
    """The arguments of a call as JSON; they are copies already."""
    return cast("dict[str, JSON]", dict(call.arguments))


def _refusal_of_values(policy: Policy, call: Call[Result]) -> Refusal | None:
    money = policy.money or {}
    allowed = {*(policy.fields or ()), *money}
    fields = call.arguments.get("fields", {})
    assert is_object(fields)
    named = [(n, n, value) for n, value in call.arguments.items() if n not in (*_IDS, "fields")]
    waiting = [*named, *((f"fields.{name}", str(name), value) for name, value in fields.items())]
    for path, name, _ in waiting:
        if name not in allowed:
            rule = "money" if policy.fields is None else "fields"
            return Refusal(rule, f"{short(path)} is not one of the {rule} that the policy allows")
    while waiting:
        path, name, value = waiting.pop()
        if name in money:
            amount = _number(value)
            if amount is None or not 0 <= amount <= money[name]:
                text = f"{short(path)} is {short(value)}, not 0 to {money[name]} as money allows"
                return Refusal("money", text)
        elif is_object(value):
            waiting += ((f"{path}.{inner}", str(inner), v) for inner, v in value.items())
        elif is_array(value):
            waiting += ((f"{path}[{index}]", "", v) for index, v in enumerate(value))
    return None


def _number(value: object) -> Decimal | None:
    """A number with the digits that are sent; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
