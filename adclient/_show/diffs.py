"""The changes of a diff: one leaf after another, each with its path and its subject.

Cards, the approval page, results of tools, reports and `print` show what this module finds, in its
words.
"""

import decimal
import enum
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from adclient._values.json_values import JSON
from adclient._values.text import digest, in_full, pair_in_full, part_of, short

if TYPE_CHECKING:
    from adclient.models import Diff

ROWS = 20  # that are shown; the others are counted
# Of a longer path, the end and a digest are kept: a service could send very long names, many times.
_LONGEST_PATH = 1000
_PLAIN_NAME = re.compile(r"[\w-]+", re.ASCII)
# Enough digits for any amount, and few enough that a huge exponent costs nothing.
_ARITHMETIC = decimal.Context(prec=60, traps=[])
_EXACT = decimal.Context(prec=60, traps=[decimal.Inexact])


class Missing(enum.Enum):
    MISSING = "—"  # looks like no value, since such a text is quoted

    def __str__(self) -> str:
        return self.value


MISSING: Final = Missing.MISSING
"""The `before` of an added leaf and the `after` of a removed one; null is a value."""


class Change(NamedTuple):
    """A changed value as texts in full; for numbers, with the difference and the percentage."""

    name: str
    before: str
    after: str
    remark: str


Row = tuple[str] | tuple[str, object] | Change
"""A heading, a name with a value, or a change."""


class Difference(NamedTuple):
    """One changed leaf of a diff: a value that holds no others, or an empty object or list.

    `subject` names the element of a list that the leaf belongs to, such as a keyword and its match
    type; it is empty elsewhere. `key` is the last step of the path, a name or place in a list, and
    `within` the change of the object or list around it.
    """

    path: str
    subject: str
    before: JSON | Missing
    after: JSON | Missing
    key: str | int
    within: "Difference | None" = None

    @property
    def row(self) -> Change:
        """What every review shows of the leaf; its values are never cut."""
        difference, ratio = amount(self.before, self.after), percent(self.before, self.after)
        remark = "" if difference is None else f"{difference:+}"
        if ratio is not None:
            remark = f"{remark} ({ratio:+.4g} %)".strip()
        return Change(self.path, *pair_in_full(self.before, self.after), remark)

    def __str__(self) -> str:
        row, subject = self.row, self.subject and f" ({short(self.subject)})"
        return f"{row.name}{subject}: {row.before} -> {row.after}"


def differences_of(diff: "Diff") -> Iterator[Difference]:
    """The leaves that differ, without elements of lists that were only shifted."""
    before, after = diff.before, diff.after
    # An object or list instead of null was created, and null instead of one removed.
    old = MISSING if before is None and isinstance(after, dict | list) and after else before
    new = MISSING if after is None and isinstance(before, dict | list) and before else after
    path = part_of(in_full(diff.field), 0, _LONGEST_PATH)
    return _leaves(Difference(path, "", old, new, diff.field))


def _leaves(root: Difference) -> Iterator[Difference]:
    key_of, waiting = partial(_key, {}), [root]
    while waiting:
        change = waiting.pop()
        if key_of(change.before) == key_of(change.after):
            continue
        inside = list(_inside(change, key_of))
        waiting.extend(reversed(inside))
        if not inside:
            yield change


def lines(diff: "Diff") -> list[str]:
    """One line for each change, and how many more there are."""
    changes = list(differences_of(diff))
    shown = [*map(str, _first(changes))] or [f"{in_full(diff.field)} is unchanged"]
    return shown + _hidden(changes)


def lines_of_call(arguments: Mapping[str, JSON], most: int = ROWS) -> list[str]:
    """One line for each value that a call sends, and how many more there are."""
    changes = list(_leaves(Difference("", "", MISSING, dict(arguments), ""))) if arguments else []
    rows = (change.row for change in _first(changes, most))
    return [f"{row.name}: {row.after}" for row in rows] + _hidden(changes, most)


def one_line(diff: "Diff | None", arguments: Mapping[str, JSON]) -> str:
    """What a draft changes, in one line; without its diff, what the call sets."""
    values = {name: value for name, value in arguments.items() if not name.endswith("_id")}
    return ", ".join(lines(diff) if diff else lines_of_call(values))


def rows(diff: "Diff", *, most: int = ROWS, currency: str = "") -> tuple[list[Row], list[str]]:
    """A row for each change, below the name of what it belongs to; and notes about the rows."""
    changes = list(differences_of(diff))
    table: list[Row] = [] if changes else [(in_full(diff.field), "unchanged")]
    shown, heading = _first(changes, most), ""
    for change in shown:
        if change.subject != heading:
            heading = change.subject
            table.append((heading or in_full(diff.field),))
        table.append(change.row)
    notes = _hidden(changes, most)
    if any(_last_name(change) == "daily_budget" for change in shown):
        notes.append(f"daily_budget is in {currency or 'the currency of the account'}")
    return table, notes


def more(count: int, what: str, shown: int = ROWS) -> list[str]:
    """A note about what is not shown, if anything is not."""
    return [f"{count - shown} more {what} are not shown"] if count > shown else []


def _hidden(changes: Sequence[Difference], most: int = ROWS) -> list[str]:
    """A note on the changes that are not shown, which tells them from others, if there are any."""
    notes = more(len(changes), "changes", most)
    return [f"{note} ({digest(', '.join(map(str, changes)))})" for note in notes]


