"""The sums of money that the changes of a plan set, for each account."""

import decimal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal

import attrs

from adclient._display import diffs
from adclient._display.diffs import MISSING, Missing
from adclient._display.notebook import short
from adclient._display.signatures import public_in
from adclient._limits import rules
from adclient._values.json_values import JSON, folded
from adclient.models import Diff
from adclient.plan.change import PlannedChange, values_set
from adclient.policy import Policy

Value = JSON | Missing

# Without traps: no amount that a service sends may lose the report.
_SUMS = decimal.Context(prec=60, traps=[])


@public_in("adclient.plan")
@attrs.frozen(kw_only=True)
class MoneySum:
    """The sum of one key of money over the changes of a plan to one account.

    Attributes:
        account_id: The account, in whose currency the amounts are.
        key: The key, which the `money` of the policy names.
        before: The sum of the values before; None if one of them is not known. A check knows only
            those that the plan expects. What is created had nothing before.
        after: The sum of the values after.
        changes: How many values are summed.

    Examples:
        >>> from adclient import Plan, Policy
        >>> budget = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f"}
        >>> budget |= {"campaign_id": "campaign_4c10", "daily_budget": 120, "expect": 100}
        >>> policy = Policy(money={"daily_budget": 500})
        >>> report = Plan.of("2026-w47", [budget]).check(policy)
        >>> print(report.money[0])
        account_a91f: daily_budget 100 → 120 (sum of 1)
    """

    account_id: str
    key: str
    before: Decimal | None
    after: Decimal
    changes: int

    def __str__(self) -> str:
        before = "?" if self.before is None else short(self.before)
        what = f"{short(self.account_id)}: {short(self.key)}"
        return f"{what} {before} → {short(self.after)} (sum of {self.changes})"


def sums_of(
    changes: Iterable[tuple[PlannedChange, Diff | None]], policy: Policy
) -> tuple[MoneySum, ...]:
    """The sums for each account and key of money; a change that is not staged has no diff."""
    found = defaultdict[tuple[str, str], list[tuple[Decimal | None, Decimal]]](list)
    for change, diff in changes:
        money = policy.for_account(change.call.account_id).money
        if money is None:
            continue
        keys = {folded(key): key for key in money}
        values = _values_expected(change) if diff is None else _values_of(diff)
        for name, before, after in values:
            key, amount = keys.get(folded(name)), _number(after)
            if key is not None and amount is not None:
                found[change.call.account_id, key].append((_number(before), amount))
    return tuple(
        MoneySum(
            account_id=account_id,
            key=key,
            before=_sum([before for before, _ in pairs]),
            after=_sum([after for _, after in pairs]) or Decimal(0),
            changes=len(pairs),
        )
        for (account_id, key), pairs in found.items()
    )


def _values_of(diff: Diff) -> Iterator[tuple[str, Value, Value]]:
    """The name of each value that changes, with the value before and after."""
    for difference in diffs.differences_of(diff):
        yield difference.path.rpartition(".")[2], difference.before, difference.after


def _values_expected(change: PlannedChange) -> Iterator[tuple[str, Value, Value]]:
    """The same as far as the plan shows it; a value that is not known is null."""
    values, expect = values_set(rules.arguments_of(change.call)), change.expect
    for name, after in values.items():
        if ".create_" in change.call.operation.full_name:
            yield name, MISSING, after
        elif isinstance(expect, dict):
            yield name, expect.get(name), after
        else:  # that of the only name
            yield name, None if expect is MISSING or len(values) > 1 else expect, after


def _number(value: Value) -> Decimal | None:
    return Decimal(0) if value is MISSING else diffs.exact(value)


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum; None if an amount is unknown."""
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total = _SUMS.add(total, amount)
    return total
