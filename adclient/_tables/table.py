"""The Arrow table of items, built chunk by chunk.

Items are converted a few thousand at a time, so there is never a second copy of all of them as
Python values. Types only widen, and the first chunk usually determines them: each chunk is
converted as soon as it was inspected, and again at the end if the types have widened since.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import pyarrow

from adclient._tables.columns import Columns, column_of, converted
from adclient._tables.infer import ColumnStats, Kind
from adclient._tables.records import OURS, by_name, encodable, encodable_name, fields_of
from adclient.models import Item

ROWS_AT_ONCE = 8192
_PROMISED = ("id", "name", "status")


def table_of(items: Sequence[object], *, exactly: bool = False) -> pyarrow.Table:
    """Build the table of items; it calls itself with `exactly` if digits of floats matter."""
    stats = ColumnStats(exactly)
    batches, columns_of_batch = list[pyarrow.RecordBatch](), list[Columns]()
    if not items:
        stats.add_fields(dict.fromkeys(_PROMISED, ()))
    for start in range(0, len(items), ROWS_AT_ONCE):
        values = _chunk(items, start)
        stats.add_fields(values)
        if stats.has_floats_to_count and not exactly:
            return table_of(items, exactly=True)
        columns_of_batch.append(_columns(stats))
        batches.append(_batch(values, columns_of_batch[-1]))
    columns = _columns(stats)
    for number, earlier in enumerate(columns_of_batch):
        if earlier != columns:
            batches[number] = _batch(_chunk(items, number * ROWS_AT_ONCE), columns)
    return pyarrow.Table.from_batches(batches, _schema(columns))


def write_parquet(path: str, items: Sequence[object]) -> None:
    """Write the table of items to a file."""
    # Deferred: other tables do without it. Its stub has unknown types.
    import_module("pyarrow.parquet").write_table(table_of(items), path)


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


def _columns(stats: ColumnStats) -> Columns:
    for name in _PROMISED:  # strings, even if all of them are None
        if name in stats.fields and not stats.fields[name].kinds:
            stats.fields[name].kinds.add(Kind.TEXT)
    return {name: column_of(field) for name, field in stats.fields.items()}


def _batch(values: Mapping[str, list[object]], columns: Columns) -> pyarrow.RecordBatch:
    missing: list[object] = [None] * len(next(iter(values.values()), ()))
    arrays: list[pyarrow.Array[Any]] = []
    for name, column in columns.items():
        convert, cells = column.convert, values.get(name, missing)
        if convert is not None:
            cells = [converted(value, convert) for value in cells]
        try:
            arrays.append(pyarrow.array(cells, column.type))
        except UnicodeEncodeError:
            arrays.append(pyarrow.array([encodable(value) for value in cells], column.type))
    return pyarrow.record_batch(arrays, schema=_schema(columns))


def _schema(columns: Columns) -> pyarrow.Schema:
    return pyarrow.schema([(encodable_name(name), columns[name].type) for name in columns])
