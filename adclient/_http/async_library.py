"""Sends through an async client or transport of the caller, of httpx or httpx2."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import Any, cast
from weakref import WeakSet

import anyio
import httpx
from anyio.lowlevel import checkpoint, current_token

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.library import LibraryAttempt, resolve_send
from adclient._http.slots import AsyncCapacityLimiter, AsyncSlot
from adclient._tasks.background import BackgroundTask
from adclient.errors import ConfigurationError

_LONGEST_CLOSE = 2.0
# Where a cancellation does no harm, as httpcore names it in its `trace` extension.
_READS = ("http11.receive_response_headers.started", "http11.receive_response_body.started")
# The first events after a request has waited for a connection of the pool.
_STARTS = (
    "connection.connect_tcp.started",
    "connection.connect_unix_socket.started",
    "http11.send_request_headers.started",
)


AsyncSend = Callable[[httpx.Request], Awaitable[httpx.Response]]


class AsyncLibrarySender:
    """Sends through an async client or transport of the caller, who closes it.

    The pools of httpcore 1.0 leak a connection if a request is cancelled at a bad moment. So each
    exchange runs in its own background task: a cancelled call abandons the task, which continues
    until it only reads, and can be cancelled safely.
    """

    def __init__(self, transport: object, http_client: Any, limiter: AsyncCapacityLimiter) -> None:
        self._library, self._transmit = resolve_send(transport, http_client, is_async=True)
        # These may send a write twice; httpx has no public name for the transports of a client.
        given = transport if http_client is None else http_client
        inside = (getattr(given, "_transport", None), *getattr(given, "_mounts", {}).values())
        if any(type(one).__module__.startswith("httpx_aiohttp") for one in (given, *inside)):
            name = "transport" if http_client is None else "http_client"
            problem = f"httpx-aiohttp may stage a draft twice: leave out {name}="
            raise ConfigurationError(problem, argument=name)
        self._client: httpx.AsyncClient | None = http_client
        self._limiter = limiter  # for exchanges: an abandoned one keeps its slot until it ends
        self._running: WeakSet[BackgroundTask[None]] = WeakSet()
        self.is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt = LibraryAttempt(request, deadline, self._library, self._client)
        sending, slot = ShieldedSend(self._transmit, attempt), AsyncSlot(self._limiter)
        # Tracers miss the lines behind a cancellation.
        if not await slot.acquire(attempt.time_left):  # pragma: no cover
            return attempt.ended_by("no free connection in time", sent=False, timed_out=True)
        try:
            # Not a task group, which would cancel the exchange together with the call.
            task = BackgroundTask(sending.perform, lambda _: slot.release(), eager=True)
            self._running.add(task)
            # A transport that never waits, such as that of a test, needs no timeout.
            with nullcontext() if task.ended.is_set() else anyio.fail_after(attempt.time_left):
                try:
                    await task.ended.wait()
                    task.result()
                except BaseException:
                    sending.abandon(task.scope)
                    raise
            return attempt.response()
        except Exception as error:
            return attempt.outcome_after(error)

    async def aclose(self) -> None:
        """Wait for the exchanges of this event loop; the caller owns the connections."""
        self.is_closed = True
        with anyio.move_on_after(_LONGEST_CLOSE):
            for task in [task for task in self._running if task.loop == current_token()]:
                await task.ended.wait()


class ShieldedSend:
    """One request through a pool of the caller, cancelled only while it reads.

    While it waits for a connection, it has no timeout either: the pool could assign one at the
    same moment, and would count it for good. Abandoned, it ends as soon as it has one.
    """

    def __init__(self, transmit: AsyncSend, attempt: LibraryAttempt) -> None:
        self._transmit = transmit
        self._attempt = attempt
        self._scope: anyio.CancelScope | None = None  # of the task, once it is abandoned
        self._longest = 2 * attempt.time_left + _LONGEST_CLOSE
        self._is_reading = False
        attempt.extensions["trace"] = self._trace

    async def perform(self) -> None:
        """Send the request and read the response."""
        attempt = self._attempt
        request = attempt.build(attempt.library.async_stream)
        try:
            response = await self._transmit(request)
        except attempt.library.names.HTTPStatusError as error:  # of an event hook
            response = error.response
        if attempt.begin_response(response):
            attempt.finish()
            return
        chunks = aiter(cast(httpx.AsyncByteStream, response.stream))
        is_at_end = False
        try:
            async for chunk in chunks:
                if attempt.feed_in_time(chunk):
                    break
            else:
                is_at_end = True
            attempt.finish()
        finally:
            if is_at_end:
                await response.aclose()
            else:
                # Before its end, and even while this task is being cancelled. The stream is run to
                # its end: a generator left in the middle warns when it is collected.
                with anyio.move_on_after(_LONGEST_CLOSE, shield=True):
                    await response.aclose()
                    with suppress(*attempt.library.faults):
                        async for _ in chunks:
                            await checkpoint()  # so the deadline also ends an endless stream

    def abandon(self, scope: anyio.CancelScope) -> None:
        """Stop waiting for the response; a request whose body was not read yet is never sent.

        Connecting and TLS each have the whole time of the attempt as their timeout. After that, it
        reads, unless the caller's other requests have held the pool all the time.
        """
        self._attempt.is_abandoned = True
        self._scope = scope
        scope.deadline = anyio.current_time() + self._longest
        self._cancel_read()

    async def _trace(self, event: str, _: object) -> None:
        if self._attempt.is_abandoned and event in _STARTS:
            raise self._attempt.library.names.PoolTimeout("")
        self._is_reading = event in _READS
        self._cancel_read()

    def _cancel_read(self) -> None:
        if self._scope is not None and self._is_reading:
            self._scope.cancel()
