"""The sums of money that the changes of a plan set, for each account."""

import decimal
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import reduce

import attrs

from adclient._show.diffs import MISSING
from adclient._show.signatures import public_in
from adclient._values.text import ids_in_full, short
from adclient.models import Diff
from adclient.plan.change import PlannedChange, values_set
from adclient.policy import Policy, for_account, rules

_Amounts = tuple[Decimal | None, Decimal | None]

# Without traps: no amount that a service sends may lose the report.
_SUMS = decimal.Context(prec=60, traps=[])


@public_in("adclient.plan")
@attrs.frozen
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
        >>> from adclient.plan import Plan
        >>> from adclient.policy import Policy
        >>> budget = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f"}
        >>> budget |= {"campaign_id": "campaign_4c10", "daily_budget": 120, "expect": 100}
        >>> policy = Policy(money={"daily_budget": 500})
        >>> report = Plan.of("2026-w47", [budget]).check(policy)
        >>> print(report.money[0])
        account_a91f: daily_budget 100 -> 120 (sum of 1)
    """

    account_id: str
    key: str
    before: Decimal | None
    after: Decimal
    changes: int

    def __str__(self) -> str:
        before = "?" if self.before is None else short(self.before)
        what = f"{ids_in_full(self.account_id)}: {short(self.key)}"
        return f"{what} {before} -> {short(self.after)} (sum of {self.changes})"


def sums_of(
    changes: Iterable[tuple[PlannedChange, Diff | None]], policy: Policy
) -> tuple[MoneySum, ...]:
    """The sums for each account and key of money; a change that is not staged has no diff.

    An amount that is no number, or too large to be added, leaves out its sum.
    """
    found = defaultdict[tuple[str, str], list[_Amounts]](list)
    for change, diff in changes:
        for key, amounts in _amounts(change, diff, policy):
            found[change.call.account_id, key].append(amounts)
    sums: list[MoneySum] = []
    for (account_id, key), pairs in sorted(found.items()):
        before, after = map(_sum, zip(*pairs, strict=True))
        if after is not None:
            sums.append(MoneySum(account_id, key, before, after, len(pairs)))
    return tuple(sums)


def _amounts(
    change: PlannedChange, diff: Diff | None, policy: Policy
) -> Iterator[tuple[str, _Amounts]]:
    """Yield the key of each amount that a change sets, or its draft changes, with both amounts.

    Without a draft, those before are the ones that the plan expects. One that is not known is None.
    """
    call = change.call
    money = for_account(policy, call.account_id).money or {}
    if diff is None:
        alone, *more = values_set(call.arguments) or [""]
        expect = None if change.expect is MISSING else change.expect
        sides = [rules.shown("" if more else alone, expect, money), rules.keys_set(call.arguments)]
    else:
        sides = [rules.shown(diff.field, each, money) for each in (diff.before, diff.after)]
    before, after = (rules.by_key(side, money) for side in sides)
    nothing = Decimal(0) if ".create_" in call.operation.full_name else None
    for key in after:
        old, new = (Counter(map(rules.amount_of, side[key])) for side in (before, after))
        # A diff may show more than what changes.
        kept = Counter[Decimal | None]() if diff is None else old & new
        was, will = ([*(side - kept).elements()] for side in (old, new))
        was = was if len(was) == len(will) else [None] * len(will)
        yield from ((key, (nothing if a is None else a, b)) for a, b in zip(was, will, strict=True))


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum; None if an amount is unknown, or if it is not finite, which JSON cannot have."""
    known = [Decimal("NaN") if amount is None else amount for amount in amounts]
    total = reduce(_SUMS.add, known, Decimal(0))
    return total if total.is_finite() else None
