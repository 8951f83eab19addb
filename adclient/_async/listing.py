"""The return value of an async read method; the sync client returns a page instead."""

import warnings
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from adclient._async.iterators import AsyncItemIterator, AsyncPageIterator, collect
from adclient._async.page import AsyncPage, AsyncSource
from adclient._json import AttrsInstance
from adclient._notebook import PublicDir, short
from adclient._signatures import unquote
from adclient._tables.items import Items
from adclient._tracebacks import forget_frames
from adclient.errors import AdClientError
from adclient.models import JSON

T = TypeVar("T")
A = TypeVar("A", bound=AttrsInstance)


class AsyncListing(PublicDir, Coroutine[Any, Any, AsyncPage[T]], Generic[T]):
    """The listing of an async read method: await it for its first page, or iterate over its items.

    Nothing is sent before that. It is a coroutine, so whatever takes one takes it, such as
    `asyncio.gather`, `asyncio.create_task` and `asyncio.run`: the result is the first page.

    Example:
        >>> import asyncio
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.beta.list_campaigns(account_id="account_b204")
        >>> async for campaign in client.beta.list_campaigns(account_id="account_b204"):
        ...     last = campaign.name
        >>> fatigue, ads = await asyncio.gather(
        ...     client.beta.detect_creative_fatigue(account_id="account_b204"),
        ...     client.gamma.list_ads(account_id="account_c3d8"),
        ... )
        >>> len(ads.data)
        50
    """

    __module__ = "adclient"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    def __init__(self, source: AsyncSource[T], cursor: JSON) -> None:
        self._source = source
        self._cursor = cursor
        self._is_used = False
        self._running: Coroutine[Any, Any, AsyncPage[T]] | None = None
        self.__qualname__ = str(source.operation)  # which the repr of a task shows

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find these mistakes themselves)

        def __getattr__(self, name: str) -> object:
            problem = f"an AsyncListing has no {name!r}"
            if hasattr(AsyncPage, name):
                problem += f"; its pages have: use `await`, as in `(await listing).{name}`"
            raise AttributeError(problem, name=name, obj=self)

        def __iter__(self) -> None:
            raise TypeError("an AsyncListing is async: use `async for`, or `await` its first page")

    def __repr__(self) -> str:
        return f"<AsyncListing {self._source.operation}, cursor={short(self._cursor)}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "an AsyncListing is a coroutine and cannot be pickled or copied; call its method again"
        )

    def __del__(self) -> None:
        if not self._is_used:
            problem = f"coroutine {self.__qualname__!r} was never awaited"
            warnings.warn(problem, RuntimeWarning, stacklevel=2, source=self)

    def __await__(self) -> Generator[Any, Any, AsyncPage[T]]:
        """Fetch the first page."""
        return self._used().page(self._cursor).__await__()

    def send(self, value: Any, /) -> Any:
        """Run the coroutine to its next step, as an event loop does for a task.

        Args:
            value: The result of what the coroutine waited for.

        Returns:
            What it waits for next.

        Raises:
            StopIteration: The first page is there, as the value of this error.
            AdClientError: The page could not be read.

        Example:
            >>> import asyncio
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await asyncio.create_task(client.gamma.list_ads(account_id="account_c3d8"))
        """
        try:
            return self._coroutine().send(value)
        except AdClientError as error:
            forget_frames(error)
            raise

    def throw(self, *thrown: Any) -> Any:
        """Raise an error inside the coroutine, as an event loop does to cancel a task.

        Args:
            thrown: The error, as for any coroutine.

        Returns:
            What the coroutine waits for next.

        Raises:
            StopIteration: The first page is there, as the value of this error.
            AdClientError: The page could not be read.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> try:
            ...     listing.throw(TimeoutError("not today"))
            ... except TimeoutError as error:
            ...     print(error)
            not today
        """
        try:
            return self._coroutine().throw(*thrown)
        except AdClientError as error:
            forget_frames(error)
            raise

    def close(self) -> None:
        """End the coroutine, as an event loop does with a task that never started."""
        self._coroutine().close()

    def _used(self) -> AsyncSource[T]:
        self._is_used = True
        return self._source

    def _coroutine(self) -> Coroutine[Any, Any, AsyncPage[T]]:
        if self._running is None:
            self._running = self._used().page(self._cursor)
        return self._running

    def __aiter__(self) -> AsyncItemIterator[T]:
        """Iterate over every item, page after page."""
        return self.items()

    def items(self, *, prefetch: bool = False) -> AsyncItemIterator[T]:
        """Iterate over every item, page after page, as `async for` does.

        Args:
            prefetch: Whether to fetch the next page while you work on the items of this one. At
                most one page is fetched ahead.

        Returns:
            An iterator; its `cursor` is where to continue.

        Raises:
            AdClientError: During iteration: a page could not be read. The next step requests it
                again.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> names = [ad.name async for ad in listing.items(prefetch=True)]
        """
        return AsyncItemIterator(self.pages(prefetch=prefetch))

    def pages(self, *, prefetch: bool = False) -> AsyncPageIterator[T]:
        """Iterate page by page.

        Args:
            prefetch: Whether to fetch the next page while you work on this one. At most one page
                is fetched ahead.

        Returns:
            An iterator; its `cursor` is where to continue.

        Raises:
            AdClientError: During iteration: a page could not be read. The next step requests it
                again.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> [len(page.data) async for page in listing.pages(prefetch=True)]
            [50, 50, 26]
        """
        return AsyncPageIterator(self._used(), cursor=self._cursor, prefetch=prefetch)

    def progress(self) -> "AsyncListing[T]":
        """The same listing, with a progress bar for whatever iterates over it or collects from it.

        The bar counts pages and items and shows the rate, in a terminal or a notebook. It is
        written to standard error, and closed when the iteration ends, is abandoned or fails.

        Raises:
            ModuleNotFoundError: tqdm is missing; `pip install 'adclient[notebook]'`.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> names = [ad.name async for ad in listing.progress()]
        """
        return AsyncListing(self._used().with_progress(), self._cursor)

    async def collect(self, *, limit: int | None = None) -> Items[T]:
        """Collect every item in a list that is also a table.

        Args:
            limit: The most items to collect; no page beyond them is requested.

        Returns:
            A list of the items; `to_pandas()` and its siblings make a table of it.

        Raises:
            InvalidRequest: `limit` is not a count of items.
            AdClientError: A page could not be read; `cursor` on the error is that page's.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> ads = await client.gamma.list_ads(account_id="account_c3d8").collect()
            >>> len(ads)
            126
        """
        return await collect(self.__aiter__(), limit)

    def typed(self, cls: type[A]) -> "AsyncListing[A]":
        """The same listing with its items read into your own attrs class.

        Args:
            cls: An attrs class. A subclass of `Item` or one of its kinds keeps unknown fields in
                `extra`; any other class gets the fields that it names.

        Returns:
            A listing of your class. An item that does not fit is an error when its page is read.

        Raises:
            TypeError: When its first page is read: `cls` is not an attrs class, or has a field that
                cannot be read from JSON.

        Example:
            >>> import attrs
            >>> from adclient import Campaign
            >>> from adclient.testing import FakeAdService
            >>> @attrs.frozen(kw_only=True)
            ... class Priced(Campaign):
            ...     daily_budget: float
            >>> client = FakeAdService().async_client()
            >>> listing = client.beta.list_campaigns(account_id="account_b204").typed(Priced)
            >>> (await listing.collect(limit=1))[0].daily_budget
            450.0
        """
        return AsyncListing(self._used().typed(cls), self._cursor)


unquote(AsyncListing)
