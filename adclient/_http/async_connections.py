"""The connections of an async client: those of each event loop stay with it."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Protocol, cast

import anyio
import attrs
import httpx
from anyio.lowlevel import EventLoopToken, checkpoint, current_token

from adclient._core.call import Turn
from adclient._core.redact import Redactor
from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.attempt import Attempt
from adclient._http.detached import Detached
from adclient._http.family import HTTPX
from adclient._http.forks import forget_after_fork
from adclient._http.handlers import AsyncHandler, AsyncSend
from adclient._http.idle import Idle
from adclient._http.network import Network, new_async_transport

_LONGEST_CLOSE = 2.0
_NEVER_CLOSED = "an AsyncAdClient was never closed: end it with aclose(), or use `async with`"
_READS = ("http11.receive_response_headers.started", "http11.receive_response_body.started")


@attrs.frozen
class _LoopLocal:
    """What belongs to one event loop, because no connection may cross to another."""

    slots: anyio.Semaphore
    idle: "Idle[_Connection]"
    keeper: AsyncGenerator[None, None]
    detached: Detached


_OF_PARENTS: list[dict[EventLoopToken, _LoopLocal]] = []
"""What a child process must not let go: it would be shut down."""


class AsyncConnections:
    """Sends requests, at most `max_concurrency` at once, on any event loop of asyncio or trio."""

    def __init__(self, network: Network, handler: AsyncHandler | None) -> None:
        self._network = network
        self._handler = handler
        self._family = HTTPX if handler is None else handler.family
        self.is_closed: bool = False
        self._loops: dict[EventLoopToken, _LoopLocal] = {}
        forget_after_fork(self)

    def forget(self) -> None:
        """Start without connections, and keep those of a parent process as they are.

        Their end would shut them down for both processes.
        """
        _OF_PARENTS.append(self._loops)
        self._loops = {}

    async def send(
        self, request: Request, time_left: float, secrets: Redactor, turn: Turn
    ) -> Outcome | None:
        """Send one request, which holds these secrets, and read its answer.

        None if `turn` held it back.
        """
        attempt = Attempt(self._family, request, time_left, secrets, self._handler, turn)
        local = await self._local()
        try:
            with anyio.move_on_after(time_left):
                await local.slots.acquire()
                if not turn.may_send():
                    local.slots.release()
                    return None
                if self._handler is not None:
                    await self._perform_detached(local, self._handler.send, attempt)
                else:
                    try:
                        await self._perform(local.idle, attempt)
                    finally:
                        local.slots.release()
                return attempt.outcome()
        except self._family.faults as error:
            return attempt.failed(error)
        except Exception as error:
            return attempt.stopped(error)
        return attempt.timed_out(self._network.max_concurrency)

    async def aclose(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        local = self._loops.get(current_token())
        if local is not None:
            with anyio.move_on_after(_LONGEST_CLOSE):
                await local.detached.drain()
            await local.keeper.aclose()

    def __del__(self) -> None:
        """Say that nobody closed it, in a loop that goes on; to do it here needs that loop."""
        if not self.is_closed and any(local.idle for local in self._loops.values()):
            warnings.warn(_NEVER_CLOSED, ResourceWarning, source=self, stacklevel=2)

    async def _local(self) -> _LoopLocal:
        token = current_token()
        local = self._loops.get(token)
        if local is None:
            self._evict_closed_loops()
            slots = anyio.Semaphore(self._network.max_concurrency, fast_acquire=True)
            idle: Idle[_Connection] = Idle()
            local = _LoopLocal(slots, idle, self._kept(token, idle), Detached(token))
            self._loops[token] = local
            if self._handler is None:
                await anext(local.keeper)
        return local

    def _evict_closed_loops(self) -> None:
        """Forget those loops of asyncio that have closed without ending their generators."""
        for token in list(self._loops):
            loop = token.native_token
            if isinstance(loop, asyncio.AbstractEventLoop) and loop.is_closed():
                self._loops.pop(token, None)

    async def _kept(
        self, token: EventLoopToken, idle: "Idle[_Connection]"
    ) -> AsyncGenerator[None, None]:
        """Close what belongs to a loop when the client is closed, or else when the loop ends.

        A loop that ends closes the generators that are still open in it, and nothing else.
        """
        try:
            yield
        finally:
            await self._end(token, idle)

    async def _end(self, token: EventLoopToken, idle: "Idle[_Connection]") -> None:
        local = self._loops.get(token)
        if local is None or local.idle is not idle:
            return  # it is that of a parent process
        del self._loops[token]
        while (connection := idle.pop()) is not None:
            await connection.close()

    async def _perform(self, idle: "Idle[_Connection]", attempt: Attempt) -> None:
        while (expired := idle.expired()) is not None:
            await expired.close()
        connection = idle.pop() or _Connection(new_async_transport(self._network))
        try:
            await _perform(connection.send, attempt, connection.extensions)
        except BaseException:
            await connection.close()
            raise
        if self.is_closed:
            await connection.close()
        else:
            idle.push(connection)

    async def _perform_detached(self, local: _LoopLocal, send: AsyncSend, attempt: Attempt) -> None:
        exchange = _Exchange(send, attempt)
        try:
            await local.detached.run(exchange.perform, on_end=local.slots.release)
        finally:
            exchange.abandon()


class _Connection:
    """A transport of one connection."""

    def __init__(self, transport: httpx.AsyncHTTPTransport) -> None:
        self._transport = transport
        self._stream: _Closeable | None = None
        self.send = transport.handle_async_request

    @property
    def extensions(self) -> dict[str, object]:
        """What a request needs for a new connection to be known; reports cost time."""
        return {"trace": self._trace} if self._stream is None else {}

    async def close(self) -> None:
        """Close it even while its task is being cancelled, and what a TLS handshake leaves open."""
        with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
            await self._transport.aclose()
            if self._stream is not None:
                await self._stream.aclose()

    async def _trace(self, event: str, info: Mapping[str, object]) -> None:
        if event.endswith("connect_tcp.complete"):
            self._stream = cast(_Closeable, info["return_value"])


class _Closeable(Protocol):
    async def aclose(self) -> None: ...


class _Exchange:
    """One exchange through somebody's pool, cut only where the pool takes no harm: at a read."""

    def __init__(self, send: AsyncSend, attempt: Attempt) -> None:
        self._send = send
        self._attempt = attempt
        self._scope = anyio.CancelScope()
        self._is_abandoned = False
        self._is_reading = False

    async def perform(self) -> None:
        """Perform, and end at the latest when only a read can still be under way.

        To wait for a connection, to connect and to agree on TLS have ended by then: each is given
        the whole time of the attempt.
        """
        with self._scope, anyio.move_on_after(3 * self._attempt.time_left + _LONGEST_CLOSE):
            await _perform(self._send, self._attempt, {"trace": self._trace})

    def abandon(self) -> None:
        """Nobody waits for the answer any more."""
        self._attempt.abandon()
        self._is_abandoned = True
        self._cut_a_read()

    async def _trace(self, event: str, _: Mapping[str, object]) -> None:
        self._is_reading = event in _READS
        self._cut_a_read()

    def _cut_a_read(self) -> None:
        if self._is_abandoned and self._is_reading:
            self._scope.cancel()


async def _perform(
    send: AsyncSend, attempt: Attempt, extensions: Mapping[str, object] = MappingProxyType({})
) -> None:
    response = await send(attempt.begin(extensions))
    if response.is_stream_consumed:  # somebody's event hook has read it
        attempt.answered(response)
        attempt.received(response.content)
        attempt.finished()
        return
    chunks = aiter(cast(httpx.AsyncByteStream, response.stream))
    is_at_end = False
    try:
        attempt.answered(response)
        async for chunk in chunks:
            if attempt.received(chunk):
                break
        else:
            is_at_end = True
        attempt.finished()
    finally:
        if is_at_end:
            await response.aclose()
        else:
            await _leave(response, chunks, attempt)


async def _leave(response: httpx.Response, chunks: AsyncIterator[bytes], attempt: Attempt) -> None:
    """Close an answer before its end, even while its task is being cancelled.

    Its stream is run to the end: a generator left in the middle warns when it is collected.
    """
    with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
        await response.aclose()
        with suppress(*attempt.family.faults):
            async for _ in chunks:
                await checkpoint()  # for the deadline of an end that never comes
