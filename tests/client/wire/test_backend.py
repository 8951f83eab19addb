"""The network backends, below httpcore's own connections: deadlines, failures, addresses."""

import random
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import anyio
import anyio.lowlevel
import attrs
import pytest
from cases import each_case
from clients import CLIENT_KINDS, SYNC, sync_asyncio_trio, wait
from raw_server import Connection, RawServer, head, reply
from routes import (
    AMPLE,
    CHUNKED,
    OK,
    OVER_TLS,
    PLAIN,
    ROUTES,
    TLS_IN_TLS,
    TRUST,
    Body,
    Route,
    accept_tunnel,
    backend_of,
    client_of,
    greet,
    is_closed,
    port_of,
    start_tls,
    through,
    until,
)
from test_addresses import HOST, SWALLOWING, host, swallowing  # noqa: F401

from adclient._http.backend import Backend
from adclient._http.httpcore_alias import httpcore

DEADLINE = 0.3
PUNCTUAL = DEADLINE + 0.1
TRIES = 5  # a busy machine is late now and then
pytestmark = pytest.mark.own


# Deadlines


def drip(data: bytes):
    def serve(connection: Connection) -> None:
        for i in range(len(data)):
            connection.send(data[i : i + 1])
            connection.pause(0.02)

    return serve


def stay_silent(connection: Connection) -> None:
    connection.stay_silent()


def after_the_request(fault):
    def serve(connection: Connection) -> None:
        connection.read()
        fault(connection)

    return serve


def after_its_first_bytes(fault):
    def serve(connection: Connection) -> None:
        connection.receive()
        fault(connection)

    return serve


def stall(data: bytes):
    """Send something, and no more."""

    def serve(connection: Connection) -> None:
        connection.send(data)
        connection.stay_silent()

    return serve


def read_slowly(connection: Connection) -> None:
    while connection.receive(50_000):
        connection.pause(0.02)


HEADER_LINES = [f"X-{i}: 1" for i in range(50)]
HELLO = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03"  # how a long ServerHello begins
ORIGIN_FAULTS = {
    "silence": stay_silent,
    "a dripping head": after_the_request(drip(head(200, 0, *HEADER_LINES))),
    "a stalling head": after_the_request(stall(head(200, 0)[:-3])),
    "a dripping body": after_the_request(drip(head(200, 1000) + bytes(1000))),
    "a stalling body": after_the_request(stall(head(200, 9) + b"12345")),
    "dripping chunks": after_the_request(drip(CHUNKED + b"1\r\n \r\n" * 200)),
}
LARGE = bytes(16_000_000)
BODY_FAULTS = {"a body that nobody reads": stay_silent, "a body that is read slowly": read_slowly}
HANDSHAKE_FAULTS = {
    "a silent handshake": stay_silent,
    "a stalling handshake": after_its_first_bytes(stall(HELLO)),
    "a dripping handshake": after_its_first_bytes(drip(HELLO + bytes(1000))),
}
CONNECT_FAULTS = {
    "a silent CONNECT": stay_silent,
    "a dripping CONNECT": drip(head(200, 0, *HEADER_LINES)),
    "a stalling CONNECT": after_the_request(stall(b"HTTP/1.1 200 OK\r\n")),
}
SOCKS_FAULTS = {
    "a silent SOCKS": stay_silent,
    "a stalling SOCKS": after_its_first_bytes(stall(b"\x05\x00")),
}


def faults():
    """Every route, how many of its steps succeed, and the fault that comes then."""
    for route in ROUTES:
        for step, faults in enumerate(
            {start_tls: HANDSHAKE_FAULTS, accept_tunnel: CONNECT_FAULTS, greet: SOCKS_FAULTS}[step]
            for step in route.steps
        ):
            yield from ((route, step, name, fault) for name, fault in faults.items())
        whole = len(route.steps)
        for name, fault in (ORIGIN_FAULTS | BODY_FAULTS).items():
            if route in (PLAIN, OVER_TLS, TLS_IN_TLS) or name == "a dripping body":
                yield route, whole, name, fault


CASES = list(product(CLIENT_KINDS, faults()))


def time_of(kind, route: Route, steps: int, name: str, fault) -> float:
    """How long a request with a deadline took."""

    def serve(connection: Connection) -> None:
        attrs.evolve(route, steps=route.steps[:steps]).lead(connection)
        fault(connection)

    async def scenario() -> float:
        with client_of(kind, route, port_of(server)) as client:
            content = Body(LARGE) if name in BODY_FAULTS else None
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
        took = dict(
            zip(CASES, pool.map(lambda case: time_of(case[0], *case[1]), CASES), strict=True)
        )
    # What a busy machine delayed is tried again, with nothing beside it.
    for case in CASES:
        for _ in range(TRIES):
            if took[case] > PUNCTUAL:
                took[case] = time_of(case[0], *case[1])
    return took


@each_case(("kind", "fault"), CASES)
def test_exchange_with_any_fault_ends_at_the_deadline(kind, fault, times) -> None:
    assert DEADLINE * 0.9 <= times[kind, fault] <= PUNCTUAL


