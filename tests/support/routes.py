"""The ways to an origin over our backends: with or without a proxy, TLS or both."""

import ssl
from contextlib import contextmanager
from importlib.util import find_spec

import anyio
import attrs
import httpcore
import pytest
from clients import SYNC, wait
from raw_server import CERTIFICATE, Connection, RawServer, reply

from adclient._async.connections import AsyncBackend
from adclient._sync.connections import Backend
from adclient._tasks.clock import monotonic

AMPLE = 30.0
OK = reply(200, b"hello")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TRUST = ssl.create_default_context(cafile=CERTIFICATE)

# Each server plays the proxies and the origin behind them.


def greet(connection: Connection) -> None:
    """Answer as a SOCKS proxy that is connected to the origin."""
    connection.receive()
    connection.send(b"\x05\x00")
    connection.receive()
    connection.send(b"\x05\x00\x00\x01" + bytes(6))


def accept_tunnel(connection: Connection) -> None:
    connection.read()
    connection.send(b"HTTP/1.1 200 Connected\r\n\r\n")


start_tls = Connection.start_tls


@attrs.frozen
class Route:
    """A way to an origin, and what a server does before it is the origin."""

    name: str
    origin: str
    proxy: str | None = None
    steps: tuple = ()

    def connection(self, kind, backend, port: int):
        """A connection of httpcore to the server at a port."""
        origin = httpcore.URL(f"{self.origin}://127.0.0.1:{port}").origin
        prefix = "" if kind is SYNC else "Async"
        if self.proxy is None:
            make = getattr(httpcore, f"{prefix}HTTPConnection")
            return make(origin, ssl_context=TRUST, network_backend=backend)
        make = getattr(httpcore, prefix + ("HTTPProxy", "SOCKSProxy")[self.proxy == "socks5"])
        more = {"proxy_ssl_context": TRUST} if self.proxy == "https" else {}
        url = f"{self.proxy}://127.0.0.1:{port}"
        pool = make(url, ssl_context=TRUST, network_backend=backend, **more)
        return pool.create_connection(origin)

    def lead(self, connection: Connection) -> None:
        for step in self.steps:
            step(connection)


PLAIN = Route("plain", "http")
OVER_TLS = Route("TLS", "https", steps=(start_tls,))
FORWARDED = Route("forwarded", "http", "http")
TUNNEL = Route("tunnel", "https", "http", (accept_tunnel, start_tls))
TLS_IN_TLS = Route("TLS in TLS", "https", "https", (start_tls, accept_tunnel, start_tls))
SOCKS = Route("SOCKS", "http", "socks5", (greet,))
SOCKS_TLS = Route("SOCKS and TLS", "https", "socks5", (greet, start_tls))
ROUTES = [PLAIN, OVER_TLS, FORWARDED, TUNNEL, TLS_IN_TLS]
if find_spec("socksio") is not None:
    ROUTES += [SOCKS, SOCKS_TLS]


def through(*routes: Route):
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.name)


class Body:
    """The body of a request; httpcore's is a generator, which trio wants closed."""

    def __init__(self, data: bytes) -> None:
        self.length = len(data)
        self._parts = iter([data])

    def __iter__(self):
        return self._parts

    def __aiter__(self):
        return self

    async def __anext__(self) -> bytes:
        if (part := next(self._parts, None)) is None:
            raise StopAsyncIteration
        return part


@attrs.frozen
class Client:
    """A connection of httpcore over a backend."""

    kind: object
    backend: Backend | AsyncBackend
    connection: object
    url: str

    async def send(self, target: str = "/", method: str = "GET", content=None):
        """Send a request, and read the response."""
        length = {} if content is None else {"Content-Length": str(content.length)}
        request = httpcore.Request(
            method, self.url + target, headers={"Host": "x", **length}, content=content
        )
        is_sync = self.kind is SYNC
        connection = self.connection
        handle = connection.handle_request if is_sync else connection.handle_async_request
        response = await wait(handle(request))
        for name in ("read", "close") if is_sync else ("aread", "aclose"):
            await wait(getattr(response, name)())
        return response

    async def send_until(self, seconds: float, **request):
        """The same, with a deadline."""
        self.backend.deadline = monotonic() + seconds
        if self.kind is SYNC:
            return await self.send(**request)
        with anyio.fail_after(seconds):
            return await self.send(**request)


def backend_of(kind, seconds: float = AMPLE):
    return (Backend if kind is SYNC else AsyncBackend)(monotonic() + seconds)


@contextmanager
def client_of(kind, route: Route, port: int | str):
    backend = backend_of(kind)
    connection = route.connection(kind, backend, int(port))
    try:
        yield Client(kind, backend, connection, f"{route.origin}://127.0.0.1:{port}")
    finally:
        backend.close()
        assert is_closed(backend)


def is_closed(backend) -> bool:
    sock = backend.get_extra_info("socket")
    return sock is None or sock.fileno() == -1


def port_of(server: RawServer) -> str:
    return server.url.rpartition(":")[2]
