"""Pages that know where the next one comes from, and the iterators that walk them.

The iterators are classes, not generators: an error on page k loses nothing, because the next
step asks for page k again.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

import attrs

from adclient import _progress
from adclient._core.operations import Call, Listing
from adclient._core.paging import SeenCursors
from adclient._notebook import PublicDir, short
from adclient._pages import BasePage, check_limit, extra_of, reread
from adclient._signatures import hide, unquote
from adclient._tables.items import Items
from adclient._tracebacks import forget_frames
from adclient.errors import AdClientError, PaginationError
from adclient.models import JSON, Result

if TYPE_CHECKING:
    from adclient._tasks import AsyncPrefetch

R = TypeVar("R", bound=Result)
T = TypeVar("T")
A = TypeVar("A", bound=attrs.AttrsInstance)


class AsyncRunner(Protocol):
    """What a listing needs of the engine."""

    async def run(self, call: Call[R]) -> R:
        """See one call through."""
        ...


@dataclass(frozen=True)  # which `attrs.asdict(page)` leaves alone: the engine has the credentials
class AsyncSource(Generic[T]):
    """Where the pages of one listing come from, and the class that its items are read into."""

    engine: AsyncRunner
    call: Call[Listing[T]]
    cls: type[attrs.AttrsInstance] | None = None
    shows_progress: bool = False

    async def page(self, cursor: JSON) -> "AsyncPage[T]":
        """Fetch the page at a continuation; None is the first page."""
        try:
            listing = await self.engine.run(self.call.at(cursor))
            return self._page_of(listing)
        except AdClientError as error:
            error.cursor = cursor
            forget_frames(error)  # async only (it may be awaited by the caller)
            raise

    def _page_of(self, listing: Listing[T]) -> "AsyncPage[T]":
        page = AsyncPage(
            data=listing.data,
            next=listing.page.next,
            extra=extra_of(listing),
            response=listing.response,
            source=self if self.cls is None else replace(self, cls=None),
        )
        return page if self.cls is None else cast("AsyncPage[T]", page.typed(self.cls))

    def typed(self, cls: type[A]) -> "AsyncSource[A]":
        """The same listing, read into another class."""
        return cast("AsyncSource[A]", replace(self, cls=cls))

    def with_progress(self) -> "AsyncSource[T]":
        """The same listing, with a bar for each walk."""
        _progress.check_installed()
        return replace(self, shows_progress=True)

    def bar(self) -> "_progress.Bar | None":
        """The bar of a walk, if there is to be one."""
        return _progress.Bar(self.call.operation.full_name) if self.shows_progress else None


@attrs.frozen(kw_only=True, repr=False, getstate_setstate=False)
class AsyncPage(BasePage[T]):
    """One page of a listing; iterating over it walks on through all later pages.

    `data` is this page only; `len(page.data)` counts it, and `collect()` has all items. A page
    that was pickled or copied keeps its data and continuation, and cannot fetch more; pass its
    `next` as `cursor=` to go on.

    Attributes:
        data: The items of this page.
        next: The continuation value; None if this is the last page.
        extra: Fields of the answer that the interface does not name.
        response: How the answer came; not part of equality.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.gamma.list_ads(account_id="account_c3d8")
        >>> len(page.data)
        50
        >>> names = [ad.name async for ad in page]
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    _source: AsyncSource[T] | None = attrs.field(default=None, eq=False, alias="source")

    def __aiter__(self) -> "AsyncItemIterator[T]":
        """Walk every item from the first of this page on."""
        return self.items()

    def items(self, *, prefetch: bool = False) -> "AsyncItemIterator[T]":
        """Walk every item from the first of this page on, as iterating over the page does.

        Args:
            prefetch: Whether to fetch the next page while you work on the items of this one. At
                most one page is fetched ahead.

        Returns:
            An iterator; its `cursor` says where to go on.

        Raises:
            AdClientError: While you walk: a page could not be read. The next step asks for it
                again.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> names = [ad.name async for ad in page.items(prefetch=True)]
        """
        return AsyncItemIterator(self.pages(prefetch=prefetch))

    def pages(self, *, prefetch: bool = False) -> "AsyncPageIterator[T]":
        """Walk page by page, from this one on.

        Args:
            prefetch: Whether to fetch the next page while you work on this one. At most one page
                is fetched ahead.

        Returns:
            An iterator; its `cursor` says where to go on.

        Raises:
            AdClientError: While you walk: a page could not be read. The next step asks for it
                again.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> [len(page.data) async for page in page.pages()]
            [50, 50, 26]
        """
        return AsyncPageIterator(self._source, first=self, prefetch=prefetch)

    def progress(self) -> "AsyncPage[T]":
        """The same page, with a progress bar for those who walk or collect from it.

        The bar counts pages and items, and tells the rate, in a terminal or a notebook. It stands
        on the standard error stream, and ends with the walk, also if that is left or fails.

        Raises:
            ModuleNotFoundError: tqdm is missing; `pip install 'adclient[notebook]'`.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> ads = await page.progress().collect()
        """
        return attrs.evolve(self, source=self._source and self._source.with_progress())

    async def collect(self, *, limit: int | None = None) -> Items[T]:
        """Every item from the first of this page on, as a list that is a table, too.

        Args:
            limit: How many items at most; no page beyond them is asked for.

        Returns:
            A list of the items; `to_pandas()` and its kin make a table of it.

        Raises:
            InvalidRequest: `limit` is no count of items.
            AdClientError: A page could not be read; `cursor` on the error says which. What was
                read before it is not kept: walk with `pages()` to keep it.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> len(await page.collect(limit=60))
            60
        """
        return await collected(self.__aiter__(), limit)

    def typed(self, cls: type[A]) -> "AsyncPage[A]":
        """The same page with its items read into an attrs class of yours, as are later pages.

        Args:
            cls: An attrs class. A subclass of `Item` or one of its kinds keeps unknown fields in
                `extra`; any other class takes what it names.

        Returns:
            A page whose `data` holds your class; `page.to_dict()` still gives back what came.

        Raises:
            UnexpectedResponse: An item does not fit the class; the text says which and where.
            TypeError: `cls` is not an attrs class, or has a field that cannot be read from JSON.

        Example:
            >>> import attrs
            >>> from adclient import Campaign
            >>> from adclient.testing import FakeAdService
            >>> @attrs.frozen(kw_only=True)
            ... class Priced(Campaign):
            ...     daily_budget: float
            >>> client = FakeAdService().async_client()
            >>> page = await client.beta.list_campaigns(account_id="account_b204")
            >>> page.typed(Priced).data[0].daily_budget
            450.0
        """
        source = None if self._source is None else self._source.typed(cls)
        operation = "typed()" if source is None else source.call.operation.full_name
        return AsyncPage(
            data=reread(self._items(), cls, operation),
            next=self.next,
            extra=self.extra,
            response=self.response,
            raw=tuple(self._items()),
            source=source,
        )


