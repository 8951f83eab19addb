"""Items as plain Python values: the fields of each, by name."""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import cast

import attrs

from adclient import models
from adclient._core import jsontext
from adclient.models import Item

Row = Mapping[str, object]

# These hold JSON alone.
OURS = {cls for cls in vars(models).values() if isinstance(cls, type) and issubclass(cls, Item)}


def record(item: object) -> dict[str, object]:
    """The fields of an item that are there, as values of its own."""
    if isinstance(item, Item) and type(item) in OURS:
        return {**item.to_dict()}
    return fields_of(item)


def fields_of(item: object) -> dict[str, object]:
    """All fields of an item, as values that it may share."""
    if isinstance(item, Item) and type(item) in OURS:
        return {"id": item.id, "name": item.name, "status": item.status, **item.extra}
    fields = dict(jsontext.as_mapping(item))
    if isinstance(item, Item):
        del fields["extra"]
        fields |= {name: value for name, value in item.extra.items() if name not in fields}
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: object) -> object:
    if attrs.has(type(value)):
        return _plain(jsontext.as_mapping(value))
    if isinstance(value, Enum):
        return value.value
    if jsontext.is_object(value):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if jsontext.is_array(value):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, cast("Collection[object]", value)), key=repr)
    return value


def by_name(rows: Sequence[Row]) -> dict[str, list[object]]:
    """The values of each field; None where a row does not have it."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}
