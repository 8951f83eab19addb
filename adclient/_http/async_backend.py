"""The network backend of httpcore's async connections, on asyncio and trio.

The caller bounds each attempt by one cancel scope, so no step needs a timer of its own. It waits
for plain sockets instead of using anyio's streams: that is quicker, and closing them needs no
await, which would have to be shielded from cancellation.
"""

import socket
import ssl
from collections.abc import Collection, Sequence
from contextlib import closing, suppress

import anyio
import anyio.lowlevel
import httpcore

from adclient._http.addresses import Address
from adclient._http.backend import CHUNK, READ, WHOLE_READ, WRITE, BaseBackend, Steps, T, failure


class AsyncBackend(BaseBackend, httpcore.AsyncNetworkBackend, httpcore.AsyncNetworkStream):
    """Opens a connection, and reads and writes it, until the caller's cancel scope ends.

    Only connecting looks at the deadline itself. Close it only when no other task reads
    or writes: the event loop would go on watching the file descriptor.
    """

    async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> "AsyncBackend":
        """Connect to the first address that accepts."""
        try:
            self._own(await self._connected(await _addresses(host, port)))
        except (OSError, ValueError) as error:
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
            if isinstance(error, OSError | ValueError):
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
                data = await self._receive(max_bytes)
            else:
                data = await self._perform(self._tls.read(max_bytes))
        except OSError as error:
            raise failure(READ, error) from error
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
                await self._send(buffer)
        except OSError as error:
            raise failure(WRITE, error) from error

    async def aclose(self) -> None:
        """Close the socket."""
        self.close()

    async def _connected(self, addresses: Sequence[Address]) -> socket.socket:
        with closing(self._connector.connect(addresses, self._time_left)) as connecting:
            try:
                waiting = next(connecting)
                while True:
                    waiting = connecting.send(await _writable(*waiting))
            except StopIteration as done:
                connected: socket.socket = done.value
                return connected

    async def _perform(self, steps: Steps[T]) -> T:
        try:
            outgoing = next(steps)
            while True:
                if outgoing is None:
                    outgoing = steps.send(await self._receive(CHUNK))
                else:
                    await self._send(outgoing)
                    outgoing = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _receive(self, max_bytes: int) -> bytes:
        assert self._socket is not None
        has_waited = False
        while True:
            try:
                data = self._socket.recv(max_bytes)
            except BlockingIOError:  # also after a selector has reported something to read
                await anyio.wait_readable(self._socket)
                has_waited = True
                continue
            if not has_waited:
                # Otherwise a peer that sends fast enough would block the loop and the deadline.
                await anyio.lowlevel.checkpoint()
            return data

    async def _send(self, data: bytes) -> None:
        assert self._socket is not None
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)


async def _writable(sockets: Collection[socket.socket], seconds: float) -> list[socket.socket]:
    """Wait until one of several sockets is writable; return those that are."""
    ready: list[socket.socket] = []

    async def watch(sock: socket.socket) -> None:
        await anyio.wait_writable(sock)
        ready.append(sock)
        group.cancel_scope.cancel()

    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as group:
            for sock in sockets:
                group.start_soon(watch, sock)
    return ready


async def _addresses(host: str, port: int) -> Sequence[Address]:
    """Look up a host; numeric addresses need none of the event loop's threads."""
    with suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
