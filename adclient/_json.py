"""JSON values: what they are, and how they are copied."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Union

JSON = Union[None, bool, int, float, Decimal, str, "list[JSON]", "dict[str, JSON]"]
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