class AsyncPageIterator(PublicDir, Generic[T]):
    """Walks a listing page by page.

    Attributes:
        cursor: The continuation of the page that comes next; None before the first page of a
            listing, and after its last. After an error, it is where to go on.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> pages = client.gamma.list_ads(account_id="account_c3d8").pages()
        >>> sizes = [len(page.data) async for page in pages]
        >>> sizes
        [50, 50, 26]
    """

    __module__ = "adclient"  # its public name, which signatures show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    def __init__(
        self,
        source: AsyncSource[T] | None,
        *,
        first: AsyncPage[T] | None = None,
        cursor: JSON = None,
        prefetch: bool = False,
    ) -> None:
        self.cursor = cursor if first is None else first.next
        self._source = source
        self._first = first
        self._is_started = first is not None
        self._prefetches = prefetch
        self._ahead: AsyncPrefetch[AsyncPage[T]] | None = None
        self._busy = threading.Lock()
        self._trail = (
            None if source is None else SeenCursors(attrs.evolve(source.call, cursor=cursor))
        )
        self._bar = None if source is None else source.bar()
        if first is not None and self._trail is not None:
            self._trail.follow(first.next)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, cursor={short(self.cursor)}>"

    def __aiter__(self) -> "AsyncPageIterator[T]":
        return self

    async def __anext__(self) -> AsyncPage[T]:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this iterator is already fetching a page for someone else")
        try:
            return await self._counted()
        except AdClientError as error:
            forget_frames(error)
            raise
        finally:
            self._busy.release()

    async def _counted(self) -> AsyncPage[T]:
        if self._bar is None:
            return await self._next_page()
        try:
            return await self._next_page()
        except BaseException:  # the end, an error, or an interrupt
            self._bar.close()
            raise

    async def _next_page(self) -> AsyncPage[T]:
        if self._first is None:
            if self._is_started and self.cursor is None:
                raise StopAsyncIteration
            # Nothing changes before the fetch is done, so that a failed one can be asked for again.
            self._first = await self._followed()
        # An interrupt while a thread is started, or a bar is drawn, must not lose the page.
        self._look_ahead(self._first.next)
        if self._bar is not None:
            self._bar.add(len(self._first.data))
        page, self._first = self._first, None
        self.cursor, self._is_started = page.next, True
        return page

    async def _followed(self) -> AsyncPage[T]:
        if self._source is None or self._trail is None:
            raise PaginationError(
                "this page was pickled or copied and has no client: "
                "call the method again with cursor=page.next",
                cursor=self.cursor,
            )
        page = await self._fetched(self._source)
        self._trail.follow(page.next)
        return page

    async def _fetched(self, source: AsyncSource[T]) -> AsyncPage[T]:
        if self._ahead is None:
            return await source.page(self.cursor)
        try:
            page = await self._ahead.result()
        except Exception:
            self._ahead = None
            raise
        # Whoever stops waiting, because of a cancellation or an interrupt, may ask again.
        self._ahead = None
        return page

    def _look_ahead(self, cursor: JSON) -> None:
        """Begin to fetch the page that comes next, unless that was done already."""
        wanted = self._prefetches and cursor is not None and self._ahead is None
        if wanted and self._source is not None:
            from adclient._tasks import AsyncPrefetch  # which loads anyio

            self._ahead = AsyncPrefetch(partial(self._source.page, cursor))


