"""Arrow arrays of Python values."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, chain
from typing import Any, TypeAlias, cast

import pyarrow

from adclient._tables.records import encodable

Array: TypeAlias = "pyarrow.Array[Any]"
_untyped = cast(Any, pyarrow)  # its stubs have unknown types for `from_arrays`


def arrow_array(values: Sequence[Any], kind: pyarrow.DataType) -> Array:
    """The array of values; lone surrogates, which UTF-8 cannot encode, are escaped."""
    try:
        return pyarrow.array(values, kind)
    except UnicodeEncodeError:
        return pyarrow.array(
            [None if value is None else encodable(value) for value in values], kind
        )


def list_array(values: Sequence[Collection[object] | None], elements: Array) -> Array:
    """The array of lists, whose elements follow each other in `elements`; None is null."""
    offsets = pyarrow.array(accumulate((len(v or ()) for v in values), initial=0), pyarrow.int32())
    array: Array = _untyped.ListArray.from_arrays(offsets, elements, mask=_mask(values))
    return array


def flattened(values: Sequence[Collection[object] | None]) -> list[object]:
    """The elements of all lists; those of a set in a fixed order."""
    ordered = (sorted(v, key=repr) if isinstance(v, set | frozenset) else v or () for v in values)
    return list(chain.from_iterable(ordered))


def struct_array(values: Sequence[object], fields: Mapping[str, Array]) -> Array:
    """The array of structs with these fields; None is null."""
    arrays, names = [*fields.values()], [*fields]
    array: Array = _untyped.StructArray.from_arrays(arrays, names, mask=_mask(values))
    return array


def _mask(values: Sequence[object]) -> Array:
    return pyarrow.array([value is None for value in values], pyarrow.bool_())


def exact(value: float | Decimal | None) -> Decimal | None:
    """A number as a decimal: of a float, the digits that it prints."""
    return (
        Decimal(repr(value))
        if isinstance(value, float)
        else None
        if value is None
        else Decimal(value)
    )
