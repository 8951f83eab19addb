"""The network backend of httpcore's async connections, on asyncio and trio.

The caller bounds each attempt by one cancel scope, so no step needs a timer of its own. It waits
for plain sockets instead of using anyio's streams: that is quicker, and closing them needs no
await, which would have to be shielded from cancellation.
"""

import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import anyio.lowlevel

from adclient._http.addresses import Address, check_connected, start_connecting
from adclient._http.backend import (
    CHUNK,
    READ,
    TLS,
    WHOLE_READ,
    WRITE,
    BaseBackend,
    T,
    failure,
)
from adclient._http.httpcore_alias import httpcore


class AsyncBackend(BaseBackend, httpcore.AsyncNetworkBackend, httpcore.AsyncNetworkStream):
    """Opens a connection, and reads and writes it, until the caller's cancel scope ends.

    Only connecting looks at the deadline itself. Close it only when no other task reads
    or writes: the event loop would go on watching the file descriptor.
    """

    async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> "AsyncBackend":
        """Connect to the first address that accepts."""
        try:
            addresses = self._last.first_in(await _addresses(host, port))
            with anyio.fail_after(self._time_left()):
                await self._connect(addresses)
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
            tls = self._add_tls(ssl_context, server_hostname)
            await self._perform(tls, tls.object.do_handshake)
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
            data = await self._receive(self._tls, max_bytes)
        except OSError as error:
            raise failure(READ, error) from error
        return data if max_bytes <= WHOLE_READ else self._withhold(data)

    async def write(self, buffer: bytes, *_: object, **__: object) -> None:
        """Write all bytes."""
        try:
            await self._send(self._tls, buffer)
        except OSError as error:
            raise failure(WRITE, error) from error

    async def aclose(self) -> None:
        """Close the socket."""
        self.close()

    async def _connect(self, addresses: list[Address]) -> None:
        if len(addresses) == 1:  # as most hosts have; a task group takes a while
            self._use(await _connected(addresses[0]), addresses[0])
            return
        delay, errors = self._attempt_delay(len(addresses)), list[OSError]()
        is_over = anyio.Event()  # once an address has accepted, or all have failed

        async def attempt(address: Address) -> None:
            try:
                sock = await _connected(address)
            except OSError as error:
                errors.append(error.with_traceback(None))  # avoids a cycle with this frame
            else:
                if self._socket is None:
                    self._use(sock, address)
                else:  # both were accepted before the group could be cancelled
                    sock.close()
            # An earlier address may accept, too, while a later one is tried.
            any_ended.set()
            if self._socket is not None or len(errors) == len(addresses):
                is_over.set()

        async with anyio.create_task_group() as group:
            for address in addresses:
                if not is_over.is_set():
                    any_ended = anyio.Event()
                    group.start_soon(attempt, address)
                    with anyio.move_on_after(delay):
                        await any_ended.wait()
            await is_over.wait()
            group.cancel_scope.cancel()
        if self._socket is None:
            raise errors.pop()

    async def _receive(self, tls: TLS | None, max_bytes: int) -> bytes:
        if tls is not None:
            if not tls.has_unread:
                tls.feed(await self._receive(tls.below, CHUNK))
            try:
                return await self._perform(tls, tls.object.read, max_bytes)
            except ssl.SSLEOFError:  # many servers skip the closing handshake
                return b""
        assert self._socket is not None
        with suppress(BlockingIOError):
            data = self._socket.recv(max_bytes)
            # Without it, a peer that sends fast enough would block the loop and the deadline.
            await anyio.lowlevel.checkpoint()
            return data
        while True:
            await anyio.wait_readable(self._socket)
            # A selector may report a socket that turns out to have nothing to read.
            with suppress(BlockingIOError):
                return self._socket.recv(max_bytes)

    async def _send(self, tls: TLS | None, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if tls is not None:  # in chunks: encrypting a large body takes time
                sent = await self._perform(tls, tls.object.write, rest[:CHUNK])
            else:
                assert self._socket is not None
                try:
                    sent = self._socket.send(rest)
                except BlockingIOError:
                    await anyio.wait_writable(self._socket)
                    continue
            rest = rest[sent:]

    async def _perform(self, tls: TLS, operation: Callable[..., T], *arguments: object) -> T:
        while True:
            try:
                done = operation(*arguments)
            except ssl.SSLWantReadError:
                await self._flush(tls)  # first: the peer may be waiting for it
                tls.feed(await self._receive(tls.below, CHUNK))
            else:
                await self._flush(tls)
                return done

    async def _flush(self, tls: TLS) -> None:
        if tls.outgoing.pending:
            await self._send(tls.below, tls.outgoing.read())


async def _connected(address: Address) -> socket.socket:
    sock = start_connecting(address)
    try:
        await anyio.wait_writable(sock)
        check_connected(sock)
    except BaseException:
        sock.close()
        raise
    return sock


async def _addresses(host: str, port: int) -> Sequence[Address]:
    """Look up a host; numeric addresses need none of the event loop's threads."""
    with suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
