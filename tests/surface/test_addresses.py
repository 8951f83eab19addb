"""A host name that stands for several addresses."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from clients import read, sync_asyncio_trio, wait
from raw_server import RawServer, serve_well

from adclient import CallTimeout, ConnectionFailed
from adclient._http import tcp

HOST = "many.test"
SWALLOWING = [f"127.0.0.{last}" for last in (2, 3, 4)]


@contextmanager
def swallowing(port: int) -> Iterator[None]:
    """Addresses at which nobody answers, nor refuses: the queues of their listeners are full."""
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
    """Let the name of a host stand for some addresses."""
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


@sync_asyncio_trio
async def test_they_share_the_time_of_a_call(client_kind, host) -> None:
    host(*SWALLOWING)
    with RawServer(serve_well) as server:
        port = server.url.rpartition(":")[2]
        with swallowing(int(port)):
            async with client_kind.open(
                f"http://{HOST}:{port}", timeout=0.5, max_retries=0
            ) as client:
                assert await is_punctual(client, most=0.55)
    assert server.requests == []


async def is_punctual(client, most: float) -> bool:
    """Whether one of some calls that time out is in time: a busy machine is late now and then."""
    for _ in range(5):
        began = time.monotonic()
        with pytest.raises(CallTimeout, match="no connection in time"):
            await wait(read(client))
        if time.monotonic() - began <= most:
            return True
    return False


@sync_asyncio_trio
async def test_one_that_swallows_leaves_time_for_the_next(client_kind, host) -> None:
    host(SWALLOWING[0], "127.0.0.1")
    with RawServer(serve_well) as server:
        port = server.url.rpartition(":")[2]
        with swallowing(int(port)):
            async with client_kind.open(
                f"http://{HOST}:{port}", timeout=1, max_retries=0
            ) as client:
                assert len((await wait(read(client))).data) == 1


def test_an_address_of_one_link_keeps_its_link(monkeypatch) -> None:
    link = socket.if_nametoindex("lo")
    place = (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("fe80::1", 80, 0, link))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [place])
    assert tcp._addresses(HOST, 80) == ["fe80::1%lo"]


@sync_asyncio_trio
async def test_one_that_refuses_costs_nothing(client_kind, host) -> None:
    host("127.0.0.2", "127.0.0.3", "127.0.0.1")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            assert len((await wait(read(client))).data) == 1


@sync_asyncio_trio
async def test_none_of_them_listens(client_kind, host) -> None:
    host("127.0.0.2", "127.0.0.3")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            with pytest.raises(ConnectionFailed, match="Connection refused"):
                await wait(read(client))
    assert server.connections == 0
