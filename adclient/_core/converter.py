"""The converter of JSON values to models and to attrs classes of callers; it coerces nothing.

It serves `typed()`, and explains what in a response does not fit. Other responses are read by
`decode.py`, without cattrs.
"""

import math
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import partial
from types import GenericAlias, UnionType
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs import AttributeValidationNote, ClassValidationError, IterableValidationError
from cattrs.cols import is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override

from adclient._core.jsontext import JSONError, is_array, is_object
from adclient._core.operations import PageInfo
from adclient.models import JSON, Diff, Item, Result

Hook = Callable[[object, type], object]

T = TypeVar("T")

converter = cattrs.Converter()

# What each scalar class is read from: in words, and as classes of JSON values.
_READ_FROM: dict[type, tuple[str, tuple[type, ...]]] = {
    str: ("text", (str,)),
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float, Decimal)),
    Decimal: ("a number", (int, float, Decimal)),
    datetime: ("text", (str,)),
    date: ("text", (str,)),
    bytes: ("bytes, which JSON does not have", (bytes,)),
}

# The members of a union that accept a value of a type, in order of preference.
_SCALARS_OF: dict[type, tuple[type, ...]] = {
    type(None): (type(None),),
    bool: (bool,),
    str: (str,),
    int: (int, float, Decimal),
    float: (float, Decimal),
    Decimal: (Decimal, float),
}
_SCALARS = frozenset(_SCALARS_OF)

_JSON_TYPES: dict[type, str] = {
    bool: "true or false",
    str: "text",
    dict: "an object",
    list: "an array",
}

_ANY_OBJECT: tuple[object, ...] = (
    dict,
    Mapping,
    typing.Dict,  # noqa: UP006 (the older spelling)
    typing.Mapping,
)

_UNIONS: tuple[object, ...] = (Union, UnionType)

_CONTAINERS: dict[object, Callable[[list[object]], object]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}


class NoReaderError(Exception):
    """A class has a part that no JSON value can be read into."""


class _MismatchError(Exception):
    """A value of the wrong JSON type."""

    def __init__(self, expected: str, value: object) -> None:
        got = "null" if value is None else _JSON_TYPES.get(type(value), "a number")
        got = "empty text" if value == "" else got
        super().__init__(f"expected {expected}, got {got}")


