"""The columns that a class declares: its annotations alone determine their types."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import accumulate, chain
from numbers import Integral, Real
from types import UnionType
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
import pyarrow

from adclient._tables.rows import encodable, json_text
from adclient._values.json_values import declared_fields, has_fields
from adclient._values.text import short

Array: TypeAlias = "pyarrow.Array[Any]"
Prepare = Callable[[Any], object]
Classes = tuple[type, ...] | None


def _checked_time(value: datetime) -> datetime:
    if value.tzinfo is None or getattr(value, "nanosecond", False):  # which those of pandas have
        raise ValueError("a time without a time zone, or of more than microseconds")
    return value


# The type of each scalar, the classes of its values, and how these are prepared; a class before
# its base. Arrow itself takes other numbers, too, and cuts them off.
_SCALARS: dict[object, tuple[pyarrow.DataType, Classes, Prepare | None]] = {
    Enum: (pyarrow.string(), None, lambda member: str(member.value)),
    bool: (pyarrow.bool_(), None, None),
    int: (pyarrow.int64(), (Integral,), None),
    float: (pyarrow.float64(), (Real,), None),
    # Of a float, the digits that it prints.
    Decimal: (pyarrow.decimal128(38, 9), (Real, Decimal), lambda number: Decimal(str(number))),
    str: (pyarrow.string(), (str,), None),
    datetime: (pyarrow.timestamp("us", "UTC"), (datetime,), _checked_time),
    date: (pyarrow.date32(), (date,), None),
}
# A bool is an int, a time is a date, and a text is a collection, but none is meant by it.
_NARROWER = (bool, datetime, str, bytes, Mapping)
# Their stubs have unknown types.
_list_array: Callable[..., Array] = cast(Any, pyarrow).ListArray.from_arrays
_struct_array: Callable[..., Array] = cast(Any, pyarrow).StructArray.from_arrays


def string_array(values: Sequence[str | None]) -> Array:
    """The array of texts; lone surrogates, which UTF-8 cannot encode, are escaped."""
    try:
        return pyarrow.array(values, pyarrow.string())
    except UnicodeEncodeError:
        return string_array([None if value is None else encodable(value) for value in values])


class MisfitError(Exception):
    """A value does not fit its column."""


@attrs.frozen
class Column:
    """A column of a table, or of the elements of a list or the fields of a struct in it.

    Inside of others, all are nullable. `classes` are those of the values, None for any, and
    `prepare` converts a value other than None for Arrow.
    """

    type: pyarrow.DataType
    is_nullable: bool
    classes: Classes = None
    prepare: Prepare | None = None
    element: "Column | None" = None
    fields: "Mapping[str, Column]" = attrs.field(factory=dict[str, "Column"])

    def checked(self, values: Sequence[Any], name: str) -> Array:
        """The array of values; a `MisfitError` if they do not fit, or may not be null."""
        array = self.array(values, name)
        if array.null_count and not self.is_nullable:
            raise MisfitError(f"{name}: expected {self.type}, got null")
        return array

    def array(self, values: Sequence[Any], path: str) -> Array:
        """The array of values; the `path` names their place in an item."""
        try:
            kinds = (found := {*map(type, values)}) - {type(None)}
            if (classes := self.classes) is not None:
                others = tuple(each for each in _NARROWER if each not in classes)
                # Other than by inheritance alone: a bool is an int, and not meant by it.
                if any(issubclass(cls, others) or not issubclass(cls, classes) for cls in kinds):
                    raise TypeError
            # Where values are None, if any is.
            mask = pyarrow.array([v is None for v in values]) if type(None) in found else None
            if self.element is not None:
                lists = values
                if kinds != {list}:
                    lists = [sorted(v, key=repr) if issubclass(type(v), Set) else v for v in lists]
                ends = [*accumulate([len(each or ()) for each in lists], initial=0)]
                elements = [*chain.from_iterable(filter(None, lists))]
                inside = self.element.array(elements, f"{path}[]")
                offsets = pyarrow.array(ends, pyarrow.int32())
                return _list_array(offsets, inside, mask=mask)
            if self.fields:
                arrays = [
                    field.array([getattr(v, name, None) for v in values], f"{path}.{name}")
                    for name, field in self.fields.items()
                ]
                return _struct_array(arrays, [*self.fields], mask=mask)
            if (prepare := self.prepare) is not None:
                values = [None if value is None else prepare(value) for value in values]
            if self.type == pyarrow.string():
                return string_array(cast("Sequence[str | None]", values))
            return pyarrow.array(values, self.type)
        except (AttributeError, ValueError, TypeError, ArithmeticError):  # also those of Arrow
            got = short(values[0] if len(values) == 1 else values)
            raise MisfitError(f"{path}: expected {self.type}, got {got}") from None


@lru_cache
def has_types(cls: type) -> bool:
    """Check for a class with fields, each of a type that says what its values are.

    A `NameError` if a name is not defined, which it may be later.
    """
    fields = declared_fields(cls) if has_fields(cls) else ()
    annotations = get_type_hints(cls) if fields else {}
    types = [annotations.get(field.name, field.type) for field in fields]
    return has_fields(cls) and not any(each is None or isinstance(each, TypeVar) for each in types)


@lru_cache
def columns_of(cls: type, inside: tuple[type, ...] = ()) -> dict[str, Column]:
    """The columns of a class, by field."""
    annotations = get_type_hints(cls)
    return {
        field.name: _column(
            [annotations.get(field.name, field.type)], field.metadata.get("decimal"), (*inside, cls)
        )
        # The undeclared fields of an item come last.
        for field in sorted(declared_fields(cls), key=lambda field: field.name == "extra")
    }


def _column(
    annotations: Iterable[object], digits: tuple[int, int] | None, inside: tuple[type, ...]
) -> Column:
    """The column of values of any of the annotations, in a field of the last class `inside`.

    `digits` are the precision and the scale of its decimals.
    """
    members = set(chain.from_iterable(map(_members, annotations)))
    is_nullable = not members.isdisjoint({type(None), object, Any})
    kinds = set[object]()
    for member in members - {type(None)}:  # a scalar class for those that derive from it
        bases = (each for each in _SCALARS if issubclass(_class_of(member), cast(type, each)))
        kinds.add(next(bases, member))
    if kinds and kinds <= {int, float, Decimal}:
        has_digits = digits is not None or Decimal in kinds
        kinds = {Decimal if has_digits else float if float in kinds else int}
    kind = kinds.pop() if len(kinds) == 1 else object
    if kind in _SCALARS:
        scalar, classes, prepare = _SCALARS[kind]
        if kind is Decimal and digits is not None:
            scalar = pyarrow.decimal128(*digits)
        return Column(scalar, is_nullable, classes, prepare)
    cls = _class_of(kind)
    if _is_array(cls):
        inner = [each for each in get_args(kind) if each is not ...]
        element = _column(inner or [object], digits, inside)
        return Column(pyarrow.list_(element.type), is_nullable, (Collection,), element=element)
    # A class inside itself would have no end.
    if has_fields(cls) and cls not in inside and (fields := columns_of(cast(type, cls), inside)):
        struct = pyarrow.struct([(name, field.type) for name, field in fields.items()])
        return Column(struct, is_nullable, (cls,), fields=fields)
    return Column(pyarrow.string(), is_nullable, prepare=json_text)


def _members(annotation: object) -> Iterator[object]:
    """The members of a union, of aliases and of literals."""
    alias = getattr(annotation, "__value__", None) or getattr(annotation, "__supertype__", None)
    if alias is not None:
        yield from _members(alias)
    elif get_origin(annotation) in (Union, UnionType):
        yield from chain.from_iterable(map(_members, get_args(annotation)))
    elif get_origin(annotation) is Literal:
        yield from map(type, get_args(annotation))
    else:
        yield annotation


def _class_of(annotation: object) -> type[object]:
    """The class of an annotation, without its arguments."""
    cls: object = get_origin(annotation) or annotation
    return cls if isinstance(cls, type) else object


def _is_array(cls: type) -> bool:
    return issubclass(cls, Collection) and not issubclass(cls, Mapping)
