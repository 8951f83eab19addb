"""Bodies decoded into results in one go: a draft, or the items of a listing.

What does not fit is left to the converter, which takes longer and explains why.
"""

from collections.abc import Callable
from typing import TypeVar, cast, get_args

import attrs

from adclient._core.jsontext import JSONError, loads
from adclient._core.operations import OPERATIONS, Call, Listing, PageInfo
from adclient._core.response import RawResponse
from adclient.models import JSON, Diff, Draft, Item, ResponseInfo, Result

R = TypeVar("R", bound=Result)
T = TypeVar("T", bound=Item)

Fields = dict[str, JSON]
Reader = Callable[[JSON, ResponseInfo], Result]


def result_of(call: Call[R], response: RawResponse, info: ResponseInfo) -> R:
    """The value of a successful response, or a `JSONError` that explains why it has none."""
    if response.defect is not None:
        raise JSONError(f"$: the body cannot be used: {response.defect}")
    # A draft is what a human approves, so it must not be open to two readings. Of a listing, the
    # check would take a fifth of the decoding.
    body = loads(response.body, unique=call.operation.is_write)
    return read(body, call.operation.result, info)


def read(body: JSON, result: type[R], response: ResponseInfo) -> R:
    """The value of a body, or a `JSONError` that names the part which does not fit.

    The body is not to be used afterwards: what is kept of it was not copied.
    """
    try:
        return cast(R, _READERS[result](body, response))
    except (KeyError, TypeError):
        from adclient._core.converter import structure  # deferred: it loads cattrs

        return attrs.evolve(structure(body, result), response=response)


def _read_draft(body: JSON, response: ResponseInfo) -> Draft:
    fields = _fields(body)
    diff = _fields(fields.pop("diff"))
    draft_id, status = fields.pop("draft_id"), fields.pop("status")
    requires, field = fields.pop("requires"), diff.pop("field")
    before, after = diff.pop("before"), diff.pop("after")
    if not (
        isinstance(draft_id, str)
        and isinstance(status, str)
        and isinstance(requires, str)
        and isinstance(field, str)
    ):
        raise TypeError
    return Draft(
        draft_id=draft_id,
        status=status,
        diff=Diff(field=field, before=before, after=after, extra=diff),
        requires=requires,
        extra=fields,
        response=response,
    )


def _listing_reader(cls: type[T]) -> Reader:
    read_items = _items_reader(cls)

    def read_listing(body: JSON, response: ResponseInfo) -> Listing[T]:
        fields = _fields(body)
        page, data = _fields(fields.pop("page")), fields.pop("data")
        info = PageInfo(next=page.pop("next"), extra=page)
        return Listing(data=read_items(data), page=info, extra=fields, response=response)

    return read_listing


def _fields(value: JSON) -> Fields:
    if not isinstance(value, dict):
        raise TypeError
    return value.copy()


def _items_reader(cls: type[T]) -> Callable[[JSON], tuple[T, ...]]:
    """What makes items of objects: of all that is decoded, they are the most.

    What the interface names is taken out of each object, which is `extra` from then on.
    """
    is_finding = attrs.fields_dict(cls)["name"].default is None
    # What a frozen class does in its constructor, for each field, by way of `object.__setattr__`.
    set_id, set_name, set_status, set_extra = (getattr(cls, name).__set__ for name in _SLOTS)
    new = object.__new__

    def read_items(value: JSON) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise TypeError
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
            value[: len(items)] = [item.to_dict() for item in items]  # as they came
            raise
        return tuple(items)

    return read_items


_SLOTS = ("id", "name", "status", "extra")


def _take_texts(fields: Fields) -> None:
    """Take the texts out; a null stays, for `to_dict` must tell it from what did not come."""
    named = {name: fields.get(name) for name in ("id", "name", "status")}
    texts = [name for name, value in named.items() if type(value) is str]
    if "id" not in texts or any(named[name] is not None for name in named.keys() - texts):
        raise TypeError
    for name in texts:
        del fields[name]


_READERS: dict[object, Reader] = {
    Draft: _read_draft,
    **{
        operation.result: _listing_reader(*get_args(operation.result))
        for operation in OPERATIONS
        if not operation.is_write
    },
}