class AsyncItemIterator(PublicDir, Generic[T]):
    """Walks a listing item by item.

    Attributes:
        cursor: The continuation of the page that comes next, as in a walk by pages. Items of the
            page at hand that were not taken yet come before it.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> ads = aiter(client.gamma.list_ads(account_id="account_c3d8"))
        >>> first = await anext(ads)
        >>> first.status
        'ENABLED'
    """

    __module__ = "adclient"  # its public name, which signatures show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    def __init__(self, pages: AsyncPageIterator[T]) -> None:
        self._pages = pages
        self._items: Iterator[T] = iter(())

    @property
    def cursor(self) -> JSON:
        return self._pages.cursor

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, cursor={short(self.cursor)}>"

    def __aiter__(self) -> "AsyncItemIterator[T]":
        return self

    async def __anext__(self) -> T:
        for item in self._items:
            return item
        while True:
            try:
                page = await self._pages.__anext__()
            except AdClientError as error:
                forget_frames(error)
                raise
            self._items = iter(page.data)
            for item in self._items:
                return item


unquote(AsyncPage)
hide(AsyncPage, "raw", "source")


async def collected(items: AsyncItemIterator[T], limit: int | None) -> Items[T]:
    """The items of a walk as a list, at most `limit` of them."""
    found = Items[T]()
    try:
        check_limit(limit)
        while limit is None or len(found) < limit:
            found.append(await items.__anext__())
    except StopAsyncIteration:
        pass
    except AdClientError as error:
        forget_frames(error)
        raise
    return found
