"""Sends through a client or transport of the caller, of httpx or httpx2."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType, ModuleType
from typing import Any, cast

import httpx

from adclient._core.request import Request
from adclient._core.response import Failure, Outcome
from adclient._http.in_process import InProcess
from adclient._http.network import marked_if_permanent
from adclient._http.send import (
    AsyncChunks,
    Attempt,
    Errors,
    causes_of,
    decoded_headers,
    reason_of,
)
from adclient.errors import ConfigurationError

# Distinguished by name, so that neither has to be imported.
_NAMES = ("httpx", "httpx2")
# The modules whose errors are trusted when they mean that nothing was sent.
_ENGINES = ("httpcore", "httpcore2", "builtins", "socket", "ssl")
# A transport's socket also raises these when an established connection breaks.
_BREAKS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
_NO_EXTENSIONS: Mapping[str, object] = MappingProxyType({})

Chunks = Callable[[], Iterator[bytes]]


class HTTPLibrary:
    """httpx or httpx2. Both have the same names, so the types are those of httpx."""

    def __init__(self, library: ModuleType) -> None:
        hx = cast(Any, library)
        self.client: type[httpx.Client] = hx.Client
        self.async_client: type[httpx.AsyncClient] = hx.AsyncClient
        # Parsing a URL costs as much as the rest of building and sending a request.
        self.url: Callable[[str], httpx.URL] = lru_cache(maxsize=256)(hx.URL)
        self.request: type[httpx.Request] = hx.Request
        self.response: type[httpx.Response] = hx.Response
        # Other transports check the kind of a stream, and refuse one that is both sync and async.
        self.sync_stream: Callable[[Chunks], httpx.SyncByteStream] = cast(
            Any, type("SyncStream", (_SyncStream, hx.SyncByteStream), {})
        )
        self.async_stream: Callable[[Chunks], httpx.AsyncByteStream] = cast(
            Any, type("AsyncStream", (_AsyncStream, hx.AsyncByteStream), {})
        )
        both = (_SyncStream, _AsyncStream, hx.SyncByteStream, hx.AsyncByteStream)
        self.both_streams: Callable[[Chunks], httpx.SyncByteStream] = cast(
            Any, type("Stream", both, {})
        )

        self.connect_error: type[httpx.ConnectError] = hx.ConnectError
        self.connect_timeout: type[httpx.ConnectTimeout] = hx.ConnectTimeout
        self.pool_timeout: type[httpx.PoolTimeout] = hx.PoolTimeout
        self.read_timeout: type[httpx.ReadTimeout] = hx.ReadTimeout
        self.protocol_error: type[httpx.RemoteProtocolError] = hx.RemoteProtocolError
        self.status_error: type[httpx.HTTPStatusError] = hx.HTTPStatusError

        self.timeouts: Errors = (hx.TimeoutException, TimeoutError)
        self.remote: Errors = (hx.RemoteProtocolError, hx.ProxyError)
        self.sent: Errors = (hx.ReadTimeout, hx.ReadError, hx.RemoteProtocolError)
        self.not_sent: Errors = (
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
        """The errors that a transport raises: its own, and those of the layers below."""
        # A host that cannot be encoded is a UnicodeError.
        faults = (*self._faults, OSError, UnicodeError)
        # Without anyio loaded, none of its errors can be raised, and an import now could fail.
        if "anyio" not in sys.modules:
            return faults
        import anyio

        return (*faults, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class _SyncStream:
    """A body from a function that returns its chunks."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks()


class _AsyncStream:
    """The same for async code; an async generator would warn if it were left in the middle."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return AsyncChunks(self._chunks())


@cache
def _library(name: str) -> HTTPLibrary:
    return HTTPLibrary(sys.modules[name])


HTTPX = _library(httpx.__name__)


def detect_library(thing: object) -> HTTPLibrary | None:
    """The library that an object's class comes from, or None if it is neither."""
    for cls in type(thing).__mro__:  # the caller may have subclassed it
        name = cls.__module__.partition(".")[0]
        if name in _NAMES:
            return _library(name)
    return None


class LibrarySender:
    """Sends through a sync client or transport of the caller, who closes it.

    Each step gets the time that is left, and the whole body is bounded. A head that arrives byte
    by byte is not: it takes many steps, each with its own timeout in the caller's library.
    """

    def __init__(
        self,
        library: HTTPLibrary,
        send: Callable[[httpx.Request], httpx.Response],
        *,
        names_requests: bool = False,
    ) -> None:
        self._library = library
        self._send = send
        self._names_requests = names_requests
        self.is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        library = self._library
        attempt = LibraryAttempt(request, deadline, library, names_requests=self._names_requests)
        try:
            send_and_read(self._send, attempt)
            return attempt.response()
        except library.faults as error:
            return attempt.outcome_of(error)
        except Exception as error:
            return attempt.stopped(error)

    def close(self) -> None:
        """Close nothing: the caller owns the connections."""
        self.is_closed = True


def send_and_read(
    send: Callable[[httpx.Request], httpx.Response], attempt: "LibraryAttempt"
) -> None:
    """Send a request and read its response into the attempt."""
    response = send(attempt.build(attempt.library.sync_stream))
    try:
        attempt.begin_response(response)
        for chunk in _chunks(response):
            if attempt.feed_in_time(chunk):
                break
        attempt.finish()
    finally:
        response.close()


