"""The network backends, below httpcore's own connections: deadlines, failures, addresses."""

import random
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import attrs
import httpcore
import pytest
import routes
from cases import each_case
from clients import CLIENT_KINDS, SYNC, sync_asyncio_trio, wait
from raw_server import Connection, RawServer, head, reply
from routes import OK, OVER_TLS, PLAIN, TRUST, Body, backend_of, client_of, is_closed, port_of
from waiting import until

from adclient._http.backend import send_all

DEADLINE = 0.3
SLACK = 5.0  # of a busy machine; each fault lasts longer
pytestmark = pytest.mark.own
stay_silent = Connection.stay_silent

# Deadlines


def test_nothing_is_written_after_the_deadline() -> None:
    one, other = socket.socketpair()
    with one, other, pytest.raises(TimeoutError):
        send_all(one, b"x", time.monotonic())


def stall(data: bytes):
    """Send something, and no more."""
    return lambda connection: (connection.receive(), connection.send(data), stay_silent(connection))


def drip(data: bytes):
    def serve(connection: Connection) -> None:
        connection.receive()
        for i in range(len(data)):
            connection.send(data[i : i + 1])
            connection.pause(0.02)
        connection.stay_silent()

    return serve


def flood(connection: Connection) -> None:
    connection.read()
    connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
    ends = time.monotonic() + SLACK
    while not connection.is_over and time.monotonic() < ends:
        connection.send(bytes(65536))


def read_slowly(connection: Connection) -> None:
    while connection.receive(50_000):
        connection.pause(0.02)


HEAD = head(200, 0, *(f"X-{i}: 1" for i in range(50)))
HELLO = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03"  # how a long ServerHello begins
BODY, CHUNKS = head(200, 1000) + bytes(1000), routes.CHUNKED + b"1\r\n \r\n" * 200
STEPS = {
    routes.start_tls: (stay_silent, stall(HELLO), drip(HELLO + bytes(1000))),
    routes.accept_tunnel: (stay_silent, stall(HEAD[:-3]), drip(HEAD)),
    routes.greet: (stay_silent, stall(b"\x05\x00")),
}
FAULTS = (*STEPS[routes.accept_tunnel], stall(BODY[:-9]), drip(BODY), drip(CHUNKS), flood)
LARGE = bytes(12_000_000)  # more than the socket buffers hold


def cases():
    """Each kind and route, how many of its steps succeed, the fault that comes then, and a body."""
    for kind, route in product(CLIENT_KINDS, routes.ROUTES):
        if kind is not SYNC and route not in (PLAIN, routes.TLS_IN_TLS, routes.SOCKS):
            continue  # a step is cancelled in the same way wherever it is
        is_whole = route in (PLAIN, OVER_TLS, routes.TLS_IN_TLS)
        for number, step in enumerate(route.steps):
            yield from ((kind, route, number, fault, b"") for fault in STEPS[step])
        whole = len(route.steps)
        if not is_whole:
            yield kind, route, whole, drip(BODY), b""
            continue
        yield from ((kind, route, whole, fault, b"") for fault in FAULTS)
        yield from ((kind, route, whole, fault, LARGE) for fault in (stay_silent, read_slowly))


CASES = list(cases())


def time_of(kind, route: routes.Route, steps: int, fault, body: bytes) -> float:
    """How long a request with a deadline took."""

    def serve(connection: Connection) -> None:
        attrs.evolve(route, steps=route.steps[:steps]).lead(connection)
        fault(connection)

    async def scenario() -> float:
        with client_of(kind, route, port_of(server)) as client:
            content = Body(body) if body else None
            began = time.monotonic()
            with pytest.raises((httpcore.TimeoutException, TimeoutError)):
                await client.send_until(DEADLINE, method="POST", content=content)
            return time.monotonic() - began

    with RawServer(serve) as server:
        return kind.run(scenario)


@pytest.fixture(scope="module")
def times():
    """The time of every case, of which several wait at once."""
    import trio  # noqa: F401  # threads that import it together may find half of it

    with ThreadPoolExecutor(16) as pool:
        return {case: pool.submit(time_of, *case) for case in CASES}


@each_case("case", *CASES)
def test_exchange_with_any_fault_ends_at_the_deadline(case, times) -> None:
    assert DEADLINE * 0.9 <= times[case].result() <= DEADLINE + SLACK


@routes.through(PLAIN, OVER_TLS)
@sync_asyncio_trio
async def test_large_request_body_is_sent_completely(client_kind, route) -> None:
    def serve(connection: Connection) -> None:
        route.lead(connection)
        connection.pause(0.05)  # until the window is full
        connection.read()
        connection.send(OK)
        connection.wait_for_the_end()

    data = random.Random(1).randbytes(8_000_000)
    with RawServer(serve) as server, client_of(client_kind, route, port_of(server)) as client:
        await client.send(method="PUT", content=Body(data))
        assert client.backend.is_reusable
    assert server.requests[0].endswith(data)


async def connected(client_kind, server, backend=None):
    backend = backend or backend_of(client_kind)
    return await wait(backend.connect_tcp("127.0.0.1", int(port_of(server))))


@sync_asyncio_trio
async def test_write_after_a_reset_raises_write_error(client_kind) -> None:
    with RawServer(lambda c: (c.receive(), c.reset())) as server:
        stream = await connected(client_kind, server)
        await wait(stream.write(b"x"))
        await until(lambda: stream.get_extra_info("is_readable"))
        with pytest.raises(httpcore.WriteError) as caught:
            await wait(stream.write(b"x"))
        assert isinstance(caught.value.__cause__, ConnectionError)
        assert not stream.is_reusable
        stream.close()


NO_TLS = [
    (routes.start_tls, ssl.create_default_context(), "127.0.0.1", "CERTIFICATE_VERIFY_FAILED"),
    (stall(reply(400, b"no TLS here")), TRUST, "127.0.0.1", r"(?i)wrong.version.number"),
    (Connection.receive, TRUST, "127.0.0.1", "EOF"),
    (Connection.receive, TRUST, ".example.com", None),  # an invalid name
]


@each_case(("serve", "context", "name", "reason"), *NO_TLS)
@sync_asyncio_trio
async def test_failed_handshake_is_connect_error(client_kind, serve, context, name, reason) -> None:
    with RawServer(serve) as server:
        stream = await connected(client_kind, server)
        with pytest.raises(httpcore.ConnectError, match=reason):
            await wait(stream.start_tls(context, name))
        assert is_closed(stream)


@sync_asyncio_trio
async def test_body_ends_with_a_tls_connection_closed_without_close_notify(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.start_tls()
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\n\r\nhello")

    with RawServer(serve) as server, client_of(client_kind, OVER_TLS, port_of(server)) as client:
        assert (await client.send()).content == b"hello"
        assert not client.backend.is_reusable


@sync_asyncio_trio
async def test_expired_deadline_opens_no_connection(client_kind) -> None:
    with RawServer(stay_silent) as server:
        backend = backend_of(client_kind, seconds=0)
        with pytest.raises(httpcore.ConnectTimeout):
            await connected(client_kind, server, backend)
        assert is_closed(backend)
    assert server.connections == 0


@each_case("name", "x" * 64 + ".test", "a..b")
@sync_asyncio_trio
async def test_host_name_that_cannot_be_encoded_raises_connect_error(client_kind, name) -> None:
    backend = backend_of(client_kind)
    with pytest.raises(httpcore.ConnectError) as caught:
        await wait(backend.connect_tcp(name, 80))
    assert isinstance(caught.value.__cause__, UnicodeError)
    assert not backend.is_reusable
