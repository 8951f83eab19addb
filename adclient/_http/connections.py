"""The connections of a client: each sends one request at a time."""

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar, cast

import anyio
import attrs
import httpx
from anyio.lowlevel import EventLoopToken, current_token

from adclient._core.reply import Outcome
from adclient._core.request import Request
from adclient._http.attempt import FAULTS, Attempt
from adclient._http.handlers import AsyncHandler, Handler
from adclient._http.network import Network, transport_settings

T = TypeVar("T")

AsyncIdle = deque[tuple[float, httpx.AsyncHTTPTransport]]

_LONGEST_CLOSE = 2.0
_LONGEST_IDLE = 5.0


class Connections:
    """Sends requests, at most `max_concurrency` at once, for any number of threads.

    Each connection is a transport of its own on a stack, which costs the same however many
    there are, and one that fails takes no other with it.
    """

    def __init__(self, network: Network, handler: Handler | None) -> None:
        self._network = network
        self._handler = handler
        self.is_closed: bool = False
        self.forget()
        _OPEN.add(self)

    def forget(self) -> None:
        """Start without connections, and leave those of a parent process alone."""
        self._idle: deque[tuple[float, httpx.HTTPTransport]] = deque()
        self._slots = threading.BoundedSemaphore(self._network.max_concurrency)

    def send(self, request: Request, time_left: float) -> Outcome:
        """Send one request and read its answer."""
        attempt = Attempt(request, time_left)
        if not self._slots.acquire(timeout=max(0.0, time_left)):
            return attempt.timed_out(self._network.max_concurrency)
        try:
            with self._connection() as handler:
                _perform(handler, attempt)
            return attempt.outcome()
        except FAULTS as error:
            return attempt.failed(error)
        finally:
            self._slots.release()

    def close(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        while self._idle:
            self._idle.pop()[1].close()

    @contextmanager
    def _connection(self) -> Generator[Handler, None, None]:
        if self._handler is not None:
            yield self._handler
            return
        try:
            _, transport = self._idle.pop()
        except IndexError:
            transport = httpx.HTTPTransport(**transport_settings(self._network))
        try:
            yield transport.handle_request
        except BaseException:
            transport.close()
            raise
        self._idle.append((time.monotonic(), transport))
        if self.is_closed:
            self.close()
        while (expired := _expired(self._idle)) is not None:
            expired.close()


def _perform(handler: Handler, attempt: Attempt) -> None:
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
    idle: AsyncIdle
    keeper: AsyncGenerator[None, None]


class AsyncConnections:
    """The same for tasks, on any event loop of asyncio or trio."""

    def __init__(self, network: Network, handler: AsyncHandler | None) -> None:
        self._network = network
        self._handler = handler
        self.is_closed: bool = False
        self.forget()
        _OPEN.add(self)

    def forget(self) -> None:
        """Start without connections, and leave those of a parent process alone."""
        self._loops: dict[EventLoopToken, _LoopLocal] = {}

    async def send(self, request: Request, time_left: float) -> Outcome:
        """Send one request and read its answer."""
        attempt = Attempt(request, time_left)
        local = await self._local()
        try:
            with anyio.move_on_after(time_left):
                async with local.slots, self._connection(local) as handler:
                    await _async_perform(handler, attempt)
                return attempt.outcome()
        except FAULTS as error:
            return attempt.failed(error)
        return attempt.timed_out(self._network.max_concurrency)

    async def aclose(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        local = self._loops.get(current_token())
        if local is not None:
            await local.keeper.aclose()

    async def _local(self) -> _LoopLocal:
        token = current_token()
        local = self._loops.get(token)
        if local is None:
            slots = anyio.Semaphore(self._network.max_concurrency)
            idle: AsyncIdle = deque()
            local = _LoopLocal(slots, idle, self._kept(token, idle))
            self._loops[token] = local
            if self._handler is None:
                await anext(local.keeper)
        return local

    async def _kept(self, token: EventLoopToken, idle: AsyncIdle) -> AsyncGenerator[None, None]:
        """Close what belongs to a loop when the client is closed, or else when the loop ends.

        A loop that ends closes the generators that are still open in it, and nothing else.
        """
        try:
            yield
        finally:
            self._loops.pop(token, None)
            while idle:
                await _async_close(idle.pop()[1])

    @asynccontextmanager
    async def _connection(self, local: _LoopLocal) -> AsyncGenerator[AsyncHandler, None]:
        if self._handler is not None:
            yield self._handler
            return
        try:
            _, transport = local.idle.pop()
        except IndexError:
            transport = httpx.AsyncHTTPTransport(**transport_settings(self._network))
        try:
            yield transport.handle_async_request
        except BaseException:
            await _async_close(transport)
            raise
        if self.is_closed:
            await _async_close(transport)
        else:
            local.idle.append((time.monotonic(), transport))
        while (expired := _expired(local.idle)) is not None:
            await _async_close(expired)


async def _async_perform(handler: AsyncHandler, attempt: Attempt) -> None:
    response = await handler(attempt.begin())
    chunks = _async_chunks(response)
    try:
        attempt.answered(response)
        async for chunk in chunks:
            if attempt.received(chunk):
                break
        attempt.finished()
    finally:
        with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
            await response.aclose()
            await _exhaust(chunks)


async def _async_chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    if response.is_stream_consumed:  # somebody's event hook has read it
        yield response.content
    else:
        async for chunk in cast(httpx.AsyncByteStream, response.stream):
            yield chunk


async def _exhaust(chunks: AsyncIterator[bytes]) -> None:
    """Run a closed stream to its end: a generator left in the middle warns when it is collected."""
    with suppress(*FAULTS):
        async for _ in chunks:
            pass


async def _async_close(transport: httpx.AsyncHTTPTransport) -> None:
    """Close a transport even while its task is being cancelled."""
    with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
        await transport.aclose()


def _expired(idle: deque[tuple[float, T]]) -> T | None:
    """Take a transport that was idle for too long off the old end of the stack, if there is one."""
    if idle and idle[0][0] < time.monotonic() - _LONGEST_IDLE:
        return idle.popleft()[1]
    return None


_OPEN: weakref.WeakSet[Connections | AsyncConnections] = weakref.WeakSet()


def _forget_all() -> None:
    """A child process must not speak on its parent's connections, nor wait for its threads."""
    for connections in list(_OPEN):
        connections.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(after_in_child=_forget_all)
