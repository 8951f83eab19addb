"""Decoding of a body into a draft or a listing; an error names the part that does not fit."""

from collections.abc import Callable
from typing import Any, cast

from adclient._core.call import Call
from adclient._core.response import RawResponse
from adclient._values.jsontext import DEEPEST, JSONError, kind_of, loads, misfit
from adclient.conventions import EndOfListing
from adclient.models import JSON, AnalysisItem, Diff, Draft, Item, ResponseInfo

Fields = dict[str, JSON]
PageClass = Callable[..., Any]  # `Page`, `AsyncPage`, or what takes their fields

_MISSING: Any = object()
_IF_EMPTY = "an empty page has [] or null; transport= can put it there"


def result_of(
    call: Call,
    response: RawResponse,
    info: ResponseInfo,
    page_class: PageClass,
    end: EndOfListing = "null",
) -> Any:
    """The result in a successful response, or a `JSONError` that explains why there is none."""
    if response.defect is not None:
        raise JSONError(f"$: the body cannot be used: {response.defect}")
    # A human approves a draft, so a duplicate name must not make it ambiguous. For listings this
    # check would cost a fifth of the decoding, and that of the nesting as much.
    is_write = call.operation.is_write
    body = loads(response.body, unique=is_write, deepest=DEEPEST if is_write else None)
    fields = _object(body, "$")
    if is_write:
        draft_id, status = _text(fields, "draft_id"), _text(fields, "status")
        if not draft_id:
            raise misfit("$.draft_id", "an id", draft_id)
        diff = _object(_part(fields, "diff", "$"), "$.diff")
        return Draft(
            draft_id=draft_id,
            status=status,
            diff=Diff(
                field=_text(diff, "field", "$.diff"),
                before=_part(diff, "before", "$.diff"),
                after=_part(diff, "after", "$.diff"),
                extra=diff,
            ),
            requires=_text(fields, "requires"),
            extra=fields,
            response=info,
        )
    data = _items(fields.pop("data", _MISSING), cast(type[Item], call.operation.result))
    rest = _object(_part(fields, "page", "$"), "$.page")
    found = end_of(rest)
    if found not in (None, "null", end):
        advice = f"if that is the last page, set Conventions(end_of_listing={found!r})"
        raise JSONError(f"$.page.next: {found}; {advice}")
    received = rest.pop("next", None)
    if rest:
        fields["page"] = rest
    return page_class(data=data, next=None if found else received, extra=fields, response=info)


def end_of(page: Fields) -> EndOfListing | None:
    """How a `page` may say that it is the last; None if its `next` leads to another."""
    if "next" not in page:
        return "missing"
    value = page["next"]
    if value is None:
        return "null"
    return "empty" if value == "" else "false" if value is False else None


def _object(value: JSON, path: str) -> Fields:
    if not isinstance(value, dict):
        raise misfit(path, "an object", value)
    return value


def _part(fields: Fields, name: str, path: str) -> JSON:
    try:
        return fields.pop(name)
    except KeyError:
        raise JSONError(f"{path}.{name}: missing") from None


def _text(fields: Fields, name: str, path: str = "$") -> str:
    if not isinstance(value := fields.get(name), str):
        raise misfit(f"{path}.{name}", "text", _part(fields, name, path))
    del fields[name]
    return value


class _Unfrozen(Item):
    """An item whose fields can be set: faster than the constructor of a frozen class."""

    __slots__ = ()
    __init__: Any = object.__init__
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


def _items(value: JSON, cls: type[Item]) -> tuple[Item, ...]:
    """The items in `data`, which are most of what is decoded.

    The fields of the interface are moved out of each object, and the rest becomes its `extra`.
    """
    if value is None:  # how Go encodes an empty list that was never filled
        return ()
    if not isinstance(value, list):
        got = "missing" if value is _MISSING else f"expected an array, got {kind_of(value)}"
        raise JSONError(f"$.data: {got}; {_IF_EMPTY}")
    items: list[Item] = []
    for extra in cast("list[Fields]", value):
        item: Any = _Unfrozen()
        if type(extra) is not dict:  # faster than `isinstance`
            raise misfit(f"$.data[{len(items)}]", "an object", extra)
        item.id = item_id = extra.pop("id", _MISSING)
        item.name = name = extra.pop("name", _MISSING)
        item.status = status = extra.pop("status", _MISSING)
        item.extra = extra
        if not (type(item_id) is type(name) is type(status) is str and item_id):
            _check(item, f"$.data[{len(items)}]", issubclass(cls, AnalysisItem))
        item.__class__ = cls  # frozen from here on
        items.append(item)
    return tuple(items)


def _check(item: Any, path: str, is_analysis: bool) -> None:
    """Check an item in which a field is missing or not text, which is allowed in an analysis."""
    for field in ("id", "name", "status"):
        value, is_optional = getattr(item, field), is_analysis and field != "id"
        if value is _MISSING and not is_optional:
            raise JSONError(f"{path}.{field}: missing")
        if value is _MISSING:
            setattr(item, field, None)
        elif value is None and is_optional:
            item.extra[field] = None  # it stays: `to_dict` must distinguish it from a missing field
        elif not isinstance(value, str):
            raise misfit(f"{path}.{field}", "text", value)
        elif field == "id" and not value:
            raise misfit(f"{path}.id", "an id", value)
