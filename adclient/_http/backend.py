"""The network below httpcore's connections: TLS in memory, and steps on plain sockets.

httpcore has a timeout for each step, which a peer that sends one byte per step never exceeds. The
timeouts that it passes are therefore ignored. Each step of a sync call gets what is left of it; an
async call is bounded by one cancel scope, so its steps need no timer. It waits for plain sockets
instead of using anyio's streams: that is quicker, and closing them needs no await, which would have
to be shielded from cancellation.
"""

import socket
import ssl
import weakref
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import nullcontext, suppress
from itertools import chain, zip_longest
from selectors import EVENT_WRITE, DefaultSelector
from typing import TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpcore

from adclient._http.attempt import strerror
from adclient._tasks.clock import monotonic

T = TypeVar("T")
# What TLS needs of the layer below: it yields bytes to send, or None to receive some.
TLSSteps = Generator[bytes | None, bytes, T]

CHUNK = 65536
READ = httpcore.ReadTimeout, httpcore.ReadError
WRITE = httpcore.WriteTimeout, httpcore.WriteError

# httpcore reads HTTP 64 KiB at a time, and SOCKS 4 KiB: a whole reply each time.
WHOLE_READ = 4096


Place = tuple[str | int | bytes, ...]
Address = tuple[int, int, int, str, Place]  # as `socket.getaddrinfo` returns it
# Yields sockets and how many seconds to wait for one of them, and receives those that are writable.
Connecting = Generator[tuple[Collection[socket.socket], float], list[socket.socket], socket.socket]

# Seconds until the next address is tried as well, unless the one before has failed earlier. The
# RFC recommends 250 ms.
ATTEMPT_DELAY = 0.25


class Connector:
    """Connects a client to its host, whose addresses take turns as in RFC 8305.

    The first is the one that accepted the last connection.
    """

    def __init__(self) -> None:
        # Otherwise an address that does not respond would delay every new connection.
        self.last_place: Place | None = None

    def in_order(self, addresses: Sequence[Address]) -> list[Address]:
        """Order the addresses for the attempts; families alternate, as one may be unreachable."""
        families: dict[int, list[Address]] = {}
        for address in addresses:
            families.setdefault(address[0], []).append(address)
        alternating = filter(None, chain.from_iterable(zip_longest(*families.values())))
        # Sorting is stable, so the other addresses keep alternating.
        return sorted(alternating, key=lambda address: address[4] != self.last_place)

    def connect(self, addresses: Sequence[Address], time_left: Callable[[], float]) -> Connecting:
        """Connect to several addresses, and return the socket of the first that accepts."""
        untried, errors = self.in_order(addresses), list[OSError]()
        delay = min(ATTEMPT_DELAY, time_left() / len(untried))  # all are tried before the deadline
        pending: dict[socket.socket, Place] = {}
        try:
            while untried or pending:
                left = time_left()
                try:
                    if untried:
                        address = untried.pop(0)
                        pending[_start_connecting(address)] = address[4]
                    for sock in (yield pending, min(delay, left) if untried else left):
                        place = pending.pop(sock)
                        # It is writable in both cases; only this option tells them apart.
                        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                            sock.close()
                            raise OSError(code, strerror(code))
                        self.last_place = place
                        return sock
                except OSError as error:
                    errors.append(error.with_traceback(None))  # avoids a cycle with this frame
            raise errors.pop()
        finally:
            for sock in pending:  # slower addresses; all of them after an interrupt
                sock.close()


def _start_connecting(address: Address) -> socket.socket:
    """A socket that becomes writable when it is connected, or when that has failed."""
    family, kind, protocol, _, place = address
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        # httpcore writes head and body separately; the body should not wait for an ACK.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(BlockingIOError):  # others come at once, such as for a broadcast address
            sock.connect(place)
    except BaseException:
        sock.close()
        raise
    return sock


class ProxyConnectError(httpcore.ConnectError):
    """The proxy cannot be reached, or its certificate failed verification."""

    def __init__(self, proxy: str, error: Exception) -> None:
        super().__init__(error)
        self.proxy = proxy


class TLS:
    """One layer of TLS in memory, over the socket or, behind an HTTPS proxy, over another layer.

    An `ssl.SSLSocket` cannot wrap another one, and it hides how much it has received. Generators,
    because sync and async backends send and receive in different ways.
    """

    def __init__(self, context: ssl.SSLContext, hostname: str | None, below: "TLS | None") -> None:
        self.below = below
        self.incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self.object = context.wrap_bio(self.incoming, self._outgoing, server_hostname=hostname)

    def read(self, max_bytes: int) -> TLSSteps[bytes]:
        """Read some bytes; none mean the end."""
        try:
            return (yield from self.perform(self.object.read, max_bytes))
        except ssl.SSLEOFError:  # many servers skip the closing handshake; httpcore accepts it too
            return b""

    def write(self, data: bytes) -> TLSSteps[None]:
        """Write all bytes, in chunks: encrypting a large body takes time."""
        rest = memoryview(data)
        while rest:
            sent = yield from self.perform(self.object.write, rest[:CHUNK])
            rest = rest[sent:]

    def perform(self, operation: Callable[..., T], *arguments: object) -> TLSSteps[T]:
        """Perform an operation, and send and receive what it needs."""
        while True:
            # An outgoing BIO has no limit, so nothing raises SSLWantWriteError.
            try:
                done = operation(*arguments)
            except ssl.SSLWantReadError:
                yield from self._flush()  # first: the peer may be waiting for it
                below = self.below
                data = (yield None) if below is None else (yield from below.read(CHUNK))
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()
            else:
                yield from self._flush()
                return done

    def _flush(self) -> TLSSteps[None]:
        if self._outgoing.pending:
            data = self._outgoing.read()
            if self.below is None:
                yield data
            else:
                yield from self.below.write(data)


