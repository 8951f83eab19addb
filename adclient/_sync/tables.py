# Generated from ../_async by tools/make_twin.py: change it there.
"""Tables of all pages of a listing."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Generic, Literal, NoReturn, TypeVar

from adclient._display.signatures import deferred
from adclient._tables.items import Items, arrow_stream, raise_no_array

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    pandas, polars = deferred("pandas.DataFrame"), deferred("polars.DataFrame")
    pyarrow = deferred("pyarrow.Table")

T = TypeVar("T")


class Tabular(Generic[T]):
    """The base of a page and a listing: its tables contain what iterating over it returns."""

    __slots__ = ()

    @abstractmethod
    def collect(self, *, limit: int | None = None) -> Items[T]:
        """Collect the items of all pages."""

    def to_records(self, *, limit: int | None = None) -> list[dict[str, object]]:
        """Convert the items of all pages to dictionaries of plain Python values.

        Args:
            limit: The most items to convert; None for all. No page beyond them is requested.

        Returns:
            A dictionary for each item, with the fields that it has. An item that `typed()` read
                into your class has the fields of that class.

        Raises:
            InvalidRequest: `limit` is not a whole number from 0.
            AdClientError: A page could not be read; the `cursor` of the error is where it begins.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.delta.infer_business_profile(account_id="account_d118")
            >>> records = page.to_records()
            >>> records[0]["confidence"]
            0.96
        """
        items = self.collect(limit=limit)
        return items.to_records()

    def to_arrow(self, *, limit: int | None = None, flat: bool = False) -> pyarrow.Table:
        """Convert the items of all pages to an Arrow table.

        Args:
            limit: The most items to convert; None for all. No page beyond them is requested.
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field.

        Raises:
            InvalidRequest: `limit` is not a whole number from 0, or another argument is wrong.
            AdClientError: A page could not be read; the `cursor` of the error is where it begins.
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: pyarrow is missing; `pip install 'adclient[arrow]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(account_id="account_c3d8")
            >>> table = page.to_arrow()
            >>> table.num_rows
            126
        """
        items = self.collect(limit=limit)
        return items.to_arrow(flat=flat)

    def to_pandas(
        self,
        *,
        limit: int | None = None,
        types: Literal["arrow", "numpy"] = "arrow",
        flat: bool = False,
    ) -> pandas.DataFrame:
        """Convert the items of all pages to a pandas data frame.

        Args:
            limit: The most items to convert; None for all. No page beyond them is requested.
            types: With `numpy`, columns have the types of NumPy: a `Decimal` becomes a float, and
                so does a whole number in a column where one is missing.
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field, as from `Items.to_pandas`.

        Raises:
            InvalidRequest: `limit` is not a whole number from 0, or another argument is wrong.
            AdClientError: A page could not be read; the `cursor` of the error is where it begins.
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: pandas or pyarrow is missing; `pip install 'adclient[pandas]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(account_id="account_c3d8")
            >>> table = page.to_pandas(limit=60)
            >>> table.shape, page.data.to_pandas().shape
            ((60, 13), (50, 13))
        """
        items = self.collect(limit=limit)
        return items.to_pandas(types=types, flat=flat)

    def to_polars(self, *, limit: int | None = None, flat: bool = False) -> polars.DataFrame:
        """Convert the items of all pages to a polars data frame.

        Args:
            limit: The most items to convert; None for all. No page beyond them is requested.
            flat: Whether the fields of objects become columns of their own, such as `bid.amount`.

        Returns:
            A row for each item and a column for each field.

        Raises:
            InvalidRequest: `limit` is not a whole number from 0, or another argument is wrong.
            AdClientError: A page could not be read; the `cursor` of the error is where it begins.
            ValueError: A value does not fit the type that its class declares; the message names the
                item and the field.
            ModuleNotFoundError: polars or pyarrow is missing; `pip install 'adclient[polars]'`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(account_id="account_c3d8")
            >>> table = page.to_polars(limit=60)
            >>> table.height
            60
        """
        items = self.collect(limit=limit)
        return items.to_polars(flat=flat)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The items of all pages as an Arrow stream."""
        return arrow_stream(self.collect, requested_schema)

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find the mistakes themselves)

        def __array__(self, *_: object, **__: object) -> NoReturn:
            raise_no_array(type(self).__name__)

        def __len__(self) -> int:
            raise TypeError(
                f"{type(self).__name__} has no length, because the number of its pages is unknown: "
                "use len(page.data) for one page, or len(page.collect()) for all"
            )

        def __getitem__(self, index: object) -> NoReturn:
            raise TypeError(
                f"{type(self).__name__} has no index: use page.data[0] for one page, or iterate"
            )


        def __bool__(self) -> bool:
            return True  # as without `__len__`
