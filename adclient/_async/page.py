"""A page, and its link to the client that fetched it; in async code, also a listing."""

import warnings  # async only
from collections.abc import (
    Callable,
    Coroutine,  # async only
    Generator,  # async only
    Iterable,
    Mapping,
)
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import attrs

from adclient._async.iterators import AsyncPaged, AsyncPageIterator
from adclient._core.call import Call
from adclient._core.paging import following
from adclient._show.records import (
    PublicDir,  # async only
    Shown,
    Table,
)
from adclient._show.signatures import hide, public_in, unquote
from adclient._show.tracebacks import forget_frames
from adclient._tables.items import Items, counted, table_shown
from adclient._values.json_values import (
    AttrsInstance,
    ToJSON,
    as_objects,
    copied,
    copied_fields,
    walks,
)
from adclient._values.redact import without_secrets
from adclient._values.text import short
from adclient.errors import AdClientError, PaginationError
from adclient.models import JSON, Result

if TYPE_CHECKING:
    from adclient._async.engine import AsyncEngine

T = TypeVar("T")
A = TypeVar("A", bound=AttrsInstance)

Convert = Callable[[object, type], object]


@dataclass(eq=False, repr=False, slots=True)
class AsyncSource(Generic[T]):
    """The link from a page to its client: the engine, the call, and how its items are read.

    It is not an attrs class, so `attrs.asdict(page)` does not reach the credentials in the engine.
    """

    engine: "AsyncEngine | None" = None
    call: Call | None = None
    cls: type[Any] | None = None  # the arguments of `typed()`
    convert: Convert | None = None
    shows_progress: bool = False

    @property
    def operation(self) -> str | None:
        """The operation that is called; None if the page has no client."""
        return None if self.call is None else self.call.operation.full_name

    async def page(self, cursor: JSON, *, as_received: bool = False) -> "AsyncPage[T]":
        """Fetch the page at a cursor; None is the first page.

        Its items are those of the class of `typed()`, unless it is wanted `as_received`.
        """
        try:
            if self.engine is None or self.call is None:
                raise PaginationError(
                    "this page was pickled or copied and has no client: call the method again with "
                    "cursor=page.next; page.data has the items of this page"
                )
            page: AsyncPage[T] = await self.engine.run(
                self.call if cursor is self.call.cursor else following(self.call, cursor)
            )
            object.__setattr__(page, "_source", self)  # nobody else has the page yet
            return page if as_received or self.cls is None else self.read(page)
        except BaseException as error:
            if isinstance(error, AdClientError):
                error.cursor = cursor
            forget_frames(error)
            raise

    def read(self, page: "AsyncPage[T]") -> "AsyncPage[T]":
        """A page as it was received, with items of the class of `typed()`."""
        return page if self.cls is None else page.typed(self.cls, convert=self.convert)

    def typed(self, cls: type[A], convert: Convert | None) -> "AsyncSource[A]":
        """The same listing, read into another class."""
        return AsyncSource(self.engine, self.call, cls, convert, self.shows_progress)

    def with_progress(self) -> "AsyncSource[T]":
        """The same listing, with a progress bar for each iteration."""
        return replace(self, shows_progress=True)


