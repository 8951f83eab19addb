"""The connections of an async client, apart for each event loop."""

from collections import deque
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import httpcore
from anyio.lowlevel import current_token

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.async_backend import AsyncBackend
from adclient._http.limiter import RESETTABLE
from adclient._http.network import Network
from adclient._http.pool import (
    FAULTS,
    BasePool,
    Connection,
    close_all,
    is_async_patched,
    outcome_of,
    timed_out,
)
from adclient._http.send import Attempt, decoded_headers

_Connection = Connection[AsyncBackend, httpcore.AsyncConnectionInterface]


class AsyncConnectionPool(BasePool[AsyncBackend, httpcore.AsyncConnectionInterface]):
    """Sends requests over connections of its own, on any event loop of asyncio or trio."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        # The idle connections of each event loop. They do not refer to it, so they end with it.
        self._loops: WeakKeyDictionary[object, deque[_Connection]] = WeakKeyDictionary()
        RESETTABLE.add(self)

    def reset_after_fork(self) -> None:
        """Start without connections; closing the sockets in a child sends the peer nothing."""
        for idle in self._loops.values():
            close_all(idle)

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt, send_over = Attempt(request, deadline), self._send_over
        if is_async_patched():
            from adclient._http.library import HTTPXAttempt  # imports httpx

            attempt = HTTPXAttempt(request, deadline)
            send_over = attempt.async_send_over
        try:
            with anyio.move_on_after(attempt.time_left):
                idle = self._idle()
                connection = self._checkout(idle) or self._new_connection()
                connection.backend.deadline = deadline
                try:
                    await send_over(connection, attempt)
                except BaseException:  # a cancellation leaves a request or response unfinished
                    connection.backend.close()
                    raise
                self._keep(connection, idle)
                return attempt.response()
        except Exception as error:
            return outcome_of(attempt, error)
        return timed_out(attempt)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; doing it again does nothing."""
        self.is_closed = True
        close_all(self._idle())

    def _idle(self) -> deque[_Connection]:
        """The idle connections of the running event loop."""
        loop = current_token().native_token
        idle = self._loops.get(loop)
        if idle is None:
            idle = self._loops[loop] = deque()
        return idle

    def _new_connection(self) -> _Connection:
        backend = AsyncBackend(proxy=self._network.proxy, connector=self._connector)
        pool = self._core_pool(
            backend, httpcore.AsyncConnectionPool, httpcore.AsyncSOCKSProxy, httpcore.AsyncHTTPProxy
        )
        return Connection(backend, pool.create_connection(self._origin))

    async def _send_over(self, connection: _Connection, attempt: Attempt, /) -> None:
        """Send a request and read its response into the attempt."""
        response = await connection.http.handle_async_request(self._request(attempt))
        body: Any = response.stream
        if attempt.begin(response.status, decoded_headers(response.headers), is_framed=True):
            async for chunk in body:
                attempt.chunks.append(chunk)
        else:
            chunks = aiter(body)
            async for chunk in chunks:
                if attempt.feed(chunk):
                    # Its generators are run to their end, which is near without a socket: on trio,
                    # an unfinished generator warns when it is collected.
                    connection.backend.close()
                    with suppress(*FAULTS):
                        async for _ in chunks:
                            pass
                    break
        attempt.finish()
        # Not in a `finally`: after a failure, `send` closes the socket, without an await that could
        # be cancelled.
        await body.aclose()