class _OwnError(Exception):
    """An error that the caller's own class raised for a value."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def structure(value: JSON, cls: type[T], path: str = "$") -> T:
    """Read a value into a class; the value must not be used afterwards, since parts are kept.

    Raises:
        JSONError: A part does not fit; the message contains its path. Its cause is the `ValueError`
            or `TypeError` of the caller's own class, if that refused the value.
        NoReaderError: The class cannot be read from JSON.
        Exception: Whatever else the caller's own class raises.
    """
    try:
        read = converter.get_structure_hook(cls)
    except Exception as error:
        raise NoReaderError(str(error)) from None
    try:
        return cast(T, read(value, cls))
    except Exception as error:
        where, problem, target, is_own = _first(error)
        if isinstance(problem, RecursionError):
            raise JSONError(f"{path}: nested too deeply") from None
        if is_own and not isinstance(problem, ValueError | TypeError):
            problem.add_note(f"raised for {path}{where}")
            raise problem from None
        cause = problem if is_own else None
        raise JSONError(f"{path}{where}: {_describe(problem, target)}") from cause


def _first(error: Exception) -> tuple[str, Exception, object, bool]:
    """The first of nested errors: its path, the type that was read, and whether that raised it."""
    path, target = "", None
    while isinstance(error, ClassValidationError | IterableValidationError):
        of_parts, others = error.group_exceptions()
        if not of_parts:  # of a class, this is what its constructor raised
            return path, others[0], None, isinstance(error, ClassValidationError)
        error, note = of_parts[0]
        if isinstance(note, AttributeValidationNote):
            path += f".{note.name}"
        else:
            path += f"[{note.index!r}]"
        target = cast(object, note.type)
    if isinstance(error, _OwnError):
        return path, error.error, target, True
    return path, error, target, False


def _describe(error: Exception, target: object) -> str:
    match error:
        case KeyError():
            return "missing"
        case AttributeError():  # what cattrs raises for a value that is not a mapping
            return "expected an object"
        case _ if target is None or isinstance(error, _MismatchError):
            return str(error)
        case _:
            return f"does not fit {getattr(target, '__name__', target)}: {error}"


def _construct(cls: Callable[[object], T], value: object) -> T:
    try:
        return cls(value)
    except Exception as error:  # a fault of the caller's class, not of the response
        raise _OwnError(error) from None


def _read_scalar(scalar: type, value: object, cls: type) -> object:
    """Read a value as a scalar class or a subclass, such as a text enum; no bool is a number."""
    expected, classes = _READ_FROM[scalar]
    if not isinstance(value, classes) or (isinstance(value, bool) and scalar is not bool):
        raise _MismatchError(expected, value)
    plain: object = value
    if scalar is float and isinstance(value, int | float | Decimal):
        plain = float(value)
        if not math.isfinite(plain):
            raise ValueError("the number is too large")
    elif scalar is Decimal and isinstance(value, int | float):
        # By `repr`, which has the digits that were received.
        plain = Decimal(repr(value) if isinstance(value, float) else value)
    elif scalar is date and isinstance(value, str):
        plain = date.fromisoformat(value)
    elif scalar is datetime and isinstance(value, str):
        plain = datetime.fromisoformat(value)
        if plain.tzinfo is None:
            raise ValueError("the time has no zone")
    return plain if cls is scalar else _construct(cls, plain)


def _read_id(value: object, cls: type) -> object:
    if value == "":
        raise _MismatchError("an id", value)
    return _read_scalar(str, value, cls)


_IDS = frozenset({"id", "draft_id"})


def _origin(cls: object) -> object:
    """The class without its type arguments."""
    return get_origin(cls) or cls


for _scalar in _READ_FROM:
    converter.register_structure_hook(_scalar, partial(_read_scalar, _scalar))


@converter.register_structure_hook_factory(lambda cls: _origin(cls) is Literal)
def _literal_reader(cls: type) -> Hook:
    def read_literal(value: object, _: type) -> object:
        for allowed in get_args(cls):
            plain = allowed.value if isinstance(allowed, Enum) else allowed
            if type(value) is type(plain) and value == plain:  # True and 1.0 equal 1
                return cast(object, allowed)
        raise ValueError(f"{value!r} is not one of {', '.join(map(repr, get_args(cls)))}")

    return read_literal


@converter.register_structure_hook_factory(
    lambda cls: isinstance(cls, type) and issubclass(cls, Enum) and not issubclass(cls, str | int)
)
def _enum_reader(cls: type) -> Hook:
    def read_enum(value: object, _: type) -> object:
        member = _construct(cast("type[Enum]", cls), value)
        plain = cast(object, member.value)
        if value == plain and type(value) is not type(plain):  # True and 1.0 equal 1
            raise ValueError(f"{value!r} is not {plain!r}")
        return member

    return read_enum


def _object(value: object) -> Mapping[object, object]:
    if is_object(value):
        return value
    raise _MismatchError("an object", value)


def _unchanged(value: object, _: type) -> object:
    return value


converter.register_structure_hook_func(
    lambda cls: cls in _ANY_OBJECT, lambda value, _: dict(_object(value))
)
converter.register_structure_hook_func(lambda cls: cls is JSON or cls is object, _unchanged)


@converter.register_structure_hook_factory(
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
        if not is_array(value):
            raise _MismatchError("an array", value)
        return container(cast("list[object]", read(value, cls)))

    return read_array


@converter.register_structure_hook_factory(lambda cls: attrs.has(cast(type, _origin(cls))))
def _model_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read an attrs class; the models of this library keep unknown fields in `extra`."""
    model = cast("type[attrs.AttrsInstance]", _origin(cls))
    for base in model.__mro__:
        # attrs ignores the fields of such a class: they would silently have their defaults.
        is_decorated = "__attrs_attrs__" in vars(base) or base.__module__ == Item.__module__
        if attrs.has(base) and not is_decorated:
            raise TypeError(f"{base.__name__} has no decorator, such as @attrs.frozen")
    keeps_extra = issubclass(model, Result | Diff | Item | PageInfo)
    is_item = issubclass(model, Item)
    overrides = {"extra": override(struct_hook=_unchanged)} if keeps_extra else {}
    if issubclass(model, Result):
        overrides["response"] = override(omit=True)  # set later; a body's own goes to `extra`
    fields = attrs.fields_dict(model)
    named = fields.keys() - overrides.keys()
    if keeps_extra:
        ids = [name for name in _IDS & named if fields[name].type is str]
        overrides |= {name: override(struct_hook=_read_id) for name in ids}
    # Its type declares only flags as keywords; it also accepts one keyword for each field.
    read = cast("Callable[..., Hook]", make_dict_structure_fn)(cls, made, **overrides)
    optional = {name for name in named if fields[name].default is not attrs.NOTHING}

    def read_model(value: object, _: type) -> object:
        if not keeps_extra:
            return read(_object(value), cls)
        extra = dict(_object(value))
        known: dict[object, object] = {"extra": extra}
        for name in named & extra.keys():
            known[name] = extra[name]
            # A null of an optional field stays in `extra` too: `to_dict` must return it.
            if extra[name] is not None or name not in optional:
                del extra[name]
        instance = read(known, cls)
        if is_item:
            # The fields hold converted values, and defaults for what was missing.
            object.__setattr__(instance, "_received", value)
        return instance

    return read_model


@converter.register_structure_hook_factory(
    lambda cls: _origin(cls) in _UNIONS and not _SCALARS.isdisjoint(get_args(cls))
)
def _union_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read a scalar as the first member that accepts it, any other value as the other members."""
    members = get_args(cls)
    others = tuple(member for member in members if member not in _SCALARS)
    if not others and len(members) == 2 and type(None) in members:
        # The reader of an optional scalar explains more.
        others = tuple(set(members) - {type(None)})
    other = cast(type, Union[others]) if others else None  # noqa: UP007 (`|` takes no tuple)
    # Resolved now, so a class that cannot be read is refused even if no such value occurs.
    read_other = None if other is None else made.get_structure_hook(other)

    def read_union(value: object, _: type) -> object:
        for scalar in _SCALARS_OF.get(type(value), ()):
            if scalar in members:
                return None if value is None else _read_scalar(scalar, value, scalar)
        if read_other is None:
            names = ["null" if member is type(None) else member.__name__ for member in members]
            raise _MismatchError(" or ".join(names), value)
        return read_other(value, other)

    return read_union
