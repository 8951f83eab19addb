"""A diff as a tree of changed values for a reviewer; values that differ look different."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal

import attrs

from adclient._core import jsontext
from adclient._display import diffs
from adclient._display.diffs import MISSING, Difference, differences_of
from adclient.models import JSON, Diff
from adclient.testing._accounts.state import CURRENCIES

_MOST, _LONGEST = 50, 500
_LEAD = 40
"""How many characters are shown before the first difference of two long texts."""
_PLAIN_KEY = re.compile(r"[\w-]+")
# What could be read as another JSON value, or has blanks that are hard to see.
_AMBIGUOUS = re.compile(
    r"\A(|true|false|null|[-+]?[\d.,]+([eE][-+]?\d+)?(\s[A-Z]{3})?)\Z"
    r'|\A[\[{"]|\A\s|\s\Z|[^\S\n]\s|\n[^\S\n]|\t'
)
_JOINERS = "\u200c\u200d"
"""They join letters of some scripts, and some emoji; next to others they are invisible."""
_LONE_JOINER = re.compile(r"(^|[\0-\x7f])[\u200c\u200d]|[\u200c\u200d]([\0-\x7f]|$)")
_WITHOUT_JOINERS = str.maketrans("", "", _JOINERS)
_BLANK = "\u034f\u115f\u1160\u2800\u3164\uffa0"
"""They count as letters or signs, but are invisible."""
_MONEY = ("budget", "bid", "bid.amount")
_DIGITS = 15
"""Amounts of more digits are written as they are."""


@attrs.frozen(kw_only=True)
class Value:
    """A changed value before and after, as texts; None where it is missing.

    `place` is that in a list, if the list has other elements as well.
    """

    before: str | None = None
    after: str | None = None
    percent: str | None = None
    place: int | None = None


@attrs.define(kw_only=True)
class Node:
    """An object, a list or a value that changes, with the changes inside."""

    label: str
    state: str = ""  # whether all of it is "new" or "removed"
    values: list[Value] = attrs.Factory(list[Value])
    nodes: list["Node"] = attrs.Factory(list["Node"])
    is_element: bool = False  # a named element of a list, whose label stands alone

    def joined(self) -> "Node":
        """The same tree; an object with a single member is on one line with it."""
        nodes = [node.joined() for node in self.nodes]
        if self.values or self.is_element or len(nodes) != 1 or nodes[0].is_element:
            return attrs.evolve(self, nodes=nodes)
        (only,) = nodes
        label = self.label + ("" if only.label.startswith("[") else ".") + only.label
        return attrs.evolve(only, label=label, state=self.state or only.state)


@attrs.frozen
class Tree:
    """The changes that are shown, and counts of what is left out."""

    nodes: list[Node]
    hidden: int
    cut: int

    @property
    def is_whole(self) -> bool:
        """True if it shows all changes, and every character of them."""
        return not self.hidden and not self.cut


def tree_of(diff: Diff, currency: str, *, whole: bool = False) -> Tree:
    """The changed values; at most fifty, with only a part of long ones, or the whole."""
    top, nodes = Node(label=""), dict[int, Node]()
    text = _Text(currency, None if whole else _LONGEST)
    kept: list[Difference] = []  # so that their ids stay unique
    hidden = 0
    for number, change in enumerate(differences_of(diff)):
        if number >= _MOST and not whole:
            hidden += 1
            continue
        around = change.within if isinstance(change.key, int) else change
        missing: list[Difference] = []
        while around is not None and id(around) not in nodes:
            missing.append(around)
            around = around.within
        node = top if around is None else nodes[id(around)]
        for each in reversed(missing):
            kept.append(each)
            nodes[id(each)] = text.node(each)
            node.nodes.append(nodes[id(each)])
            node = nodes[id(each)]
        node.values.append(text.value(change))
    return Tree([node.joined() for node in top.nodes], hidden, text.cut)


@attrs.define
class _Text:
    """Writes labels and values, and counts those that it cuts."""

    currency: str
    longest: int | None
    cut: int = 0

    def node(self, change: Difference) -> Node:
        """The node above the changes inside a value."""
        outer = change.within
        # An element without a name has the subject of the one around its list.
        is_named = outer is not None and change.subject not in ("", outer.subject)
        if is_named and isinstance(change.key, int):
            label = visible(change.subject)
        elif isinstance(change.key, int):
            label = f"[{change.key}]"
        elif outer is None or (_PLAIN_KEY.fullmatch(change.key) and _is_visible(change.key)):
            label = visible(change.key)
        else:
            label = exact(change.key)
        return Node(label=self._short(label), state=_state(change), is_element=is_named)

    def value(self, change: Difference) -> Value:
        """A value that holds no others."""
        before, after, outer = change.before, change.after, change.within
        old = None if before is MISSING else self._text(before, change)
        new = None if after is MISSING else self._text(after, change)
        if before is not MISSING and after is not MISSING and _unjoined(old) == _unjoined(new):
            old, new = exact(before), exact(after)
        percent = diffs.percent(before, after)
        is_among_others = outer is not None and not _state(outer)
        return Value(
            before=self._cut_from(old, new),
            after=self._cut_from(new, old),
            percent=None if percent is None else f"{percent:+.4g}\xa0%".replace("-", "−"),
            place=change.key if is_among_others and isinstance(change.key, int) else None,
        )

    def _text(self, value: JSON, change: Difference) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return text_of(value)
        outer = change.within
        name = f"{outer.key}.{change.key}" if outer else f".{change.key}"
        if not name.endswith(_MONEY):
            return f"{value:,}"
        number, digits = Decimal(str(value)), CURRENCIES[self.currency].digits
        amount = f"{value:,.{digits}f}" if number.adjusted() < _DIGITS else ""
        is_same = amount and Decimal(amount.replace(",", "")) == number
        return f"{amount if is_same else f'{value:,}'}\xa0{self.currency}"

    def _cut_from(self, text: str | None, other: str | None) -> str | None:
        """A text, cut if it is too long; it still differs from the other one."""
        if text is None or self.longest is None or len(text) <= self.longest:
            return text
        pairs = enumerate(zip(text, other or "", strict=False))
        alike = next((place for place, (a, b) in pairs if a != b), min(len(text), len(other or "")))
        return self._short(text, alike - _LEAD if alike >= self.longest else 0)

    def _short(self, text: str, start: int = 0) -> str:
        if self.longest is None or len(text) <= self.longest:
            return text
        self.cut += 1
        end = start + self.longest
        return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))


def _state(change: Difference) -> str:
    """The state of a value that is `new` or `removed` as a whole; otherwise empty."""
    if change.before is MISSING or (change.before == [] and isinstance(change.after, list)):
        return "new"
    is_emptied = change.after == [] and isinstance(change.before, list)
    return "removed" if change.after is MISSING or is_emptied else ""


def text_of(value: JSON) -> str:
    """A value as text; as JSON if the text alone could be that of another value."""
    if not isinstance(value, str) or not _is_visible(value):
        return exact(value)
    return exact(value) if _AMBIGUOUS.search(value) else value


def visible(text: str) -> str:
    """A text with escapes for characters that are invisible or change the direction of others."""
    return text if _is_visible(text) else _escaped(text)


def exact(value: JSON) -> str:
    """A value as JSON, with escapes for invisible characters."""
    return _escaped(jsontext.dumps(value, "value"))


def pretty(value: JSON) -> str:
    """A value as JSON on many lines, with escapes for invisible characters."""
    return "".join(_pretty(value, "\n"))


def _pretty(value: JSON, line: str) -> Iterator[str]:
    if not isinstance(value, dict | list) or not value:
        yield exact(value)
        return
    inner = line + "  "
    is_object = isinstance(value, dict)
    members = value.items() if isinstance(value, dict) else enumerate(value)
    between = "{" if is_object else "["
    for key, member in members:
        yield f"{between}{inner}"
        if isinstance(key, str):
            yield f"{exact(key)}: "
        yield from _pretty(member, inner)
        between = ","
    yield line + ("}" if is_object else "]")


def _is_visible(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return all(_is_shown(c) or c in "\n\t" + _JOINERS for c in text) and not _LONE_JOINER.search(
        text
    )


def _is_shown(char: str) -> bool:
    return char.isprintable() and char not in _BLANK


def _escaped(text: str) -> str:
    return "".join(c if _is_shown(c) else json.dumps(c)[1:-1] for c in text)


def _unjoined(text: str | None) -> str:
    return (text or "").translate(_WITHOUT_JOINERS)
