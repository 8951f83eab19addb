"""Type inference for fields that no class declares: all values of a column determine its type."""

import math
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pyarrow

from adclient._tables.arrays import Array, arrow_array, flattened, list_array, struct_array
from adclient._tables.records import by_name, encodable_name, json_text

_MAX_FIELDS = 64  # of an object whose fields have columns; a larger one is more like a map
_MAX_DEPTH = 8


def inferred(values: Sequence[Any], depth: int = 0) -> Array:
    """The array of JSON values; those that no other type can hold are JSON text."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pyarrow.nulls(len(values))
    if kinds == {bool}:
        return pyarrow.array(values, pyarrow.bool_())
    if kinds == {str}:
        return arrow_array(values, pyarrow.string())
    if kinds <= {int, float, Decimal} and (numbers := _numbers(values, kinds)) is not None:
        return numbers
    if kinds == {list} and depth < _MAX_DEPTH:
        return list_array(values, inferred(flattened(values), depth + 1))
    if kinds == {dict} and depth < _MAX_DEPTH:
        fields = by_name([value or {} for value in values])
        if 0 < len(fields) <= _MAX_FIELDS and all(encodable_name(name) == name for name in fields):
            children = {name: inferred(inner, depth + 1) for name, inner in fields.items()}
            return struct_array(values, children)
    as_json = [None if value is None else json_text(value) for value in values]
    return pyarrow.array(as_json, pyarrow.string())


def _numbers(values: Sequence[int | float | Decimal | None], kinds: set[type]) -> "Array | None":
    """The array of numbers; None if a 64-bit integer, or a float, cannot hold one."""
    with suppress(OverflowError):
        if kinds == {int}:
            return pyarrow.array(values, pyarrow.int64())
        return pyarrow.array([*map(_nearest, values)], pyarrow.float64())
    return None


def _nearest(value: float | Decimal | None) -> float | None:
    """The nearest float of a number."""
    if value is None or isinstance(value, float):
        return value
    if math.isinf(nearest := float(value)):  # of a decimal; that of an integer raises the error
        raise OverflowError
    return nearest
