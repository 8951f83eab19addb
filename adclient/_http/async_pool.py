"""The connections of an async client, apart for each event loop."""

import asyncio
import time
import warnings
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import anyio
import attrs
from anyio.lowlevel import current_token

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.async_backend import AsyncBackend
from adclient._http.connection import (
    FAULTS,
    KEEPALIVE_EXPIRY,
    AsyncResponseStream,
    Target,
    outcome_of,
    proxy_parts,
    timed_out,
)
from adclient._http.forks import leak, register_for_forks
from adclient._http.httpcore_alias import httpcore
from adclient._http.network import Network
from adclient._http.patched import is_async_patched
from adclient._http.send import Attempt, decoded_headers

if TYPE_CHECKING:
    from adclient._http.through_httpx import HTTPXAttempt

_NEVER_CLOSED = "an AsyncAdClient was never closed: end it with aclose(), or use `async with`"


class AsyncConnectionPool:
    """Sends requests over connections of its own, on any event loop of asyncio or trio."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._target = Target(network)
        self.is_closed: bool = False
        self._start()
        register_for_forks(self)

    def _start(self) -> None:
        self._loops: dict[object, _LoopState] = {}

    def reset_after_fork(self) -> None:
        """Start without connections, and leave those of the parent alone."""
        leak(self._loops)
        self._start()

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        patched = None
        if is_async_patched():
            from adclient._http.through_httpx import HTTPXAttempt  # imports httpx

            patched = HTTPXAttempt(request, deadline)
        attempt = patched or Attempt(request, deadline)
        idle = await self._idle()
        try:
            with anyio.move_on_after(attempt.time_left):
                connection = self._checkout(idle)
                try:
                    if patched is None:
                        await connection.send(self._target.request(attempt), attempt)
                    else:
                        await connection.send_through_httpx(patched)
                except BaseException:  # a cancellation leaves a request or response unfinished
                    connection.backend.close()
                    raise
                # The server closes it, or the body was not read to its end.
                if not connection.is_open:
                    connection.backend.close()
                    return attempt.response()
                connection.idle_since = time.monotonic()
                idle.append(connection)
                if self.is_closed:  # another task closed the pool before this connection was in it
                    _close_all(idle)
                return attempt.response()
        except FAULTS as error:
            return outcome_of(attempt, error)
        except Exception as error:
            return attempt.stopped(error)
        return timed_out(attempt)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; doing it again does nothing."""
        self.is_closed = True
        state = self._loops.get(current_token().native_token)
        if state is not None:
            await state.keeper.aclose()

    def __del__(self) -> None:
        """Warn about a client that was never closed although its event loop goes on."""
        if not self.is_closed and any(state.idle for state in self._loops.values()):
            warnings.warn(_NEVER_CLOSED, ResourceWarning, source=self, stacklevel=2)

    async def _idle(self) -> "deque[_Connection]":
        loop = current_token().native_token
        state = self._loops.get(loop)
        if state is None:
            self._forget_closed_loops()
            idle: deque[_Connection] = deque()
            state = _LoopState(idle, _closed_with_loop(self._loops, loop, idle))
            self._loops[loop] = state
            await anext(state.keeper)  # a loop knows only generators that have begun
        return state.idle

    def _forget_closed_loops(self) -> None:
        # A loop of asyncio may be closed without ending its generators.
        for loop in list(self._loops):
            if isinstance(loop, asyncio.AbstractEventLoop) and loop.is_closed():
                self._loops.pop(loop, None)

    def _checkout(self, idle: "deque[_Connection]") -> "_Connection":
        expiry = time.monotonic() - KEEPALIVE_EXPIRY
        while idle and idle[0].idle_since < expiry:
            idle.popleft().backend.close()
        while idle:
            connection = idle.pop()
            # The server may have closed it, or sent unsolicited bytes.
            if connection.backend.is_reusable:
                return connection
            connection.backend.close()
        return _Connection(self._target, self._network.proxy)


class _Connection:
    """One connection, which is opened by its first request."""

    def __init__(self, target: Target, proxy: str | None) -> None:
        self.backend = AsyncBackend(proxy=proxy, last=target.last_place)
        self.idle_since: float  # set after each request
        # Without the pool of httpcore 1.0, which leaks a connection if a request is cancelled at a
        # bad moment, and takes 3.1 million instructions for a GET instead of 1.2 million.
        self._http = _pool(target, proxy, self.backend).create_connection(target.origin)

    async def send(self, request: httpcore.Request, attempt: Attempt) -> None:
        """Send a request and read its response into the attempt."""
        self.backend.deadline = attempt.deadline
        response = await self._http.handle_async_request(request)
        body = cast(AsyncResponseStream, response.stream)
        if attempt.begin(response.status, decoded_headers(response.headers), is_framed=True):
            async for chunk in body:
                attempt.chunks.append(chunk)
        else:
            chunks = aiter(body)
            async for chunk in chunks:
                if attempt.feed(chunk):
                    await self._leave(chunks)
                    break
        attempt.finish()
        # Not in a `finally`: after a failure, `AsyncConnectionPool` closes the socket, without an
        # await that could be cancelled.
        await body.aclose()

    async def _leave(self, chunks: AsyncIterator[bytes]) -> None:
        """Close the connection before the end of a body.

        Then its generators are run to their end, which is near without a socket: on trio, an
        unfinished generator warns when it is collected.
        """
        self.backend.close()
        with suppress(*FAULTS):
            async for _ in chunks:
                pass

    async def send_through_httpx(self, attempt: "HTTPXAttempt") -> None:
        """The same, seen by the tools that have patched httpx."""
        from adclient._http.async_library import ShieldedSend
        from adclient._http.through_httpx import async_send_over

        self.backend.deadline = attempt.deadline
        await ShieldedSend(async_send_over(self._http), attempt).perform()

    @property
    def is_open(self) -> bool:
        """True if it can carry another request. A tool may have left the response open."""
        return self._http.is_idle()


@attrs.frozen
class _LoopState:
    """The idle connections of an event loop, and what closes them at its end."""

    idle: deque[_Connection]
    keeper: AsyncGenerator[None, None]


async def _closed_with_loop(
    loops: dict[object, _LoopState], loop: object, idle: deque[_Connection]
) -> AsyncGenerator[None, None]:
    """Close connections when the client is closed, or else when the loop ends.

    A loop that ends closes the async generators that are still open in it, and nothing else.
    """
    # It does not refer to the pool, whose `__del__` should run when the client is dropped.
    try:
        yield
    finally:
        loops.pop(loop, None)
        _close_all(idle)


def _close_all(idle: deque[_Connection]) -> None:
    while idle:
        idle.pop().backend.close()


def _pool(target: Target, proxy: str | None, backend: AsyncBackend) -> httpcore.AsyncConnectionPool:
    """A pool of httpcore, used only to create connections: the pools implement proxies."""
    context = target.tls_context
    if proxy is None:
        return httpcore.AsyncConnectionPool(context, network_backend=backend)
    url, auth = proxy_parts(proxy)
    if proxy.startswith("socks"):
        return httpcore.AsyncSOCKSProxy(url, auth, context, network_backend=backend)
    return httpcore.AsyncHTTPProxy(
        url,
        auth,
        ssl_context=context,
        proxy_ssl_context=target.proxy_tls_context(proxy),
        network_backend=backend,
    )
