"""Converters from JSON values: a strict one, and `Lenient` for what else services send."""

import math
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial, reduce
from types import GenericAlias, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs.cols import is_mapping, is_sequence, list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_hetero_tuple_structure_fn, override

from adclient._show.signatures import public_in
from adclient._values.json_values import (
    as_float,
    declared_fields,
    differ,
    has_fields,
    is_array,
    is_object,
)
from adclient._values.jsontext import JSONError, kind_of, loads
from adclient.models import JSON, Item

Hook = Callable[[object, type], object]

MISSING: Any = object()


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
def converter_for(convert: Hook | None) -> cattrs.Converter:
    """The converter that calls a function of the caller before it reads a value."""
    converter = cattrs.Converter() if convert is None else strict_converter.copy()
    for scalar in _SCALARS:
        converter.register_structure_hook(scalar, partial(_read_scalar, scalar, convert))
    converter.register_structure_hook_factory(_is_union, partial(_union_reader, convert))
    return converter


strict_converter = converter_for(None)
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


def plain_classes(cls: object, made: cattrs.Converter) -> set[object]:
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
    plain = plain_classes(element, made)
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
            if (inner := reduce(entered, name.split("."), received)) is not MISSING:
                found[name] = inner
        if is_item:
            found["extra"] = {name: received[name] for name in received if name not in known}
        return read(found, cls)

    return read_object


def entered(value: Any, step: str) -> Any:
    """What is at a name in an object; `MISSING` if it is none, or has no such name."""
    return value.get(step, MISSING) if is_object(value) else MISSING


# Later times are in milliseconds, or in microseconds: of seconds, this is the year 5138.
_LATEST = 1e11


@public_in("adclient")
@attrs.frozen(kw_only=True)
class Lenient:
    """A function for `typed(cls, convert=…)` that reads what ad services often send.

    In a field of such a type, a text becomes a number, true or false, a time or a date, and a
    number becomes the time of so many seconds, milliseconds or microseconds since 1970. An empty
    text and `-` become None in a field that can be None. Anything else stays an error.

    Attributes:
        zone: The time zone of times that have none. Without it they stay without, and a number is
            a time in UTC.

    Examples:
        >>> import attrs
        >>> from datetime import datetime
        >>> from adclient import Campaign, Lenient, Page
        >>> @attrs.frozen(kw_only=True)
        ... class Spending(Campaign):
        ...     spend: float | None
        ...     changed: datetime
        >>> fields = {"spend": "-", "changed": 1772366400}
        >>> page = Page(data=[Campaign(id="a", name="A", status="ENABLED", extra=fields)])
        >>> campaign = page.typed(Spending, convert=Lenient()).data[0]
        >>> campaign.spend, str(campaign.changed)
        (None, '2026-03-01 12:00:00+00:00')
    """

    zone: tzinfo | None = None

    def __call__(self, value: object, cls: type) -> object:
        """Convert a value for a field; what cannot be converted is returned as it is.

        Args:
            value: The value as it was received.
            cls: The class of the field: `str`, `bool`, `int`, `float`, `Decimal`, `datetime` or
                `date`; first `NoneType`, if the field can be None.

        Returns:
            The value to read instead.

        Examples:
            >>> from adclient import Lenient
            >>> Lenient()("12.5", float), Lenient()("twelve", float)
            (12.5, 'twelve')
        """
        text = value.strip() if isinstance(value, str) else None
        if cls is type(None):
            return None if text in ("", "-") else value
        with suppress(ValueError, OverflowError, OSError, JSONError):
            if issubclass(cls, date):
                # A text of eight digits is a date, such as 20260301.
                if text is not None and not (text.isdecimal() and len(text) != 8):
                    time = datetime.fromisoformat(text)
                    time = time.replace(tzinfo=time.tzinfo or self.zone)
                else:
                    seconds = as_float(value if text is None else int(text))
                    for _ in range(2):
                        seconds = seconds / 1000 if abs(seconds) > _LATEST else seconds
                    time = datetime.fromtimestamp(seconds, self.zone or UTC)
                return time if cls is datetime else time.date()
            if text is not None and cls is not str:
                return loads(text.encode())
        return value
