"""JSON values: their type, copies and differences."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeGuard, Union

from adclient._signatures import TypeAliasType

# A type alias with a name, so that signatures show the name.
JSON = TypeAliasType(
    "JSON", Union[bool, int, float, Decimal, str, "list[JSON]", "dict[str, JSON]", None]
)
"""Any JSON value. A number is an `int` or `float`, or a `Decimal` if a float would lose digits."""


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a caller's value is encoded as a JSON object."""
    return isinstance(value, (dict, Mapping))  # dict first: `Mapping` alone is slower


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a caller's value is encoded as a JSON array."""
    return isinstance(value, list | tuple)


def copied(value: JSON) -> JSON:
    """A deep copy, made without recursion: a response may be nested deeper than the stack."""
    root: dict[str, JSON] = {"": value}
    waiting: list[dict[str, JSON] | list[JSON]] = [root]
    while waiting:
        parent = waiting.pop()
        if isinstance(parent, dict):
            parent.update({name: _shallow(child, waiting) for name, child in parent.items()})
        else:
            parent[:] = [_shallow(child, waiting) for child in parent]
    return root[""]


def _shallow(value: JSON, waiting: list[dict[str, JSON] | list[JSON]]) -> JSON:
    """A value, or a shallow copy of it that waits for its members to be copied."""
    if not isinstance(value, dict | list):
        return value
    copy = value.copy()
    waiting.append(copy)
    return copy


def copied_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """A deep copy of an object's fields."""
    return {name: copied(value) for name, value in fields.items()}


def differ(one: JSON, other: JSON) -> bool:
    """Whether two values are different JSON: true and 1 are, though they are equal in Python."""
    return next(differences("", one, other), None) is not None


def differences(path: str, before: JSON, after: JSON) -> Iterator[tuple[str, JSON, JSON]]:
    """The paths at which two values differ, such as `keywords[0].status`, with both values."""
    waiting: list[tuple[str, JSON, JSON]] = [(path, before, after)]
    while waiting:
        path, before, after = waiting.pop()
        inside: list[tuple[str, JSON, JSON]] = []
        if isinstance(before, dict) and isinstance(after, dict):
            names = dict.fromkeys([*before, *after])
            inside = [(f"{path}.{name}", before.get(name), after.get(name)) for name in names]
            in_one = before.keys() ^ after.keys()
            if any(before.get(name) is after.get(name) is None for name in in_one):
                inside = []  # null or missing: only the objects show which
                yield path, before, after
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pairs = enumerate(zip(before, after, strict=True))
            inside = [(f"{path}[{index}]", old, new) for index, (old, new) in pairs]
        elif before != after or isinstance(before, bool) is not isinstance(after, bool):
            yield path, before, after
        waiting.extend(reversed(inside))
