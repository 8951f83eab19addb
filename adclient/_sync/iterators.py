# Generated from ../_async by tools/make_twin.py: change it there.
"""Iterators over the pages and the items of a listing, and tables of all pages.

Iterators are classes, not generators: after an error on page k, the next step requests page k
again, and nothing is lost.
"""

import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, Literal, NoReturn, TypeVar

from adclient._core.paging import SeenPages
from adclient._show.records import PublicDir
from adclient._show.signatures import deferred, public_in
from adclient._show.tracebacks import forget_frames
from adclient._tables.items import Items, arrow_stream, raise_no_array
from adclient._values.containers import ByField, joined
from adclient._values.redact import without_secrets
from adclient._values.text import short
from adclient.errors import AdClientError, InvalidRequest, PaginationError
from adclient.models import JSON, Item
from adclient.options import check_count, check_type

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from adclient._sync.page import Page, Source
    from adclient._tasks.background import Workers
else:
    pandas, polars = deferred("pandas.DataFrame"), deferred("polars.DataFrame")
    pyarrow = deferred("pyarrow.Table")

T = TypeVar("T")


@public_in("adclient")
class PageIterator(PublicDir, Generic[T]):
    """An iterator over the pages of a listing.

    After an error, the next step requests the same page again, so nothing is lost.

    Attributes:
        cursor: Where to continue: pass it as `cursor=` to the method. It is the `next` of the page
            that was returned last, so None before the first page and after the last.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> pages = client.gamma.list_ads(account_id="account_c3d8").pages()
        >>> sizes = [len(page.data) for page in pages]
        >>> sizes
        [50, 50, 26]
        >>> pages.cursor is None
        True
    """

    _ahead: "Workers[Page[T]] | None" = None  # fetches the next page

    def __init__(
        self,
        source: "Source[T]",
        *,
        first: "Page[T] | None" = None,
        cursor: JSON = None,
        prefetch: bool = False,
    ) -> None:
        check_type("prefetch", prefetch, bool)
        self.cursor = cursor if first is None else first.next
        self._source = source
        self._ready = first  # a page that was fetched and not yet returned
        self._is_started = first is not None
        self._prefetches = prefetch
        self._busy = threading.Lock()
        self._bar = None
        if source.call is not None and source.shows_progress:
            from adclient._show.progress import Bar

            self._bar = Bar(source.call.operation.full_name, unit="items", note="pages")
        self._seen = None if source.call is None else SeenPages(source.call, cursor)
        if first is not None and self._seen is not None:
            self._seen.add(first.next, _ids(first))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, cursor={short(without_secrets(self.cursor))}>"

    def __iter__(self) -> "PageIterator[T]":
        return self

    def __next__(self) -> "Page[T]":
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this iterator is already fetching a page for another caller")
        try:
            return self._next_page()
        except BaseException as error:  # StopIteration, an error, or an interrupt
            if self._bar is not None:
                self._bar.close()
            if isinstance(error, AdClientError):
                forget_frames(error)
            raise
        finally:
            self._busy.release()

    def _next_page(self) -> "Page[T]":
        if self._ready is None:
            if self._is_started and self.cursor is None:
                raise StopIteration
            # No state changes before the page is there, so that a failed step can be repeated.
            try:
                fetched = self._fetch()
                page = self._source.read(fetched)
            except AdClientError as error:
                error.cursor = self.cursor
                raise
            except StopIteration as error:  # as of `next()` in code of the caller
                problem = f"{type(error).__name__} was raised while a page was fetched"
                raise RuntimeError(problem) from error  # or it would end the listing here
            assert self._seen is not None
            self._ready = page
            try:
                self._seen.add(page.next, _ids(fetched))
            except PaginationError:
                self._ready = None
                raise
        # `_ready` keeps the page while a thread is started or a bar is drawn: an interrupt there
        # must not lose it.
        upcoming = self._ready.next
        is_ahead = self._ahead is not None and self._ahead.pending > 0
        may_fetch = self._prefetches and not is_ahead and self._seen is not None
        if may_fetch and upcoming is not None:
            from adclient._tasks.background import Workers  # deferred: a class needs no anyio

            ahead: Workers[Page[T]] = Workers()
            ahead.start(partial(self._source.page, upcoming, as_received=True))
            self._ahead = ahead
        if self._bar is not None:
            self._bar.add(len(self._ready.data), 1)
        page, self._ready = self._ready, None
        self.cursor, self._is_started = page.next, True
        return page

    def _fetch(self) -> "Page[T]":
        if self._ahead is not None and self._ahead.pending:
            from adclient._tasks.background import WorkLostError

            # It is lost in a forked child or another event loop, or if its task was cancelled. An
            # interrupt or a cancellation here leaves it for the next step.
            with suppress(WorkLostError):
                return self._ahead.next()
        self._ahead = None
        return self._source.page(self.cursor, as_received=True)

    def __del__(self) -> None:  # in any thread, as the garbage collector may run it
        if self._ahead is not None:
            self._ahead.stop()

    def __collect__(self, limit: int | None) -> Items[T]:
        """Collect the items that it has not returned yet, also for a table without any."""
        parts: list[Sequence[T]] = []
        count = 0
        try:
            if limit is not None:
                limit = check_count("limit", limit, least=0, error=InvalidRequest)
            while limit is None or count < limit:
                parts.append((self.__next__()).data.__by_field__())
                count += len(parts[-1])
        except StopIteration:
            pass
        except AdClientError as error:
            forget_frames(error)
            raise
        items = joined(parts)
        return Items(items if limit is None else items[:limit], cls=self._source.cls)


