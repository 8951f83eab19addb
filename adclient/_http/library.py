"""Sends through a client or transport of the caller, of httpx or httpx2."""

import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from typing import Any, cast

import anyio
import httpx

from adclient._core.request import Request
from adclient._core.response import Failure, Outcome
from adclient._http.attempt import (
    AsyncChunks,
    Attempt,
    Errors,
    causes_of,
    decoded_headers,
    reason_of,
)
from adclient._http.network import InProcess, marked_if_permanent
from adclient.errors import ConfigurationError

# Distinguished by name, so that neither has to be imported.
_NAMES = ("httpx", "httpx2")
# The modules whose errors are trusted when they mean that nothing was sent.
_ENGINES = ("httpcore", "httpcore2", "builtins", "socket", "ssl")
# A transport's socket also raises these when an established connection breaks.
_BREAKS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


class HTTPLibrary:
    """httpx or httpx2, which have the same names."""

    def __init__(self, library: Any) -> None:
        self.names = library
        self.client: type[httpx.Client] = library.Client
        self.async_client: type[httpx.AsyncClient] = library.AsyncClient
        # Parsing a URL costs as much as the rest of building and sending a request.
        self.url: Callable[[str], httpx.URL] = lru_cache(maxsize=256)(library.URL)
        # Other transports check the kind of a stream, and refuse one that is both sync and async.
        self.sync_stream = _stream_class(library.SyncByteStream)
        self.async_stream = _stream_class(library.AsyncByteStream)
        self.both_streams = _stream_class(library.SyncByteStream, library.AsyncByteStream)

        self.timeouts: Errors = (library.TimeoutException, TimeoutError)
        self.remote: Errors = (library.RemoteProtocolError, library.ProxyError)
        self.sent: Errors = (library.ReadTimeout, library.ReadError, library.RemoteProtocolError)
        self.not_sent: Errors = (
            library.ConnectError,
            library.ConnectTimeout,
            library.PoolTimeout,
            library.ProxyError,
            library.UnsupportedProtocol,
            library.LocalProtocolError,
        )
        # What a transport raises: errors of its own, and of the layers below. A host that cannot be
        # encoded is a UnicodeError.
        self.faults: Errors = (
            *(library.HTTPError, library.StreamError, library.InvalidURL),
            *(OSError, UnicodeError),
            *(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError),
        )


class _Stream:
    """A body of chunks; an async generator would warn if it were left in the middle."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return AsyncChunks(iter(self._chunks))


def _stream_class(*kinds: type) -> Callable[[Iterable[bytes]], Any]:
    return type("Stream", (_Stream, *kinds), {})


@cache
def _library(name: str) -> HTTPLibrary:
    return HTTPLibrary(sys.modules[name])


def library_of(thing: object) -> HTTPLibrary:
    """The library that an object's class comes from; httpx for any other object."""
    for cls in type(thing).__mro__:  # the caller may have subclassed it
        name = cls.__module__.partition(".")[0]
        if name in _NAMES:
            return _library(name)
    return _library("httpx")


def resolve_send(
    transport: object, http_client: Any, *, is_async: bool
) -> tuple[HTTPLibrary, Callable[..., Any]]:
    """The library of a transport or client of the caller, and what sends through it."""
    given: Any = transport if http_client is None else http_client
    library, prefix = library_of(given), "Async" * is_async
    kind = "an async" if is_async else "a sync"
    method = "handle_async_request" if is_async else "handle_request"
    if http_client is None:
        is_right = not isinstance(given, type) and hasattr(given, method)
        what, right = "transport", f"{kind} transport of httpx or httpx2"
    else:
        is_right = isinstance(given, library.async_client if is_async else library.client)
        what, right = "http_client", f"an httpx.{prefix}Client or httpx2.{prefix}Client"
    if not is_right:
        name = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
        name += "; pass its transport" * hasattr(given, "transport")
        raise TypeError(f"{what} of {prefix}AdClient must be {right}, not {name}")
    if http_client is None:
        return library, getattr(given, method)
    return library, partial(http_client.send, stream=True, follow_redirects=False)


