"""The converter: JSON values to models. Nothing is coerced on the way."""

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

T = TypeVar("T")


class NoReaderError(Exception):
    """A class has a part that no JSON value can be read into."""


def structure(value: JSON, cls: type[T], path: str = "$") -> T:
    """A value read into a class, or a `JSONError` that says which part does not fit.

    The value is not to be used afterwards: what is kept of it was not copied.
    """
    try:
        return _structured(value, cls, path)
    except RecursionError:
        raise JSONError(f"{path}: nested too deeply") from None


def _structured(value: JSON, cls: type[T], path: str) -> T:
    try:
        return converter().structure(value, cls)
    except RecursionError:
        raise
    except (StructureHandlerNotFoundError, NameError) as error:  # a type that has no reader, or
        raise NoReaderError(str(error)) from None  # whose name leads nowhere
    except Exception as error:
        raise JSONError(_explained(error, path)) from None


class _MismatchError(Exception):
    """A value of the wrong JSON type."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"expected {expected}, got {_json_type(got)}")


def _explained(error: Exception, path: str) -> str:
    # A key may hold the very text that cattrs puts between the description and the path.
    first = cattrs.transform_error(error, path, _described)[0]
    what, _, where = first.rpartition(f" @ {path}")
    return f"{path}{where}: {what}"


def _described(error: BaseException, cls: type | None) -> str:
    if isinstance(error, RecursionError):
        raise error
    if isinstance(error, _MismatchError):
        return str(error)
    if isinstance(error, KeyError):
        return "missing"
    if isinstance(error, AttributeError):  # how cattrs meets what is no mapping
        return "expected an object"
    return f"does not fit {getattr(cls, '__name__', cls)}: {error}" if cls else str(error)


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    return _JSON_TYPES.get(type(value), "a number")


@functools.cache
def converter() -> cattrs.Converter:
    """The one converter of the process, strict about every JSON type."""
    made = cattrs.Converter()
    for cls, read in _READERS.items():
        made.register_structure_hook(cls, _exact_reader(cls, read))
    made.register_structure_hook_func(_is_literal, _literal)
    made.register_structure_hook_func(_is_plain_enum, _enum)
    made.register_structure_hook_func(_is_any_object, _any_object)
    made.register_structure_hook_factory(_is_array, _array_reader)
    made.register_structure_hook_factory(_is_model, _model_reader)
    made.register_structure_hook_factory(_is_union_of_scalars, _union_reader)
    made.register_structure_hook_factory(_is_optional, _optional_reader)
    made.register_structure_hook_func(_is_any_json, _unchanged)
    return made


def _exact_reader(exact: type, read: Callable[[object], object]) -> Hook:
    """A hook that also makes the classes derived from a JSON type, such as text enums."""

    def structure_exactly(value: object, cls: type) -> object:
        plain = read(value)
        return plain if cls is exact else cls(plain)

    return structure_exactly


def _is_literal(cls: object) -> bool:
    return get_origin(cls) is Literal


def _is_plain_enum(cls: object) -> bool:
    return isinstance(cls, type) and issubclass(cls, Enum) and not issubclass(cls, str | int)


def _enum(value: object, cls: type[Enum]) -> Enum:
    member = cls(value)
    plain = cast(object, member.value)
    if value == plain and type(value) is not type(plain):  # for a 1, True and 1.0
        raise ValueError(f"{value!r} is not {plain!r}")
    return member


def _is_any_object(cls: object) -> bool:
    return cls in _ANY_OBJECT


def _any_object(value: object, _: type) -> object:
    if not is_object(value):
        raise _MismatchError("an object", value)
    return dict(value)


def _is_union(cls: object) -> bool:
    return get_origin(cls) in (Union, UnionType)


def _is_union_of_scalars(cls: object) -> bool:
    return _is_union(cls) and not _SCALARS.isdisjoint(get_args(cls))


def _union_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read what is no scalar of the union's into one of its other members."""
    members = get_args(cls)
    others = tuple(member for member in members if member not in _SCALARS)
    other = Union[others] if others else None  # noqa: UP007 (how many they are is known only now)

    def structure_union(value: object, _: type) -> object:
        for scalar in _SCALARS_OF.get(type(value), ()):
            if scalar in members:
                return None if value is None else _READERS[scalar](value)
        if other is None:
            raise _MismatchError(" or ".join(_name_of(member) for member in members), value)
        return cast(object, made.structure(value, cast(type, other)))

    return structure_union


