"""Lines of a diff for a reviewer; values that differ look different."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice

import attrs

from adclient._core import jsontext
from adclient._json import differ
from adclient.models import JSON, Diff

_DEEPEST, _LONGEST, _MOST = 4, 400, 60
_LEAD = 40
"""How many characters are shown before the first difference of two long texts."""
_JOINERS = "\u200c\u200d"
"""They join letters of some scripts, and some emoji."""
_WITHOUT_JOINERS = str.maketrans("", "", _JOINERS)


@attrs.frozen(kw_only=True)
class Line:
    """One changed value; for a list, what is added and what is removed."""

    path: str
    before: str | None = None
    after: str | None = None
    percent: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def lines_of(diff: Diff) -> list[Line]:
    """The changed values and their paths."""
    changes = _changes(diff.field, diff.before, diff.after, _DEEPEST)
    lines = [_line(*change) for change in islice(changes, _MOST)]
    left = sum(1 for _ in changes)
    return [*lines, Line(path="…", after=f"{left} more")] if left else lines


def _changes(path: str, before: JSON, after: JSON, depth: int) -> Iterator[tuple[str, JSON, JSON]]:
    """Where two values differ, inside objects by path."""
    if not depth or not _are(dict, before, after) or not (before or after):
        yield path, before, after
        return
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for key in {**old, **new}:
        if key not in old or key not in new or differ(old[key], new[key]):
            yield from _changes(f"{path}.{key}", old.get(key), new.get(key), depth - 1)


def _are(kind: type, *values: JSON) -> bool:
    """Whether all values that are not null, and at least one, are of a kind."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, kind) for value in there)


def _line(path: str, before: JSON, after: JSON) -> Line:
    if _are(list, before, after) and (before or after):
        old = before if isinstance(before, list) else []
        new = after if isinstance(after, list) else []
        added, kept = _split(new, old)
        removed, remained = _split(old, new)
        if differ(kept, remained):  # another order is a change as well
            added, removed = new, old
        if len(added) == len(removed) == 1:
            gone, come = _pair(removed[0], added[0])
            return Line(path=visible(path), added=(come,), removed=(gone,))
        # Values that differ must not have texts that look the same.
        shown: dict[str, str] = {}
        pairs = [(_plain(text_of(v)), exact(v)) for v in added[:_MOST] + removed[:_MOST]]
        is_clear = all(shown.setdefault(text, whole) == whole for text, whole in pairs)
        written = text_of if is_clear else exact
        return Line(
            path=visible(path), added=_some(added, written), removed=_some(removed, written)
        )
    percent = Diff(field=path, before=before, after=after).percent
    old_text, new_text = _pair(before, after)
    return Line(
        path=visible(path),
        before=None if before is None else old_text,
        after=None if after is None else new_text,
        percent=None if percent is None else f"{percent:+.4g} %".replace("-", "−"),
    )


def _split(values: list[JSON], others: list[JSON]) -> tuple[list[JSON], list[JSON]]:
    """The values without those that the others contain, and the rest; duplicates count."""
    taken = Counter(jsontext.dumps(other, "value") for other in others)
    left: list[JSON] = []
    kept: list[JSON] = []
    for value in values:
        text = jsontext.dumps(value, "value")
        (kept if taken[text] > 0 else left).append(value)
        taken[text] -= 1
    return left, kept


def _some(values: list[JSON], written: Callable[[JSON], str]) -> tuple[str, ...]:
    texts = [_cut(written(value)) for value in values[:_MOST]]
    left = len(values) - _MOST
    return (*texts, f"… and {left} more") if left > 0 else tuple(texts)


def _pair(before: JSON, after: JSON) -> tuple[str, str]:
    """The texts of two different values, cut where they still differ."""
    old, new = text_of(before), text_of(after)
    if _plain(old) == _plain(new):  # 120 and "120", for instance
        old, new = exact(before), exact(after)
    pairs = enumerate(zip(old, new, strict=False))
    alike = next((place for place, (a, b) in pairs if a != b), min(len(old), len(new)))
    start = alike - _LEAD if alike >= _LONGEST else 0
    return _cut(old, start), _cut(new, start)


def text_of(value: JSON) -> str:
    """A value as plain text, in one line."""
    if isinstance(value, str):
        return visible(value) or "(empty text)"
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, dict) and value:
        return visible(" · ".join(f"{key}: {_inner(inner)}" for key, inner in value.items()))
    return visible(_inner(value))


def _inner(value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(element, str) for element in value):
        return ", ".join(map(str, value))
    return jsontext.dumps(value, "value")


def visible(text: str) -> str:
    """A text with escapes for characters that are invisible or change the direction of others."""
    if text.isprintable():
        return text
    return _escaped(text, "\n\t" + _JOINERS)


def exact(value: JSON) -> str:
    """A value as JSON, with escapes for invisible characters."""
    return _escaped(jsontext.dumps(value, "value"), "")


def _escaped(text: str, but: str) -> str:
    return "".join(c if c.isprintable() or c in but else json.dumps(c)[1:-1] for c in text)


def _plain(text: str) -> str:
    """A text without joiners and surplus blanks, which are hard to see."""
    return " ".join(text.translate(_WITHOUT_JOINERS).split())


def _cut(text: str, start: int = 0) -> str:
    end = start + _LONGEST
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))
