"""The Arrow table of items: of the class that declares their fields, else of their values."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, cast

import pyarrow

from adclient._tables.columns import (
    Array,
    Column,
    MisfitError,
    columns_of,
    has_types,
    string_array,
)
from adclient._tables.rows import ACCOUNT, OURS, by_name, encodable, json_text, record
from adclient._values.containers import ByField
from adclient._values.json_values import as_json, is_array, is_choice, is_object
from adclient._values.text import short
from adclient.errors import InvalidRequest
from adclient.models import Item

if TYPE_CHECKING:
    import pandas

_infer_type: Callable[[Any], pyarrow.DataType] = cast(Any, pyarrow).infer_type  # wrongly typed
_ALWAYS_TEXT = ("id", "name", "status")  # even if all of them are None
# Of an object whose fields have columns, also inside; a larger one is more like a map.
_MAX_FIELDS = 200


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
    if declared is None:
        table = _inferred_table(items)
    else:
        columns = columns_of(declared)
        fields = [pyarrow.field(n, each.type, each.is_nullable) for n, each in columns.items()]
        arrays = [_column_array(column, name, items) for name, column in columns.items()]
        table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
    if account_id is not None and ACCOUNT not in table.column_names:
        accounts = string_array([account_id] * len(items))
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


def data_frame(table: pyarrow.Table, types: Literal["arrow", "numpy"]) -> "pandas.DataFrame":
    """The data frame of a table, with the types of Arrow or of NumPy."""
    import pandas  # deferred: Arrow alone needs nothing of it

    if not is_choice(types, ("arrow", "numpy")):
        raise InvalidRequest("types must be 'arrow' or 'numpy'", argument="types")

    def of_arrow(kind: pyarrow.DataType) -> pandas.Int64Dtype | pandas.ArrowDtype:
        # `describe()` fails for large integers of Arrow, such as ids.
        return pandas.Int64Dtype() if kind == pyarrow.int64() else pandas.ArrowDtype(kind)

    settings: dict[str, Any] = {"types_mapper": of_arrow}
    if types == "numpy":
        settings = {"date_as_object": False}
        for index, name in enumerate(table.column_names):
            if pyarrow.types.is_decimal(table.schema.types[index]):
                table = table.set_column(index, name, table[index].cast(pyarrow.float64()))
    # In pyarrow-stubs, one of its parameters is a list of unknown type.
    return table.to_pandas(**settings)  # pyright: ignore[reportUnknownMemberType]


def _declared_class(items: Sequence[object], cls: type | None) -> type | None:
    """The class that determines the table; None if the service, or several classes, do."""
    classes = set(map(type, items)) if cls is None else {cls}
    only = classes.pop() if len(classes) == 1 else Item
    with suppress(NameError):  # such as of an import for type checkers alone
        return only if only not in OURS and has_types(only) else None
    return None


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
        values = by_name([cast("dict[str, object]", as_json(record(item))) for item in items])
    arrays = {name: _inferred(column) for name, column in values.items()}
    for name in arrays.keys() & {*_ALWAYS_TEXT}:
        if arrays[name].type == pyarrow.null():
            arrays[name] = arrays[name].cast(pyarrow.string())
    # The C interface of Arrow cuts a name at NUL.
    names = [encodable(name).replace("\0", "\\x00") for name in arrays]
    return pyarrow.Table.from_arrays([*arrays.values()], names)


def _inferred(values: Sequence[Any]) -> Array:
    """The array of JSON values, whose type all of them determine.

    Values that have no type in common, or none that any library can take, are JSON text.
    """
    if set(map(type, values)) - {type(None)} == {str}:
        return string_array(values)
    for prepare in (list[Any], _nearest):
        with suppress(ValueError, TypeError, OverflowError):
            prepared = prepare(values)
            kind = _infer_type(prepared)
            if _is_taken(kind) and str(kind).count(": ") <= _MAX_FIELDS:
                return pyarrow.array(prepared, kind)
    return pyarrow.array([None if value is None else json_text(value) for value in values])


def _is_taken(kind: Any) -> bool:
    """Check if any library can take a type."""
    # Files have no objects without fields, decimals would differ from page to page, and the C
    # interface of Arrow cuts a name at NUL.
    if pyarrow.types.is_decimal(kind) or (pyarrow.types.is_struct(kind) and not kind.num_fields):
        return False
    fields: list[Any] = [cast(Any, kind).field(place) for place in range(kind.num_fields)]
    return all("\0" not in field.name and _is_taken(field.type) for field in fields)


def _nearest(value: Any) -> Any:
    """A value with floats for decimals, which are numbers that a float does not hold exactly."""
    if isinstance(value, Decimal):
        if math.isinf(close := float(value)):
            raise OverflowError
        return close
    if is_object(value):
        return {name: _nearest(inner) for name, inner in value.items()}
    return [*map(_nearest, value)] if is_array(value) else value
