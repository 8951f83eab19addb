"""`typed()`: reads items into an attrs class of the caller; no value is coerced."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from itertools import chain
from operator import attrgetter
from types import GenericAlias
from typing import Any, TypeVar, cast, get_args, get_origin

import attrs
import cattrs

from adclient._core.converters import (
    MISSING,
    Hook,
    converter_for,
    entered,
    plain_classes,
    strict_converter,
)
from adclient._values.containers import ByField, Columns
from adclient._values.json_values import (
    AttrsInstance,
    as_objects,
    copied,
    has_fields,
)
from adclient._values.redact import one_line
from adclient.errors import UnexpectedResponse
from adclient.models import Item

A = TypeVar("A", bound=AttrsInstance)


def read_items(
    items: Sequence[object], cls: type[A], operation: str, convert: Hook | None = None
) -> Sequence[A]:
    """Read items into an attrs class or a dataclass, by field if they can be kept so."""
    candidate: object = cls
    if not has_fields(candidate):
        raise TypeError(f"typed() takes an attrs class or a dataclass, not {cls!r}")
    for base in candidate.__mro__:
        # The fields of such a class are ignored: they would silently have their defaults.
        is_decorated = vars(base).keys() & {"__attrs_attrs__", "__dataclass_fields__"}
        if has_fields(base) and not is_decorated and base.__module__ != Item.__module__:
            raise TypeError(f"{base.__name__} has no decorator, such as @attrs.frozen")
    try:
        converter = strict_converter if convert is None else converter_for(convert)
        read = converter.get_structure_hook(cls)
    except Exception as error:
        raise TypeError(f"typed() cannot read {cls.__name__}: {error}") from None
    are_received = {each.__module__ for each in set(map(type, items))} == {Item.__module__}
    if are_received and (readers := _readers(cast(Any, cls), converter)) is not None:
        # An error here is that of any item. Read one by one, below, the first item is named.
        with suppress(Exception):
            return ByField(cls, _read_columns(cast("Sequence[Item]", items), cls, readers))
    found: list[A] = []
    for index, item in enumerate(as_objects(items)):
        try:
            found.append(cast(A, read(item, cls)))
        except Exception as error:
            path, problem, is_own = first_error(error)
            where = f"$.data[{index}]"
            for step in path:
                is_name = isinstance(step, str) and step.isidentifier()
                where += f".{step}" if is_name else f"[{step!r}]"
            if is_own and not isinstance(problem, ValueError | TypeError):
                problem.add_note(f"raised for {where}")
                raise problem from None
            if isinstance(problem, cattrs.StructureHandlerNotFoundError):
                raise TypeError(f"typed() cannot read {cls.__name__}: {problem}") from None
            text = f"{operation}: the items do not fit {cls.__name__}: {where}: {problem}"
            cause = problem if isinstance(problem, ValueError | TypeError) else None
            raise UnexpectedResponse(one_line(text, 400), operation=operation) from cause
    return found


# Each field, the classes of its values and of their elements that are taken as they are, and what
# reads a list of other values.
Readers = list[tuple[Any, set[object], set[object], Hook]]


@lru_cache
def _readers(cls: Any, converter: cattrs.Converter) -> Readers | None:
    """How the fields of a class are read; None if other code than that of attrs makes its items."""
    fields = attrs.fields(cls) if attrs.has(cls) else ()
    file = getattr(getattr(cls.__init__, "__code__", None), "co_filename", "")
    is_plain = (
        file.startswith("<attrs generated ")
        and (type(cls), cls.__new__) == (type, object.__new__)
        and cls.__setattr__ in (object.__setattr__, Item.__setattr__)
        and not any(hasattr(cls, f"__attrs_{when}_init__") for when in ("pre", "post"))
        and all(f.init and not f.converter and not f.validator for f in fields)
        and not any(getattr(f.default, "takes_self", False) for f in fields)
    )
    if not fields or not is_plain:
        return None
    if issubclass(cls, Item):
        fields = [field for field in fields if field.name != "extra"]
    readers: Readers = []
    for field in fields:
        cls = field.type
        elements = get_args(cls)[0] if get_origin(cls) is list else object
        read = converter.get_structure_hook(cast(type, GenericAlias(list, cls)))
        readers.append(
            (field, plain_classes(cls, converter), plain_classes(elements, converter), read)
        )
    return readers


_NAMED = attrs.fields_dict(Item).keys() - {"extra"}


def _read_columns(items: Sequence[Item], cls: type, readers: Readers) -> Columns:
    rows = [item.extra for item in items]
    columns: dict[str, Sequence[object]] = {}
    for field, plain, elements, read in readers:
        name = field.metadata.get("name", field.name)
        values: list[Any] = [row.get(name, MISSING) for row in rows]
        if name in _NAMED:  # a null that was received is in the row
            named = zip(map(attrgetter(name), items), values, strict=True)
            values = [value if text is None else text for text, value in named]
        elif "." in name:
            inside = [reduce(entered, name.split("."), row) for row in rows]
            values = [v if e is MISSING else e for e, v in zip(inside, values, strict=True)]
        kinds = {*map(type, values)}
        if elements and kinds == {list} and {*map(type, chain.from_iterable(values))} <= elements:
            values = [[*each] for each in values]
        elif not kinds <= plain:
            values = _read_column(values, field.default, read)
        columns[field.name] = values
    if issubclass(cls, Item):
        columns["extra"] = [{k: copied(v) for k, v in r.items() if k not in columns} for r in rows]
    return columns


def _read_column(values: list[Any], default: Any, read: Hook) -> list[Any]:
    found: Any = copied([value for value in values if value is not MISSING])  # items keep theirs
    column = cast("list[Any]", read(found, list))
    if len(column) == len(values):
        return column
    if default is attrs.NOTHING:
        raise LookupError
    is_factory, rest = isinstance(default, cast(type, attrs.Factory)), iter(column)
    return [
        next(rest) if value is not MISSING else default.factory() if is_factory else default
        for value in values
    ]


def first_error(error: Exception) -> tuple[list[str | int], Exception, bool]:
    """The first of nested errors: its path, and whether it belongs to an object, not to a field."""
    path: list[str | int] = []
    while isinstance(error, cattrs.ClassValidationError | cattrs.IterableValidationError):
        of_parts, others = error.group_exceptions()
        if not of_parts:
            return path, others[0], True
        error, note = of_parts[0]
        path.append(note.name if isinstance(note, cattrs.AttributeValidationNote) else note.index)
    return path, LookupError("missing") if isinstance(error, KeyError) else error, False
