"""`typed()`: reads items into an attrs class of the caller; no value is coerced."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial, reduce
from itertools import chain
from operator import attrgetter
from types import GenericAlias, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs.cols import is_mapping, is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override

from adclient._values.by_field import ByField, Columns
from adclient._values.json_values import (
    AttrsInstance,
    as_objects,
    copied,
    declared_fields,
    differ,
    has_fields,
    is_array,
    is_object,
)
from adclient._values.jsontext import kind_of
from adclient._values.redact import one_line
from adclient.errors import UnexpectedResponse
from adclient.models import JSON, Item

A = TypeVar("A", bound=AttrsInstance)
Hook = Callable[[object, type], object]

_MISSING: Any = object()


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
        converter = strict_converter if convert is None else _converter(convert)
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
            where = "".join([f"$.data[{index}]", *map(_step, path)])
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
        readers.append((field, _plain(cls, converter), _plain(elements, converter), read))
    return readers


_NAMED = attrs.fields_dict(Item).keys() - {"extra"}


def _read_columns(items: Sequence[Item], cls: type, readers: Readers) -> Columns:
    rows = [item.extra for item in items]
    columns: dict[str, Sequence[object]] = {}
    for field, plain, elements, read in readers:
        name = field.metadata.get("name", field.name)
        values: list[Any] = [row.get(name, _MISSING) for row in rows]
        if name in _NAMED:  # a null that was received is in the row
            named = zip(map(attrgetter(name), items), values, strict=True)
            values = [value if text is None else text for text, value in named]
        elif "." in name:
            entered = [reduce(_entered, name.split("."), row) for row in rows]
            values = [v if e is _MISSING else e for e, v in zip(entered, values, strict=True)]
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
    found: Any = copied([value for value in values if value is not _MISSING])  # items keep theirs
    column = cast("list[Any]", read(found, list))
    if len(column) == len(values):
        return column
    if default is attrs.NOTHING:
        raise LookupError
    is_factory, rest = isinstance(default, cast(type, attrs.Factory)), iter(column)
    return [
        next(rest) if value is not _MISSING else default.factory() if is_factory else default
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


def _step(step: str | int) -> str:
    return f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r}]"


class _MismatchError(Exception):
    """A value of another JSON type than its field."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {kind_of(value)}")


def _float(number: int | float | Decimal) -> float:
    if math.isfinite(close := float(number)):
        return close
    raise ValueError("a float cannot hold it")


# What each scalar is read from, in words and as classes of JSON values, and how.
_SCALARS: dict[type, tuple[str, tuple[type, ...], Callable[[Any], object]]] = {
    str: ("text", (str,), str),
    bool: ("true or false", (bool,), bool),
    int: ("a whole number", (int,), int),
    float: ("a number", (int, float, Decimal), _float),
    # A float has the digits that were received in its text.
    Decimal: ("a number", (int, float, Decimal), lambda number: Decimal(str(number))),
    date: ("text", (str,), date.fromisoformat),
    datetime: ("text", (str,), datetime.fromisoformat),
}
_CONTAINERS: tuple[Any, ...] = (tuple, set, frozenset)

_PLAIN = {str, bool, int, float, type(None)}


def _read_scalar(scalar: type, convert: Hook | None, value: object, cls: type) -> object:
    """Read a value as a scalar class or a subclass, such as a text enum; no bool is a number."""
    expected, classes, read = _SCALARS[scalar]
    if convert is not None and type(value) is not scalar:
        value = convert(value, scalar)
        if type(value) is cls:
            return value
    if type(value) not in classes:
        raise _MismatchError(expected, value)
    return read(value) if cls is scalar else cls(value)


def _union_reader(convert: Hook | None, cls: type, made: cattrs.Converter) -> Hook:
    members = [member for member in get_args(cls) if member is not type(None)]
    plain = _PLAIN.intersection(get_args(cls))
    find_missing = convert if type(None) in plain else None

    def read_union(value: object, _: type) -> object:
        if find_missing is not None and find_missing(value, type(None)) is None:
            return None
        if type(value) in plain:
            return value
        problems: list[Exception] = []
        for member in members:
            try:
                return made.structure(value, member)
            except Exception as error:
                problems.append(error)
        raise problems[0]

    return read_union


def _is_union(cls: object) -> bool:
    """Check for unions; those of several classes with fields are told apart by cattrs."""
    members = [*get_args(cls)] if get_origin(cls) in (Union, UnionType) else []
    return sum(map(has_fields, members)) < 2 <= len(members)


