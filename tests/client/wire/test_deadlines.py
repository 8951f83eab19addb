"""A call ends at its timeout, whatever the server does, and ends no other call."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest
from clients import CLIENT_KINDS, FAMILY, SYNC, read, sync_asyncio_trio, wait, write
from raw_server import LISTING, Connection, RawServer, answer_to, head, serve_well

from adclient import AdClient, AdClientError, CallTimeout, OutcomeUnknown

TIMEOUT = 0.2
SLACK = 5.0  # for a loaded machine; each fault here lasts for 15 seconds or more
DRIP = 0.05
BODY = json.dumps(LISTING).encode()


def drip(connection: Connection, data: bytes) -> None:
    for i in range(len(data)):
        connection.send(data[i : i + 1])
        connection.pause(DRIP)


def drip_head(connection: Connection) -> None:
    drip(connection, head(200, 0, *(f"X-{i}: 1" for i in range(50))))


def drip_chunks(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    drip(connection, b"1\r\n \r\n" * 200)


def never_answer(connection: Connection) -> None:
    connection.stay_silent()


def is_bounded(client_kind, fault) -> bool:
    """An injected sync client has a timeout for each read, and a head may take any number."""
    return not (FAMILY.is_injected and client_kind is SYNC and fault is drip_head)


async def ends_in_time(call, client) -> AdClientError:
    began = time.monotonic()
    with pytest.raises(CallTimeout) as caught:
        await wait(call(client))
    assert TIMEOUT * 0.9 <= time.monotonic() - began <= TIMEOUT + SLACK
    return caught.value


@pytest.mark.parametrize("fault", [drip_head, drip_chunks, never_answer])
@sync_asyncio_trio
async def test_call_ends_at_its_timeout_under_every_fault(client_kind, fault) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        fault(connection)

    if not is_bounded(client_kind, fault):
        return
    with RawServer(serve) as server:
        async with client_kind.open(server.url, timeout=TIMEOUT) as client:
            of_read, of_write = await ends_in_time(read, client), await ends_in_time(write, client)
    assert not of_read.outcome_unknown
    assert isinstance(of_write, OutcomeUnknown)
    assert isinstance(of_write, TimeoutError)
    assert of_read.status == of_write.status == (200 if fault is drip_chunks else None)
    assert len(server.requests) == 2


@pytest.mark.own
@sync_asyncio_trio
async def test_timeout_is_enforced_on_a_reused_connection(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.send(answer_to(connection.read()))
        connection.read()
        drip_head(connection)

    with RawServer(serve) as server:
        async with client_kind.open(server.url, max_retries=0) as client:
            await wait(read(client))
            await ends_in_time(read, client.with_options(timeout=TIMEOUT))
    assert server.connections == 1


def test_timed_out_calls_do_not_affect_others() -> None:
    """Many short calls, some of which time out, on reused connections."""
    slow = threading.Event()

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if b"slow" in request:
                slow.set()
                drip_head(connection)
                return
            connection.send(answer_to(request))

    def many(client: AdClient) -> int:
        return sum(len(read(client).data) for _ in range(50))

    def hasty(client: AdClient) -> None:
        for _ in range(5):
            with pytest.raises(CallTimeout):
                client.alpha.explain_objectives(account_id="slow")

    with (
        RawServer(serve) as server,
        AdClient(server.url, max_retries=0, timeout=60) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        doomed = [pool.submit(hasty, client.with_options(timeout=0.1)) for _ in range(3)]
        good = [pool.submit(many, client) for _ in range(5)]
        assert [call.result() for call in good] == [50] * 5
        assert [call.result() for call in doomed] == [None] * 3
    assert slow.is_set()


AT_EXIT = """
import atexit, sys
from adclient import AdClient
client = AdClient(sys.argv[1], timeout=5)
atexit.register(client.close)
def last():
    print(len(client.alpha.explain_objectives(account_id="a").data))
atexit.register(last)
"""


def test_call_during_interpreter_exit_succeeds() -> None:
    with RawServer(serve_well) as server:
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", AT_EXIT, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1\n", "")


class Slow(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An in-process body whose chunks and close are slow."""

    def __init__(self, chunk: float = 0.0, end: float = 0.0) -> None:
        self.chunk, self.end = chunk, end

    def __iter__(self):
        for byte in BODY:
            time.sleep(self.chunk)
            yield bytes([byte])

    async def __aiter__(self):
        yield BODY

    async def aclose(self) -> None:
        await anyio.sleep(self.end)


def test_slow_body_of_an_in_process_transport_times_out() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Slow(chunk=0.05)))
    with (
        AdClient("https://a.example.com", transport=transport, timeout=0.2) as client,
        pytest.raises(CallTimeout) as caught,
    ):
        read(client)
    assert caught.value.status == 200


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_complete_response_counts_although_its_close_is_late(client_kind) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Slow(end=0.4)))

    async def scenario() -> None:
        client = client_kind.client("https://a.example.com", transport=transport, timeout=0.3)
        assert len((await read(client)).data) == 1
        await client.aclose()

    client_kind.run(scenario)