class BaseBackend:
    """The base of `AsyncBackend` and its sync twin.

    Each opens one connection, and is its stream as well.

    The last byte of each read is withheld until the parser asks for more. A parser that has a
    whole response does not ask. So a byte that is still kept then was sent beyond the response,
    and a reused connection would take it for the next one.

    The caller closes it after any failure: httpcore leaves the socket open in some cases, such as
    a SOCKS proxy that refuses, or a cancellation between the handshake and the request.

    Args:
        deadline: When the current attempt ends, by the clock `monotonic`; set for each.
        proxy: The URL of the proxy to which it connects.
        connector: Knows where the last connection to this host was accepted.
    """

    def __init__(
        self, deadline: float = 0.0, proxy: str | None = None, connector: Connector | None = None
    ) -> None:
        self.deadline = deadline
        self._proxy = proxy
        self._connector = connector or Connector()
        self._socket: socket.socket | None = None
        self._tls: TLS | None = None
        self._withheld = b""

    @property
    def is_reusable(self) -> bool:
        """True if the connection is open and nothing came after the last whole response.

        TLS session tickets do not count: servers send them before their first response, so they
        are read with it.
        """
        if self._socket is None or self._withheld:
            return False
        tls = self._tls
        while tls is not None:
            if tls.incoming.pending or tls.object.pending():
                return False
            tls = tls.below
        # Readable means closed, or unsolicited bytes. Each read sets its own timeout.
        try:
            self._socket.setblocking(False)
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        """Close the socket at once, in any state; a closing handshake of TLS could block."""
        if self._socket is not None:
            self._socket.close()

    def get_extra_info(self, info: str) -> object:
        """Look up a property of the stream by the names that httpcore has for them."""
        match info:
            case "ssl_object" if self._tls is not None:
                return self._tls.object
            case "socket":
                return self._socket
            case "is_readable":  # a pool of httpx asks before it keeps a connection
                return not self.is_reusable
            case _:
                return None

    def _own(self, connected: socket.socket) -> None:
        """Keep a socket until this is closed, or dropped with its client or event loop.

        If `__del__` closed it, it would often warn: the garbage collector may finalize it first.
        """
        self._socket = connected
        weakref.finalize(self, connected.close)

    def _time_left(self) -> float:
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def _connect_error(self, error: Exception) -> Exception:
        """The error of httpcore if no connection can be opened, to the service or its proxy."""
        if isinstance(error, TimeoutError):
            return httpcore.ConnectTimeout(error)
        # The first handshake with a proxy of the scheme https is its own.
        is_first = self._tls is None or self._tls.below is None
        if self._proxy is not None and (
            self._socket is None or (is_first and self._proxy.startswith("https:"))
        ):
            return ProxyConnectError(urlsplit(self._proxy).netloc.rpartition("@")[2], error)
        return httpcore.ConnectError(error)

    def _handshake(self, context: ssl.SSLContext, hostname: str | None) -> TLSSteps[None]:
        # `read` would return that byte as if it were decrypted text of the service.
        if self._withheld:
            raise ConnectionError("the proxy sent bytes beyond its response to CONNECT")
        self._tls = TLS(context, hostname, below=self._tls)
        return self._tls.perform(self._tls.object.do_handshake)


def failure(kinds: tuple[type[Exception], type[Exception]], error: Exception) -> Exception:
    """The error that httpcore has for a failure of the network."""
    timeout, other = kinds
    return timeout(error) if isinstance(error, TimeoutError) else other(error)


# What is sync or async: the bounds of a request, and the steps on a socket.

# A sync call is not bounded by this: each step on its socket has a timeout of its own.
bounded, async_bounded = nullcontext, anyio.move_on_after


def receive(sock: socket.socket, most: int, deadline: float) -> bytes:
    """Receive some bytes; none mean the end."""
    # Set for each read: otherwise single bytes could prolong the call without end.
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left)
    return sock.recv(most)


async def async_receive(sock: socket.socket, most: int, _: float) -> bytes:
    """Receive some bytes; none mean the end."""
    has_waited = False
    while True:
        try:
            data = sock.recv(most)
        except BlockingIOError:  # also after a selector has reported something to read
            await anyio.wait_readable(sock)
            has_waited = True
            continue
        if not has_waited:
            # Otherwise a peer that sends fast enough would block the loop and the deadline.
            await anyio.lowlevel.checkpoint()
        return data


def send_all(sock: socket.socket, data: bytes, deadline: float) -> None:
    """Send all bytes."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left)  # of `sendall`, it is that of all its parts
    sock.sendall(data)


async def async_send_all(sock: socket.socket, data: bytes, _: float) -> None:
    """Send all bytes."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[sock.send(rest) :]
        except BlockingIOError:
            await anyio.wait_writable(sock)


def writable(sockets: Collection[socket.socket], seconds: float) -> list[socket.socket]:
    """Wait until one of several sockets is writable; return those that are."""
    with DefaultSelector() as selector:
        for sock in sockets:
            selector.register(sock, EVENT_WRITE, sock)
        return [key.data for key, _ in selector.select(seconds)]


async def async_writable(sockets: Collection[socket.socket], seconds: float) -> list[socket.socket]:
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


def look_up(host: str, port: int) -> Sequence[Address]:
    """Look up a host."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def async_look_up(host: str, port: int) -> Sequence[Address]:
    """Look up a host; numeric addresses need none of the event loop's threads."""
    with suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
