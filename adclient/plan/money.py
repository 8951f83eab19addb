"""The sums of money that the changes of a plan set, for each account."""

import decimal
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from decimal import Decimal

import attrs

from adclient._display import diffs
from adclient._display.diffs import MISSING
from adclient._display.notebook import short
from adclient._display.signatures import public_in
from adclient._limits import rules
from adclient._values.json_values import JSON, folded
from adclient.models import Diff
from adclient.plan.change import PlannedChange, values_set
from adclient.policy import Policy

_Amounts = tuple[Decimal | None, Decimal]

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
    """The sums for each account and key of money; a change that is not staged has no diff.

    An amount that is too large to be added leaves out its sum.
    """
    found = defaultdict[tuple[str, str], list[_Amounts]](list)
    for change, diff in changes:
        money = rules.for_account(policy, change.call.account_id).money or {}
        keys = {folded(key): key for key in money}
        amounts = _expected(change, {*keys}) if diff is None else _drafted(diff, {*keys})
        for name, before, after in amounts:
            found[change.call.account_id, keys[name]].append((before, after))
    sums: list[MoneySum] = []
    for (account_id, key), pairs in sorted(found.items()):
        total = _sum(after for _, after in pairs)
        if total is not None:
            before, count = _sum(before for before, _ in pairs), len(pairs)
            sums.append(
                MoneySum(account_id=account_id, key=key, before=before, after=total, changes=count)
            )
    return tuple(sums)


def _drafted(diff: Diff, keys: Set[str]) -> Iterator[tuple[str, Decimal | None, Decimal]]:
    """The key of each amount that a draft changes, with the amounts before and after."""
    # A list, which keeps them alive: `known` refers to them by `id()`.
    differences, known = list(diffs.differences_of(diff)), dict[int, Set[str]]()
    for each in differences:
        before, after = (
            Decimal(0) if value is MISSING else rules.number_of(value)
            for value in (each.before, each.after)
        )
        if after is not None:
            yield from ((name, before, after) for name in rules.money_of(each, keys, known))


def _expected(
    change: PlannedChange, keys: Set[str]
) -> Iterator[tuple[str, Decimal | None, Decimal]]:
    """The same as far as the plan shows it; an amount before that is not known is None."""
    values = values_set(rules.arguments_of(change.call))
    field = next(iter(values)) if len(values) == 1 else ""  # of a value alone
    expect = None if change.expect is MISSING else change.expect
    before, after = _by_key(field, expect, keys), _by_key("", values, keys)
    is_creation = ".create_" in change.call.operation.full_name
    for name, amounts in after.items():
        known: Sequence[Decimal | None] = before.get(name, [])
        if is_creation or len(known) != len(amounts):
            known = [Decimal(0) if is_creation else None] * len(amounts)
        yield from ((name, *pair) for pair in zip(known, amounts, strict=True))


def _by_key(field: str, value: JSON, keys: Set[str]) -> dict[str, list[Decimal]]:
    found = defaultdict[str, list[Decimal]](list)
    for name, amount in rules.amounts_in(field, value, keys):
        found[name].append(amount)
    return found


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum; None if an amount is unknown, or if it is not finite, which JSON cannot have."""
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total = _SUMS.add(total, amount)
    return total if total.is_finite() else None
