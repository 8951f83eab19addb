"""The items of a page, read in one go: of all that is decoded, they are the most."""

from collections.abc import Callable
from typing import TypeVar, cast

import attrs

from adclient._core.wire import is_array
from adclient.models import Item

Hook = Callable[[object, type], object]
Fields = dict[str, object]
T = TypeVar("T", bound=Item)


class _OddError(Exception):
    """An item is not as it should be."""


def items_reader(cls: type[T], explain: Hook) -> Hook:
    """A hook that reads a list of items of one of our kinds.

    `explain` does the same more slowly; it is for items that do not fit, and says why.
    """
    read = _item_reader(cls)

    def structure_items(value: object, wanted: type) -> object:
        if not is_array(value):
            return explain(value, wanted)
        try:
            return tuple([read(item) for item in value])
        except _OddError:
            return explain(value, wanted)

    return structure_items


def _item_reader(cls: type[T]) -> Callable[[object], T]:
    """How one item is read: what the interface names is taken out, and the rest is `extra`."""
    fields = attrs.fields_dict(cls)
    needs_name, needs_status = (fields[name].default is attrs.NOTHING for name in _OPTIONAL)
    # What a frozen class does in its constructor, for each field, by way of `object.__setattr__`.
    set_id, set_name, set_status, set_extra = (getattr(cls, name).__set__ for name in _FIELDS)
    new = object.__new__

    def read_item(value: object) -> T:
        if type(value) is not dict:
            raise _OddError
        extra = cast(Fields, value).copy()
        item_id = extra.pop("id", None)
        name = _taken(extra, "name", needs_name)
        status = _taken(extra, "status", needs_status)
        if type(item_id) is not str:
            raise _OddError
        item = new(cls)
        set_id(item, item_id)
        set_name(item, name)
        set_status(item, status)
        set_extra(item, extra)
        return item

    return read_item


_OPTIONAL = ("name", "status")
_FIELDS = ("id", *_OPTIONAL, "extra")


def _taken(extra: Fields, name: str, is_needed: bool) -> str | None:
    """Take a text out; a null stays, for `to_dict` must tell it from what did not come."""
    value = extra.get(name)
    if type(value) is str:
        del extra[name]
        return value
    if value is not None or is_needed:
        raise _OddError
    return None
