"""Type inference for fields that no class declares: all values of a column determine its type."""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pyarrow

from adclient._tables.arrays import Array, arrow_array, exact, flattened, list_array, struct_array
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
    """The array of numbers that keeps all digits; None if a decimal of 38 digits cannot."""
    if Decimal not in kinds:
        # Arrow refuses a whole number that a 64-bit integer, or a float, cannot hold.
        with suppress(OverflowError, pyarrow.ArrowInvalid):
            is_whole = kinds == {int}
            return pyarrow.array(values, pyarrow.int64() if is_whole else pyarrow.float64())
    with suppress(pyarrow.ArrowInvalid, TypeError):  # too many digits, or infinite
        decimals = pyarrow.array([exact(value) for value in values])
        return decimals if pyarrow.types.is_decimal128(decimals.type) else None
    return None
