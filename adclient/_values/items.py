"""The base of items, and their values as JSON."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from typing import cast

from adclient._show import notebook
from adclient._values.json_values import JSON, SCALARS, fields_of, is_array, is_object, walks
from adclient._values.to_json import ToJSON


class ItemBase(ToJSON, notebook.HTMLRepr):
    """The base of items: what they have beside their fields."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """The item as JSON."""

    def __getstate__(self) -> object:
        return object.__getstate__(self)  # pickle's old protocols refuse slots without this method

    # The state that attrs gives to a class with slots would lack the fields of a subclass without.
    def __setstate__(self, state: tuple[Mapping[str, object] | None, Mapping[str, object]]) -> None:
        for part in state:
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)


@walks
def as_objects(items: Iterable[object]) -> list[dict[str, JSON]]:
    """Each item as a JSON object."""
    return [cast("dict[str, JSON]", as_json(item)) for item in items]


def as_json(value: object) -> JSON:
    """A value of a field of a caller's class as JSON."""
    if type(value) in SCALARS:
        return cast(JSON, value)
    if isinstance(value, ItemBase):
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
