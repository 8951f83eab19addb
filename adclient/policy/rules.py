"""The rules of a policy: pure functions of a call, of a ledger's usage, and of a diff.

Rules check the JSON that a call sends, not the objects that it was made with.
"""

import decimal
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fnmatch import fnmatchcase

from adclient._show.diffs import Missing, exact
from adclient._values import jsontext
from adclient._values.json_values import JSON
from adclient._values.text import NOTE, decoded, pieces_of, short, short_end
from adclient.extend import OPERATIONS, Call
from adclient.ledger.entry import Entry
from adclient.models import Diff
from adclient.policy import (
    LONGEST_KEY,
    Policy,
    Refusal,
    Usage,
    for_account,
    refusal_of_account,
)

# Arguments that name the entity of a write; the others are what it sets.
_IDS = {p.name for operation in OPERATIONS for p in operation.parameters if p.type == "id"}
# In a key or the name of a query's parameter, whatever its parts are separated by.
_ACCOUNT = re.compile(r"\baccount_id\b")
# Operations whose diff has no value before.
_CREATIONS = {each.full_name for each in OPERATIONS if each.name.startswith("create_")}
# A text that every service reads as the same number: no exponent, blank, sign or other digits.
_NUMBER = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?")
# Enough digits for any amount. A value that needs more, or has a huge exponent, is refused.
_EXACT = decimal.Context(
    prec=200, traps=[decimal.Inexact, decimal.Overflow, decimal.InvalidOperation]
)


def refusal_of(policy: Policy, call: Call) -> Refusal | None:
    """The refusal of a call, judged by the call alone; None if the policy allows it."""
    name, is_write = call.operation.full_name, call.operation.is_write
    if (refusal := refusal_of_account(policy, call.account_id)) is not None:
        return refusal
    policy = for_account(policy, call.account_id)
    if policy.operations is not None and not any(fnmatchcase(name, p) for p in policy.operations):
        return Refusal("operations", f"{name} is not one of the policy's operations")
    is_limited = is_write and not (policy.fields is None and policy.money is None)
    if not is_limited and policy.accounts is None:
        return None
    arguments = dict(call.arguments)
    if not is_write:
        # What a continuation names; each text in it may be a URL with a query, or JSON.
        texts = [text for _, text in leaves({"": call.cursor}) if isinstance(text, str)]
        queries = "&".join(text.partition("?")[2] for text in texts)
        pairs = [decoded(piece) for piece in pieces_of(queries) if "=" in piece]
        values = ({name: _of_text(value)} for name, value in pairs)
        arguments["cursor"] = [call.cursor, *map(_of_text, texts), *values]
    return next(_refusals_of_keys(policy, arguments, is_limited=is_limited), None)


