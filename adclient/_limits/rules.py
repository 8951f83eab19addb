"""The rules of a policy: pure functions of a call, of a ledger's usage, and of a diff.

Rules check the JSON that a call sends, not the objects that it was made with.
"""

import decimal
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from decimal import Decimal
from fnmatch import fnmatchcase
from unicodedata import normalize

from adclient._core import jsontext
from adclient._core.call import Call
from adclient._core.operations import OPERATIONS
from adclient._core.paging import decoded
from adclient._display import diffs
from adclient._display.notebook import NOTE, short, short_end
from adclient._values.json_values import JSON, folded
from adclient.errors import InvalidRequest
from adclient.ledger.entry import Entry
from adclient.models import Diff, Result
from adclient.policy import Policy, Refusal, Usage, merged, refusal_of_account

# Arguments that name the entity of a write; the others are what it sets.
_IDS = ("account_id", "campaign_id", "creative_id", "ad_id")
_ACCOUNT = folded("account_id")
# Operations whose diff has no value before.
_CREATIONS = {each.full_name for each in OPERATIONS if each.name.startswith("create_")}
# A service may read a name as a path, such as `limits.daily_budget`, `limits__daily_budget` or
# `filter[account_id]`. One `_` or `-` separates words, unless the name separates them otherwise as
# well: `limits-daily_budget`, `limits_dailyBudget`.
_LONGEST_NAME = 1000  # a call with a longer one is refused; of one in a diff, the end counts
_SEPARATOR = re.compile(r"%[0-9A-Fa-f]{2}|~[01]|[^\w\s-]|__+|--+")
_ANY_SEPARATOR = re.compile(rf"{_SEPARATOR.pattern}|[_-]")
_BETWEEN_WORDS = re.compile("[_-]|(?<=[a-z])(?=[A-Z])")
# Enough digits for any amount. A value that needs more, or has a huge exponent, is refused.
_EXACT = decimal.Context(
    prec=200, traps=[decimal.Inexact, decimal.Overflow, decimal.InvalidOperation]
)


def arguments_of(call: Call[Result]) -> dict[str, JSON]:
    """The arguments of a call as the JSON that is sent.

    Raises:
        InvalidRequest: An object has a name twice, so that services differ in what they read.
    """
    arguments: dict[str, JSON] = {}
    for name, text in call.encoded.items():
        try:
            arguments[name] = jsontext.loads(text.encode(), unique=True)
        except jsontext.JSONError as error:
            operation = call.operation.full_name
            problem = f"{name} cannot be checked or recorded: {error}; nothing was sent"
            text = f"{operation}: {problem}"
            raise InvalidRequest(text, operation=operation, argument=name) from None
    return arguments


def refusal_of(policy: Policy, call: Call[Result]) -> Refusal | None:
    """The refusal of a call, judged by the call alone; None if the policy allows it."""
    return next(_refusals(policy, call), None)


def for_account(policy: Policy, account_id: str) -> Policy:
    """The policy with the limits of an account; if it has some, a call may name no other."""
    return policy if policy.account is None else merged(policy, account_id)


def _refusals(policy: Policy, call: Call[Result]) -> Iterator[Refusal]:
    """The refusals of a call by each rule."""
    name, account, is_write = call.operation.full_name, call.account_id, call.operation.is_write
    if (refusal := refusal_of_account(policy, account)) is not None:
        yield refusal
    policy = for_account(policy, account)
    if policy.operations is not None and not any(fnmatchcase(name, p) for p in policy.operations):
        yield Refusal("operations", f"{name} is not one of the policy's operations")
    limits_fields = is_write and (policy.fields is not None or policy.money is not None)
    if limits_fields or policy.accounts is not None:
        arguments = arguments_of(call)
        if limits_fields:
            yield from _refusals_of_keys(policy, arguments)
        values = {**arguments, "cursor": _of_cursor(call.cursor)}
        yield from _refusals_of_values(policy, values, is_write=is_write)


def _refusals_of_keys(policy: Policy, arguments: Mapping[str, JSON]) -> Iterator[Refusal]:
    rule = "money" if policy.fields is None else "fields"
    allowed = {*(policy.fields or ()), *(policy.money or ())}
    fields = arguments.get("fields", {})
    assert isinstance(fields, dict)
    named = [(name, name) for name in arguments if name not in (*_IDS, "fields")]
    for path, name in [*named, *((f"fields.{name}", name) for name in fields)]:
        if name not in allowed:
            yield Refusal(rule, f"{short(path)} is not one of the {rule} that the policy allows")


