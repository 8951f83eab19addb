"""The one module that knows the HTTP library: requests go out, bytes come back.

It decides nothing. Each class sends one request when told to, within the time given, and says
what came of it: a `Reply`, or a `Failure` with whether the service may have seen the request.
"""

import ipaddress
import ssl
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from typing import TypedDict, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import anyio.lowlevel
import attrs
import httpx

from adclient._core.body import Body
from adclient._core.redact import one_line
from adclient._core.reply import Failure, Outcome, Reply
from adclient._core.request import Request
from adclient.errors import ConfigurationError

Handler = Callable[[httpx.Request], httpx.Response]
AsyncHandler = Callable[[httpx.Request], Awaitable[httpx.Response]]

sleep = time.sleep
async_sleep = anyio.sleep

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
_FAULTS = (
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    OSError,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
_ONE_CONNECTION = httpx.Limits(max_connections=1, max_keepalive_connections=1)
_LONGEST_CLOSE = 2.0


@attrs.frozen
class Network:
    """How to reach the service."""

    base_url: str
    max_concurrency: int
    proxy: str | None = attrs.field(repr=False)
    verify: bool | str | ssl.SSLContext


class Connections:
    """Sends requests, at most `max_concurrency` at once, for any number of threads.

    Each connection is a transport of its own on a stack, which costs the same however many
    there are, and one that fails takes no other with it.
    """

    def __init__(self, network: Network, handler: Handler | None) -> None:
        self._network = network
        self._handler = handler
        self._idle: deque[httpx.HTTPTransport] = deque()
        self._slots = threading.BoundedSemaphore(network.max_concurrency)
        self.is_closed: bool = False

    def send(self, request: Request, time_left: float) -> Outcome:
        """Send one request and read its answer."""
        attempt = _Attempt(request, time_left)
        if not self._slots.acquire(timeout=max(0.0, time_left)):
            return attempt.timed_out(self._network)
        try:
            with self._connection() as handler:
                _perform(handler, attempt)
            return attempt.outcome()
        except _FAULTS as error:
            return attempt.failed(error)
        finally:
            self._slots.release()

    def close(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Generator[Handler, None, None]:
        if self._handler is not None:
            yield self._handler
            return
        try:
            transport = self._idle.pop()
        except IndexError:
            transport = httpx.HTTPTransport(**_settings(self._network))
        try:
            yield transport.handle_request
        except BaseException:
            transport.close()
            raise
        self._idle.append(transport)
        if self.is_closed:
            self.close()


def _perform(handler: Handler, attempt: "_Attempt") -> None:
    response = handler(attempt.begin())
    try:
        attempt.answered(response)
        for chunk in _chunks(response):
            if attempt.received(chunk):
                break
        attempt.finished()
    finally:
        response.close()


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    if response.is_stream_consumed:  # somebody's event hook has read it
        return iter([response.content])
    return iter(cast(httpx.SyncByteStream, response.stream))


@attrs.frozen
class _LoopLocal:
    """What belongs to one event loop, because no connection may cross to another."""

    slots: anyio.Semaphore
    idle: deque[httpx.AsyncHTTPTransport] = attrs.field(factory=deque[httpx.AsyncHTTPTransport])


class AsyncConnections:
    """The same for tasks, on any event loop of asyncio or trio."""

    def __init__(self, network: Network, handler: AsyncHandler | None) -> None:
        self._network = network
        self._handler = handler
        self._loops: dict[anyio.lowlevel.EventLoopToken, _LoopLocal] = {}
        self.is_closed: bool = False

    async def send(self, request: Request, time_left: float) -> Outcome:
        """Send one request and read its answer."""
        attempt = _Attempt(request, time_left)
        local = self._local()
        try:
            with anyio.move_on_after(time_left):
                async with local.slots, self._connection(local) as handler:
                    await _async_perform(handler, attempt)
                return attempt.outcome()
        except _FAULTS as error:
            return attempt.failed(error)
        return attempt.timed_out(self._network)

    async def aclose(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        local = self._local()
        while local.idle:
            await _async_close(local.idle.pop())

    def _local(self) -> _LoopLocal:
        token = anyio.lowlevel.current_token()
        local = self._loops.get(token)
        if local is None:
            self._forget_closed_loops()
            local = _LoopLocal(anyio.Semaphore(self._network.max_concurrency))
            self._loops[token] = local
        return local

    def _forget_closed_loops(self) -> None:
        for token in list(self._loops):
            is_closed = getattr(token.native_token, "is_closed", None)
            if is_closed is not None and is_closed():
                self._loops.pop(token, None)

    @asynccontextmanager
    async def _connection(self, local: _LoopLocal) -> AsyncGenerator[AsyncHandler, None]:
        if self._handler is not None:
            yield self._handler
            return
        try:
            transport = local.idle.pop()
        except IndexError:
            transport = httpx.AsyncHTTPTransport(**_settings(self._network))
        try:
            yield transport.handle_async_request
        except BaseException:
            await _async_close(transport)
            raise
        local.idle.append(transport)
        if self.is_closed:
            await self.aclose()


async def _async_perform(handler: AsyncHandler, attempt: "_Attempt") -> None:
    response = await handler(attempt.begin())
    try:
        attempt.answered(response)
        async for chunk in _async_chunks(response):
            if attempt.received(chunk):
                break
        attempt.finished()
    finally:
        with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
            await response.aclose()


async def _async_chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    if response.is_stream_consumed:  # somebody's event hook has read it
        yield response.content
    else:
        async for chunk in cast(httpx.AsyncByteStream, response.stream):
            yield chunk


async def _async_close(transport: httpx.AsyncHTTPTransport) -> None:
    """Close a transport even while its task is being cancelled."""
    with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
        await transport.aclose()


class _Outgoing(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of a request; it knows whether it was taken to be sent."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.taken = False

    def __iter__(self) -> Iterator[bytes]:
        self.taken = True
        yield self._content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.taken = True
        yield self._content


class _Attempt:
    """One request on its way, and what has come back so far."""

    def __init__(self, request: Request, time_left: float) -> None:
        self._request = request
        self._deadline = time.monotonic() + time_left
        self._timeouts: dict[str, float] = {}
        self._outgoing = _Outgoing(request.body or b"")
        self._began = False
        self._reply: Reply | None = None
        self._body: Body | None = None
        self._is_whole = False

    def begin(self) -> httpx.Request:
        """The request, with the time that is left for it now."""
        self._began = True
        self._give_time()
        return httpx.Request(
            self._request.method,
            self._request.url,
            headers=dict(self._request.headers),
            stream=self._outgoing,
            extensions={"timeout": self._timeouts},
        )

    def answered(self, response: httpx.Response) -> None:
        """Note the status and headers, and leave the time that remains to the body."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        self._reply = Reply(status=response.status_code, headers=headers, received_at=time.time())
        if response.is_stream_consumed:
            headers = {}
        self._body = Body(response.status_code, headers)
        self._give_time()

    def received(self, chunk: bytes) -> bool:
        """Take a piece of the body; True if no more of it is wanted."""
        assert self._body is not None
        if time.monotonic() > self._deadline:
            raise httpx.ReadTimeout("")
        self._body.feed(chunk)
        return self._body.is_enough

    def finished(self) -> None:
        """Note that the body is as complete as it is going to be."""
        assert self._body is not None
        self._body.finish()
        self._is_whole = True

    def outcome(self, broken: Failure | None = None) -> Outcome:
        """What came back."""
        assert self._reply is not None
        assert self._body is not None
        return attrs.evolve(
            self._reply, body=self._body.content, defect=self._body.defect, broken=broken
        )

    def failed(self, error: Exception) -> Outcome:
        """What came back before something broke."""
        if self._is_whole:
            return self.outcome()
        timed_out = isinstance(error, httpx.TimeoutException | TimeoutError)
        sent = self._outgoing.taken and not isinstance(error, _NEVER_SENT)
        return self._broken_off(Failure(reason=_reason(error), sent=sent, timed_out=timed_out))

    def timed_out(self, network: Network) -> Outcome:
        """What came back before the time was over."""
        reason = "no answer in time"
        if not self._began:
            reason = f"no free connection in time (max_concurrency is {network.max_concurrency})"
        return self._broken_off(Failure(reason=reason, sent=self._outgoing.taken, timed_out=True))

    def _broken_off(self, failure: Failure) -> Outcome:
        return failure if self._reply is None else self.outcome(broken=failure)

    def _give_time(self) -> None:
        left = max(0.001, self._deadline - time.monotonic())
        self._timeouts.update(connect=left, read=left, write=left, pool=left)


def _reason(error: BaseException) -> str:
    """The innermost cause in words that hold nothing of the request."""
    if isinstance(error, httpx.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "no answer in time"
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    for link in reversed(chain):
        if isinstance(link, OSError) and (link.strerror or link.args):
            return one_line(str(link.strerror or link))
        if isinstance(link, httpx.RemoteProtocolError):
            return one_line(str(link)) or "the answer was no valid HTTP"
    return f"the connection broke ({type(error).__name__})"


class _Settings(TypedDict):
    verify: ssl.SSLContext
    proxy: str | None
    limits: httpx.Limits


def _settings(network: Network) -> _Settings:
    """What one transport is made with; its own look at the environment is not wanted."""
    is_tls = network.base_url.startswith("https:")
    context = tls_context(network.verify) if is_tls else _no_tls()
    return {"verify": context, "proxy": network.proxy, "limits": _ONE_CONNECTION}


def tls_context(verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
    """The TLS context for a setting; each is made once for the process, when first needed."""
    if isinstance(verify, ssl.SSLContext):
        return verify
    try:
        return _made_context(verify)
    except OSError as error:
        raise ConfigurationError(
            f"verify: no certificates could be read: {error.strerror or type(error).__name__}",
            argument="verify",
        ) from None


@cache
def _made_context(verify: bool | str) -> ssl.SSLContext:
    if isinstance(verify, str):
        return ssl.create_default_context(cafile=verify)
    return httpx.create_ssl_context(verify=verify)


@cache
def _no_tls() -> ssl.SSLContext:
    """A context that is never used, where the library would make an expensive one."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def handler_of(transport: object, http_client: object) -> Handler | None:
    """How a sync client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        if not isinstance(http_client, httpx.Client):
            raise _wrong_kind("http_client", http_client, "AdClient", "an httpx.Client")
        return partial(http_client.send, stream=True, follow_redirects=False)
    if transport is not None and not hasattr(transport, "handle_request"):
        raise _wrong_kind("transport", transport, "AdClient", "a sync transport of httpx")
    return cast("httpx.BaseTransport", transport).handle_request if transport else None


def async_handler_of(transport: object, http_client: object) -> AsyncHandler | None:
    """How an async client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        if not isinstance(http_client, httpx.AsyncClient):
            raise _wrong_kind("http_client", http_client, "AsyncAdClient", "an httpx.AsyncClient")
        return partial(http_client.send, stream=True, follow_redirects=False)
    if transport is not None and not hasattr(transport, "handle_async_request"):
        raise _wrong_kind("transport", transport, "AsyncAdClient", "an async transport of httpx")
    return cast("httpx.AsyncBaseTransport", transport).handle_async_request if transport else None


def _check_one(transport: object, http_client: object) -> None:
    if transport is not None and http_client is not None:
        raise ConfigurationError(
            "transport and http_client exclude each other", argument="http_client"
        )


def _wrong_kind(argument: str, given: object, client: str, expected: str) -> TypeError:
    name = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    return TypeError(f"{argument} of {client} must be {expected}, not {name}")


def network(
    *,
    base_url: str,
    max_concurrency: int,
    proxy: str | None,
    verify: bool | str | ssl.SSLContext,
    is_direct: bool,
) -> Network:
    """How to reach the service, checked; `is_direct` if the connections are not made here."""
    try:
        httpx.URL(base_url)
    except httpx.InvalidURL:
        raise ConfigurationError("base_url is not a valid URL", argument="base_url") from None
    if not isinstance(verify, bool | str | ssl.SSLContext):
        raise ConfigurationError(
            "verify must be a bool, a path or an ssl.SSLContext", argument="verify"
        )
    if is_direct and (proxy is not None or verify is not True):
        raise ConfigurationError(
            "proxy and verify are settings of connections that adclient makes itself; "
            "set them on your transport or http_client",
            argument="verify" if proxy is None else "proxy",
        )
    if proxy is not None:
        _check_proxy("proxy", proxy)
    elif not is_direct:
        proxy = _environment_proxy(base_url)
    return Network(base_url, max_concurrency, proxy, verify)


def _environment_proxy(base_url: str) -> str | None:
    """The proxy that the environment names for a service, which is never one for loopback."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    found = getproxies()
    name = next((name for name in (parts.scheme, "all") if found.get(name)), None)
    if name is None:
        return None
    proxy = found[name] if "://" in found[name] else f"http://{found[name]}"
    _check_proxy(f"the environment variable {name}_proxy", proxy)
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_proxy(what: str, proxy: str) -> None:
    """Refuse a proxy URL that cannot be used, without showing it: it may hold a password."""
    try:
        scheme = httpx.Proxy(proxy).url.scheme
    except (ValueError, TypeError, httpx.InvalidURL):
        raise ConfigurationError(
            f"{what} must be a URL like 'http://proxy.example.com:3128'", argument="proxy"
        ) from None
    if scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigurationError(
            f"{what} is a SOCKS proxy, which needs: pip install 'httpx[socks]'", argument="proxy"
        )


class ServiceTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of both colours that answers from a function, without a network."""

    def __init__(self, service: Callable[[Request], Outcome]) -> None:
        self._service = service

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        outcome = self._service(
            Request(
                method=request.method,
                url=str(request.url),
                headers=dict(request.headers),
                body=body or None,
            )
        )
        if isinstance(outcome, Reply):
            headers = dict(outcome.headers)
            return httpx.Response(
                outcome.status, headers=headers, stream=httpx.ByteStream(outcome.body)
            )
        if not outcome.sent:
            raise httpx.ConnectError(outcome.reason)
        fault = httpx.ReadTimeout if outcome.timed_out else httpx.RemoteProtocolError
        raise fault(outcome.reason)
