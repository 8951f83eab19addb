"""Items as tables: records, Arrow, pandas and polars.

The type of a column depends on all of its values, never on the first rows only.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, SupportsIndex, TypeVar, cast, overload

from adclient import _notebook
from adclient._extras import needs
from adclient._signatures import deferred, unquote

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    pandas, polars = deferred("pandas.DataFrame"), deferred("polars.DataFrame")

S = TypeVar("S")
T = TypeVar("T")


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Tabular(_notebook.HTMLRepr, Generic[T]):
    """The base of a page and of a list of items, which are tables.

    Any library that reads Arrow streams accepts them directly, as in `pyarrow.table(page)`.
    """

    __slots__ = ()

    @abstractmethod
    def _rows(self) -> Sequence[T]: ...

    def to_records(self) -> list[dict[str, object]]:
        """Convert the items to dictionaries of plain Python values.

        Returns:
            A dictionary for each item, with the fields that it has. An item that `typed()` read
                into your class has the fields of that class.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(account_id="account_d118")
            >>> page.to_records()[0]["confidence"]
            0.96
        """
        from adclient._tables.records import record

        return [record(item) for item in self._rows()]

    def to_pandas(self) -> pandas.DataFrame:
        """Convert the items to a pandas data frame.

        Returns:
            A row for each item and a column for each field. The columns have Arrow types, so that
                numbers keep their digits, a missing value is `<NA>`, and lists and objects are
                accessible by `.list` and `.struct`.

        Raises:
            ModuleNotFoundError: pandas or pyarrow is missing; `pip install 'adclient[pandas]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118")
            >>> table = waste.collect().to_pandas()
            >>> str(table["wasted_spend"].dtype)
            'double[pyarrow]'
        """
        with needs("pandas"):
            import pandas
        table = _table(self._rows(), "pandas")
        # In pyarrow-stubs, one of its parameters is a list of unknown type.
        return table.to_pandas(types_mapper=pandas.ArrowDtype)  # pyright: ignore[reportUnknownMemberType]

    def to_polars(self) -> polars.DataFrame:
        """Convert the items to a polars data frame.

        Returns:
            A row for each item and a column for each field.

        Raises:
            ModuleNotFoundError: polars or pyarrow is missing; `pip install 'adclient[polars]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118")
            >>> waste.to_polars().get_column("wasted_spend").dtype
            Float64
        """
        with needs("polars"):
            import polars
        return polars.DataFrame(_table(self._rows(), "polars"))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The items as an Arrow stream."""
        stream = cast(_ArrowStream, _table(self._rows(), "arrow"))
        return stream.__arrow_c_stream__(requested_schema)


class Items(list[T], Tabular[T]):
    """A list of items that is also a table: what `collect()` returns.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ads = client.gamma.list_ads(account_id="account_c3d8").collect()
        >>> ads
        <Items of 126 × Ad>
        >>> ads[:10].to_pandas().shape
        (10, 13)
        >>> ads.copy() == ads
        True
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name
    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Items[T]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "T | Items[T]":
        result = super().__getitem__(index)
        return Items(cast("list[T]", result)) if isinstance(index, slice) else cast(T, result)

    @overload
    def __add__(self, other: list[T], /) -> "Items[T]": ...
    @overload
    def __add__(self, other: list[S], /) -> "Items[T | S]": ...
    def __add__(self, other: list[Any], /) -> "Items[Any]":
        return Items(super().__add__(other))

    def copy(self) -> "Items[T]":
        """Copy the list.

        Returns:
            A shallow copy, which is a table as well.
        """
        return Items(self)

    def _rows(self) -> Sequence[T]:
        return tuple(self)  # so that a change of the list has no effect meanwhile

    def __repr__(self) -> str:
        return f"<Items of {counted(self)}>"

    def _repr_html_(self) -> str:
        return html_table(f"Items of {counted(self)}", self)


unquote(Items)


def counted(items: Sequence[object]) -> str:
    """The number of items, and their class."""
    return f"{len(items)} × {type(items[0]).__name__ if items else 'item'}"


def html_table(
    title: str, items: Sequence[object], *, about: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """The first items as an HTML table."""
    from adclient._tables.records import record

    rows = [record(item) for item in items[: _notebook.ROWS]]
    return _notebook.table(title, rows, total=len(items), about=about, notes=notes)


def _table(items: Sequence[object], extra: str) -> "pyarrow.Table":
    with needs(extra):
        from adclient._tables.table import table_of  # deferred: it loads pyarrow
    return table_of(items)
