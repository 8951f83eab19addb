"""A diff made into lines that a reviewer can read."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import attrs

from adclient._core import wire
from adclient.models import JSON, Diff

_DEEPEST, _LONGEST, _MOST = 4, 400, 60


@attrs.frozen(kw_only=True)
class Line:
    """One changed value; a list shows what is added and what is removed instead."""

    path: str
    before: str | None = None
    after: str | None = None
    percent: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def lines_of(diff: Diff) -> list[Line]:
    """The changed values, with where each stands."""
    lines = list(_lines(diff.field, diff.before, diff.after, _DEEPEST))
    left = len(lines) - _MOST
    more = [Line(path="…", after=f"{left} more")] if left > 0 else []
    return lines[:_MOST] + more


def _lines(path: str, before: JSON, after: JSON, depth: int) -> Iterator[Line]:
    if depth and _are(dict, before, after):
        yield from _members(path, before, after, depth)
    elif _are(list, before, after):
        yield _of_lists(path, before, after)
    else:
        percent = Diff(field=path, before=before, after=after).percent
        yield Line(
            path=path,
            before=None if before is None else text_of(before),
            after=None if after is None else text_of(after),
            percent=None if percent is None else f"{percent:+.4g} %".replace("-", "−"),
        )


def _are(kind: type, *values: JSON) -> bool:
    """Whether all values that there are, and at least one, are of a kind."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, kind) for value in there)


def _members(path: str, before: JSON, after: JSON, depth: int) -> Iterator[Line]:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for key in {**old, **new}:
        if key not in old or key not in new or old[key] != new[key]:
            yield from _lines(f"{path}.{key}", old.get(key), new.get(key), depth - 1)


def _of_lists(path: str, before: JSON, after: JSON) -> Line:
    old = [text_of(value) for value in before] if isinstance(before, list) else []
    new = [text_of(value) for value in after] if isinstance(after, list) else []
    added, removed = _without(new, old), _without(old, new)
    # The same elements in another order are a change as well.
    if not added and not removed:
        added, removed = new, old
    return Line(path=path, added=_some(added), removed=_some(removed))


def _without(texts: list[str], others: list[str]) -> list[str]:
    """What is left when each of the others takes away one that is the same."""
    return list((Counter(texts) - Counter(others)).elements())


def _some(texts: list[str]) -> tuple[str, ...]:
    left = len(texts) - _MOST
    return (*texts[:_MOST], f"… and {left} more") if left > 0 else tuple(texts)


def text_of(value: JSON) -> str:
    """A value as a person reads it; objects and lists in one line."""
    if isinstance(value, str):
        return _cut(value) or "(empty text)"
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _cut(f"{value:,}")
    if isinstance(value, dict) and value:
        return _cut(" · ".join(f"{key}: {_inner(inner)}" for key, inner in value.items()))
    return _inner(value)


def _inner(value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(element, str) for element in value):
        return ", ".join(map(str, value))
    return _cut(wire.dumps(value, "value"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
