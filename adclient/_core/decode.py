"""The fast way from a body to a result: a draft or a listing.

A body that does not fit is left to the slower converter, which explains why.
"""

from collections.abc import Callable
from typing import TypeVar, cast, get_args

import attrs

from adclient._core.jsontext import JSONError, loads
from adclient._core.operations import OPERATIONS, Call, Listing, PageInfo
from adclient._core.response import RawResponse
from adclient.models import JSON, AnalysisItem, Diff, Draft, Item, ResponseInfo, Result

R = TypeVar("R", bound=Result)
T = TypeVar("T", bound=Item)

Fields = dict[str, JSON]


def result_of(call: Call[R], response: RawResponse, info: ResponseInfo) -> R:
    """The result in a successful response, or a `JSONError` that explains why there is none."""
    if response.defect is not None:
        raise JSONError(f"$: the body cannot be used: {response.defect}")
    # A human approves a draft, so a duplicate name must not make it ambiguous. For listings the
    # check would cost a fifth of the decoding.
    body = loads(response.body, unique=call.operation.is_write)
    return read(body, call.operation.result, info)


def read(body: JSON, result: type[R], response: ResponseInfo) -> R:
    """The result in a body, or a `JSONError` with the path of the part that does not fit.

    The body must not be used afterwards: the result shares its parts.
    """
    try:
        fields = _fields(body)
        if result is Draft:
            return cast(R, _draft(fields, response))
        page, data = _fields(fields.pop("page")), fields.pop("data")
        info = PageInfo(next=page.pop("next"), extra=page)
        items = _ITEM_READERS[result](data)
        return cast(R, Listing(data=items, page=info, extra=fields, response=response))
    except (KeyError, TypeError):
        from adclient._core.converter import structure  # deferred: it loads cattrs

        return attrs.evolve(structure(body, result), response=response)


def _draft(fields: Fields, response: ResponseInfo) -> Draft:
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


def _fields(value: JSON) -> Fields:
    if not isinstance(value, dict):
        raise TypeError
    return value.copy()


def _items_reader(cls: type[T]) -> Callable[[JSON], tuple[T, ...]]:
    """A fast reader of items, which are most of what is decoded.

    The fields of the interface are moved out of each object, and the rest becomes its `extra`.
    """
    is_analysis = issubclass(cls, AnalysisItem)
    # The constructor of a frozen class calls `object.__setattr__` for each field; this is faster.
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
                else:
                    named = {"id": item_id, "name": name, "status": status}
                    texts = [field for field, value in named.items() if type(value) is str]
                    nulls = (name, status).count(None)
                    if not is_analysis or "id" not in texts or len(texts) + nulls < len(named):
                        raise TypeError
                    # A null stays: `to_dict` must distinguish it from a missing field.
                    for field in texts:
                        del extra[field]
                item = new(cls)
                set_id(item, item_id)
                set_name(item, name)
                set_status(item, status)
                set_extra(item, extra)
                items.append(item)
        except (KeyError, TypeError):
            value[: len(items)] = [item.to_dict() for item in items]  # for the converter
            raise
        return tuple(items)

    return read_items


_SLOTS = ("id", "name", "status", "extra")


_ITEM_READERS: dict[object, Callable[[JSON], tuple[Item, ...]]] = {
    operation.result: _items_reader(*get_args(operation.result))
    for operation in OPERATIONS
    if not operation.is_write
}
