"""The converter of JSON values to models and to attrs classes of callers; it coerces nothing.

`decode.py` reads responses without it. It loads cattrs, and serves `typed()` and the messages
about responses that do not fit.
"""

import functools
import math
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from types import GenericAlias, UnionType
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs import StructureHandlerNotFoundError
from cattrs.cols import is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override

from adclient._core.jsontext import JSONError, is_array, is_object
from adclient._core.operations import PageInfo
from adclient.models import JSON, Diff, Item, Result

Hook = Callable[[object, type], object]
Factory = Callable[[type, cattrs.Converter], Hook]
Predicate = Callable[[object], bool]

T = TypeVar("T")


class NoReaderError(Exception):
    """A class has a part that no JSON value can be read into."""


class _MismatchError(Exception):
    """A value of the wrong JSON type."""

    def __init__(self, expected: str, value: object) -> None:
        got = "null" if value is None else _JSON_TYPES.get(type(value), "a number")
        super().__init__(f"expected {expected}, got {got}")


def structure(value: JSON, cls: type[T], path: str = "$") -> T:
    """Read a value into a class; the value must not be used afterwards, since parts are kept.

    Raises:
        JSONError: A part does not fit; the message contains its path.
        NoReaderError: The class cannot be read from JSON.
    """
    try:
        return converter().structure(value, cls)
    except (StructureHandlerNotFoundError, NameError) as error:  # NameError: of an annotation
        raise NoReaderError(str(error)) from None
    except Exception as error:
        raise JSONError(_explain(error, path)) from None


def _explain(error: Exception, path: str) -> str:
    try:
        first = cattrs.transform_error(error, path, _describe)[0]
    except RecursionError:
        return f"{path}: nested too deeply"
    # From the right: a key in the description may contain this separator of cattrs as well.
    what, _, where = first.rpartition(f" @ {path}")
    return f"{path}{where}: {what}"


def _describe(error: BaseException, cls: type | None) -> str:
    match error:
        case RecursionError():
            raise error
        case _MismatchError():
            return str(error)
        case KeyError():
            return "missing"
        case AttributeError():  # what cattrs raises for a value that is not a mapping
            return "expected an object"
        case _:
            return f"does not fit {getattr(cls, '__name__', cls)}: {error}" if cls else str(error)


@functools.cache
def converter() -> cattrs.Converter:
    """The one converter of the process, strict about every JSON type."""
    made = cattrs.Converter()
    for cls, read in _READERS.items():
        made.register_structure_hook(cls, _exact_reader(cls, read))
    for is_for, hook in _HOOKS:
        made.register_structure_hook_func(is_for, hook)
    for is_for, factory in _FACTORIES:
        made.register_structure_hook_factory(is_for, factory)
    return made


def _exact_reader(exact: type, read: Callable[[object], object]) -> Hook:
    """A hook that also reads subclasses of a JSON type, such as text enums."""

    def structure_exactly(value: object, cls: type) -> object:
        plain = read(value)
        return plain if cls is exact else cls(plain)

    return structure_exactly