class LibrarySender:
    """Sends through a sync client or transport of the caller, who closes it.

    Each step gets the time that is left, and the whole body is bounded. A head that arrives byte
    by byte is not: it takes many steps, each with its own timeout in the caller's library.
    """

    def __init__(self, transport: object, http_client: Any) -> None:
        self._library, self._transmit = resolve_send(transport, http_client, is_async=False)
        self._client: httpx.Client | None = http_client
        self.is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt = LibraryAttempt(request, deadline, self._library, self._client)
        try:
            attempt.send_through(self._transmit)
        except Exception as error:
            return attempt.outcome_after(error)
        return attempt.response()

    def close(self) -> None:
        """Close nothing: the caller owns the connections."""
        self.is_closed = True


class LibraryAttempt(Attempt):
    """One request in progress through an HTTP library."""

    def __init__(
        self,
        request: Request,
        deadline: float,
        library: HTTPLibrary,
        client: httpx.Client | httpx.AsyncClient | None,
    ) -> None:
        super().__init__(request, deadline)
        self.library = library
        self._client = client
        # Errors of a client, unlike those of a transport, name the request that failed.
        self.names_requests: bool = client is not None
        self.is_abandoned = False
        # Async calls have none for the pool: `ShieldedSend` says why.
        self._timeouts: dict[str, float | None] = {"pool": None}
        self.extensions: dict[str, object] = {"timeout": self._timeouts}
        self._sent_as: httpx.Request | None = None

    def __iter__(self) -> Iterator[bytes]:
        # A generator: some transports ask for the iterator before they connect.
        if self.is_abandoned:  # while it waited for a connection
            raise self.library.names.PoolTimeout("")
        yield from super().__iter__()

    def build(self, stream: Callable[[Iterable[bytes]], Any]) -> httpx.Request:
        """Build the request, with the time that is left as its timeouts."""
        if self._client is not None and self._client.is_closed:
            raise ConfigurationError("http_client is closed", argument="http_client")
        self._give_time()
        request: httpx.Request = self.library.names.Request(
            self.request.method,
            self.library.url(self.request.url),
            # As bytes, which httpx has less to do with.
            headers=[(name.encode(), text.encode()) for name, text in self.request.headers.items()],
            stream=stream(self),
            extensions=self.extensions,
        )
        self._sent_as = request
        return request

    def send_through(self, transmit: Callable[[httpx.Request], httpx.Response]) -> None:
        """Send the request, and read its response."""
        self._timeouts["pool"] = self.time_left
        try:
            response = transmit(self.build(self.library.sync_stream))
        except self.library.names.HTTPStatusError as error:  # of an event hook, for its status
            response = error.response
        try:
            if not self.begin_response(response):
                for chunk in cast(httpx.SyncByteStream, response.stream):
                    if self.feed_in_time(chunk):
                        break
            self.finish()
        finally:
            response.close()

    def begin_response(self, response: httpx.Response) -> bool:
        """Take the head, and give the rest of the time to the body.

        Returns whether the caller has already read the body, such as in an event hook: it is taken.
        """
        headers = decoded_headers(response.headers.raw)
        if response.is_stream_consumed:
            headers.pop("content-encoding", None)  # it is decoded
        self.begin(response.status_code, headers)
        if response.is_stream_consumed:
            self.feed(response.content)
        self._give_time()
        return response.is_stream_consumed

    def feed_in_time(self, chunk: bytes) -> bool:
        """Take a chunk of the body, unless it comes late."""
        # Each chunk restarts the read timeout of the library, so only this bounds a slow body.
        if self.is_late:
            raise self.library.names.ReadTimeout("")
        return self.feed(chunk)

    def outcome_after(self, error: Exception) -> Outcome:
        """The outcome after the library, or code of the caller in it, has raised an error."""
        if not isinstance(error, self.library.faults):
            return self.stopped(error)
        library, sent = self.library, self._is_sent(error)
        # After the deadline, every failure is a timeout, whatever the library raises.
        if isinstance(error, library.timeouts) or self.is_late:
            reason = "no response in time"
            if isinstance(error, library.names.ConnectTimeout) and not sent:
                reason = "no connection in time"
            elif isinstance(error, library.names.PoolTimeout):
                reason = "no free connection of the http_client in time"
            return self.ended_by(reason, sent=sent, timed_out=True)
        reason = reason_of(error, library.remote)
        return marked_if_permanent(self.ended_by(reason, sent=sent), error)

    def _is_sent(self, error: Exception) -> bool:
        """Return True if the service may have received the request."""
        # The error may belong to another request, which an event hook or `auth` has sent.
        request: object = getattr(error, "_request", self._sent_as)
        if request is not self._sent_as and (request is not None or self.names_requests):
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
        self._timeouts.update(connect=left, read=left, write=left)


