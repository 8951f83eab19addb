"""JSON values: what they are, and how they are copied."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Union

from adclient._signatures import TypeAliasType

# A type with a name of its own, which is what signatures show.
JSON = TypeAliasType(
    "JSON", Union[bool, int, float, Decimal, str, "list[JSON]", "dict[str, JSON]", None]
)
"""Any JSON value. A number is an `int` or `float`, or a `Decimal` if a float would lose digits."""


def copied(value: JSON) -> JSON:
    """A deep copy; it does not recurse, for an answer may be nested as deep as was decoded."""
    root: dict[str, JSON] = {"": value}
    waiting: list[dict[str, JSON] | list[JSON]] = [root]
    while waiting:
        parent = waiting.pop()
        if isinstance(parent, dict):
            parent.update({name: _opened(child, waiting) for name, child in parent.items()})
        else:
            parent[:] = [_opened(child, waiting) for child in parent]
    return root[""]


def _opened(value: JSON, waiting: list[dict[str, JSON] | list[JSON]]) -> JSON:
    """A value, or a shallow copy of it whose inside waits to be copied."""
    if not isinstance(value, dict | list):
        return value
    copy = value.copy()
    waiting.append(copy)
    return copy


def copied_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """A deep copy of an object's fields."""
    return {name: copied(value) for name, value in fields.items()}


def differ(one: JSON, other: JSON) -> bool:
    """Whether two values are not the same JSON: true is not 1, though Python thinks so."""
    return next(differences("", one, other), None) is not None


def differences(place: str, before: JSON, after: JSON) -> Iterator[tuple[str, JSON, JSON]]:
    """The places at which two values differ, such as `keywords[0].status`, each with its values."""
    waiting: list[tuple[str, JSON, JSON]] = [(place, before, after)]
    while waiting:
        place, before, after = waiting.pop()
        inside: list[tuple[str, JSON, JSON]] = []
        if isinstance(before, dict) and isinstance(after, dict):
            names = dict.fromkeys([*before, *after])
            inside = [(f"{place}.{name}", before.get(name), after.get(name)) for name in names]
            came_or_went = before.keys() ^ after.keys()
            if any(before.get(name) is after.get(name) is None for name in came_or_went):
                inside = []  # a null beside nothing is seen only where the whole is shown
                yield place, before, after
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pairs = enumerate(zip(before, after, strict=True))
            inside = [(f"{place}[{index}]", old, new) for index, (old, new) in pairs]
        elif before != after or isinstance(before, bool) is not isinstance(after, bool):
            yield place, before, after
        waiting.extend(reversed(inside))
