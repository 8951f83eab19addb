"""The Arrow table of items, made chunk by chunk.

Items are converted a few thousand at a time, so that there is never a second copy of all of them
as Python values. Types only widen, and the first chunk mostly shows them all; so each chunk is
converted when it was looked at, and again in the end if its types have widened since.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow

from adclient._tables.columns import Column, Types, column_of, fitted
from adclient._tables.infer import Kind, Seen
from adclient._tables.records import OURS, by_name, fields_of
from adclient._tables.texts import encodable, encodable_name
from adclient.models import Item

ROWS_AT_ONCE = 8192
_PROMISED = ("id", "name", "status")


def table_of(items: Sequence[object], *, exactly: bool = False) -> pyarrow.Table:
    """The table of some items; `exactly` counts the digits of floats, if any of them matter."""
    seen, batches, made_as = Seen(exactly), list[pyarrow.RecordBatch](), list[Types]()
    if not items:
        seen.look_at_fields(dict.fromkeys(_PROMISED, ()))
    for start in range(0, len(items), ROWS_AT_ONCE):
        columns = _chunk(items, start)
        seen.look_at_fields(columns)
        if seen.has_floats_to_count and not exactly:
            return table_of(items, exactly=True)
        made_as.append(_types(seen))
        batches.append(_batch(columns, made_as[-1]))
    types = _types(seen)
    for number, as_it_was in enumerate(made_as):
        if as_it_was != types:
            batches[number] = _batch(_chunk(items, number * ROWS_AT_ONCE), types)
    return pyarrow.Table.from_batches(batches, _schema(types))


def _chunk(items: Sequence[object], start: int) -> dict[str, list[object]]:
    chunk = items[start : start + ROWS_AT_ONCE]
    if not set(map(type, chunk)) <= OURS:
        return by_name([fields_of(item) for item in chunk])
    # The same without a dictionary for each item, which is twice as fast.
    ours = cast("Sequence[Item]", chunk)
    named: dict[str, list[object]] = {
        "id": [item.id for item in ours],
        "name": [item.name for item in ours],
        "status": [item.status for item in ours],
    }
    return {**named, **by_name([item.extra for item in ours]), **named}


def _types(seen: Seen) -> Types:
    for name in _PROMISED:  # they are texts, even where none came
        if name in seen.fields and not seen.fields[name].kinds:
            seen.fields[name].kinds.add(Kind.TEXT)
    return {name: column_of(field) for name, field in seen.fields.items()}


def _batch(columns: Mapping[str, list[object]], types: Types) -> pyarrow.RecordBatch:
    missing: list[object] = [None] * len(next(iter(columns.values()), ()))
    arrays = [_array(columns.get(name, missing), column) for name, column in types.items()]
    return pyarrow.record_batch(arrays, schema=_schema(types))


def _schema(types: Types) -> pyarrow.Schema:
    return pyarrow.schema([(encodable_name(name), types[name].type) for name in types])


def _array(values: list[object], column: Column) -> "pyarrow.Array[Any]":
    fit = column.fit
    if fit is not None:
        values = [fitted(value, fit) for value in values]
    try:
        return pyarrow.array(values, column.type)
    except UnicodeEncodeError:
        return pyarrow.array([encodable(value) for value in values], column.type)