@lru_cache(maxsize=16)
def _converter(convert: Hook | None) -> cattrs.Converter:
    """The converter that calls a function of the caller before it reads a value."""
    converter = cattrs.Converter() if convert is None else strict_converter.copy()
    for scalar in _SCALARS:
        converter.register_structure_hook(scalar, partial(_read_scalar, scalar, convert))
    converter.register_structure_hook_factory(_is_union, partial(_union_reader, convert))
    return converter


strict_converter = _converter(None)
"""It reads attrs classes and dataclasses from JSON values, and coerces nothing."""


@strict_converter.register_structure_hook
def _read_member(value: object, cls: type[Enum]) -> Enum:
    member = cls(value)
    if isinstance(value, bool) is not isinstance(member.value, bool):  # true equals 1
        raise ValueError(f"{value!r} is not a valid {cls.__name__}")
    return member


def _read_literal(value: JSON, cls: type) -> object:
    for member in get_args(cls):
        if not differ(getattr(member, "value", member), value):
            return member
    raise ValueError(f"{value!r} is none of {', '.join(map(repr, get_args(cls)))}")


strict_converter.register_structure_hook_func(lambda cls: _origin(cls) is Literal, _read_literal)
strict_converter.register_structure_hook_func(
    lambda cls: cls is JSON or cls is object, lambda value, _: value
)


def _origin(cls: object) -> object:
    """The class without its type arguments."""
    return get_origin(cls) or cls


def _plain(cls: object, made: cattrs.Converter) -> set[object]:
    """The classes of values that are read as they are; none if some others are not refused."""
    members = {*get_args(cls)} if _is_union(cls) else {cls}
    # A function of the caller's may turn a text into None.
    plain = _PLAIN if made is strict_converter else _PLAIN - {type(None)}
    return members if members <= plain else set()


@strict_converter.register_structure_hook_factory(
    lambda cls: is_sequence(cls) or _origin(cls) in _CONTAINERS
)
def _array_reader(cls: type, made: cattrs.Converter) -> Hook:
    container: Any = _origin(cls) if _origin(cls) in _CONTAINERS else list
    element, *rest = get_args(cls) or (object,)
    plain = _plain(element, made)
    if rest and rest != [...]:  # each element has a class of its own
        plain, read = set[object](), cast(Hook, make_hetero_tuple_structure_fn(cls, made))
    else:
        read = cast(Hook, list_structure_factory(cast(type, GenericAlias(list, element)), made))

    def read_array(value: object, _: type) -> object:
        if not is_array(value):  # a text has elements, too
            raise _MismatchError("an array", value)
        if value and plain.issuperset(map(type, value)):
            return value if container is list else container([*value])
        return container(cast("list[object]", read(value, cls)))

    return read_array


@strict_converter.register_structure_hook_factory(is_mapping)
def _mapping_reader(cls: type, made: cattrs.Converter) -> Hook:
    # Its type is partly unknown.
    read: Hook = cast(Any, cattrs).cols.mapping_structure_factory(cls, made)

    def read_mapping(value: object, _: type) -> object:
        if not isinstance(value, dict):  # a list of pairs would become one
            raise _MismatchError("an object", value)
        return read(cast("dict[object, object]", value), cls)

    return read_mapping


@strict_converter.register_structure_hook_factory(lambda cls: has_fields(_origin(cls)))
def _object_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read a class with fields; a subclass of `Item` keeps unknown fields in `extra`."""
    model = cast(type, _origin(cls))
    is_item = issubclass(model, Item)
    fields = declared_fields(model)
    known = {field.name for field in fields} - {"extra"}
    names = {field.name: field.metadata["name"] for field in fields if "name" in field.metadata}
    overrides = {name: override(rename=received) for name, received in names.items()}
    if is_item:
        overrides["extra"] = override(struct_hook=lambda value, _: value)
    # Its type declares only flags as keywords; it also accepts one keyword for each field.
    read = cast("Callable[..., Hook]", make_dict_structure_fn)(cls, made, **overrides)

    def read_object(value: object, _: type) -> object:
        if not isinstance(value, dict):
            raise _MismatchError("an object", value)
        received = cast("dict[str, object]", value)
        found = dict(received)
        for name in names.values():
            if (inner := reduce(_entered, name.split("."), received)) is not _MISSING:
                found[name] = inner
        if is_item:
            found["extra"] = {name: received[name] for name in received if name not in known}
        return read(found, cls)

    return read_object


def _entered(value: Any, step: str) -> Any:
    return value.get(step, _MISSING) if is_object(value) else _MISSING
