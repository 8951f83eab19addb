"""The columns: an Arrow type for each, and what its values need to become of that type."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs
import pyarrow

from adclient import _notebook
from adclient._core import jsontext
from adclient._tables.infer import NUMBERS, Kind, Seen, exact
from adclient._tables.records import Row

_MOST_DIGITS = 38  # of a decimal that every table library takes

Fit = Callable[[Any], object]


@attrs.frozen
class Column:
    """How the values of a field are held: `fit` makes of each but None what the type takes."""

    type: pyarrow.DataType
    fit: Fit | None = None


Types = Mapping[str, Column]


def column_of(seen: Seen) -> Column:
    """The column for values in which this was seen."""
    if not seen.kinds:
        return Column(pyarrow.null())
    if seen.kinds <= NUMBERS:
        return _numbers(seen)
    if len(seen.kinds) > 1:
        return Column(pyarrow.string(), _json_text)
    (kind,) = seen.kinds
    if kind is Kind.ARRAY and seen.element is not None:
        return _arrays(column_of(seen.element))
    if kind is Kind.OBJECT and seen.fields:
        return _objects({name: column_of(inner) for name, inner in seen.fields.items()})
    simple: dict[Kind, pyarrow.DataType] = {
        Kind.BOOL: pyarrow.bool_(),
        Kind.TEXT: pyarrow.string(),
        Kind.MOMENT: pyarrow.timestamp("us", "UTC"),
        Kind.DAY: pyarrow.date32(),
    }
    return Column(simple[kind]) if kind in simple else Column(pyarrow.string(), _json_text)


def _numbers(seen: Seen) -> Column:
    if not seen.needs_decimals:
        is_whole = seen.kinds == {Kind.WHOLE}
        return Column(pyarrow.int64() if is_whole else pyarrow.float64())
    whole = Decimal(max(-seen.lowest, seen.highest)).adjusted() + 1
    digits = max(seen.digits, whole, 1) + seen.places
    if digits > _MOST_DIGITS:
        return Column(pyarrow.string(), _json_text)
    return Column(pyarrow.decimal128(digits, seen.places), _exact_number)


def _arrays(inner: Column) -> Column:
    return Column(pyarrow.list_(inner.type), inner.fit and _FitElements(inner.fit))


def _objects(columns: Mapping[str, Column]) -> Column:
    fits = {name: column.fit for name, column in columns.items() if column.fit is not None}
    made = pyarrow.struct([(name, column.type) for name, column in columns.items()])
    return Column(made, _FitFields(fits) if fits else None)


# These two compare, so that columns do.


@attrs.frozen
class _FitElements:
    fit: Fit

    def __call__(self, value: Sequence[object]) -> list[object]:
        return [fitted(element, self.fit) for element in value]


@attrs.frozen
class _FitFields:
    fits: Mapping[str, Fit]

    def __call__(self, value: Row) -> Row:
        return {**value, **{name: fitted(value.get(name), f) for name, f in self.fits.items()}}


def fitted(value: object, fit: Fit) -> object:
    """A value as its column takes it."""
    return None if value is None else fit(value)


def _exact_number(value: object) -> object:
    return exact(value) if isinstance(value, float) else value


def _json_text(value: object) -> str:
    try:
        return jsontext.dumps(value, "value")
    except jsontext.JSONError:  # of a class of the caller's, or nested too deeply
        return _notebook.short(value)
