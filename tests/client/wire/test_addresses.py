"""A host name that resolves to several addresses."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from cases import each_case
from clients import read, sync_asyncio_trio, wait, write
from raw_server import Connection, RawServer, answer_to, serve_well

from adclient import CallTimeout, ConnectionFailed
from adclient._http.addresses import Connector

HOST = "many.test"
SWALLOWING = [f"127.0.0.{last}" for last in (2, 3, 4)]


@contextmanager
def swallowing(port: int) -> Iterator[None]:
    """Make connects to some addresses hang: the backlogs of their listeners are full."""
    with ExitStack() as stack:
        for address in SWALLOWING:
            listener = stack.enter_context(socket.socket())
            listener.bind((address, port))
            listener.listen(0)
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex((address, port))
        yield


@pytest.fixture
def host(monkeypatch):
    """Make a host name resolve to given addresses."""
    asked = socket.getaddrinfo

    def stands_for(*addresses: str) -> None:
        def found(host, port, *more, **options):
            if host not in (HOST, HOST.encode()):
                return asked(host, port, *more, **options)
            kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
            return [(*kind, (address, int(port))) for address in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return stands_for


pytestmark = pytest.mark.own


# The second host has an address that refuses, and one that goes on hanging.
@each_case("addresses", [SWALLOWING, (SWALLOWING[0], "127.0.0.9")])
@sync_asyncio_trio
async def test_addresses_share_the_timeout_of_a_call(client_kind, host, addresses) -> None:
    host(*addresses)
    with RawServer(serve_well) as server:
        port = server.url.rpartition(":")[2]
        with swallowing(int(port)):
            async with client_kind.open(
                f"http://{HOST}:{port}", timeout=0.5, max_retries=0
            ) as client:
                assert await is_punctual(client, most=0.55)
    assert server.requests == []


async def is_punctual(client, most: float) -> bool:
    """Return whether one of several calls times out punctually; a busy machine may delay some."""
    for _ in range(5):
        began = time.monotonic()
        with pytest.raises(CallTimeout, match="no connection in time"):
            await wait(read(client))
        if time.monotonic() - began <= most:
            return True
    return False


@sync_asyncio_trio
async def test_hanging_address_leaves_time_for_the_next(client_kind, host) -> None:
    host(SWALLOWING[0], "127.0.0.1")
    with RawServer(serve_well) as server:
        port = server.url.rpartition(":")[2]
        with swallowing(int(port)):
            async with client_kind.open(
                f"http://{HOST}:{port}", timeout=1, max_retries=0
            ) as client:
                assert len((await wait(read(client))).data) == 1


def respond_once(connection: Connection) -> None:
    connection.send(answer_to(connection.read(), "Connection: close"))


@sync_asyncio_trio
async def test_hanging_address_costs_one_delay_and_only_once(client_kind, host) -> None:
    host(SWALLOWING[0], "127.0.0.1")
    with RawServer(respond_once) as server:
        port = server.url.rpartition(":")[2]
        with swallowing(int(port)):
            async with client_kind.open(f"http://{HOST}:{port}", max_retries=0) as client:
                took = []
                for _ in range(5):
                    began = time.monotonic()
                    await wait(write(client))
                    took.append(time.monotonic() - began)
    assert server.connections == 5
    assert 0.2 <= took[0] < 5  # of a timeout of 30; a busy machine may delay some
    assert min(took[1:]) < 0.2


@sync_asyncio_trio
async def test_address_that_stops_working_is_tried_again_later(client_kind, host) -> None:
    host("127.0.0.1", "127.0.0.5")
    with RawServer(respond_once) as server:
        port = server.url.rpartition(":")[2]
        async with client_kind.open(f"http://{HOST}:{port}", max_retries=0) as client:
            await wait(read(client))
            host("127.0.0.6", "127.0.0.1")
            await wait(read(client))
            host("127.0.0.6", "127.0.0.7")
            with pytest.raises(ConnectionFailed):
                await wait(read(client))
            host("127.0.0.6", "127.0.0.1")
            await wait(read(client))
    assert server.connections == 3


# The second one is a broadcast address, to which connecting fails at once.
@each_case("dead", ["127.0.0.2", "255.255.255.255"])
@sync_asyncio_trio
async def test_refusing_address_is_skipped(client_kind, host, dead) -> None:
    host(dead, "127.0.0.3", "127.0.0.1")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            assert len((await wait(read(client))).data) == 1


def test_families_alternate_behind_the_address_that_worked_last() -> None:
    found = [(family, 1, 6, "", (name, 443)) for family, name in [(6, "a"), (6, "b"), (4, "c")]]
    last = Connector()
    assert [place for *_, (place, _) in last.in_order(found)] == ["a", "c", "b"]
    last.last_place = ("b", 443)
    assert [place for *_, (place, _) in last.in_order(found)] == ["b", "a", "c"]


@sync_asyncio_trio
async def test_all_addresses_refusing_is_connection_failed(client_kind, host) -> None:
    host("127.0.0.2", "127.0.0.3")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            with pytest.raises(ConnectionFailed, match="Connection refused"):
                await wait(read(client))
    assert server.connections == 0
