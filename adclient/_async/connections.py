"""The sender over connections of our own, and the network below them."""

import ssl
from contextlib import closing, suppress
from typing import Any, TypeAlias

import httpcore

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.attempt import Attempt, decoded_headers
from adclient._http.backend import (
    CHUNK,
    READ,
    WHOLE_READ,
    WRITE,
    BaseBackend,
    T,
    TLSSteps,
    async_bounded,
    async_look_up,
    async_receive,
    async_send_all,
    async_writable,
    failure,
)
from adclient._http.network import Network
from adclient._http.pool import (
    FAULTS,
    AsyncIdle,
    BasePool,
    PooledConnection,
    close_all,
    is_async_patched,
    outcome_after,
    timed_out,  # async only
)
from adclient._tasks.clock import monotonic

_Connection: TypeAlias = "PooledConnection[AsyncBackend, httpcore.AsyncConnectionInterface]"


class AsyncConnectionPool(BasePool["AsyncBackend", httpcore.AsyncConnectionInterface]):
    """Sends requests over connections of its own."""

    def __init__(self, network: Network) -> None:
        pools = httpcore.AsyncConnectionPool, httpcore.AsyncSOCKSProxy, httpcore.AsyncHTTPProxy
        super().__init__(network, AsyncBackend, pools)
        self._idle: AsyncIdle[AsyncBackend, httpcore.AsyncConnectionInterface] = AsyncIdle()

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt, send_over = Attempt(request, deadline), self._send_over
        if is_async_patched():
            from adclient._http.library import HTTPXAttempt  # imports httpx

            attempt = HTTPXAttempt(request, deadline)
            send_over = attempt.async_send_over
        try:
            with async_bounded(deadline - monotonic()):
                idle = self._idle.here()
                connection = self._checkout(idle) or self._new_connection()
                connection.backend.deadline = deadline
                try:
                    await send_over(connection, attempt)
                except BaseException:  # an interrupt or cancellation leaves something unfinished
                    connection.backend.close()
                    raise
                self._keep(connection, idle)
                return attempt.response()
        except Exception as error:
            return outcome_after(attempt, error)
        return timed_out(attempt)  # async only

    async def aclose(self) -> None:
        """Close the connections; doing it again does nothing."""
        self.is_closed = True
        close_all(self._idle.here())

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
                    # Its generators are run to their end, which is near without a socket.
                    # On trio, an unfinished one warns when it is collected.  # async only
                    connection.backend.close()
                    with suppress(*FAULTS):
                        async for _ in chunks:
                            pass
                    break
        attempt.finish()
        # It lets httpcore consider the connection idle. Not in a `finally`: a failure closes the
        # socket, which waits for nothing and so cannot be cancelled.
        await body.aclose()


class AsyncBackend(BaseBackend, httpcore.AsyncNetworkBackend, httpcore.AsyncNetworkStream):
    """Opens a connection, and reads and writes it, until the deadline or cancellation."""

    async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> "AsyncBackend":
        """Connect to the first address that accepts."""
        try:
            addresses = await async_look_up(host, port)
            with closing(self._connector.connect(addresses, self._time_left)) as connecting:
                waiting = next(connecting)
                while True:
                    waiting = connecting.send(await async_writable(*waiting))
        except StopIteration as done:
            self._own(done.value)
        except (OSError, ValueError) as error:  # a name that IDNA cannot encode is a ValueError
            raise self._connect_error(error) from error
        return self

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        *_: object,
        **__: object,
    ) -> "AsyncBackend":
        """Add a layer of TLS."""
        try:
            await self._perform(self._handshake(ssl_context, server_hostname))
        except BaseException as error:
            self.close()  # httpcore has no stream to close before the handshake is over
            if isinstance(error, OSError | ValueError):  # the latter for an invalid server name
                raise self._connect_error(error) from error
            raise
        return self

    async def read(self, max_bytes: int, *_: object, **__: object) -> bytes:
        """Read some bytes; none mean the end."""
        if self._withheld:
            withheld, self._withheld = self._withheld, b""
            return withheld
        try:
            if self._tls is None:
                assert self._socket is not None
                data = await async_receive(self._socket, max_bytes, self.deadline)
            else:
                data = await self._perform(self._tls.read(max_bytes))
        except OSError as error:
            raise failure(READ, error) from error
        # A single byte is not withheld: the parser needs it now, and no bytes would mean the end.
        if max_bytes <= WHOLE_READ or len(data) < 2:
            return data
        self._withheld = data[-1:]
        return data[:-1]

    async def write(self, buffer: bytes, *_: object, **__: object) -> None:
        """Write all bytes."""
        try:
            if self._tls is not None:
                await self._perform(self._tls.write(buffer))
            elif buffer:
                assert self._socket is not None
                await async_send_all(self._socket, buffer, self.deadline)
        except OSError as error:
            raise failure(WRITE, error) from error

    async def aclose(self) -> None:  # async only
        """Close the socket."""  # async only
        # Nobody else reads or writes: an event loop would go on watching it.  # async only
        self.close()  # async only

    async def _perform(self, steps: TLSSteps[T]) -> T:
        assert self._socket is not None
        try:
            outgoing = next(steps)
            while True:
                if outgoing is None:
                    received = await async_receive(self._socket, CHUNK, self.deadline)
                    outgoing = steps.send(received)
                else:
                    await async_send_all(self._socket, outgoing, self.deadline)
                    outgoing = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
