"""The network backend of httpcore's connections: every step ends by the deadline of the call.

httpcore has a timeout for each step, which a peer that sends one byte per step never exceeds. The
timeouts that it passes are therefore ignored: each step gets what is left of the call.
"""

import socket
import ssl
import time
from collections.abc import Callable
from selectors import EVENT_WRITE, DefaultSelector
from typing import TypeVar
from urllib.parse import urlsplit

from adclient._http.addresses import (
    ATTEMPT_DELAY,
    Address,
    LastPlace,
    check_connected,
    start_connecting,
)
from adclient._http.httpcore_alias import httpcore

T = TypeVar("T")

CHUNK = 65536
READ = httpcore.ReadTimeout, httpcore.ReadError
WRITE = httpcore.WriteTimeout, httpcore.WriteError

# httpcore reads HTTP 64 KiB at a time, and SOCKS 4 KiB: a whole reply each time.
WHOLE_READ = 4096


class ProxyConnectError(httpcore.ConnectError):
    """The proxy cannot be reached, or its certificate failed verification."""

    def __init__(self, proxy: str, error: Exception) -> None:
        super().__init__(error)
        self.proxy = proxy


class TLS:
    """One layer of TLS in memory, over the socket or, behind an HTTPS proxy, over another layer.

    An `ssl.SSLSocket` cannot wrap another one, and it hides how much it has received.
    """

    def __init__(self, context: ssl.SSLContext, hostname: str | None, below: "TLS | None") -> None:
        self.below = below
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.object = context.wrap_bio(self.incoming, self.outgoing, server_hostname=hostname)

    @property
    def has_unread(self) -> bool:
        """True if received bytes, decrypted or not, have not been read."""
        return bool(self.incoming.pending or self.object.pending())

    def feed(self, data: bytes) -> None:
        """Take bytes from the layer below; no bytes mean the end."""
        if data:
            self.incoming.write(data)
        else:
            self.incoming.write_eof()


class BaseBackend:
    """The base of both backends: each opens one connection, and is its stream as well.

    The caller closes it after any failure: httpcore leaves the socket open in some cases, such as
    a SOCKS proxy that refuses, or a cancellation between the handshake and the request.

    Args:
        deadline: When the current call ends, in seconds of `time.monotonic()`; set for each call.
        proxy: The URL of the proxy to which it connects.
        last: Where the last connection to this host was accepted.
    """

    def __init__(
        self, deadline: float = 0.0, proxy: str | None = None, last: LastPlace | None = None
    ) -> None:
        self.deadline = deadline
        self._proxy = proxy
        self._last = last or LastPlace()
        self._handshakes = 0
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
            if tls.has_unread:
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
            case "client_addr" if self._socket is not None:
                return self._socket.getsockname()
            case "server_addr" if self._socket is not None:
                return self._socket.getpeername()
            case "is_readable":  # a pool of httpx asks before it keeps a connection
                return not self.is_reusable
            case _:
                return None

    def _time_left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def _attempt_delay(self, addresses: int) -> float:
        """Seconds until the next address is tried, so that each is tried before the deadline."""
        return min(ATTEMPT_DELAY, self._time_left() / addresses)

    def _use(self, sock: socket.socket, address: Address) -> None:
        self._socket, self._last.place = sock, address[4]

    def _withhold(self, data: bytes) -> bytes:
        """Keep the last byte until the parser asks for more.

        A parser that has a whole response does not ask. So a byte that is still kept then was
        sent beyond the response, and a reused connection would take it for the next one. A single
        byte is handed out: the parser has just asked for it, and no bytes would mean the end.
        """
        if len(data) < 2:
            return data
        self._withheld = data[-1:]
        return data[:-1]

    def _connect_error(self, error: Exception) -> Exception:
        """The error of httpcore if no connection can be opened, to the service or its proxy."""
        if isinstance(error, TimeoutError):
            return httpcore.ConnectTimeout(error)
        if self._proxy is not None:
            # The first handshake with a proxy of the scheme https is its own.
            proxy_handshakes = 1 if self._proxy.startswith("https:") else 0
            if self._handshakes <= proxy_handshakes:
                return ProxyConnectError(urlsplit(self._proxy).netloc.rpartition("@")[2], error)
        return httpcore.ConnectError(error)

    def _add_tls(self, context: ssl.SSLContext, hostname: str | None) -> TLS:
        self._handshakes += 1  # distinguishes an error of the proxy's TLS from one of the service
        # `read` would return that byte as if it were decrypted text of the service.
        if self._withheld:
            raise ConnectionError("the proxy sent bytes beyond its response to CONNECT")
        self._tls = TLS(context, hostname, below=self._tls)
        return self._tls