def leaves(values: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Yield each value that contains no others with its key: the names that lead to it, by dots.

    The elements of a list have its key. What is inside of a key that is too long is not looked at.
    """
    waiting = [*values.items()][::-1]
    while waiting:
        key, value = waiting.pop()
        if not value or not isinstance(value, dict | list) or len(key) > LONGEST_KEY:
            yield key, value
        elif isinstance(value, dict):
            waiting += [(f"{key}.{name}", inner) for name, inner in value.items()][::-1]
        else:
            waiting += [(key, element) for element in reversed(value)]


def keys_set(arguments: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Yield each key that a call sets, and its value; those of `fields` are named without it."""
    return leaves(flattened({name: each for name, each in arguments.items() if name not in _IDS}))


def flattened(arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The arguments of a call, with what is in `fields` beside the others."""
    fields = arguments.get("fields")
    if not isinstance(fields, dict):  # a tool may send anything
        return arguments
    return {**fields, **{name: each for name, each in arguments.items() if name != "fields"}}


def _refusals_of_keys(
    policy: Policy, arguments: Mapping[str, JSON], *, is_limited: bool
) -> Iterator[Refusal]:
    accounts, fields, money = policy.accounts, {*(policy.fields or ())}, policy.money or {}
    opened = tuple(key.removesuffix("*") for key in fields if key.endswith(".*"))
    rule = "accounts" if not is_limited else "money" if policy.fields is None else "fields"
    for key, value in keys_set(arguments):
        if len(key) > LONGEST_KEY:  # which may hide an account or money
            yield Refusal(rule, f"{short(key)} is too long a key for {rule} to be judged")
        if accounts is not None and _ACCOUNT.search(key) and value not in accounts:
            problem = f"{_shown(key, value)}, and accounts allows {short(accounts)}"
            yield Refusal("accounts", problem)
        if is_limited and key in money:
            amount, most = amount_of(value), money[key]
            if amount is None or not 0 <= amount <= most:
                yield Refusal("money", f"{_shown(key, value)}, and money allows 0 to {short(most)}")
        elif is_limited and key not in fields and not key.startswith(opened):
            yield Refusal(rule, f"{short_end(key)} is listed neither in fields nor in money")


def _of_text(text: str) -> JSON:
    """The value of a text that is a JSON object or array, or else the text."""
    try:
        # Each member on its own: all of them count, if a name is there twice.
        value: JSON = json.loads(
            text,
            object_pairs_hook=lambda members: [{name: value} for name, value in members],
            parse_int=str,
            strict=False,
        )
    except ValueError:
        return text
    except RecursionError:
        return {text: text}  # a key that is too long to be judged
    return value if isinstance(value, list) else text


def _shown(key: str, value: JSON) -> str:
    shown = short(jsontext.quoted(value) if isinstance(value, str) else value)
    return f"{short_end(key)} is {shown}"


def amount_of(value: object) -> Decimal | None:
    """An amount with the digits that are sent: a number, or a text that is one."""
    if isinstance(value, str):
        return Decimal(value) if _NUMBER.fullmatch(value) else None
    return exact(value)


def by_value(value: JSON | Missing) -> object:
    """A value in which a number equals a text that is one: 120 is 120.0 and "120.00"."""
    if isinstance(value, dict):
        return {name: by_value(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [*map(by_value, value)]
    amount = amount_of(value)
    return (value,) if isinstance(value, bool) else value if amount is None else amount


def refusal_of_usage(policy: Policy, entry: Entry, usage: Usage) -> Refusal | None:
    """The refusal of a write by the usage in the ledger; None if the policy allows it."""
    policy = for_account(policy, entry.account_id)
    if policy.change_at_most is not None and usage.over_limit is not None:
        reason = (
            f"change_at_most allows no further write to an account whose draft "
            f"{short(usage.over_limit)} is over the limit, until somebody settles it in the ledger"
        )
        return Refusal("change_at_most", reason)
    rule, most = "drafts_per_day", policy.drafts_per_day
    if most is not None and usage.drafts_today >= most:
        return Refusal(rule, f"{rule} allows {most}, and today has {usage.drafts_today}")
    single = (policy.account or {}).get(entry.account_id)
    own = None if single is None else single.drafts_per_day
    if own is not None and (drafts := usage.drafts_of_account()) >= own:
        return Refusal(rule, f"{rule} allows {own} for this account, and today has {drafts}")
    seconds = policy.no_repeat_within
    if seconds is not None and (earlier := usage.repeated(float(seconds))) is not None:
        apart = f"no_repeat_within allows equal writes only {short(seconds)} seconds apart"
        return Refusal("no_repeat_within", f"{apart}: {short(earlier, NOTE)}")
    return None


def excess_of(policy: Policy, entry: Entry, diff: Diff) -> str | None:
    """The excess of a draft over `change_at_most`, or why that cannot be judged, in words."""
    policy = for_account(policy, entry.account_id)
    limit, money = policy.change_at_most, policy.money
    if limit is None or money is None:
        return None
    asked = by_key(keys_set(entry.arguments), money)
    sides = [shown(diff.field, side, money) for side in (diff.before, diff.after)]
    before, after = (by_key(side, money) for side in sides)
    # Amounts in a list are paired by their place, but only if nothing besides them has changed:
    # else an element may have been added or removed in front.
    one, other = ([(key, key in money or leaf) for key, leaf in side] for side in sides)
    allowed = f"and change_at_most allows {short(limit)} %"
    for key in money:
        if not asked[key] and before[key] == after[key]:
            continue
        old, new, sent = ([*map(amount_of, each[key])] for each in (before, after, asked))
        # A creation needs no value before if it takes nothing away: only `money` limits it.
        are_kept = {*(Counter(old) - Counter(new))} <= {None}
        if entry.operation in _CREATIONS and are_kept and (new or diff.before is None):
            continue
        # What the call sets and the diff does not show is compared with the value before as well.
        rounded = {*sent} - {*new}
        can_pair = len(old) == len(new) == 1 or (one == other and not rounded)
        if len(old) != len(new) or not can_pair or None in {*old, *new, *sent}:
            why = "as the diff does not show what it was and what it will be"
            return f"{short(key)} cannot be judged, {why}, {allowed}"
        for was, will in [*zip(old, new, strict=True), *((old[0], each) for each in rounded)]:
            assert was is not None
            assert will is not None
            if not _is_within(limit, was, will):
                return f"{short(key)}: {short(was)} -> {short(will)}, {allowed}"
    return None


def by_key(
    values: Iterable[tuple[str, JSON]], money: Mapping[str, Decimal]
) -> defaultdict[str, list[JSON]]:
    """The values of each key of money, in their order."""
    found = defaultdict[str, list[JSON]](list)
    for key, value in values:
        if key in money:
            found[key].append(value)
    return found


def shown(field: str, value: JSON, money: Mapping[str, Decimal]) -> list[tuple[str, JSON]]:
    """What one side of a diff shows; a key of money may begin with its field, or after it."""
    found = [(key, key[len(field) + 1 :], leaf) for key, leaf in leaves({field: value})]
    return [(key if key in money or end not in money else end, leaf) for key, end, leaf in found]


def _is_within(limit: Decimal, before: Decimal, after: Decimal) -> bool:
    """Check if an amount changes by at most `limit` percent; False if that cannot be computed."""
    try:
        amount = _EXACT.abs(_EXACT.subtract(after, before))
        return _EXACT.multiply(amount, 100) <= _EXACT.multiply(limit, _EXACT.abs(before))
    except ArithmeticError:
        return False
