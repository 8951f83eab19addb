"""The Arrow table of items: of the class that declares their fields, else of their values."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import cast

import pyarrow

from adclient._tables.arrays import Array, arrow_array
from adclient._tables.columns import Column, MisfitError, columns_of, has_types
from adclient._tables.infer import inferred
from adclient._tables.records import ACCOUNT, OURS, Row, by_name, encodable_name, fields_of
from adclient._values.by_field import ByField
from adclient._values.text import short
from adclient._values.to_json import as_json
from adclient.models import Item

_ALWAYS_TEXT = ("id", "name", "status")  # even if all of them are None


def table_of(
    items: Sequence[object],
    cls: type | None = None,
    account_id: str | None = None,
    *,
    flat: bool = False,
) -> pyarrow.Table:
    """Build the table of items of an account, which `cls` determines even without items.

    If it is `flat`, each field of an object has a column of its own.
    """
    declared = _declared_class(items, cls)
    table = _inferred_table(items) if declared is None else _declared_table(items, declared)
    if account_id is not None and ACCOUNT not in table.column_names:
        accounts = arrow_array([account_id] * len(items), pyarrow.string())
        field = pyarrow.field(ACCOUNT, pyarrow.string(), nullable=False)
        table = table.add_column(0, field, accounts)
    while flat and any(map(pyarrow.types.is_struct, table.schema.types)):
        table = table.flatten()
    return table


def schema_of(
    items: Sequence[object], cls: type | None, account_id: str | None = None
) -> pyarrow.Schema:
    """The schema of the table of items, which need not fit their class here."""
    declared = _declared_class(items, cls)
    return table_of(items if declared is None else (), declared, account_id).schema


def _declared_class(items: Sequence[object], cls: type | None) -> type | None:
    """The class that determines the table; None if the service, or several classes, do."""
    classes = set(map(type, items)) if cls is None else {cls}
    only = classes.pop() if len(classes) == 1 else Item
    with suppress(NameError):  # such as of an import for type checkers alone
        return only if only not in OURS and has_types(only) else None
    return None


def _declared_table(items: Sequence[object], cls: type) -> pyarrow.Table:
    columns, schema = _declared(cls)
    arrays = [_column_array(column, name, items) for name, column in columns.items()]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


@lru_cache
def _declared(cls: type) -> tuple[dict[str, Column], pyarrow.Schema]:
    columns = columns_of(cls)
    schema = [pyarrow.field(name, c.type, nullable=c.is_nullable) for name, c in columns.items()]
    return columns, pyarrow.schema(schema)


def _column_array(column: Column, name: str, items: Sequence[object], start: int = 0) -> Array:
    """The array of a field; an error names the first item whose value does not fit."""
    values = items.columns.get(name) if isinstance(items, ByField) and not items.made else None
    try:
        return column.checked(values or [getattr(item, name, None) for item in items], name)
    except MisfitError as error:
        if len(items) == 1:
            raise ValueError(f"items[{start}], {short(items[0])}: {error}") from None
    middle = len(items) // 2
    _column_array(column, name, items[:middle], start)
    return _column_array(column, name, items[middle:], start + middle)


def _inferred_table(items: Sequence[object]) -> pyarrow.Table:
    if set(map(type, items)) <= OURS:
        # The same as below without a dictionary for each item, which is twice as fast.
        ours = cast("Sequence[Item]", items)
        named = {name: [getattr(item, name) for item in ours] for name in _ALWAYS_TEXT}
        values = {**named, **by_name([item.extra for item in ours]), **named}
    else:
        values = by_name([cast(Row, as_json(fields_of(item))) for item in items])
    arrays = {name: inferred(column) for name, column in values.items()}
    for name in arrays.keys() & {*_ALWAYS_TEXT}:
        if arrays[name].type == pyarrow.null():
            arrays[name] = arrays[name].cast(pyarrow.string())
    return pyarrow.Table.from_arrays([*arrays.values()], [*map(encodable_name, arrays)])
