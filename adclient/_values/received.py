"""Items of a caller's class as JSON: what they were received as, or their fields."""

from abc import abstractmethod
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any, Self, SupportsIndex, cast

from adclient._display import notebook
from adclient._values.json_values import JSON, fields_of, is_array, is_object


class Received(notebook.HTMLRepr):
    """The base of items: keeps the JSON that a subclass of a caller was read from.

    That is no field of attrs: `attrs.evolve` drops it, because it changes the fields.
    """

    __slots__ = ("_received",)

    _received: dict[str, JSON]

    @property
    def _as_received(self) -> dict[str, JSON] | None:
        return getattr(self, "_received", None)

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """The value as JSON."""

    # The `__getstate__` that attrs gives to a class with slots knows only the fields of that class.

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        reduced = super().__reduce_ex__(protocol)
        is_inherited = "__getstate__" not in vars(type(self))
        others = {**getattr(self, "__dict__", {})} if is_inherited else {}
        if self._as_received is not None:
            others["_received"] = self._as_received
        return (self._restored, (*reduced[:3], others)) if others else reduced

    @classmethod
    def _restored(
        cls,
        make: Callable[..., Any],
        arguments: tuple[object, ...],
        state: object,
        others: dict[str, object],
    ) -> Self:
        item = make(*arguments)
        item.__setstate__(state)
        for name, value in others.items():
            object.__setattr__(item, name, value)
        return cast(Self, item)


def as_json(value: object) -> JSON:
    """A value of a field of a caller's class as JSON."""
    if isinstance(value, Received):
        return value.to_dict()
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, date):  # or a time
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return as_json(sorted(cast("set[object]", value), key=repr))
    if is_array(value):
        return [as_json(element) for element in value]
    if is_object(value):
        return {str(name): as_json(inner) for name, inner in value.items()}
    fields = fields_of(value)
    return cast(JSON, value) if fields is None else as_json(fields)
