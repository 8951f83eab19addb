"""The changes of a diff: one leaf after another, each with its path and its subject.

Like `_values`, it works without recursion: a response may be nested deeper than the stack.
"""

import decimal
import enum
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Final, NamedTuple, Protocol

from adclient._display.notebook import ROWS, SHORT, Row, more, short, short_end, short_pair
from adclient._values.json_values import JSON

_MOST_IN_LINE, _LONGEST_LINE = 3, 200
# Only the end of a path is shown: a service could send very long ones, many times.
_LONGEST_PATH = 4 * SHORT
# Enough digits for any amount, and few enough that a huge exponent costs nothing.
_ARITHMETIC = decimal.Context(prec=60, traps=[])
_EXACT = decimal.Context(prec=60, traps=[decimal.Inexact])
_SHORTEST = decimal.Context(decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


class Missing(enum.Enum):
    MISSING = "—"

    def __str__(self) -> str:
        return self.value


MISSING: Final = Missing.MISSING
"""The `before` of an added leaf and the `after` of a removed one; null is a value."""


class Difference(NamedTuple):
    """One changed leaf of a diff: a value that holds no others, or an empty object or list.

    `subject` names the element of a list that the leaf belongs to, such as a keyword and its match
    type; it is empty elsewhere. A very long path is cut: `key` is its last step, a name or place in
    a list, and `within` the change of the object or list around it.
    """

    path: str
    subject: str
    before: JSON | Missing
    after: JSON | Missing
    key: str | int
    within: "Difference | None" = None

    def __str__(self) -> str:
        before, after = short_pair(self.before, self.after)
        subject = self.subject and f" ({short(self.subject)})"
        return f"{short_end(self.path)}{subject}: {before} → {after}"


class DiffLike(Protocol):
    """A `Diff` of the models, which import this module."""

    @property
    def field(self) -> str: ...
    @property
    def before(self) -> JSON: ...
    @property
    def after(self) -> JSON: ...


def differences_of(diff: DiffLike) -> Iterator[Difference]:
    """The leaves that differ, without elements of lists that were only shifted."""
    before, after = diff.before, diff.after
    numbers = _Numbers(before, after)
    # An object or list instead of null was created, and null instead of one removed.
    old = MISSING if before is None and isinstance(after, dict | list) and after else before
    new = MISSING if after is None and isinstance(before, dict | list) and before else after
    waiting = [Difference(diff.field, "", old, new, diff.field)]
    while waiting:
        change = waiting.pop()
        if numbers.of(change.before) == numbers.of(change.after):
            continue
        inside = list(_inside(change, numbers))
        waiting.extend(reversed(inside))
        if not inside:
            yield change


def lines(diff: DiffLike) -> list[str]:
    """One line for each change, and how many more there are."""
    changes = list(differences_of(diff))
    if not changes:
        return [_unchanged(diff)]
    left = len(changes) - ROWS
    return [*map(str, _first(changes, ROWS)), *([f"… and {left} more"] if left > 0 else [])]


def one_line(diff: DiffLike) -> str:
    """As many changes as fit in a line, at least one, and how many more there are."""
    changes = list(differences_of(diff))
    line = _unchanged(diff)
    for most in range(min(_MOST_IN_LINE, len(changes)), 0, -1):
        left = len(changes) - most
        line = ", ".join(map(str, _first(changes, most))) + f" and {left} more" * (left > 0)
        if len(line) <= _LONGEST_LINE:
            break
    return line


def rows(diff: DiffLike) -> tuple[list[Row], list[str]]:
    """A row for each change, below the name of what it belongs to; and notes about the rows."""
    changes = list(differences_of(diff))
    table: list[Row] = [] if changes else [(diff.field, "unchanged")]
    shown, heading = _first(changes, ROWS), ""
    for path, subject, before, after, *_ in shown:
        if subject != heading:
            heading = subject
            table.append((heading or diff.field,))
        change, ratio = amount(before, after), percent(before, after)
        remark = "" if change is None else f"{change:+}"
        table.append(
            (path, before, after, remark if ratio is None else f"{remark} ({ratio:+.4g} %)".strip())
        )
    notes = more(len(changes), "changes")
    if any(_last_name(change) == "daily_budget" for change in shown):
        notes.append("daily_budget is in the currency of the account")
    return table, notes


def _unchanged(diff: DiffLike) -> str:
    return f"{short(diff.field)} is unchanged"


def _first(changes: Sequence[Difference], most: int) -> list[Difference]:
    """Choose the changes to show: budgets first, elements of lists last."""

    def rank(place: int) -> tuple[bool, bool, bool]:
        change = changes[place]
        value = change.before if change.after is MISSING else change.after
        is_element = isinstance(change.key, int)  # there may be many of them
        return "budget" not in _last_name(change), is_element, _exact(value) is None

    return [changes[place] for place in sorted(sorted(range(len(changes)), key=rank)[:most])]


def _last_name(change: Difference) -> str:
    return change.path.rpartition(".")[2]


def amount(before: object, after: object) -> int | float | Decimal | None:
    """`after` minus `before`, exact up to 60 digits; None unless both are finite numbers."""
    old, new = _exact(before), _exact(after)
    if old is None or new is None:
        return None
    try:
        change = _EXACT.subtract(new, old)
    except decimal.Inexact:
        return None
    if isinstance(before, int) and isinstance(after, int):
        return int(change)
    if isinstance(before, Decimal) or isinstance(after, Decimal):
        return change
    close = float(change)
    return close if _exact(close) == change else change


def percent(before: object, after: object) -> float | None:
    """The change in percent of `before`; None unless both are numbers and `before` is not 0."""
    old, new = _exact(before), _exact(after)
    if old is None or new is None or old == 0:
        return None
    ratio = _ARITHMETIC.divide(_ARITHMETIC.subtract(new, old), _ARITHMETIC.abs(old))
    close = float(_ARITHMETIC.multiply(ratio, Decimal(100)))
    return close if math.isfinite(close) else None


def _exact(value: object) -> Decimal | None:
    """A finite number as a decimal; a float with the digits of its `repr`."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return exact if exact.is_finite() else None


class _Numbers:
    """Gives equal JSON values equal numbers, in one pass over everything inside them.

    Comparing lists element by element at each level would take quadratic time.
    """

    def __init__(self, *values: JSON) -> None:
        self._numbers: dict[int, int] = {}
        shapes: dict[object, int] = {}
        waiting = [value for value in values if isinstance(value, dict | list)]
        while waiting:
            value = waiting[-1]
            members = value.values() if isinstance(value, dict) else value
            unknown = [
                member
                for member in members
                if isinstance(member, dict | list) and id(member) not in self._numbers
            ]
            if unknown:
                waiting += unknown
                continue
            waiting.pop()
            shape: object
            if isinstance(value, dict):
                shape = frozenset((name, self.of(member)) for name, member in value.items())
            else:
                shape = tuple(map(self.of, value))
            self._numbers[id(value)] = shapes.setdefault(shape, len(shapes))

    def of(self, value: JSON | Missing) -> tuple[str, object]:
        """The number of a value; true and 1 are different JSON, though equal in Python."""
        if isinstance(value, dict | list):
            return "inside", self._numbers[id(value)]
        exact = _exact(value)
        if exact is not None:
            # As text: a service could send many numbers with the same hash.
            return "number", str(_SHORTEST.normalize(exact)) if exact else "0"
        return "bool" if isinstance(value, bool) else "", value


def _inside(change: Difference, numbers: _Numbers) -> Iterator[Difference]:
    """The changes of the members of two objects or lists; nothing if this is a leaf."""
    path, subject, before, after, *_ = change
    sides = [value for value in (before, after) if value is not MISSING]
    if not any(isinstance(value, dict | list) and value for value in sides):
        return
    if all(isinstance(value, dict) for value in sides):
        old = before if isinstance(before, dict) else {}
        new = after if isinstance(after, dict) else {}
        for name in {**old, **new}:
            values = old.get(name, MISSING), new.get(name, MISSING)
            yield Difference(_joined(path, f".{name}"), subject, *values, name, change)
    elif all(isinstance(value, list) for value in sides):
        elements = _elements(
            before if isinstance(before, list) else [],
            after if isinstance(after, list) else [],
            numbers,
        )
        for place, one, other in elements:
            named = _subject(one, other) or subject
            yield Difference(_joined(path, f"[{place}]"), named, one, other, place, change)
    else:
        yield change._replace(after=MISSING)
        yield change._replace(before=MISSING)


def _elements(
    old: list[JSON], new: list[JSON], numbers: _Numbers
) -> Iterator[tuple[int, JSON | Missing, JSON | Missing]]:
    """The elements that only one of two lists contains, paired where they correspond."""
    gone, kept = _split(old, new, numbers)
    come, remaining = _split(new, old, numbers)
    if kept != remaining:  # a different order is a change as well
        gone, come = list(range(len(old))), list(range(len(new)))
        earlier: dict[int, int] = {}
    else:
        earlier = _namesakes({place: new[place] for place in come}, {p: old[p] for p in gone})
    removed = sorted(set(gone) - set(earlier.values()))
    added = [place for place in come if place not in earlier]
    if removed == added:  # replaced in place
        earlier |= {place: place for place in added}
        removed = []
    for place in removed:
        yield place, old[place], MISSING
    for place in come:
        yield place, old[earlier[place]] if place in earlier else MISSING, new[place]


def _split(
    values: list[JSON], others: list[JSON], numbers: _Numbers
) -> tuple[list[int], list[object]]:
    """The places of values that the others do not contain, and the numbers of the rest."""
    there = Counter[object](map(numbers.of, others))
    left: list[int] = []
    kept: list[object] = []
    for place, value in enumerate(values):
        number = numbers.of(value)
        if there[number] > 0:
            there[number] -= 1
            kept.append(number)
        else:
            left.append(place)
    return left, kept


def _namesakes(new: Mapping[int, JSON], old: Mapping[int, JSON]) -> dict[int, int]:
    """Map the places of new objects to old ones of the same name; empty if the order changed."""
    named = defaultdict[str, deque[int]](deque)
    for place, value in old.items():
        if isinstance(value, dict):
            named[_name(value)].append(place)
    pairs = {
        place: named[_name(value)].popleft()
        for place, value in new.items()
        if isinstance(value, dict) and named[_name(value)]
    }
    return pairs if list(pairs.values()) == sorted(pairs.values()) else {}


def _name(value: Mapping[str, JSON]) -> str:
    """The first text of an object, which may be its id; empty if there is none."""
    return next((member for member in value.values() if isinstance(member, str)), "")


def _subject(one: JSON | Missing, other: JSON | Missing) -> str:
    """The label of an object in a list: its first two texts that do not change."""
    known = one if isinstance(one, dict) else other
    compared = other if isinstance(other, dict) else known
    if not isinstance(known, dict) or not isinstance(compared, dict):
        return ""
    texts = (
        value
        for name, value in known.items()
        if name != "status" and isinstance(value, str) and value and compared.get(name) == value
    )
    return ", ".join(islice(texts, 2))


def _joined(path: str, name: str) -> str:
    whole = path + name
    return whole if len(whole) <= _LONGEST_PATH else "…" + whole[1 - _LONGEST_PATH :]