@public_in("adclient")
@attrs.frozen(kw_only=True, repr=False, getstate_setstate=False)
class AsyncPage(Result, AsyncPaged[T], ToJSON, Shown):
    """One page of a listing; iterating over it continues through all later pages.

    `data` holds the items of this page only, and is a table of them. `collect()`, `to_pandas()` and
    the other tables of the page itself fetch all later pages, as iterating does. A page that was
    pickled or copied keeps its data and its `next`, but cannot fetch more: pass its `next` as
    `cursor=` to the method to continue.

    Attributes:
        data: The items of this page, `data` in the body of the response.
        next: Where the listing continues, `page.next` in the body; None if this is the last page.
            The interface leaves its format open, so it may be any JSON.
        extra: Fields of the body that the interface does not name.
        response: Metadata of the response; ignored by `==`.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().async_client()
        >>> page = await client.gamma.list_ads(account_id="account_c3d8")
        >>> len(page.data)
        50
        >>> names = [ad.name async for ad in page]
    """

    data: Items[T]
    next: JSON = attrs.field(default=None, hash=False)
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)
    # An argument of the constructor, so that `attrs.evolve` keeps it.
    _source: AsyncSource[T] = attrs.field(default=AsyncSource[Any](), eq=False, alias="source")

    def __attrs_post_init__(self) -> None:
        # No converter: some type checkers would take what it accepts for the type of the field.
        if type(self.data) is not Items:
            object.__setattr__(self, "data", Items(self.data))

    def pages(self, *, prefetch: bool = False) -> AsyncPageIterator[T]:
        """Iterate page by page, from this one on.

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
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> [len(page.data) async for page in page.pages()]
            [50, 50, 26]
        """
        return AsyncPageIterator(self._source, first=self, prefetch=prefetch)

    def progress(self) -> "AsyncPage[T]":
        """Return the same page with a progress bar for its iterations and `collect()`.

        The bar counts items and pages, in a notebook or on standard error, and keeps its end when
        the iteration ends, fails or is abandoned. Where standard error is no terminal, only its end
        is written.

        Returns:
            A page that shows a bar.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_c3d8")
            >>> ads = await page.progress().collect()
        """
        return attrs.evolve(self, source=self._source.with_progress())

    def typed(self, cls: type[A], *, convert: Convert | None = None) -> "AsyncPage[A]":
        """Read the items, also those of later pages, into a class of yours.

        Args:
            cls: An attrs class or a dataclass, which also determines the tables. A subclass of
                `Item`, or of one of its kinds, keeps unknown fields in `extra`; any other class
                gets the fields that it names. A field can have its received name in its metadata,
                as in `{"name": "metrics.cost_micros"}`; dots enter objects.
            convert: A function of a received value and the class of its field, such as `Lenient()`,
                which returns the value to read instead. By default no value is converted.

        Returns:
            The page with instances of your class.

        Raises:
            UnexpectedResponse: An item does not fit the class; the message names the place and the
                mismatch. A `ValueError` or `TypeError` that your class raised is its `__cause__`.
            TypeError: `cls` is neither an attrs class nor a dataclass, lacks the decorator, or has
                a field that cannot be read from JSON.
            Exception: Any other error that your class raises, such as a `KeyError`.

        Examples:
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
        from adclient._core.typed import read_items

        page = cast("AsyncPage[A]", self)
        data: Iterable[A] = page.data
        if not data or any(type(item) is not cls for item in data):  # or they are read already
            operation = self._source.operation or "typed()"
            data = read_items(self.data.__by_field__(), cls, operation, convert)
        source = self._source.typed(cls, convert)
        return attrs.evolve(page, data=Items(data, cls=cls), source=source)

    @walks
    def to_dict(self) -> dict[str, JSON]:
        """Return the page as it was received.

        Returns:
            The body of the response as JSON values. An item that `typed()` read has the fields of
                its class.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> page = await client.gamma.list_ads(account_id="account_e000")
            >>> page.to_dict()
            {'data': [], 'page': {'next': None}}
        """
        extra = copied_fields(self.extra)
        page = extra.pop("page", {})
        assert isinstance(page, dict)
        data: list[JSON] = [*as_objects(self.data)]
        return {"data": data, "page": {"next": copied(self.next), **page}, **extra}

    # Pickles and copies keep everything except the client.

    def __getstate__(self) -> tuple[object, ...]:
        return self.response, self.data, self.next, self.extra, self._source.cls

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        *fields, cls = state
        names = ("response", "data", "next", "extra", "_source")
        for name, value in zip(names, (*fields, AsyncSource[T](cls=cls)), strict=True):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        more = "the last page" if self.next is None else f"next={short(without_secrets(self.next))}"
        return f"<{type(self).__name__} of {counted(self.data)}, {more}>"

    def _show(self) -> Table:
        call = [self.response.operation, self.response.account_id]
        about = [text for text in call if text is not None]
        note = "1 page, the last one" if self.next is None else "1 page, and more follow"
        return table_shown(type(self).__name__, self.data, about, [note])


unquote(AsyncPage)
hide(AsyncPage, "source")


# async only from here on


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
