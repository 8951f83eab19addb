"""A call ends at its timeout, whatever the server does, and ends no other call."""

import json
import time

import anyio
import clients
import httpx
import pytest
from cases import each_case
from clients import FAMILY, SYNC, read, wait, write
from raw_server import LISTING, Connection, answer_to, head, reply, serve_well, serving
from waiting import stop_clock

from adclient import AdClient, AdClientError, CallTimeout, OutcomeUnknown, RetryPolicy

TIMEOUT = 0.3
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


def is_bounded(client_kind, fault) -> bool:
    """An injected sync client has a timeout for each read, and a head may take any number."""
    return not (FAMILY.is_injected and client_kind is SYNC and fault is drip_head)


async def ends_in_time(call, client) -> AdClientError:
    began = time.monotonic()
    with pytest.raises(CallTimeout) as caught:
        await wait(call(client))
    assert TIMEOUT * 0.9 <= time.monotonic() - began <= TIMEOUT + SLACK
    return caught.value


@each_case("timeout", SLACK, 3e6, 1e300)
@clients.sync_and_async
async def test_call_works_with_any_timeout_and_while_a_test_freezes_time(
    client_kind, timeout, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        stop_clock(patch)
        async with serving(client_kind, serve_well, timeout=timeout, max_retries=0) as (_, client):
            for call in (read, write):
                await wait(call(client))


@each_case("fault", drip_head, drip_chunks, Connection.stay_silent)
@clients.sync_and_async
async def test_call_ends_at_its_timeout_under_every_fault(client_kind, fault) -> None:
    def serve(connection: Connection) -> None:
        request = connection.read()
        if len(server.requests) == 1:
            connection.send(answer_to(request))
            connection.read()
        fault(connection)

    if not is_bounded(client_kind, fault):
        return
    async with serving(client_kind, serve, max_concurrency=1) as (server, client):
        await wait(read(client))
        hasty = client.with_options(timeout=TIMEOUT)
        of_read = await ends_in_time(read, hasty)
        assert server.connections == 1 or FAMILY.is_injected
        of_write = await ends_in_time(write, hasty)
    assert not of_read.outcome_unknown
    assert isinstance(of_write, OutcomeUnknown)
    assert isinstance(of_write, TimeoutError)
    assert of_read.status == of_write.status == (200 if fault is drip_chunks else None)
    assert len(server.requests) == 3


class Slow(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An in-process body whose chunks are slow, or whose close is."""

    def __iter__(self):
        for byte in BODY:
            time.sleep(DRIP)
            yield bytes([byte])

    async def __aiter__(self):
        yield BODY

    async def aclose(self) -> None:
        await anyio.sleep(0.8)


SLOW = httpx.MockTransport(lambda request: httpx.Response(200, stream=Slow()))


def test_slow_body_of_an_in_process_transport_times_out() -> None:
    with (
        AdClient("https://a.example.com", transport=SLOW, timeout=TIMEOUT) as client,
        pytest.raises(CallTimeout) as caught,
    ):
        read(client)
    assert caught.value.status == 200


@clients.asyncio_and_trio
async def test_complete_response_counts_although_its_close_is_late(client_kind) -> None:
    client = client_kind.client("https://a.example.com", transport=SLOW, timeout=0.6)
    assert len((await read(client)).data) == 1
    await client.aclose()


@clients.sync_asyncio_trio
async def test_read_is_retried_after_an_attempt_that_hangs(client_kind) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            if len(server.requests) % 2:
                server.stopping.wait(10)
                return
            connection.send(reply(200, BODY))

    limited = RetryPolicy(backoff_first=0, attempt_timeout=0.5)
    async with serving(client_kind, serve, timeout=8, retry=limited) as (server, client):
        page = await wait(read(client))
        assert page.response.attempts == 2
        assert page.response.elapsed >= 0.5
        with pytest.raises(OutcomeUnknown) as unknown:
            await wait(write(client))
    assert isinstance(unknown.value, CallTimeout)
    assert unknown.value.attempts == 1
    assert "attempt_timeout" not in str(unknown.value)
