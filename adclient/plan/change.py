"""One change of a plan, as it is read from a file, and the sums of money that changes set."""

import decimal
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import reduce
from hashlib import sha256
from itertools import islice
from operator import eq
from typing import cast

import attrs

from adclient._show.diffs import MISSING, Missing
from adclient._show.signatures import public_in
from adclient._values import jsontext
from adclient._values.json_values import JSON, ToJSON, copied, copied_fields, is_array, is_object
from adclient._values.redact import one_line
from adclient._values.text import ids_in_full, in_full, short
from adclient._values.toml import Document
from adclient.errors import ConfigurationError, InvalidRequest
from adclient.extend import OPERATIONS, Call, validated
from adclient.models import Diff
from adclient.policy import Policy, for_account, rules

SETTABLE = ("targeting", "daily_budget")  # besides `fields`; `keywords` only names what to change
_Path = tuple[str, ...]
_WRITES = {operation.full_name: operation for operation in OPERATIONS if operation.is_write}


@public_in("adclient.plan")
@attrs.frozen(kw_only=True)
class PlannedChange(ToJSON):
    """One change of a plan.

    Attributes:
        number: The place of the change in its file, from 1.
        call: The call, with checked arguments.
        key: The key of the change in a ledger: the id of the plan, and a digest of the call and
            its arguments. A change that is moved in the file keeps its key; an edited one gets
            another.
        why: The reason for the change; None if the file has none.
        expect: The value before the change that its author expects, if the file has one.

    Examples:
        >>> from pathlib import Path
        >>> from adclient.plan import Plan
        >>> size = Path("changes.toml").write_text('''
        ... id = "2026-w47"
        ... [[change]]
        ... call = "delta.remove_auto_search_themes"
        ... account_id = "account_d118"
        ... ''')
        >>> change = Plan.read("changes.toml").changes[0]
        >>> change.number, change.key.partition(":")[0]
        (1, '2026-w47')
    """

    number: int
    call: Call = attrs.field(eq=False, repr=False)  # `key` stands for it
    key: str
    why: str | None = None
    expect: JSON | Missing = attrs.field(default=MISSING, hash=False)

    def to_dict(self) -> dict[str, object]:
        """Convert the change to what a file has, and `Plan.of` takes.

        Returns:
            A dictionary of `call`, its arguments, `why` and `expect`, if there are any.

        Examples:
            >>> from adclient.plan import Plan
            >>> themes = "delta.remove_auto_search_themes"
            >>> plan = Plan.of("2026-w47", [{"call": themes, "account_id": "account_d118"}])
            >>> plan.changes[0].to_dict()
            {'call': 'delta.remove_auto_search_themes', 'account_id': 'account_d118'}
        """
        table: dict[str, object] = {"call": self.call.operation.full_name}
        table |= copied_fields(self.call.arguments)
        if self.why is not None:
            table["why"] = self.why
        if self.expect is not MISSING:
            table["expect"] = copied(self.expect)
        return table


