"""Items as a collection that is also a table: records, Arrow, pandas and polars.

A class of the caller determines its table. Otherwise the type of a column depends on all of its
values, never on the first rows only.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    SupportsIndex,
    TypeVar,
    cast,
    overload,
)

from adclient._show import diffs
from adclient._show.records import Shown, Table
from adclient._show.signatures import deferred, public_in, unquote
from adclient._show.tracebacks import needs
from adclient._values.containers import ByField
from adclient._values.json_values import as_json, json_of, walks
from adclient.errors import InvalidRequest

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    pandas, polars = deferred("pandas.DataFrame"), deferred("polars.DataFrame")
    pyarrow = deferred("pyarrow.Schema", "pyarrow.Table")

S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@public_in("adclient")
class Items(Shown, Generic[T_co]):
    """Items that are also a table: the `data` of a page, and what `collect()` returns.

    They have a length, an index, slices and iteration, and equal a list or a tuple of the same
    items. Any library that reads Arrow streams takes them for a table, as in
    `pyarrow.table(items)`, `polars.DataFrame(items)` or a query of DuckDB. They are no list,
    because such libraries would read a list as a single column of objects; `list(items)` is one.

    Args:
        items: The items. Those of other `Items` keep their class and their account.
        cls: The attrs class of the items, which determines the table even without items;
            `typed()` sets it. By default, the one class of all items.
        account_id: The account that the items were read from; `over_accounts` sets it. Tables then
            begin with a column `account_id`, unless the items have a field of that name.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ads = client.gamma.list_ads(account_id="account_c3d8").collect()
        >>> ads
        <Items of 126 × Ad>
        >>> ads[0].status, len(ads[:10])
        ('ENABLED', 10)
        >>> ads[:10].to_pandas().shape
        (10, 13)
    """

    __slots__ = ("_account_id", "_cls", "_kept")

    def __init__(
        self,
        items: Iterable[T_co] = (),
        *,
        cls: type[T_co] | None = None,
        account_id: str | None = None,
    ) -> None:
        if isinstance(items, Items):
            cls = items._cls if cls is None else cls
            account_id = items._account_id if account_id is None else account_id
            items = items._kept
        # By field until somebody looks at one, if `typed()` read them.
        self._kept: Sequence[T_co] = items if isinstance(items, ByField) else tuple(items)
        self._cls: type[T_co] | None = cls
        self._account_id: str | None = account_id

    @property
    def _items(self) -> tuple[T_co, ...]:
        kept = self._kept
        return kept.items() if isinstance(kept, ByField) else tuple(kept)

    def __by_field__(self) -> Sequence[T_co]:
        """The items, by field if they are kept so."""
        return self._kept

    @property
    def account_id(self) -> str | None:
        """The account that the items were read from, if `over_accounts` read them.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> for _, ads in client.over_accounts(client.gamma.list_ads, ["account_c3d8"]):
            ...     print(ads.account_id, ads.to_arrow().column_names[:3])
            account_c3d8 ['account_id', 'id', 'name']
        """
        return self._account_id

    @property
    @walks
    def schema(self) -> pyarrow.Schema:
        """The schema of the table, a `pyarrow.Schema`.

        For items that `typed()` read, it depends only on your class: `Items(cls=…).schema` is the
        same. It is inferred from all values for other items.

        Raises:
            ModuleNotFoundError: pyarrow is missing; `pip install 'adclient[arrow]'`.

        Examples:
            >>> import attrs
            >>> from decimal import Decimal
            >>> from adclient import Items
            >>> @attrs.frozen
            ... class Spend:
            ...     id: str
            ...     spend: Decimal | None = attrs.field(metadata={"decimal": (12, 2)})
            >>> print(Items(cls=Spend).schema)
            id: string not null
            spend: decimal128(12, 2)
        """
        with needs("arrow"):
            from adclient._tables.table import schema_of  # deferred: it loads pyarrow
        return schema_of(self._kept, self._cls, self._account_id)

    def to_records(self) -> list[dict[str, object]]:
        """Convert the items to dictionaries of plain Python values.

        Returns:
            A dictionary for each item, with the fields that it has. An item that `typed()` read
                into your class has the fields of that class.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(account_id="account_d118")
            >>> page.data.to_records()[0]["confidence"]
            0.96
        """
        from adclient._tables.rows import ACCOUNT, record

        records = [record(item) for item in self._items]
        if self._account_id is None or any(ACCOUNT in each for each in records):
            return records
        return [{ACCOUNT: self._account_id, **each} for each in records]

    @walks
    def to_json(self) -> str:
        """Convert the items to JSON text, in which each number has all its digits.

        Returns:
            A list of what `to_records` returns, as JSON in one line; times are texts.

        Raises:
            ValueError: An item has a value of yours that is not JSON, such as NaN.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.alpha.explain_objectives(account_id="account_a91f")
            >>> page.data[:1].to_json()[:55]
            '[{"id":"objective_awareness","name":"AWARENESS","status'
        """
        return json_of(self, as_json(self.to_records()))

    def to_arrow(self, *, flat: bool = False) -> pyarrow.Table:
        """Convert the items to an Arrow table.

        Args:
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field, of the types of `schema`.

        Raises:
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: pyarrow is missing; `pip install 'adclient[arrow]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118").collect()
            >>> str(waste.to_arrow().schema.field("wasted_spend").type)
            'double'
        """
        return self._table("arrow", flat)

    def to_pandas(
        self, *, types: Literal["arrow", "numpy"] = "arrow", flat: bool = False
    ) -> pandas.DataFrame:
        """Convert the items to a pandas data frame.

        Args:
            types: With `numpy`, columns have the types of NumPy: a `Decimal` becomes a float, and
                so does a whole number in a column where one is missing.
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field. By default whole numbers are `Int64`
                and other columns have Arrow types, so that numbers keep their digits, a missing
                value is `<NA>`, and lists and objects are accessible by `.list` and `.struct`.

        Raises:
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: pandas or pyarrow is missing; `pip install 'adclient[pandas]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118").collect()
            >>> str(waste.to_pandas()["wasted_spend"].dtype)
            'double[pyarrow]'
        """
        table = self._table("pandas", flat)
        with needs("pandas"):
            from adclient._tables.table import data_frame

            return data_frame(table, types)

    def to_polars(self, *, flat: bool = False) -> polars.DataFrame:
        """Convert the items to a polars data frame.

        Args:
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field, of the types of `schema`.

        Raises:
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: polars or pyarrow is missing; `pip install 'adclient[polars]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> waste = client.delta.analyze_wasted_spend(account_id="account_d118").collect()
            >>> waste.to_polars().get_column("wasted_spend").dtype
            Float64
        """
        with needs("polars"):
            import polars
        return polars.DataFrame(self._table("polars", flat))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The items as an Arrow stream."""
        stream: Any = self._table("arrow")  # whose stubs lack this method
        return stream.__arrow_c_stream__(requested_schema)

    @walks
    def _table(self, extra: str, flat: bool = False) -> pyarrow.Table:
        if not isinstance(flat, bool):
            raise InvalidRequest("flat must be True or False", argument="flat")
        with needs(extra):
            from adclient._tables.table import table_of  # deferred: it loads pyarrow
        return table_of(self._kept, self._cls, self._account_id, flat=flat)

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._items)

    def __contains__(self, item: object) -> bool:  # which makes it a collection
        return item in self._items

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T_co: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Items[T_co]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "T_co | Items[T_co]":
        if isinstance(index, slice):
            return Items(self._items[index], cls=self._cls, account_id=self._account_id)
        return self._items[index]

    def __add__(self, other: "Items[S] | Sequence[S]", /) -> "Items[T_co | S]":
        cls = self._cls if getattr(other, "_cls", None) is self._cls else None
        account_id = getattr(other, "_account_id", None)
        account_id = self._account_id if account_id == self._account_id else None
        return Items((*self._items, *other), cls=cls, account_id=account_id)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Items | list | tuple):
            return self._items == tuple(cast("Iterable[object]", other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._items)

    def __getstate__(self) -> object:
        return object.__getstate__(self)  # pickle's old protocols refuse slots without this method

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find the mistakes themselves)

        def __array__(self, *_: object, **__: object) -> NoReturn:
            raise_no_array("Items")

    def __repr__(self) -> str:
        return f"<Items of {counted(self)}>"

    def _show(self) -> Table:
        return table_shown("Items", self)


unquote(Items)


def arrow_stream(collect: Callable[[], Items[T]], requested_schema: object) -> object:
    """The items of all pages as an Arrow stream."""
    return collect().__arrow_c_stream__(requested_schema)


def async_arrow_stream(_: object, __: object) -> NoReturn:
    """Refuse to fetch pages where nothing can be awaited."""
    raise TypeError(
        "an async listing fetches its pages asynchronously: use `await listing.to_arrow()`, or "
        "`page.data`, which is the table of one page"
    )


def raise_no_array(name: str) -> NoReturn:
    """Refuse to be read by NumPy, and so by `pandas.DataFrame`, as a column of objects."""
    raise TypeError(f"{name} cannot be read as an array: use to_pandas() or to_records()")


def counted(items: Items[object]) -> str:
    """The number of items, and their class."""
    return f"{len(items)} × {type(items[0]).__name__ if items else 'item'}"


def table_shown(
    kind: str, items: Items[object], about: Sequence[str] = (), notes: Sequence[str] = ()
) -> Table:
    """What some items show, of which only the first are converted."""
    rows = items[: diffs.ROWS].to_records()
    return Table(f"{kind} of {counted(items)}", rows, len(items), about, notes)
