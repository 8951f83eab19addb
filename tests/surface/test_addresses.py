"""A host name that resolves to several addresses."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from clients import read, sync_asyncio_trio, wait
from raw_server import RawServer, serve_well

from adclient import CallTimeout, ConnectionFailed

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


@sync_asyncio_trio
async def test_addresses_share_the_timeout_of_a_call(client_kind, host) -> None:
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


@sync_asyncio_trio
async def test_refusing_address_is_skipped(client_kind, host) -> None:
    host("127.0.0.2", "127.0.0.3", "127.0.0.1")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            assert len((await wait(read(client))).data) == 1


@sync_asyncio_trio
async def test_all_addresses_refusing_is_connection_failed(client_kind, host) -> None:
    host("127.0.0.2", "127.0.0.3")
    with RawServer(serve_well) as server:
        url = server.url.replace("127.0.0.1", HOST)
        async with client_kind.open(url, max_retries=0) as client:
            with pytest.raises(ConnectionFailed, match="Connection refused"):
                await wait(read(client))
    assert server.connections == 0
