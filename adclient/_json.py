"""JSON values: their type, copies and comparison."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Protocol, TypeGuard, Union

from attrs import AttrsInstance

from adclient._signatures import TypeAliasType

# A type alias with a name, so that signatures show the name.
JSON = TypeAliasType(
    "JSON", Union[bool, int, float, Decimal, str, "list[JSON]", "dict[str, JSON]", None]
)
"""Any JSON value. A number is an `int` or `float`, or a `Decimal` if a float would lose digits."""


class DataclassInstance(Protocol):
    """An instance of any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class PydanticModel(Protocol):
    """An instance of any pydantic model, of version 2 or later."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]:
        """The fields of the model."""
        ...


ObjectLike = TypeAliasType(
    "ObjectLike", Mapping[str, object] | AttrsInstance | DataclassInstance | PydanticModel
)
"""What is sent as a JSON object: a mapping, such as a `TypedDict`, or an instance with fields."""


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
    waiting = [(one, other)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return True
            waiting.extend((one[name], other[name]) for name in one)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return True
            waiting.extend(zip(one, other, strict=True))
        elif one != other or isinstance(one, bool) is not isinstance(other, bool):
            return True
    return False
