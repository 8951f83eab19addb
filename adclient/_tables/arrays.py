"""Arrow arrays of Python values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    offsets = [*accumulate([len(value or ()) for value in values], initial=0)]
    array: Array = _untyped.ListArray.from_arrays(
        pyarrow.array(offsets, pyarrow.int32()), elements, mask=_mask(values)
    )
    return array


def flattened(values: Iterable[Iterable[object] | None]) -> list[object]:
    """The elements of all lists, one list after the other."""
    return list(chain.from_iterable(filter(None, values)))


def struct_array(values: Sequence[object], fields: Mapping[str, Array]) -> Array:
    """The array of structs with these fields; None is null."""
    arrays, names = [*fields.values()], [*fields]
    array: Array = _untyped.StructArray.from_arrays(arrays, names, mask=_mask(values))
    return array


def _mask(values: Sequence[object]) -> "Array | None":
    """Where values are None, if any is."""
    mask = [value is None for value in values]
    return pyarrow.array(mask) if any(mask) else None
