"""What is seen in the values of a column. All of them count, the last as much as the first."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

import attrs

from adclient._tables.records import Row, by_name
from adclient._tables.texts import encodable_name

_MOST_FIELDS = 64  # of an object that has columns of its own; a larger one is more of a map
_MOST_LEVELS = 8
_EXACT_IN_A_FLOAT = 2**53


class Kind(Enum):
    """What a value is to a table."""

    BOOL = "true or false"
    WHOLE = "whole number"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    MOMENT = "time"
    DAY = "day"
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
    datetime: Kind.MOMENT,
    date: Kind.DAY,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}


def _kind_of(cls: type) -> Kind:
    return next((kind for base, kind in _KINDS.items() if issubclass(cls, base)), Kind.OTHER)


@attrs.define
class Seen:
    """What the values of a column are, as far as they were looked at.

    The digits of floats are counted only `exactly`, for it takes longer and is seldom needed.
    """

    exactly: bool
    level: int = 0
    kinds: set[Kind] = attrs.field(factory=set[Kind])
    lowest: int = 0
    highest: int = 0
    digits: int = 0  # the most before the point
    places: int = 0  # and after it
    element: "Seen | None" = None
    fields: "dict[str, Seen]" = attrs.field(factory=dict[str, "Seen"])

    def look(self, values: Sequence[object]) -> None:
        """Take in more values."""
        classes = set(map(type, values))
        for cls in classes - {type(None)}:
            kind = _kind_of(cls)
            self.kinds.add(kind)
            if kind in _LOOKED_INTO or (kind is Kind.FLOAT and self.exactly):
                is_mixed = len(classes) > 1
                self._look_into(kind, [v for v in values if type(v) is cls] if is_mixed else values)

    def look_at_fields(self, columns: "Mapping[str, Sequence[object]]") -> None:
        """Take in the fields of more objects, by name."""
        for name, values in columns.items():
            if name not in self.fields:
                self.fields[name] = Seen(self.exactly, self.level + 1)
            self.fields[name].look(values)

    def _look_into(self, kind: Kind, values: Sequence[Any]) -> None:
        match kind:
            case Kind.WHOLE:
                self.lowest = min(self.lowest, *values)
                self.highest = max(self.highest, *values)
            case Kind.FLOAT:
                self._look_at_digits([exact(value) for value in values])
            case Kind.DECIMAL:
                self._look_at_digits(values)
            case Kind.MOMENT if any(value.tzinfo is None for value in values):
                self.kinds.add(Kind.OTHER)
            case Kind.ARRAY | Kind.OBJECT if self.level >= _MOST_LEVELS:
                self.kinds.add(Kind.OTHER)
            case Kind.ARRAY:
                self.element = self.element or Seen(self.exactly, self.level + 1)
                self.element.look(list(chain.from_iterable(values)))
            case Kind.OBJECT:
                self._look_at_objects(values)
            case _:
                pass

    def _look_at_digits(self, values: Sequence[Decimal]) -> None:
        for value in values:
            exponent = value.as_tuple().exponent
            if isinstance(exponent, int):
                self.digits = max(self.digits, value.adjusted() + 1)
                self.places = max(self.places, -exponent)
            else:  # infinite, or no number
                self.kinds.add(Kind.OTHER)

    def _look_at_objects(self, values: Sequence[Row]) -> None:
        names = {*self.fields, *chain.from_iterable(values)}
        if len(names) > _MOST_FIELDS or any(encodable_name(name) != name for name in names):
            self.kinds.add(Kind.OTHER)
        else:
            self.look_at_fields(by_name(values))

    @property
    def needs_decimals(self) -> bool:
        """Whether these are numbers that neither whole numbers of 64 bits nor floats can hold."""
        if self.kinds == {Kind.WHOLE}:
            return not -(2**63) <= self.lowest <= self.highest < 2**63
        is_large = max(-self.lowest, self.highest) > _EXACT_IN_A_FLOAT
        return self.kinds <= NUMBERS and (Kind.DECIMAL in self.kinds or is_large)

    @property
    def has_floats_to_count(self) -> bool:
        """Whether digits of floats matter here or inside, so that one has to look `exactly`."""
        inside = [*self.fields.values(), *([self.element] if self.element else [])]
        return (self.needs_decimals and Kind.FLOAT in self.kinds) or any(
            seen.has_floats_to_count for seen in inside
        )


_LOOKED_INTO = {Kind.WHOLE, Kind.DECIMAL, Kind.MOMENT, Kind.ARRAY, Kind.OBJECT}


def exact(value: float) -> Decimal:
    """A float as a decimal of the digits that it prints."""
    return Decimal(repr(value))