def _union_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read a scalar as the first member that accepts it, any other value as the other members."""
    members = get_args(cls)
    others = tuple(member for member in members if member not in _SCALARS)
    if not others and len(members) == 2 and type(None) in members:
        others = tuple(
            set(members) - {type(None)}
        )  # the reader of an optional scalar explains more
    other = Union[others] if others else None  # noqa: UP007 (`|` takes no tuple)

    def structure_union(value: object, _: type) -> object:
        for scalar in _SCALARS_OF.get(type(value), ()):
            if scalar in members:
                return None if value is None else _READERS[scalar](value)
        if other is None:
            names = ["null" if member is type(None) else member.__name__ for member in members]
            raise _MismatchError(" or ".join(names), value)
        return cast(object, made.structure(value, cast(type, other)))

    return structure_union


def _array_reader(cls: type, made: cattrs.Converter) -> Hook:
    container = _CONTAINERS.get(get_origin(cls) or cls, list)
    element, *rest = get_args(cls) or (object,)
    if rest and rest != [...]:
        read = cast(Hook, make_hetero_tuple_structure_fn(cls, made))
    else:
        read = cast(Hook, list_structure_factory(cast(type, GenericAlias(list, element)), made))

    def structure_array(value: object, _: type) -> object:
        if not is_array(value):
            raise _MismatchError("an array", value)
        return container(cast("list[object]", read(value, cls)))

    return structure_array


def _model_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read an attrs class; the models of this library keep unknown fields in `extra`."""
    model = cast("type[attrs.AttrsInstance]", get_origin(cls) or cls)
    keeps_extra = issubclass(model, Result | Diff | Item | PageInfo)
    overrides = {"extra": override(struct_hook=_unchanged)} if keeps_extra else {}
    if issubclass(model, Result):
        overrides["response"] = override(omit=True)
    # Its type declares only flags as keywords; it also accepts one keyword for each field.
    read = cast("Callable[..., Hook]", make_dict_structure_fn)(cls, made, **overrides)
    fields = attrs.fields_dict(model)
    named = fields.keys() - overrides.keys()
    optional = {name for name in named if fields[name].default is not attrs.NOTHING}

    def structure_model(value: object, _: type) -> object:
        if not keeps_extra:
            return read(_object(value), cls)
        extra = dict(_object(value))
        known: dict[object, object] = {"extra": extra}
        for name in named & extra.keys():
            known[name] = extra[name]
            # A null of an optional field stays in `extra` too: `to_dict` must return it.
            if extra[name] is not None or name not in optional:
                del extra[name]
        return read(known, cls)

    return structure_model


def _unchanged(value: object, _: type) -> object:
    return value


def _object(value: object) -> Mapping[object, object]:
    if is_object(value):
        return value
    raise _MismatchError("an object", value)


def _exactly(cls: type[T], expected: str) -> Callable[[object], T]:
    """A reader of values of one class; it does not accept a bool as a number."""

    def read(value: object) -> T:
        if isinstance(value, cls) and (cls is bool or not isinstance(value, bool)):
            return value
        raise _MismatchError(expected, value)

    return read


_text = _exactly(str, "text")


def _number(value: object) -> int | float | Decimal:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    raise _MismatchError("a number", value)


def _float(value: object) -> float:
    close = float(_number(value))
    if not math.isfinite(close):
        raise ValueError("the number is too large")
    return close


def _decimal(value: object) -> Decimal:
    number = _number(value)
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _datetime(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("the time has no zone")
    return moment


def _read_enum(value: object, cls: type) -> Enum:
    member = cast("type[Enum]", cls)(value)
    plain = cast(object, member.value)
    if value == plain and type(value) is not type(plain):  # True and 1.0 equal 1
        raise ValueError(f"{value!r} is not {plain!r}")
    return member


def _read_literal(value: object, cls: type) -> object:
    for allowed in get_args(cls):
        plain = allowed.value if isinstance(allowed, Enum) else allowed
        if type(value) is type(plain) and value == plain:  # True and 1.0 equal 1
            return cast(object, allowed)
    raise ValueError(f"{value!r} is none of {', '.join(map(repr, get_args(cls)))}")


_READERS: dict[type, Callable[[object], object]] = {
    str: _text,
    bool: _exactly(bool, "true or false"),
    int: _exactly(int, "a whole number"),
    float: _float,
    Decimal: _decimal,
    datetime: _datetime,
    date: lambda value: date.fromisoformat(_text(value)),
    bytes: _exactly(bytes, "bytes, which JSON does not have"),
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

_CONTAINERS: dict[object, Callable[[list[object]], object]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}

_HOOKS: list[tuple[Predicate, Hook]] = [
    (lambda cls: get_origin(cls) is Literal, _read_literal),
    (
        lambda cls: (
            isinstance(cls, type) and issubclass(cls, Enum) and not issubclass(cls, str | int)
        ),
        _read_enum,
    ),
    (lambda cls: cls in _ANY_OBJECT, lambda value, _: dict(_object(value))),
    (lambda cls: cls is JSON or cls is object, _unchanged),
]

_FACTORIES: list[tuple[Predicate, Factory]] = [
    (lambda cls: is_sequence(cls) or (get_origin(cls) or cls) in _CONTAINERS, _array_reader),
    (lambda cls: attrs.has(cast(type, get_origin(cls) or cls)), _model_reader),
    (
        lambda cls: (
            get_origin(cls) in (Union, UnionType) and not _SCALARS.isdisjoint(get_args(cls))
        ),
        _union_reader,
    ),
]
