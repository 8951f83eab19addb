"""Fast decoding of a body into a draft or a listing.

A body that does not fit is read by the slower converter, which explains why.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast, get_args

import attrs

from adclient._core.call import Call
from adclient._core.jsontext import JSONError, loads
from adclient._core.operations import OPERATIONS, PageBody, PageInfo
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
    decode = partial(loads, response.body, unique=call.operation.is_write)
    return read(decode, call.operation.result, info)


def read(decode: Callable[[], JSON], result: type[R], response: ResponseInfo) -> R:
    """The result in a body, or a `JSONError` with the path of the part that does not fit.

    `decode` decodes the body. It is called again if a part does not fit, because the fast path
    takes the decoded body apart.
    """
    body = decode()
    try:
        fields = _fields(body)
        if result is Draft:
            return cast(R, _draft(fields, response))
        page, data = _fields(fields.pop("page")), fields.pop("data")
        info = PageInfo(next=page.pop("next"), extra=page)
        items = _ITEM_READERS[result](data)
        return cast(R, PageBody(data=items, page=info, extra=fields, response=response))
    except (AttributeError, KeyError, TypeError):
        from adclient._core.converter import structure  # deferred: it loads cattrs

        return attrs.evolve(structure(decode(), result), response=response)


def _draft(fields: Fields, response: ResponseInfo) -> Draft:
    diff = _fields(fields.pop("diff"))
    draft_id, status = fields.pop("draft_id"), fields.pop("status")
    requires, field = fields.pop("requires"), diff.pop("field")
    before, after = diff.pop("before"), diff.pop("after")
    if not (
        isinstance(draft_id, str)
        and draft_id
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
    return value


class _Unfrozen(Item):
    """An item whose fields can be set: faster than the constructor of a frozen class."""

    __slots__ = ()
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


def _items_reader(cls: type[T]) -> Callable[[JSON], tuple[T, ...]]:
    """A fast reader of items, which are most of what is decoded.

    The fields of the interface are moved out of each object, and the rest becomes its `extra`.
    """
    is_analysis = issubclass(cls, AnalysisItem)
    new = object.__new__

    def read_items(value: JSON) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise TypeError
        items: list[T] = []
        for extra in cast("list[Fields]", value):
            item: Any = new(_Unfrozen)
            item.id = item_id = extra.pop("id")
            item.name = name = extra.pop("name", _MISSING)
            item.status = status = extra.pop("status", _MISSING)
            item.extra = extra
            if not (type(item_id) is type(name) is type(status) is str and item_id):
                if type(item_id) is not str or not item_id or not is_analysis:
                    raise TypeError
                _read_optional(item, extra)
            item.__class__ = cls  # frozen from here on
            items.append(item)
        return tuple(items)

    return read_items


_MISSING = object()


def _read_optional(item: Any, extra: Fields) -> None:
    for field in ("name", "status"):
        text = getattr(item, field)
        if text is _MISSING:
            setattr(item, field, None)
        elif text is None:  # it stays: `to_dict` must distinguish it from a missing field
            extra[field] = None
        elif type(text) is not str:
            raise TypeError


_ITEM_READERS: dict[object, Callable[[JSON], tuple[Item, ...]]] = {
    operation.result: _items_reader(*get_args(operation.result))
    for operation in OPERATIONS
    if not operation.is_write
}