def _refusals_of_values(
    policy: Policy, values: Mapping[str, JSON], *, is_write: bool
) -> Iterator[Refusal]:
    limits = {folded(name): most for name, most in (policy.money or {}).items() if is_write}
    rule = "money" if limits else "accounts"
    for path, name, value in _inside(values):
        if len(name) > _LONGEST_NAME and (limits or policy.accounts is not None):
            yield Refusal(rule, f"{short_end(path)} is too long a name for {rule} to be judged")
        keys, amount = _keys_in(name, {_ACCOUNT, *limits}), number_of(value)
        if _ACCOUNT in keys and policy.accounts is not None and value not in policy.accounts:
            reason = f"{_shown(path, value)}, and accounts allows {short(policy.accounts)}"
            yield Refusal("accounts", reason)
        most = min((limits[each] for each in keys & limits.keys()), default=None)
        if most is not None and (amount is None or not 0 <= amount <= most):
            yield Refusal("money", f"{_shown(path, value)}, and money allows 0 to {short(most)}")


def _shown(path: str, value: JSON) -> str:
    shown = short(jsontext.quoted(value) if isinstance(value, str) else value)
    return f"{short_end(path)} is {shown}"


def _of_cursor(cursor: JSON) -> JSON:
    """The names and values in a continuation that is a URL or JSON; a token has none."""
    if not isinstance(cursor, str):
        return cursor
    query = cursor.partition("#")[0].partition("?")[2]
    return [dict([decoded(piece)]) for piece in re.split("[&;]", query)]


def refusal_of_usage(policy: Policy, entry: Entry, usage: Usage) -> Refusal | None:
    """The refusal of a write by the usage in the ledger; None if the policy allows it."""
    return next(_refusals_of_usage(policy, entry, usage), None)


def _refusals_of_usage(policy: Policy, entry: Entry, usage: Usage) -> Iterator[Refusal]:
    policy = for_account(policy, entry.account_id)
    if policy.change_at_most is not None and usage.over_limit is not None:
        reason = (
            f"change_at_most allows no further write to an account whose draft "
            f"{short(usage.over_limit)} is over the limit, until somebody settles it in the ledger"
        )
        yield Refusal("change_at_most", reason)
    rule, most = "drafts_per_day", policy.drafts_per_day
    if most is not None and usage.drafts_today >= most:
        yield Refusal(rule, f"{rule} allows {most}, and today has {usage.drafts_today}")
    own = (policy.account or {}).get(entry.account_id, Policy()).drafts_per_day
    if own is not None and (drafts := usage.drafts_of_account()) >= own:
        yield Refusal(rule, f"{rule} allows {own} for this account, and today has {drafts}")
    seconds = policy.no_repeat_within
    if seconds is not None and (earlier := usage.repeated(float(seconds))) is not None:
        apart = f"no_repeat_within allows equal writes only {short(seconds)} seconds apart"
        yield Refusal("no_repeat_within", f"{apart}: {short(earlier, NOTE)}")


def excess_of(
    policy: Policy, operation: str, arguments: Mapping[str, JSON], diff: Diff
) -> str | None:
    """The excess of a draft over `change_at_most`, or why that cannot be judged, in words."""
    policy = for_account(policy, str(arguments["account_id"]))
    limit, money = policy.change_at_most, policy.money
    is_creation = operation in _CREATIONS
    if limit is None or money is None or (is_creation and diff.before is None):
        return None
    keys = frozenset(map(folded, money))
    allowed = f"and change_at_most allows {short(limit)} %"
    changed = set[tuple[str, Decimal]]()
    # A list, which keeps them alive: a dictionary below refers to them by `id()`.
    differences, known = list(diffs.differences_of(diff)), dict[int, Set[str]]()
    for difference in differences:
        before, after = number_of(difference.before), number_of(difference.after)
        names = money_of(difference, keys, known)
        is_new = is_creation and difference.before in (None, diffs.MISSING)
        if not is_new and (names or _is_another(difference, keys)):
            if before is None or after is None:
                return f"{difference} cannot be judged, {allowed}"
            if not _is_within(limit, before, after):
                return f"{difference}, {allowed}"
        if after is not None:
            changed |= {(name, after) for name in names}
    asked = set(amounts_in("", dict(arguments), keys))
    hidden = {key for key, _ in asked - changed - set(amounts_in(diff.field, diff.after, keys))}
    # A service may round an amount: one that is set alone may be shown as another one.
    times = Counter(key for key, _ in asked)
    rounded = {key for key, _ in changed if times[key] == 1}
    for name in money:
        if folded(name) in hidden - rounded:
            return f"{short(name)} cannot be judged, as the diff does not show it, {allowed}"
    return None