def _name_of(scalar: type) -> str:
    return "null" if scalar is type(None) else scalar.__name__


def _is_optional(cls: object) -> bool:
    members = get_args(cls)
    return _is_union(cls) and len(members) == 2 and type(None) in members


def _optional_reader(cls: type, made: cattrs.Converter) -> Hook:
    (inner,) = (member for member in get_args(cls) if member is not type(None))

    def structure_optional(value: object, _: type) -> object:
        return None if value is None else cast(object, made.structure(value, inner))

    return structure_optional


def _unchanged(value: object, _: type) -> object:
    return value


def _is_any_json(cls: object) -> bool:
    return cls is JSON or cls is object


def _is_array(cls: object) -> bool:
    return is_sequence(cls) or (get_origin(cls) or cls) in _CONTAINERS


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


def _is_model(cls: type) -> bool:
    return attrs.has(get_origin(cls) or cls)


def _model_reader(cls: type, made: cattrs.Converter) -> Hook:
    """Read an attrs class; those of our own keep in `extra` what they do not name."""
    model = get_origin(cls) or cls
    fields = {field.name: field for field in attrs.fields(model)}
    keeps_extra = issubclass(model, Result | Diff | Item | PageInfo)
    as_it_is = override(struct_hook=_unchanged)
    if issubclass(model, Result):
        read = cast(
            Hook, make_dict_structure_fn(cls, made, extra=as_it_is, response=override(omit=True))
        )
    elif keeps_extra:
        read = cast(Hook, make_dict_structure_fn(cls, made, extra=as_it_is))
    else:
        read = cast(Hook, make_dict_structure_fn(cls, made))
    optional = {name for name, field in fields.items() if field.default is not attrs.NOTHING}
    named = fields.keys() - ({"extra", "response"} if issubclass(model, Result) else {"extra"})

    def structure_model(value: object, _: type) -> object:
        if not is_object(value):
            raise _MismatchError("an object", value)
        if not keeps_extra:
            return read(value, cls)
        extra = dict(value)
        known: dict[object, object] = {"extra": extra}
        for name in named:
            if name in extra:
                known[name] = extra[name]
                # A null of an optional field stays in `extra`, too: to_dict tells it from none.
                if extra[name] is not None or name not in optional:
                    del extra[name]
        return read(known, cls)

    return structure_model


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _MismatchError("text", value)


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _MismatchError("true or false", value)


def _int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _MismatchError("a whole number", value)


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _MismatchError("a number", value)
    close = float(value)
    if not math.isfinite(close):
        raise ValueError("the number is too large")
    return close


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _MismatchError("a number", value)
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _datetime(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("the time has no zone")
    return moment


def _date(value: object) -> date:
    return date.fromisoformat(_text(value))


def _bytes(_: object) -> bytes:
    raise ValueError("JSON has no bytes")


def _literal(value: object, cls: type) -> object:
    # True == 1 == 1.0, so equality alone would coerce.
    for allowed in get_args(cls):
        plain = allowed.value if isinstance(allowed, Enum) else allowed
        if type(value) is type(plain) and value == plain:
            return cast(object, allowed)
    raise ValueError(f"{value!r} is none of {', '.join(map(repr, get_args(cls)))}")


_READERS: dict[type, Callable[[object], object]] = {
    str: _text,
    bool: _bool,
    int: _int,
    float: _float,
    Decimal: _decimal,
    datetime: _datetime,
    date: _date,
    bytes: _bytes,
}

# Which members of a union take a value of a type, the first first.
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
    typing.Dict,  # noqa: UP006 (the older way to write it)
    typing.Mapping,
)

_CONTAINERS: dict[object, Callable[[list[object]], object]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
}