class Backend(BaseBackend, httpcore.NetworkBackend, httpcore.NetworkStream):
    """Opens a connection, and reads and writes it, until the deadline."""

    def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> "Backend":
        """Connect to the first address that accepts."""
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self._connect(self._last.first_in(addresses))
        except (OSError, ValueError) as error:  # a name that IDNA cannot encode is a ValueError
            raise self._connect_error(error) from error
        return self

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        *_: object,
        **__: object,
    ) -> "Backend":
        """Add a layer of TLS."""
        try:
            tls = self._add_tls(ssl_context, server_hostname)
            self._perform(tls, tls.object.do_handshake)
        except BaseException as error:
            self.close()  # httpcore has no stream to close before the handshake is over
            if isinstance(error, OSError | ValueError):  # the latter for an invalid server name
                raise self._connect_error(error) from error
            raise
        return self

    def read(self, max_bytes: int, *_: object, **__: object) -> bytes:
        """Read some bytes; none mean the end."""
        if self._withheld:
            withheld, self._withheld = self._withheld, b""
            return withheld
        try:
            data = self._receive(self._tls, max_bytes)
        except OSError as error:
            raise failure(READ, error) from error
        return data if max_bytes <= WHOLE_READ else self._withhold(data)

    def write(self, buffer: bytes, *_: object, **__: object) -> None:
        """Write all bytes."""
        try:
            if buffer:
                self._send(self._tls, buffer)
        except OSError as error:
            raise failure(WRITE, error) from error

    def _connect(self, addresses: list[Address]) -> None:
        delay, errors = self._attempt_delay(len(addresses)), list[OSError]()
        connecting = DefaultSelector()
        try:
            while addresses or connecting.get_map():
                left = self._time_left()
                try:
                    if addresses:
                        address = addresses.pop(0)
                        sock = start_connecting(address)
                        connecting.register(sock, EVENT_WRITE, (sock, address))
                    for key, _ in connecting.select(min(delay, left) if addresses else left):
                        sock, address = key.data
                        connecting.unregister(sock)
                        check_connected(sock)
                        self._use(sock, address)
                        return
                except OSError as error:
                    errors.append(error.with_traceback(None))  # avoids a cycle with this frame
            raise errors.pop()
        finally:
            for key in connecting.get_map().values():  # slower addresses; all after an interrupt
                key.data[0].close()
            connecting.close()

    def _receive(self, tls: TLS | None, max_bytes: int) -> bytes:
        if tls is None:
            assert self._socket is not None
            # For each read: otherwise single bytes could prolong the call without end.
            self._socket.settimeout(self._time_left())
            return self._socket.recv(max_bytes)
        # One TLS record may serve several reads; the socket has nothing more to receive then.
        if not tls.has_unread:
            tls.feed(self._receive(tls.below, CHUNK))
        try:
            return self._perform(tls, tls.object.read, max_bytes)
        except ssl.SSLEOFError:  # many servers skip the closing handshake; httpcore accepts it too
            return b""

    def _send(self, tls: TLS | None, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if tls is not None:  # in chunks: encrypting a large body takes time
                sent = self._perform(tls, tls.object.write, rest[:CHUNK])
            else:
                assert self._socket is not None
                # For each part: a slow peer may also read a few bytes at a time.
                self._socket.settimeout(self._time_left())
                sent = self._socket.send(rest)
            rest = rest[sent:]

    def _perform(self, tls: TLS, operation: Callable[..., T], *arguments: object) -> T:
        while True:
            # An outgoing BIO has no limit, so nothing raises SSLWantWriteError.
            try:
                done = operation(*arguments)
            except ssl.SSLWantReadError:
                self._flush(tls)  # first: the peer may be waiting for it
                tls.feed(self._receive(tls.below, CHUNK))
            else:
                self._flush(tls)
                return done

    def _flush(self, tls: TLS) -> None:
        if tls.outgoing.pending:
            self._send(tls.below, tls.outgoing.read())


def failure(kinds: tuple[type[Exception], type[Exception]], error: Exception) -> Exception:
    """The error that httpcore has for a failure of the network."""
    timeout, other = kinds
    return timeout(error) if isinstance(error, TimeoutError) else other(error)
