"""The Arrow type of a column, and the conversion of its values to that type."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs
import pyarrow

from adclient._tables.infer import NUMBERS, ColumnStats, Kind, exact
from adclient._tables.records import Row, json_text

_MAX_DIGITS = 38  # of a decimal that pandas and polars accept

Convert = Callable[[Any], object]


@attrs.frozen
class Column:
    """The type of a column; `convert` prepares each value except None for it."""

    type: pyarrow.DataType
    convert: Convert | None = None


Columns = Mapping[str, Column]


def column_of(stats: ColumnStats) -> Column:
    """The column for values with these statistics."""
    simple: dict[Kind, pyarrow.DataType] = {
        Kind.BOOL: pyarrow.bool_(),
        Kind.TEXT: pyarrow.string(),
        Kind.DATETIME: pyarrow.timestamp("us", "UTC"),
        Kind.DATE: pyarrow.date32(),
    }
    as_json = Column(pyarrow.string(), json_text)
    if not stats.kinds:
        return Column(pyarrow.null())
    if stats.kinds <= NUMBERS:
        if not stats.needs_decimals:
            is_whole = stats.kinds == {Kind.WHOLE}
            return Column(pyarrow.int64() if is_whole else pyarrow.float64())
        whole = Decimal(max(-stats.lowest, stats.highest)).adjusted() + 1
        digits = max(stats.digits, whole, 1) + stats.places
        if digits > _MAX_DIGITS:
            return as_json
        return Column(pyarrow.decimal128(digits, stats.places), exact)
    if len(stats.kinds) > 1:
        return as_json
    (kind,) = stats.kinds
    if kind is Kind.ARRAY and stats.element is not None:
        inner = column_of(stats.element)
        return Column(pyarrow.list_(inner.type), inner.convert and _ConvertElements(inner.convert))
    if kind is Kind.OBJECT and stats.fields:
        columns = {name: column_of(field) for name, field in stats.fields.items()}
        converts = {name: c.convert for name, c in columns.items() if c.convert is not None}
        struct = pyarrow.struct([(name, column.type) for name, column in columns.items()])
        return Column(struct, _ConvertFields(converts) if converts else None)
    return Column(simple[kind]) if kind in simple else as_json


# Classes, not closures, so that equal columns compare equal.


@attrs.frozen
class _ConvertElements:
    convert: Convert

    def __call__(self, value: Sequence[object]) -> list[object]:
        return [converted(element, self.convert) for element in value]


@attrs.frozen
class _ConvertFields:
    converts: Mapping[str, Convert]

    def __call__(self, value: Row) -> Row:
        fields = {name: converted(value.get(name), c) for name, c in self.converts.items()}
        return {**value, **fields}


def converted(value: object, convert: Convert) -> object:
    """A value as its column holds it."""
    return None if value is None else convert(value)