def amounts_in(field: str, value: JSON, keys: Set[str]) -> Iterator[tuple[str, Decimal]]:
    """Yield each amount of money in a value, with the key that makes it one."""
    waiting = [(_keys_in(field, keys), value)]
    while waiting:
        names, value = waiting.pop()
        if isinstance(value, dict):
            waiting += ((names | _keys_in(key, keys), inner) for key, inner in value.items())
        elif isinstance(value, list):
            waiting += ((names, inner) for inner in value)
        elif (amount := number_of(value)) is not None:
            yield from ((name, amount) for name in names)


def money_of(difference: diffs.Difference, keys: Set[str], known: dict[int, Set[str]]) -> Set[str]:
    """The money keys that apply to a changed value: its own, and those of enclosing values.

    `known` has those of earlier values by `id()`, as many may be enclosed by the same one.
    """
    if id(difference) not in known:
        around = difference.within
        names = set[str]() if around is None else {*money_of(around, keys, known)}
        # A diff may contain others, which name in `field` what they change.
        sides = (difference.before, difference.after)
        fields = (side.get("field") for side in sides if isinstance(side, dict))
        for name in (difference.key, *fields):
            if isinstance(name, str):
                names |= _keys_in(name, keys)
        known[id(difference)] = names
    return known[id(difference)]


def _is_another(difference: diffs.Difference, keys: frozenset[str]) -> bool:
    """Check if another element with money took this place of a list.

    The amounts of two different elements cannot be compared.
    """
    element = difference.within
    if element is None or not isinstance(element.key, int) or not isinstance(element.before, dict):
        return False
    texts = (key for key, value in element.before.items() if isinstance(value, str))
    names = (next(iter(element.before), None), next(texts, None))
    return difference.key in names and any(
        _keys_in(name, keys) for _, name, _ in _inside(element.before)
    )


def _is_within(limit: Decimal, before: Decimal, after: Decimal) -> bool:
    """Check if an amount changes by at most `limit` percent; False if that cannot be computed."""
    try:
        amount = _EXACT.abs(_EXACT.subtract(after, before))
        return _EXACT.multiply(amount, 100) <= _EXACT.multiply(limit, _EXACT.abs(before))
    except ArithmeticError:
        return False


def _inside(values: Mapping[str, JSON]) -> Iterator[tuple[str, str, JSON]]:
    """Yield each nested value with its path and name; the name of a list element is empty."""
    waiting = [(name, name, value) for name, value in values.items()]
    while waiting:
        path, name, value = waiting.pop()
        yield path, name, value
        if isinstance(value, dict):
            waiting += ((f"{path}.{short(key)}", key, inner) for key, inner in value.items())
        elif isinstance(value, list):
            waiting += ((f"{path}[{index}]", "", inner) for index, inner in enumerate(value))


def _keys_in(name: str, keys: Set[str]) -> Set[str]:
    """The folded keys that a name is or, as it may be a path, has between two separators."""
    name = normalize("NFKC", name[-_LONGEST_NAME:])
    is_mixed = len({*_BETWEEN_WORDS.findall(name)}) > 1
    text, ends = "", {0}
    for step in (_ANY_SEPARATOR if is_mixed else _SEPARATOR).split(name):
        text += "".join(filter(str.isalnum, step.casefold()))
        ends.add(len(text))
    found = {
        key for key in keys for end in ends if text.startswith(key, end) and end + len(key) in ends
    }
    return found | (keys & {folded(name)})


def number_of(value: object) -> Decimal | None:
    """A number with the digits that are sent; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
