"""Arrow tables as data frames of pandas."""

from typing import Any, Literal

import pandas
import pyarrow

from adclient._values.arguments import is_choice
from adclient.errors import InvalidRequest

Types = Literal["arrow", "numpy"]


def data_frame(table: pyarrow.Table, types: Types) -> pandas.DataFrame:
    """The data frame of a table, with the types of Arrow or of NumPy."""
    if not is_choice(types, ("arrow", "numpy")):
        raise InvalidRequest("types must be 'arrow' or 'numpy'", argument="types")
    settings: dict[str, Any] = {"types_mapper": _dtype}
    if types == "numpy":
        settings = {"date_as_object": False}
        for index, name in enumerate(table.column_names):
            if pyarrow.types.is_decimal(table.schema.types[index]):
                table = table.set_column(index, name, table[index].cast(pyarrow.float64()))
    # In pyarrow-stubs, one of its parameters is a list of unknown type.
    return table.to_pandas(**settings)  # pyright: ignore[reportUnknownMemberType]


def _dtype(kind: pyarrow.DataType) -> pandas.Int64Dtype | pandas.ArrowDtype:
    # `describe()` fails for large integers of Arrow, such as ids.
    return pandas.Int64Dtype() if pyarrow.types.is_int64(kind) else pandas.ArrowDtype(kind)
