"""The items of a page, read in one go: of all that is decoded, they are the most."""

from collections.abc import Callable
from typing import TypeVar, cast

import attrs

from adclient._core.wire import is_array
from adclient.models import Item

Hook = Callable[[object, type], object]
Fields = dict[str, object]
T = TypeVar("T", bound=Item)


def items_reader(cls: type[T], explain: Hook) -> Hook:
    """A hook that reads a list of items of one of our kinds, and takes its objects apart.

    What the interface names is taken out of each object, which is `extra` from then on. `explain`
    does the same more slowly; it is for items that do not fit, and says why.
    """
    is_finding = attrs.fields_dict(cls)["name"].default is None
    # What a frozen class does in its constructor, for each field, by way of `object.__setattr__`.
    set_id, set_name, set_status, set_extra = (getattr(cls, name).__set__ for name in _SLOTS)
    new = object.__new__

    def structure_items(value: object, wanted: type) -> object:
        if not is_array(value):
            return explain(value, wanted)
        items: list[T] = []
        try:
            for extra in cast("list[Fields]", value):
                item_id, name, status = extra["id"], extra.get("name"), extra.get("status")
                if type(item_id) is type(name) is type(status) is str:
                    del extra["id"], extra["name"], extra["status"]
                elif is_finding:
                    _take_texts(extra)
                else:
                    raise TypeError
                item = new(cls)
                set_id(item, item_id)
                set_name(item, name)
                set_status(item, status)
                set_extra(item, extra)
                items.append(item)
        except (KeyError, TypeError):
            whole = [item.to_dict() for item in items]
            return explain([*whole, *value[len(items) :]], wanted)
        return tuple(items)

    return structure_items


_SLOTS = ("id", "name", "status", "extra")


def _take_texts(fields: Fields) -> None:
    """Take the texts out; a null stays, for `to_dict` must tell it from what did not come."""
    named = {name: fields.get(name) for name in ("id", "name", "status")}
    texts = [name for name, value in named.items() if type(value) is str]
    if "id" not in texts or any(named[name] is not None for name in named.keys() - texts):
        raise TypeError
    for name in texts:
        del fields[name]
