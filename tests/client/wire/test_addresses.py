"""A host name that resolves to several addresses."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from cases import each_case
from clients import read, sync_and_async, sync_asyncio_trio, wait, write
from raw_server import Connection, RawServer, answer_to

from adclient import CallTimeout, ConnectionFailed
from adclient._http.backend import Connector

HOST = "many.test"
SWALLOWING = ("127.0.0.2", "127.0.0.3")
pytestmark = pytest.mark.own


def test_families_alternate_behind_the_address_that_worked_last() -> None:
    found = [(family, 1, 6, "", (place, 443)) for place, family in (("a", 6), ("b", 6), ("c", 4))]
    last = Connector()
    assert [place for *_, (place, _) in last.in_order(found)] == ["a", "c", "b"]
    last.last_place = ("b", 443)
    assert [place for *_, (place, _) in last.in_order(found)] == ["b", "a", "c"]


@contextmanager
def swallowing(port: int) -> Iterator[None]:
    """Make connects to some addresses hang: the backlogs of their listeners are full."""
    with ExitStack() as stack:
        for place in SWALLOWING:
            listener = stack.enter_context(socket.socket())
            listener.bind((place, port))
            listener.listen(0)
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex((place, port))
        hanging = threading.Timer(10, stack.close)  # a hang of the client ends with a failed test
        hanging.start()
        stack.callback(hanging.cancel)
        yield


@pytest.fixture
def host(monkeypatch):
    """Make a host name resolve to given addresses."""
    asked = socket.getaddrinfo

    def resolves_to(*places: str) -> None:
        def found(host, port, *more, **options):
            if host not in (HOST, HOST.encode()):
                return asked(host, port, *more, **options)
            ours = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
            return [(*ours, (place, int(port))) for place in places]

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return resolves_to


def url_of(server: RawServer) -> str:
    return server.url.replace("127.0.0.1", HOST)


def respond_once(connection: Connection) -> None:
    connection.send(answer_to(connection.read(), "Connection: close"))


@sync_asyncio_trio
async def test_hanging_address_costs_one_delay_and_only_once(client_kind, host) -> None:
    host(SWALLOWING[0], "127.0.0.1")
    took = []
    with RawServer(respond_once) as server, swallowing(int(server.url.rpartition(":")[2])):
        async with client_kind.open(url_of(server), max_retries=0) as client:
            for _ in range(5):
                began = time.monotonic()
                await wait(write(client))
                took.append(time.monotonic() - began)
            for places in (SWALLOWING, (SWALLOWING[0], "127.0.0.4")):  # nothing listens at that
                host(*places)
                with pytest.raises(CallTimeout, match="no connection in time"):
                    await wait(write(client.with_options(timeout=0.4)))
    assert server.connections == 5
    assert 0.2 <= took[0] < 5  # of a timeout of 30; a busy machine may delay some
    assert min(took[1:]) < 0.2


# The second one is a broadcast address, to which connecting fails at once.
@each_case("dead", "127.0.0.2", "255.255.255.255")
@sync_and_async
async def test_refusing_addresses_are_skipped(client_kind, host, dead) -> None:
    host(dead, "127.0.0.3", "127.0.0.1")
    with RawServer(respond_once) as server:
        async with client_kind.open(url_of(server), max_retries=0) as client:
            assert len((await wait(read(client))).data) == 1
            host(dead, "127.0.0.3")
            with pytest.raises(ConnectionFailed, match="Connection refused"):
                await wait(read(client))
    assert server.connections == 1
