"""Type inference: statistics of all values of a column, the last as much as the first."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

import attrs

from adclient._tables.records import by_name, encodable_name

_MAX_FIELDS = 64  # of an object whose fields have columns; a larger one is more like a map
_MAX_DEPTH = 8
_EXACT_IN_A_FLOAT = 2**53


class Kind(Enum):
    """The kind of a value in a table."""

    BOOL = "true or false"
    WHOLE = "whole number"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    DATETIME = "time"
    DATE = "date"
    ARRAY = "array"
    OBJECT = "object"
    OTHER = "something else"


NUMBERS = {Kind.WHOLE, Kind.FLOAT, Kind.DECIMAL}
_KINDS: dict[type, Kind] = {  # a class before its base
    bool: Kind.BOOL,
    int: Kind.WHOLE,
    float: Kind.FLOAT,
    Decimal: Kind.DECIMAL,
    str: Kind.TEXT,
    datetime: Kind.DATETIME,
    date: Kind.DATE,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}
# Those whose values matter for the type, not only their kind.
_INSPECTED = {Kind.WHOLE, Kind.DECIMAL, Kind.DATETIME, Kind.ARRAY, Kind.OBJECT}


@attrs.define
class ColumnStats:
    """Statistics of the values of a column.

    The digits of floats are counted only if `exactly`: it is slow and rarely needed.
    """

    exactly: bool
    depth: int = 0
    kinds: set[Kind] = attrs.field(factory=set[Kind])
    lowest: int = 0
    highest: int = 0
    digits: int = 0  # the most before the decimal point
    places: int = 0  # the most after it
    element: "ColumnStats | None" = None
    fields: "dict[str, ColumnStats]" = attrs.field(factory=dict[str, "ColumnStats"])

    def add(self, values: Sequence[object]) -> None:
        """Add values."""
        classes = set(map(type, values))
        for cls in classes - {type(None)}:
            kind = next((k for base, k in _KINDS.items() if issubclass(cls, base)), Kind.OTHER)
            self.kinds.add(kind)
            if kind in _INSPECTED or (kind is Kind.FLOAT and self.exactly):
                is_mixed = len(classes) > 1
                self._inspect(kind, [v for v in values if type(v) is cls] if is_mixed else values)

    def add_fields(self, columns: "Mapping[str, Sequence[object]]") -> None:
        """Add the fields of objects, by name."""
        for name, values in columns.items():
            if name not in self.fields:
                self.fields[name] = ColumnStats(self.exactly, self.depth + 1)
            self.fields[name].add(values)

    def _inspect(self, kind: Kind, values: Sequence[Any]) -> None:
        match kind:
            case Kind.WHOLE:
                self.lowest = min(self.lowest, *values)
                self.highest = max(self.highest, *values)
            case Kind.FLOAT:
                self._count_digits([Decimal(repr(value)) for value in values])
            case Kind.DECIMAL:
                self._count_digits(values)
            case Kind.DATETIME if not all(map(_has_utc, values)):
                self.kinds.add(Kind.OTHER)
            case Kind.ARRAY | Kind.OBJECT if self.depth >= _MAX_DEPTH:
                self.kinds.add(Kind.OTHER)
            case Kind.ARRAY:
                self.element = self.element or ColumnStats(self.exactly, self.depth + 1)
                self.element.add(list(chain.from_iterable(values)))
            case Kind.OBJECT:
                names = {*self.fields, *chain.from_iterable(values)}
                if len(names) > _MAX_FIELDS or any(encodable_name(name) != name for name in names):
                    self.kinds.add(Kind.OTHER)
                else:
                    self.add_fields(by_name(values))
            case _:
                pass

    def _count_digits(self, values: Sequence[Decimal]) -> None:
        for value in values:
            exponent = value.as_tuple().exponent
            if isinstance(exponent, int):
                self.digits = max(self.digits, value.adjusted() + 1)
                self.places = max(self.places, -exponent)
            else:  # infinite, or NaN
                self.kinds.add(Kind.OTHER)

    @property
    def needs_decimals(self) -> bool:
        """True if these are numbers that neither 64-bit integers nor floats can hold."""
        if self.kinds == {Kind.WHOLE}:
            return not -(2**63) <= self.lowest <= self.highest < 2**63
        is_large = max(-self.lowest, self.highest) > _EXACT_IN_A_FLOAT
        return self.kinds <= NUMBERS and (Kind.DECIMAL in self.kinds or is_large)

    @property
    def has_floats_to_count(self) -> bool:
        """True if the digits of floats matter here or inside, so `exactly` is needed."""
        inner = [*self.fields.values(), *([self.element] if self.element else [])]
        return (self.needs_decimals and Kind.FLOAT in self.kinds) or any(
            stats.has_floats_to_count for stats in inner
        )


def _has_utc(value: datetime) -> bool:
    """Check if a time has a zone, and is within the years 1 to 9999 in UTC."""
    if value.tzinfo is None:
        return False
    try:
        value.astimezone(UTC)
    except OverflowError:
        return False
    return True


def exact(value: object) -> object:
    """A float as the decimal that it prints; any other number unchanged."""
    return Decimal(repr(value)) if isinstance(value, float) else value