def _first(changes: Sequence[Difference], most: int = ROWS) -> list[Difference]:
    """Choose the changes to show: budgets first, elements of lists last."""

    def rank(place: int) -> tuple[bool, bool, bool]:
        change = changes[place]
        is_element = isinstance(change.key, int)  # there may be many of them
        is_number = exact(change.before) is not None or exact(change.after) is not None
        return "budget" not in _last_name(change), is_element, not is_number

    return [changes[place] for place in sorted(sorted(range(len(changes)), key=rank)[:most])]


def _last_name(change: Difference) -> str:
    return change.path.rpartition(".")[2]


def amount(before: object, after: object) -> int | float | Decimal | None:
    """`after` minus `before`, exact up to 60 digits; None unless both are finite numbers."""
    old, new = exact(before), exact(after)
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
    return close if exact(close) == change else change


def percent(before: object, after: object) -> float | None:
    """The change in percent of `before`; None unless both are numbers and `before` is not 0."""
    old, new = exact(before), exact(after)
    if old is None or new is None or old == 0:
        return None
    ratio = _ARITHMETIC.divide(_ARITHMETIC.subtract(new, old), _ARITHMETIC.abs(old))
    close = float(_ARITHMETIC.multiply(ratio, Decimal(100)))
    return close if math.isfinite(close) else None


def exact(value: object) -> Decimal | None:
    """A finite number as a decimal; a float with the digits of its `repr`."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return exact if exact.is_finite() else None


def _key(known: dict[int, object], value: JSON | Missing) -> object:
    """What equal JSON values have in common, and others do not; it can be hashed.

    It is made once for each object and list, and a `frozenset` keeps its hash: to compare lists
    element by element at each level would take quadratic time.
    """
    if not isinstance(value, dict | list):
        return isinstance(value, bool), value  # true and 1 are different JSON
    if id(value) not in known:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        members = frozenset((step, _key(known, inner)) for step, inner in pairs)
        known[id(value)] = type(value), members
    return known[id(value)]


def _inside(change: Difference, key_of: Callable[[JSON | Missing], object]) -> Iterator[Difference]:
    """The changes of the members of two objects or lists; nothing if this is a leaf."""
    before, after = change.before, change.after
    if not any(isinstance(value, dict | list) and value for value in (before, after)):
        return
    empty: JSON = [] if isinstance(before, list) or isinstance(after, list) else {}
    old = empty if before is MISSING else before
    new = empty if after is MISSING else after
    # One that is empty differs from one that is missing, so it is a leaf of its own.
    is_both = (before is MISSING or before) and (after is MISSING or after)
    if is_both and isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            path = _path(change, f".{name}" if _PLAIN_NAME.fullmatch(name) else in_full([name]))
            values = old.get(name, MISSING), new.get(name, MISSING)
            yield Difference(path, change.subject, *values, name, change)
    elif is_both and isinstance(old, list) and isinstance(new, list):
        for place, one, other in _elements(old, new, key_of):
            path, subject = _path(change, f"[{place}]"), _subject(one, other) or change.subject
            yield Difference(path, subject, one, other, place, change)
    else:
        yield change._replace(after=MISSING)
        yield change._replace(before=MISSING)


def _path(around: Difference, step: str) -> str:
    path = f"{around.path}{step}".removeprefix(".")  # what a call sets has no name around it
    return part_of(path, len(path), _LONGEST_PATH)


def _elements(
    old: list[JSON], new: list[JSON], key_of: Callable[[JSON | Missing], object]
) -> Iterator[tuple[int, JSON | Missing, JSON | Missing]]:
    """The elements that only one of two lists contains, paired where they correspond."""
    matched = _matched(enumerate(map(key_of, old)), enumerate(map(key_of, new)))
    kept = matched or {}
    gone = sorted(set(range(len(old))) - set(kept.values()))
    come = [place for place in range(len(new)) if place not in kept]
    pairs: dict[int, int] = {}
    if matched is not None:  # a different order is a change as well
        pairs = _matched(_named(old, gone), _named(new, come)) or {}
    removed = sorted(set(gone) - set(pairs.values()))
    added = [place for place in come if place not in pairs]
    if removed == added:  # replaced in place
        pairs |= {place: place for place in added}
        removed = []
    for place in removed:
        yield place, old[place], MISSING
    for place in come:
        yield place, old[pairs[place]] if place in pairs else MISSING, new[place]


def _matched(
    old: Iterable[tuple[int, object]], new: Iterable[tuple[int, object]]
) -> dict[int, int] | None:
    """Map the places of new elements to those of old ones with the same key, first to first.

    None if these are in another order.
    """
    places = defaultdict[object, deque[int]](deque)
    for place, key in old:
        places[key].append(place)
    matched = {place: places[key].popleft() for place, key in new if places[key]}
    return matched if [*matched.values()] == sorted(matched.values()) else None


def _named(values: list[JSON], places: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The objects at some places with their first text, which may be an id; empty without one."""
    for place in places:
        value = values[place]
        if isinstance(value, dict):
            yield place, next((text for text in value.values() if isinstance(text, str)), "")


def _subject(one: JSON | Missing, other: JSON | Missing) -> str:
    """The label of an object in a list: its first two texts that do not change."""
    objects = [value for value in (one, other) if isinstance(value, dict)]
    if not objects:
        return ""
    texts = (
        value
        for name, value in objects[0].items()
        if name != "status" and isinstance(value, str) and value and objects[-1].get(name) == value
    )
    return ", ".join(map(in_full, islice(texts, 2)))