@sync_asyncio_trio
async def test_endless_body_ends_at_the_deadline(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while not connection.is_over:
            connection.send(bytes(65536))

    with RawServer(serve) as server, client_of(client_kind, PLAIN, port_of(server)) as client:
        began = time.monotonic()
        with pytest.raises((httpcore.ReadTimeout, TimeoutError)):
            await client.send_until(DEADLINE)
        assert time.monotonic() - began < DEADLINE + 2


@through(PLAIN, OVER_TLS)
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


@sync_asyncio_trio
async def test_read_returns_a_short_reply_without_waiting_for_more(client_kind) -> None:
    """The replies of a SOCKS proxy are not parsed as a stream."""
    with RawServer(greet) as server:
        backend = backend_of(client_kind)
        stream = await wait(backend.connect_tcp("127.0.0.1", int(port_of(server))))
        await wait(stream.write(b"\x05\x01\x00"))
        assert await wait(stream.read(max_bytes=4096)) == b"\x05\x00"
        backend.close()


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
    (start_tls, ssl.create_default_context(), "127.0.0.1", "CERTIFICATE_VERIFY_FAILED"),
    (stall(reply(400, b"no TLS here")), TRUST, "127.0.0.1", r"(?i)wrong.version.number"),
    (Connection.receive, TRUST, "127.0.0.1", "EOF"),
    (Connection.receive, TRUST, ".example.com", None),  # an invalid name
]


@pytest.mark.parametrize(("serve", "context", "name", "reason"), NO_TLS)
@sync_asyncio_trio
async def test_failed_tls_handshake_raises_connect_error(
    client_kind, serve, context, name, reason
) -> None:
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


class Watched(Backend):
    """Counts how often it looks at its deadline."""

    looks = 0

    @property
    def deadline(self) -> float:
        self.looks += 1
        return time.monotonic() + AMPLE

    @deadline.setter
    def deadline(self, value: float) -> None:
        pass


class Interrupted(Watched):
    """Somebody presses Ctrl-C after some looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.last = looks

    @property
    def deadline(self) -> float:
        if self.looks == self.last:
            raise KeyboardInterrupt
        return super().deadline

    @deadline.setter
    def deadline(self, value: float) -> None:
        pass


@each_case("looks", range(5))
def test_keyboard_interrupt_leaves_no_open_socket(looks) -> None:
    with RawServer(OVER_TLS.lead) as server:
        backend = Interrupted(looks)
        connection = OVER_TLS.connection(SYNC, backend, int(port_of(server)))
        with pytest.raises(KeyboardInterrupt):
            connection.request("GET", f"https://127.0.0.1:{port_of(server)}")
        assert is_closed(backend)


def test_deadline_is_checked_while_a_large_body_is_encrypted() -> None:
    with RawServer(lambda c: (c.start_tls(), c.wait_for_the_end())) as server:
        backend = Watched()
        stream = backend.connect_tcp("127.0.0.1", int(port_of(server))).start_tls(
            TRUST, "localhost"
        )
        before = backend.looks
        stream.write(bytes(1_000_000))
        assert backend.looks - before >= 15
        backend.close()


@pytest.mark.parametrize("name", ["x" * 64 + ".test", "a..b", "nowhere.invalid"])
@sync_asyncio_trio
async def test_host_name_that_cannot_be_resolved_raises_connect_error(
    client_kind, name, monkeypatch
) -> None:
    getaddrinfo = socket.getaddrinfo

    def found(name, *more, **options):
        if "invalid" in str(name):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return getaddrinfo(name, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    backend = backend_of(client_kind)
    with pytest.raises(httpcore.ConnectError) as caught:
        await wait(backend.connect_tcp(name, 80))
    assert isinstance(caught.value.__cause__, OSError | UnicodeError)
    assert not backend.is_reusable


# Cancellation


TLS_TWICE = Route("TLS twice", "https", steps=(start_tls, start_tls))


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_cancelled_handshake_leaves_no_open_socket(client_kind) -> None:
    chance = random.Random(1)

    async def storm() -> None:
        for _ in range(20):
            backend = backend_of(client_kind)
            with anyio.move_on_after(chance.uniform(0, 0.04)) as scope:
                await backend.connect_tcp("127.0.0.1", int(port_of(server)))
                await backend.start_tls(TRUST, "127.0.0.1")
                await backend.start_tls(TRUST, "127.0.0.1")
            cancelled.append(scope.cancelled_caught)
            assert is_closed(backend) is scope.cancelled_caught
            backend.close()

    async def scenario() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(storm)

    cancelled: list[bool] = []
    with RawServer(TLS_TWICE.lead) as server:
        client_kind.run(scenario)
    assert len(cancelled) == 200
    assert sum(cancelled) >= 20


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_reading_from_a_fast_peer_lets_other_tasks_run(client_kind) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async def scenario() -> None:
        stream = await connected(client_kind, server)
        await anyio.sleep(0.1)  # all of it has arrived
        async with anyio.create_task_group() as group:
            group.start_soon(others)
            for _ in range(10):
                assert await stream.read(1000)
            group.cancel_scope.cancel()
        stream.close()

    with RawServer(stall(bytes(20_000))) as server:
        client_kind.run(scenario)
    assert turns >= 5


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_spurious_wakeup_is_waited_out(client_kind, monkeypatch) -> None:
    wait_readable, woken = anyio.wait_readable, []

    async def wake(sock: socket.socket) -> None:
        woken.append(sock)
        if len(woken) > 2:
            await wait_readable(sock)

    async def scenario() -> None:
        with client_of(client_kind, PLAIN, port_of(server)) as client:
            assert (await client.send("/0")).content == b"hello"

    def serve(connection: Connection) -> None:
        connection.read()
        connection.pause(0.1)
        connection.send(OK)

    monkeypatch.setattr(anyio, "wait_readable", wake)
    with RawServer(serve) as server:
        client_kind.run(scenario)
    assert len(woken) > 2