def _ids(page: "Page[T]") -> tuple[JSON, ...]:
    """The ids of the items of a page that others follow; none of classes of the caller."""
    items = page.data.__by_field__() if page.next is not None else ()
    if isinstance(items, ByField):
        return tuple(items.columns["id"]) if issubclass(items.cls, Item) else ()
    are_items = all(issubclass(cls, Item) for cls in set(map(type, items)))
    return tuple(map(attrgetter("id"), items)) if are_items else ()


@public_in("adclient")
class ItemIterator(PublicDir, Generic[T]):
    """An iterator over the items of a listing, page after page.

    Attributes:
        cursor: Where the page after the current one begins: pass it as `cursor=` to the method.
            The items of the current page that were not returned yet come before it.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> ads = iter(client.gamma.list_ads(account_id="account_c3d8"))
        >>> first = next(ads)
        >>> first.status
        'ENABLED'
        >>> rest = client.gamma.list_ads(account_id="account_c3d8", cursor=ads.cursor)
        >>> len(rest.data)
        50
    """

    def __init__(self, pages: PageIterator[T]) -> None:
        self._pages = pages
        self._items: Iterator[T] = iter(())

    @property
    def cursor(self) -> JSON:
        """Where the page after the current one begins."""
        return self._pages.cursor

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, cursor={short(without_secrets(self.cursor))}>"

    def __iter__(self) -> "ItemIterator[T]":
        return self

    def __next__(self) -> T:
        for item in self._items:
            return item
        while True:
            try:
                page = self._pages.__next__()
            except AdClientError as error:
                forget_frames(error)
                raise
            self._items = iter(page.data)
            for item in self._items:
                return item


class Paged(Generic[T]):
    """The base of a page and a listing: what goes over all items, from the first page on."""

    __slots__ = ()

    @abstractmethod
    def pages(self, *, prefetch: bool = False) -> PageIterator[T]:
        """Iterate page by page."""

    def __iter__(self) -> ItemIterator[T]:
        """Iterate over every item, page after page."""
        return self.items()

    def items(self, *, prefetch: bool = False) -> ItemIterator[T]:
        """Iterate over every item, from the first of this page or listing on, as `for` does.

        Args:
            prefetch: Whether to fetch the next page while you work on the items of one. At most
                one page is fetched ahead.

        Returns:
            An iterator, whose `cursor` is where to continue.

        Raises:
            AdClientError: During iteration: a page could not be read. The next step requests the
                same page again.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(account_id="account_c3d8")
            >>> names = [ad.name for ad in page.items(prefetch=True)]
        """
        return ItemIterator(self.pages(prefetch=prefetch))

    def collect(self, *, limit: int | None = None) -> Items[T]:
        """Collect the items of this page, or of the first one, and of all later pages.

        Args:
            limit: The most items to collect; None for all. No page beyond them is requested.

        Returns:
            The items, in a collection that is also a table, with `to_pandas()` and the like.

        Raises:
            InvalidRequest: `limit` is not a whole number from 0.
            AdClientError: A page could not be read; the `cursor` of the error is where it begins.
                The items before it are lost: iterate with `pages()` to keep them.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> page = client.gamma.list_ads(account_id="account_c3d8")
            >>> len(page.collect(limit=60))
            60
        """
        return self.pages().__collect__(limit)

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