def send_through(client: object) -> Callable[[httpx.Request], httpx.Response]:
    """Return a function that sends through a client, without following redirects."""
    theirs = cast(httpx.Client, client)
    library = detect_library(client) or HTTPX

    def send(request: httpx.Request) -> httpx.Response:
        check_open(theirs.is_closed)
        try:
            return theirs.send(request, stream=True, follow_redirects=False)
        except library.status_error as error:  # an event hook that raises for an error status
            return error.response

    return send


def check_open(is_closed: bool) -> None:
    """Refuse to send through a client that its owner has closed."""
    if is_closed:
        raise ConfigurationError("http_client is closed", argument="http_client")


class LibraryAttempt(Attempt):
    """One request in progress through an HTTP library."""

    def __init__(
        self, request: Request, deadline: float, library: HTTPLibrary, *, names_requests: bool
    ) -> None:
        super().__init__(request, deadline)
        self.library = library
        # Errors of a client, unlike those of a transport, name the request that failed.
        self._names_requests = names_requests
        self.is_abandoned = False
        self._timeouts: dict[str, float] = {}
        self._sent_as: httpx.Request | None = None

    def build(
        self, stream: Callable[[Chunks], Any], extensions: Mapping[str, object] = _NO_EXTENSIONS
    ) -> httpx.Request:
        """Build the request, with the time that is left as its timeouts."""

        def outgoing() -> Iterator[bytes]:
            if self.is_abandoned:  # while it waited for a connection
                raise self.library.pool_timeout("")
            self.body_consumed = True
            yield self.request.body or b""

        self._give_time()
        self._sent_as = self.library.request(
            self.request.method,
            self.library.url(self.request.url),
            headers=dict(self.request.headers),
            stream=stream(outgoing),
            extensions={"timeout": self._timeouts, **extensions},
        )
        return self._sent_as

    def begin_response(self, response: httpx.Response) -> None:
        """Take the head, and give the rest of the time to the body."""
        headers = decoded_headers(response.headers.raw)
        if response.is_stream_consumed:
            headers.pop("content-encoding", None)  # it is decoded
        self.begin(response.status_code, headers)
        self._give_time()

    def feed_in_time(self, chunk: bytes) -> bool:
        """Take a chunk of the body, unless it comes late."""
        # Each chunk restarts the read timeout of the library, so only this bounds a slow body.
        if self.is_late:
            raise self.library.read_timeout("")
        return self.feed(chunk)

    def outcome_of(self, error: Exception) -> Outcome:
        """The outcome after the library has raised an error."""
        library, sent = self.library, self._is_sent(error)
        # After the deadline, every failure is a timeout, whatever the library raises.
        if isinstance(error, library.timeouts) or self.is_late:
            reason = "no response in time"
            if isinstance(error, library.connect_timeout) and not sent:
                reason = "no connection in time"
            elif isinstance(error, library.pool_timeout):
                reason = "no free connection of the http_client in time"
            return self.failed(reason, sent=sent, timed_out=True)
        reason = reason_of(error, library.remote)
        return marked_if_permanent(self.failed(reason, sent=sent), error)

    def _is_sent(self, error: Exception) -> bool:
        """Return True if the service may have received the request."""
        # The error may belong to another request, which an event hook or `auth` has sent.
        request: object = getattr(error, "_request", self._sent_as)
        if request is not self._sent_as and (request is not None or self._names_requests):
            return self.body_consumed
        if isinstance(error, self.library.not_sent):
            # Over another engine, a transport may report what happened after sending as a failure
            # to connect: pyreqwest's does with timeouts, httpx-aiohttp with a broken connection.
            causes = causes_of(error)
            origins = {type(cause).__module__.partition(".")[0] for cause in causes}
            is_foreign = not origins <= {*_NAMES, *_ENGINES}
            is_broken = any(isinstance(cause, _BREAKS) for cause in causes)
            return self.body_consumed and (is_foreign or is_broken)
        return self.body_consumed or isinstance(error, self.library.sent)

    def _give_time(self) -> None:
        left = self.time_left
        self._timeouts.update(connect=left, read=left, write=left, pool=left)


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    if response.is_stream_consumed:  # an event hook of the caller has already read it
        return iter([response.content])
    return iter(cast(httpx.SyncByteStream, response.stream))


class ServiceTransport(InProcess, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A service in this process as a transport for any client of httpx or httpx2.

    Clients of adclient call the service directly.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._respond(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._respond(request, await request.aread())

    def _respond(self, request: httpx.Request, sent: bytes) -> httpx.Response:
        library = detect_library(request) or HTTPX
        timeouts: dict[str, float | None] = request.extensions.get("timeout", {})
        outcome = self.service(
            Request(
                method=request.method,
                url=str(request.url),
                headers=dict(request.headers),
                body=sent or None,
            ),
            timeouts.get("read"),
        )
        if isinstance(outcome, Failure):
            raise _error_of(library, outcome)
        headers, content, broken = dict(outcome.headers), outcome.body, outcome.broken

        def body() -> Iterator[bytes]:
            yield content
            if broken is not None:
                raise _error_of(library, broken)

        return library.response(outcome.status, headers=headers, stream=library.both_streams(body))


def _error_of(library: HTTPLibrary, failure: Failure) -> httpx.TransportError:
    if not failure.sent:
        return library.connect_error(failure.reason)
    error = library.read_timeout if failure.timed_out else library.protocol_error
    return error(failure.reason)
