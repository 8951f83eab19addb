"""httpx and httpx2, its successor: which of them an object comes from, and what it has there."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, Self, cast

import httpx

# The two are told apart by name, so that neither is imported to find out.
_NAMES = ("httpx", "httpx2")

Errors = tuple[type[Exception], ...]
Chunks = Callable[[], Iterator[bytes]]


class _AsyncChunks:
    """Chunks for async code. An async generator would warn if it were left in the middle."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


class _Stream:
    """A body of either colour, from a function that gives its chunks."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _AsyncChunks(self._chunks())


class Family:
    """One of the two libraries. Their names are the same, so httpx stands for both in the types."""

    def __init__(self, library: ModuleType) -> None:
        hx = cast(Any, library)
        self.client: type[httpx.Client] = hx.Client
        self.async_client: type[httpx.AsyncClient] = hx.AsyncClient
        # Taking a URL apart costs as much as all else that is done to send a request.
        self.url: Callable[[str], httpx.URL] = lru_cache(maxsize=256)(hx.URL)
        self.request: type[httpx.Request] = hx.Request
        self.response: type[httpx.Response] = hx.Response
        self.stream: Callable[[Chunks], httpx.SyncByteStream] = cast(
            Any, type("Stream", (_Stream, hx.SyncByteStream, hx.AsyncByteStream), {})
        )

        self.connect_error: type[httpx.ConnectError] = hx.ConnectError
        self.connect_timeout: type[httpx.ConnectTimeout] = hx.ConnectTimeout
        self.pool_timeout: type[httpx.PoolTimeout] = hx.PoolTimeout
        self.read_timeout: type[httpx.ReadTimeout] = hx.ReadTimeout
        self.protocol_error: type[httpx.RemoteProtocolError] = hx.RemoteProtocolError
        self.status_error: type[httpx.HTTPStatusError] = hx.HTTPStatusError

        self.timeouts: Errors = (hx.TimeoutException, TimeoutError)
        self.told_by_the_peer: Errors = (hx.RemoteProtocolError, hx.ProxyError)
        self.surely_sent: Errors = (hx.ReadTimeout, hx.ReadError, hx.RemoteProtocolError)
        self.never_sent: Errors = (
            hx.ConnectError,
            hx.ConnectTimeout,
            hx.PoolTimeout,
            hx.ProxyError,
            hx.UnsupportedProtocol,
            hx.LocalProtocolError,
        )
        self._faults: Errors = (hx.HTTPError, hx.StreamError, hx.InvalidURL)

    @property
    def faults(self) -> Errors:
        """What a transport raises, of its own and from below."""
        # A host that cannot be looked up is a UnicodeError.
        return (*self._faults, OSError, UnicodeError, *_faults_of_anyio())


def _faults_of_anyio() -> Errors:
    """What was never loaded cannot raise; and to load it after a fault could itself fail."""
    if "anyio" not in sys.modules:
        return ()
    import anyio

    return (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


HTTPX = Family(httpx)


def family_of(thing: object) -> Family | None:
    """The family that an object's class comes from, or None if it is of neither."""
    for cls in type(thing).__mro__:
        name = cls.__module__.partition(".")[0]
        if name in _NAMES:
            return _family(name)
    return None


@cache
def _family(name: str) -> Family:
    library = sys.modules[name]
    return HTTPX if library is httpx else Family(library)
