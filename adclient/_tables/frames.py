"""Arrow tables as data frames of pandas."""

from typing import Literal

import pandas
import pyarrow

from adclient._values.arguments import is_choice
from adclient.errors import InvalidRequest

Types = Literal["arrow", "numpy"]


def data_frame(table: pyarrow.Table, types: Types) -> pandas.DataFrame:
    """The data frame of a table, with the types of Arrow or of NumPy."""
    if not is_choice(types, ("arrow", "numpy")):
        raise InvalidRequest("types must be 'arrow' or 'numpy'", argument="types")
    if types == "numpy":
        for index, field in enumerate(table.schema):
            if pyarrow.types.is_decimal(field.type):
                table = table.set_column(index, field.name, table[index].cast(pyarrow.float64()))
        return table.to_pandas(date_as_object=False)
    # In pyarrow-stubs, one of its parameters is a list of unknown type.
    return table.to_pandas(types_mapper=_dtype)  # pyright: ignore[reportUnknownMemberType]


def _dtype(kind: pyarrow.DataType) -> pandas.Int64Dtype | pandas.ArrowDtype:
    # `describe()` fails for large integers of Arrow, such as ids.
    return pandas.Int64Dtype() if pyarrow.types.is_int64(kind) else pandas.ArrowDtype(kind)
