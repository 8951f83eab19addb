"""The return value of an async read method; the sync client returns a page instead."""

import warnings
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from adclient._async.iterators import AsyncPaged, AsyncPageIterator
from adclient._async.page import AsyncPage, AsyncSource, Convert
from adclient._show.records import PublicDir
from adclient._show.signatures import public_in, unquote
from adclient._show.tracebacks import forget_frames
from adclient._values.json_values import AttrsInstance
from adclient._values.redact import without_secrets
from adclient._values.text import short
from adclient.errors import AdClientError
from adclient.models import JSON

T = TypeVar("T")
A = TypeVar("A", bound=AttrsInstance)


@public_in("adclient")
class AsyncListing(PublicDir, Coroutine[Any, Any, AsyncPage[T]], AsyncPaged[T]):
    """The result of an async read: await it for the first page, or iterate over all items.

    Nothing is sent before that. It is a coroutine, so `asyncio.gather`, `asyncio.create_task`,
    `asyncio.run` and others accept it; the result is the first page.

    Examples:
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

    def __init__(self, source: AsyncSource[T], cursor: JSON) -> None:
        self._source: AsyncSource[T] = source
        self._cursor = cursor
        self._is_used = False
        self._running: Coroutine[Any, Any, AsyncPage[T]] | None = None
        self.__qualname__ = str(source.operation)  # which the repr of a task shows

    def __repr__(self) -> str:
        cursor = short(without_secrets(self._cursor))
        return f"<AsyncListing {self._source.operation}, cursor={cursor}>"

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
            value: The result that the coroutine was waiting for; None for the first step.

        Returns:
            What it waits for next.

        Raises:
            StopIteration: The coroutine has ended; the `value` of this error is the first page.
            AdClientError: The page could not be read.

        Examples:
            >>> import asyncio
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> page = await asyncio.create_task(listing)  # the event loop calls listing.send(None)
        """
        try:
            return self._coroutine().send(value)
        except AdClientError as error:
            forget_frames(error)
            raise

    def throw(self, *thrown: Any) -> Any:
        """Raise an error inside the coroutine, as an event loop does to cancel a task.

        Args:
            *thrown: The error, as for the `throw` of any coroutine.

        Returns:
            What the coroutine waits for next.

        Raises:
            StopIteration: The coroutine has ended; the `value` of this error is the first page.
            AdClientError: The page could not be read.

        Examples:
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
        """End the coroutine, as an event loop does with a task that never started.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> listing = FakeAdService().async_client().gamma.list_ads(account_id="account_c3d8")
            >>> listing.close()  # await is no longer possible, and nothing was sent
        """
        self._coroutine().close()

    def _used(self) -> AsyncSource[T]:
        self._is_used = True
        return self._source

    def _coroutine(self) -> Coroutine[Any, Any, AsyncPage[T]]:
        if self._running is None:
            self._running = self._used().page(self._cursor)
        return self._running

    def pages(self, *, prefetch: bool = False) -> AsyncPageIterator[T]:
        """Iterate page by page.

        Args:
            prefetch: Whether to fetch the next page while you work on this one. At most one page
                is fetched ahead.

        Returns:
            An iterator, whose `cursor` is where to continue.

        Raises:
            AdClientError: During iteration: a page could not be read. The next step requests the
                same page again.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> [len(page.data) async for page in listing.pages(prefetch=True)]
            [50, 50, 26]
        """
        return AsyncPageIterator(self._used(), cursor=self._cursor, prefetch=prefetch)

    def progress(self) -> "AsyncListing[T]":
        """Return the same listing with a progress bar for its iterations and `collect()`.

        The bar counts items and pages, in a notebook or on standard error, and keeps its end when
        the iteration ends, fails or is abandoned. Where standard error is no terminal, only its end
        is written.

        Returns:
            A listing that shows a bar.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> listing = client.gamma.list_ads(account_id="account_c3d8")
            >>> names = [ad.name async for ad in listing.progress()]
        """
        return AsyncListing(self._used().with_progress(), self._cursor)

    def typed(self, cls: type[A], *, convert: Convert | None = None) -> "AsyncListing[A]":
        """Read the items into a class of yours.

        Args:
            cls: An attrs class or a dataclass, which also determines the tables. A subclass of
                `Item`, or of one of its kinds, keeps unknown fields in `extra`; any other class
                gets the fields that it names. A field can have its received name in its metadata,
                as in `{"name": "metrics.cost_micros"}`; dots enter objects.
            convert: A function of a received value and the class of its field, such as `Lenient()`,
                which returns the value to read instead. By default no value is converted.

        Returns:
            A listing of instances of your class.

        Raises:
            UnexpectedResponse: When a page is read: an item does not fit the class; the message
                names the place and the mismatch.
            TypeError: When the first page is read: `cls` is neither an attrs class nor a dataclass,
                lacks the decorator, or has a field that cannot be read from JSON.

        Examples:
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
        return AsyncListing(self._used().typed(cls, convert), self._cursor)


unquote(AsyncListing)
