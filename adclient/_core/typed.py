"""`typed()`: reads items into an attrs class of the caller; no value is coerced."""

import math
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from types import GenericAlias
from typing import Any, TypeVar, cast, get_args, get_origin

import attrs
import cattrs
from cattrs import (
    AttributeValidationNote,
    ClassValidationError,
    IterableValidationError,
    StructureHandlerNotFoundError,
    cols,
)
from cattrs.cols import is_mapping, is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override
from cattrs.strategies import configure_union_passthrough

from adclient._core.jsontext import kind_of
from adclient._core.redact import one_line
from adclient._values.json_values import AttrsInstance, is_array
from adclient.errors import UnexpectedResponse
from adclient.models import JSON, Item

A = TypeVar("A", bound=AttrsInstance)
Hook = Callable[[object, type], object]


def read_items(items: Iterable[dict[str, JSON]], cls: type[A], operation: str) -> tuple[A, ...]:
    """Read items into an attrs class; the items must not be used afterwards."""
    candidate: object = cls
    if not (isinstance(candidate, type) and attrs.has(candidate)):
        raise TypeError(f"typed() takes an attrs class, not {cls!r}")
    for base in candidate.__mro__:
        # attrs ignores the fields of such a class: they would silently have their defaults.
        is_decorated = "__attrs_attrs__" in vars(base) or base.__module__ == Item.__module__
        if attrs.has(base) and not is_decorated:
            raise TypeError(f"{base.__name__} has no decorator, such as @attrs.frozen")
    try:
        read = strict_converter.get_structure_hook(cls)
    except Exception as error:
        raise TypeError(f"typed() cannot read {cls.__name__}: {error}") from None
    found: list[A] = []
    for index, item in enumerate(items):
        try:
            found.append(cast(A, read(item, cls)))
        except Exception as error:
            path, problem, is_own = first_error(error)
            where = "".join([f"$.data[{index}]", *map(_step, path)])
            if is_own and not isinstance(problem, ValueError | TypeError):
                problem.add_note(f"raised for {where}")
                raise problem from None
            if isinstance(problem, StructureHandlerNotFoundError):
                raise TypeError(f"typed() cannot read {cls.__name__}: {problem}") from None
            text = f"{operation}: the items do not fit {cls.__name__}: {where}: {problem}"
            cause = problem if isinstance(problem, ValueError | TypeError) else None
            raise UnexpectedResponse(one_line(text, 400), operation=operation) from cause
    return tuple(found)


def first_error(error: Exception) -> tuple[list[str | int], Exception, bool]:
    """The first of nested errors: its path, and whether it belongs to an object, not to a field."""
    path: list[str | int] = []
    while isinstance(error, ClassValidationError | IterableValidationError):
        of_parts, others = error.group_exceptions()
        if not of_parts:
            return path, others[0], True
        error, note = of_parts[0]
        path.append(note.name if isinstance(note, AttributeValidationNote) else note.index)
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
_CONTAINERS: dict[object, Callable[[list[object]], object]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}

strict_converter = cattrs.Converter()
"""It reads attrs classes from JSON values, and coerces nothing."""
configure_union_passthrough(bool | int | float | Decimal | str | None, strict_converter)


def _read_scalar(scalar: type, value: object, cls: type) -> object:
    """Read a value as a scalar class or a subclass, such as a text enum; no bool is a number."""
    expected, classes, convert = _SCALARS[scalar]
    if type(value) not in classes:
        raise _MismatchError(expected, value)
    return convert(value) if cls is scalar else cls(value)


for _scalar in _SCALARS:
    strict_converter.register_structure_hook(_scalar, partial(_read_scalar, _scalar))
strict_converter.register_structure_hook_func(
    lambda cls: cls is JSON or cls is object, lambda value, _: value
)


def _origin(cls: object) -> object:
    """The class without its type arguments."""
    return get_origin(cls) or cls


@strict_converter.register_structure_hook_factory(
    lambda cls: is_sequence(cls) or _origin(cls) in _CONTAINERS
)
def _array_reader(cls: type, made: cattrs.Converter) -> Hook:
    container = _CONTAINERS.get(_origin(cls), list)
    element, *rest = get_args(cls) or (object,)
    if rest and rest != [...]:
        read = cast(Hook, make_hetero_tuple_structure_fn(cls, made))
    else:
        read = cast(Hook, list_structure_factory(cast(type, GenericAlias(list, element)), made))

    def read_array(value: object, _: type) -> object:
        if not is_array(value):  # a text has elements, too
            raise _MismatchError("an array", value)
        return container(cast("list[object]", read(value, cls)))

    return read_array


@strict_converter.register_structure_hook_factory(is_mapping)
def _mapping_reader(cls: type, made: cattrs.Converter) -> Hook:
    # Its type is partly unknown.
    read: Hook = cast(Any, cols).mapping_structure_factory(cls, made)

    def read_mapping(value: object, _: type) -> object:
        if not isinstance(value, dict):  # a list of pairs would become one
            raise _MismatchError("an object", value)
        return read(cast("dict[object, object]", value), cls)

    return read_mapping


@strict_converter.register_structure_hook_factory(lambda cls: attrs.has(cast(type, _origin(cls))))
def _object_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read an attrs class; a subclass of `Item` keeps unknown fields in `extra`."""
    model = cast("type[attrs.AttrsInstance]", _origin(cls))
    is_item = issubclass(model, Item)
    overrides = {"extra": override(struct_hook=lambda value, _: value)} if is_item else {}
    named = attrs.fields_dict(model).keys() - overrides.keys()
    # Its type declares only flags as keywords; it also accepts one keyword for each field.
    read = cast("Callable[..., Hook]", make_dict_structure_fn)(cls, made, **overrides)

    def read_object(value: object, _: type) -> object:
        if not isinstance(value, dict):
            raise _MismatchError("an object", value)
        fields = cast("dict[str, object]", value)
        if is_item:
            extra = {name: inner for name, inner in fields.items() if name not in named}
            fields = {**fields, "extra": extra}
        return read(fields, cls)

    return read_object