def values_set(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """What a call sets, by name: its fields, and what it has a parameter for."""
    fields = arguments.get("fields")
    own = {name: arguments[name] for name in SETTABLE if name in arguments}
    return {**(fields if isinstance(fields, dict) else {}), **own}


def overlaps(changes: Iterable[tuple[str, PlannedChange]]) -> Iterator[str]:
    """A line for each change that sets a value which an earlier one sets; each has a name."""
    earlier = defaultdict[_Path, list[tuple[_Path, str]]](list)
    for change_name, change in changes:
        values = dict(_values_in(change.call, change_name))
        lines = (
            f"{text}, and {other}"
            for (target, names), text in values.items()
            for others, other in earlier[target]
            if all(map(eq, names, others))  # the same names, or as many as the shorter path has
        )
        yield from islice(lines, 1)
        for (target, names), text in values.items():
            earlier[target].append((names, text))


def _values_in(call: Call, change: str) -> Iterator[tuple[tuple[_Path, _Path], str]]:
    """The values that a change sets: what has each, the names around it, and both in words."""
    operation, arguments = call.operation, call.arguments
    if operation.name.startswith("create_"):
        return  # its id is that of what is created, or of what that belongs to
    # Without an id, it cannot be known that two changes are of different entities.
    values, targets = values_set(arguments), arguments.get("keywords", [call.target_id or ""])
    kind = str(operation.target)
    if "keywords" in arguments:  # the same text is another keyword in another ad group
        which = [name for name in values if name.endswith(("match_type", "_id"))]
        kind = in_full({name: values.pop(name) for name in sorted(which)})
    whole = {name: values.pop(name) for name in SETTABLE if name in arguments}
    for target in targets if isinstance(targets, list) else ():
        for key, value in (*whole.items(), *rules.leaves(values)):
            names, text = tuple(key.split(".")), f"{change} sets {short(key)} to {short(value)}"
            yield ((call.account_id, kind, str(target), names[0]), names), text


def read_changes(document: Document, plan_id: str, tables: object) -> tuple[PlannedChange, ...]:
    """Read all of them, or raise a `ConfigurationError` with a line for each problem."""
    if not is_array(tables) or not tables:
        raise document.error("expected a table [[change]] for each change")
    changes: dict[str, PlannedChange] = {}
    problems: list[str] = []
    for index, table in enumerate(tables):
        try:
            change = read_change(document, plan_id, index, table)
            if change.key in changes:
                same = f"change {changes[change.key].number}"
                problem = f"expected each change once; this is the same as {same}"
                raise document.error(problem, "change", index)
            changes[change.key] = change
        except ConfigurationError as error:
            problems.append(str(error))
    problems += overlaps(
        (f"change {each.number} of {document.name}", each) for each in changes.values()
    )
    if problems:
        raise ConfigurationError("\n".join(problems), argument="path")
    return tuple(changes.values())


def read_change(document: Document, plan_id: str, index: int, table: object) -> PlannedChange:
    """Read one `[[change]]`, or raise a `ConfigurationError` that names it."""
    path = ("change", index)
    if not is_object(table):
        raise document.error("expected a table [[change]] for each change", *path)
    name = table.get("call")
    operation = _WRITES.get(name) if isinstance(name, str) else None
    if operation is None:
        raise document.error(f"expected call to be one of {', '.join(_WRITES)}", *path)
    names = [parameter.name for parameter in operation.parameters]
    document.check_keys(
        cast("Mapping[str, object]", table), ("call", *names, "why", "expect"), *path
    )
    values: dict[str, JSON] = {}
    for key, value in table.items():
        name = str(key)
        try:  # read like a response, so that the two can be compared; a float as a file has it
            exact = json.loads(jsontext.dumps(value, name), parse_float=Decimal)
            values[name] = jsontext.loads(jsontext.dumps(exact, name).encode())
        except jsontext.JSONError as error:
            raise document.error(one_line(str(error)), *path) from None
    why = values.get("why")
    if why is not None and not isinstance(why, str):
        raise document.error("expected why to be a string", *path)
    try:
        call = validated(operation, {name: values.get(name) for name in names})
    except InvalidRequest as error:
        problem = error.message.removesuffix("; nothing was sent")
        raise document.error(problem, *path) from None
    # If this changed, ledgers would not find the changes of old plans, which could run again.
    content = json.dumps([operation.full_name, call.arguments], sort_keys=True, default=repr)
    return PlannedChange(
        number=index + 1,
        call=call,
        key=f"{plan_id}:{sha256(content.encode()).hexdigest()[:32]}",
        why=why,
        expect=values.get("expect", MISSING),
    )


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
    """The sums for each account and key of money that a change sets, or its draft changes.

    A change that is not staged has no diff; the values before are then those that the plan expects.
    An amount that is no number, or too large to be added, leaves out its sum.
    """
    found = defaultdict[tuple[str, str], list[_Amounts]](list)
    for change, diff in changes:
        call = change.call
        money = for_account(policy, call.account_id).money or {}
        if diff is None:
            alone, *more = values_set(call.arguments) or [""]
            expect = None if change.expect is MISSING else change.expect
            expected = rules.shown("" if more else alone, expect, money)
            sides = [expected, rules.keys_set(call.arguments)]
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
            for one, other in zip(was, will, strict=True):
                found[call.account_id, key].append((nothing if one is None else one, other))
    sums: list[MoneySum] = []
    for (account_id, key), amounts in sorted(found.items()):
        total, total_after = map(_sum, zip(*amounts, strict=True))
        if total_after is not None:
            sums.append(MoneySum(account_id, key, total, total_after, len(amounts)))
    return tuple(sums)


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum; None if an amount is unknown, or if it is not finite, which JSON cannot have."""
    known = [Decimal("NaN") if amount is None else amount for amount in amounts]
    total = reduce(_SUMS.add, known, Decimal(0))
    return total if total.is_finite() else None