class ServiceTransport(InProcess, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A service in this process as a transport for any client of httpx or httpx2.

    Clients of adclient call the service directly.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._respond(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._respond(request, await request.aread())

    def _respond(self, request: httpx.Request, sent: bytes) -> httpx.Response:
        library = library_of(request)
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

        response: httpx.Response = library.names.Response(
            outcome.status, headers=headers, stream=library.both_streams(body())
        )
        return response


def _error_of(library: HTTPLibrary, failure: Failure) -> Exception:
    name = "ReadTimeout" if failure.timed_out else "RemoteProtocolError"
    error: Exception = getattr(library.names, name if failure.sent else "ConnectError")(
        failure.reason
    )
    return error


# A transport requires a context, and loading certificates for one is slow. This one trusts no
# certificate and is never used: the connection has its own.
_UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

# Like httpx's own requests, these have a body that can be read sync and async: tools use either.
_HTTPX = HTTPLibrary(httpx)
_HTTPX.sync_stream = _HTTPX.async_stream = cast(Any, _HTTPX.both_streams)


class HTTPXAttempt(LibraryAttempt):
    """One request on its way through httpx, over one of our connections."""

    def __init__(self, request: Request, deadline: float) -> None:
        super().__init__(request, deadline, _HTTPX, None)
        self.names_requests = True

    def stopped(self, error: Exception) -> Outcome:
        """The outcome after httpx, or a tool in it, has raised an error."""
        from adclient._http.pool import CORE_FAULTS, outcome_after  # deferred: it loads httpcore

        if not isinstance(error, self.library.faults):
            return super().stopped(error)
        below = error.__cause__
        if not isinstance(below, CORE_FAULTS):
            return self.outcome_after(error)
        if isinstance(error, self.library.not_sent):
            self.body_consumed = False  # a tool has read it before there was a connection
        return outcome_after(self, below)

    def send_over(self, connection: Any, _: Attempt, /) -> None:
        """Send the request over a connection, and read its response."""
        self.send_through(_through(httpx.Client, httpx.HTTPTransport, connection.http))

    async def async_send_over(self, connection: Any, _: Attempt, /) -> None:
        """The same over an async connection."""
        from adclient._http.async_library import ShieldedSend  # deferred: it imports this module

        send = _through(httpx.AsyncClient, httpx.AsyncHTTPTransport, connection.http)
        await ShieldedSend(send, self).perform()


def _through(client: Any, transport: Any, connection: object) -> Callable[[httpx.Request], Any]:
    """What sends through a client and a transport of httpx, with one of our connections below.

    httpx takes neither a pool nor the network backend in which our deadlines live, so a method of
    the pool that the transport has made is replaced.
    """

    def create_connection(_: object) -> object:
        return connection

    below = transport(verify=_UNUSED)
    below._pool.create_connection = create_connection
    # As a stream, because only our own reading bounds the body in time and size.
    send = client(transport=below, trust_env=False).send
    return partial(send, stream=True, follow_redirects=False)
