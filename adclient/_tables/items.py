"""Items as tables: records, Arrow, pandas and polars.

The type of a column follows from all of its values, never from the first rows.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, SupportsIndex, TypeVar, cast, overload

from adclient import _notebook
from adclient._extras import needs
from adclient._signatures import deferred, unquote
from adclient._tables.records import record

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    pandas, polars = deferred("pandas.DataFrame"), deferred("polars.DataFrame")

T = TypeVar("T")


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Tabular(_notebook.HTMLRepr, Generic[T]):
    """What a page and a list of items have in common: they are tables.

    Any library that reads Arrow streams takes them as they are, such as `pyarrow.table(page)`.
    """

    __slots__ = ()

    @abstractmethod
    def _rows(self) -> Sequence[T]: ...

    def to_records(self) -> list[dict[str, object]]:
        """The items as dictionaries of plain Python values, each with the fields that it has.

        An item of a class of yours, read by `typed()`, gives the fields of that class.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(account_id="account_d118")
            >>> page.to_records()[0]["confidence"]
            0.96
        """
        return [record(item) for item in self._rows()]

    def to_pandas(self) -> pandas.DataFrame:
        """The items as a pandas data frame.

        Its columns are of Arrow types, so that numbers keep their digits, a missing value is
        `<NA>`, and lists and objects open with `.list` and `.struct`.

        Raises:
            ModuleNotFoundError: pandas or pyarrow is missing; `pip install 'adclient[pandas]'`.

        Example:
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
        # One of its other parameters is a list of no known type in pyarrow-stubs.
        return table.to_pandas(types_mapper=pandas.ArrowDtype)  # pyright: ignore[reportUnknownMemberType]

    def to_polars(self) -> polars.DataFrame:
        """The items as a polars data frame.

        Raises:
            ModuleNotFoundError: polars or pyarrow is missing; `pip install 'adclient[polars]'`.

        Example:
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
    """A list of items that is a table, too; `collect()` gives one.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ads = client.gamma.list_ads(account_id="account_c3d8").collect()
        >>> ads
        <Items of 126 × Ad>
        >>> ads[:10].to_pandas().shape
        (10, 13)
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name
    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Items[T]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "T | Items[T]":
        found = super().__getitem__(index)
        return Items(cast("list[T]", found)) if isinstance(index, slice) else cast(T, found)

    def _rows(self) -> Sequence[T]:
        return tuple(self)  # which stays, whatever becomes of the list

    def __repr__(self) -> str:
        return f"<Items of {counted(self)}>"

    def _repr_html_(self) -> str:
        return html_table(f"Items of {counted(self)}", self)


unquote(Items)


def counted(items: Sequence[object]) -> str:
    """How many items there are, and of which kind."""
    return f"{len(items)} × {type(items[0]).__name__ if items else 'item'}"


def html_table(
    title: str, items: Sequence[object], *, about: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """The first items as a table for a notebook."""
    rows = [record(item) for item in items[: _notebook.ROWS]]
    return _notebook.table(title, rows, total=len(items), about=about, notes=notes)


def _table(items: Sequence[object], extra: str) -> "pyarrow.Table":
    with needs(extra):
        from adclient._tables.table import table_of  # which loads pyarrow
    return table_of(items)
