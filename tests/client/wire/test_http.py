"""The clients over real sockets: what is sent, and that each call ends at its timeout."""

import gzip
import json
import ssl
import threading
import time
from inspect import isclass

import anyio
import clients
import httpx
import pytest
import raw_server
from cases import each_case
from clients import FAMILY, SYNC, read, sync_and_async, sync_asyncio_trio, wait, write
from raw_server import LISTING, Connection, answer_to, reply, responding, serve_well, serving
from waiting import stop_clock

import adclient._async.connections  # here, so that coverage sees its import
from adclient import AdClient, CallTimeout, Draft, NotFound, OutcomeUnknown, RetryPolicy
from adclient._http import attempt

LISTING_BYTES = json.dumps(LISTING).encode()


@sync_asyncio_trio
async def test_post_get_and_delete_are_sent_exactly_over_one_connection(client_kind) -> None:
    with raw_server.RawServer(serve_well) as server:
        async with client_kind.open(f"{server.url}/prefix", token="t0ken") as client:
            assert isinstance(await wait(write(client)), Draft)
            assert len((await wait(read(client))).data) == 1
            await wait(client.delta.remove_auto_search_themes(account_id="a"))
            await wait(write(client.with_options(timeout=5)))
    assert server.connections == 1
    posted, got, deleted, again = server.requests
    assert again == posted
    host = server.url.removeprefix("http://").encode()
    first = b"POST /prefix/v1/beta-ads/pause-beta-campaign HTTP/1.1\r\nhost: "
    assert posted.startswith(first + host)
    assert posted.endswith(b'\r\n\r\n{"account_id":"a","campaign_id":"c"}')
    assert b"\r\nauthorization: Bearer t0ken\r\n" in posted
    assert b"\r\naccept-encoding: gzip\r\n" in posted.lower()
    assert got.startswith(b"GET /prefix/v1/alpha-ads/explain-alpha-objectives?account_id=a HTTP")
    assert got.endswith(b"\r\n\r\n")
    assert b"content-length" not in got.lower()
    path = b"/prefix/v1/delta-ads/remove-delta-auto-search-themes"
    assert deleted.startswith(b"DELETE %b HTTP/1.1\r\n" % path)
    assert deleted.endswith(b'\r\n\r\n{"account_id":"a"}')


@sync_and_async
async def test_connection_closed_while_idle_is_replaced(client_kind) -> None:
    closed = threading.Event()

    def serve(connection: Connection) -> None:
        connection.send(answer_to(connection.read()))
        connection.close()
        closed.set()

    async with serving(client_kind, serve, max_retries=0) as (server, client):
        await wait(write(client))
        assert closed.wait(20)
        await wait(write(client))
    assert (server.connections, len(server.requests)) == (2, 2)


PACKED = gzip.compress(LISTING_BYTES)


def chunked(body: bytes, size: int, coding: str) -> bytes:
    first = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [*(body[start : start + size] for start in range(0, len(body), size)), b""]
    return first.encode() + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


@each_case(
    ("coding", "body"),
    *[("", LISTING_BYTES), ("identity", LISTING_BYTES)],
    *[("gzip", PACKED + rest) for rest in (b"", b"\0\0", b"\r\n" + PACKED)],
    *[(coding, PACKED) for coding in ("x-gzip", "GZip")],
)
@each_case("piece", 1, 37, attempt._PIECE)
@sync_and_async
async def test_chunked_or_compressed_body_is_decoded(
    client_kind, coding, body, piece, monkeypatch
) -> None:
    monkeypatch.setattr(attempt, "_PIECE", piece)
    for data in (reply(200, body, f"Content-Encoding: {coding}"), chunked(body, 7, coding)):
        async with serving(client_kind, responding(data)) as (server, client):
            for _ in range(2):
                assert (await wait(read(client))).to_dict() == LISTING
        assert server.connections == 1


@pytest.mark.own
@sync_and_async
async def test_header_that_is_not_utf8_is_read_as_latin1(client_kind) -> None:
    data = b"HTTP/1.1 404 -\r\nX-Request-Id: caf\xe9\r\nContent-Length: 0\r\n\r\n"
    async with serving(client_kind, responding(data)) as (_, client):
        with pytest.raises(NotFound, match="caf\xe9"):
            await wait(read(client))


HTTP_ERRORS = [
    *(c for c in vars(httpx).values() if isclass(c) and issubclass(c, httpx.RequestError)),
    *(httpx.InvalidURL, httpx.StreamError, ssl.SSLError, OSError, TimeoutError),
]


@sync_and_async
async def test_no_error_of_the_http_library_escapes(client_kind) -> None:
    service = clients.Service(*(cls("") for cls in HTTP_ERRORS))
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        for _ in HTTP_ERRORS:
            with pytest.raises(adclient.TransportError):
                await wait(read(client))


# A call ends at its timeout, whatever the server does, and ends no other call.

TIMEOUT = 0.3
SLACK = 5.0  # for a loaded machine; each fault here lasts for 15 seconds or more
DRIP = 0.05


def drip(connection: Connection, data: bytes) -> None:
    for i in range(len(data)):
        connection.send(data[i : i + 1])
        connection.pause(DRIP)


def drip_head(connection: Connection) -> None:
    drip(connection, raw_server.head(200, 0, *(f"X-{i}: 1" for i in range(50))))


def drip_chunks(connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    drip(connection, b"1\r\n \r\n" * 200)


async def ends_in_time(call, client) -> adclient.AdClientError:
    began = time.monotonic()
    with pytest.raises(CallTimeout) as caught:
        await wait(call(client))
    assert TIMEOUT * 0.9 <= time.monotonic() - began <= TIMEOUT + SLACK
    return caught.value


@each_case("timeout", SLACK, 3e6, 1e300)
@sync_and_async
async def test_call_works_with_any_timeout_and_while_a_test_freezes_time(
    client_kind, timeout, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        stop_clock(patch)
        async with serving(client_kind, serve_well, timeout=timeout, max_retries=0) as (_, client):
            for call in (read, write):
                await wait(call(client))


@each_case("fault", drip_head, drip_chunks, Connection.stay_silent)
@sync_and_async
async def test_call_ends_at_its_timeout_under_every_fault(client_kind, fault) -> None:
    def serve(connection: Connection) -> None:
        request = connection.read()
        if len(server.requests) == 1:
            connection.send(answer_to(request))
            connection.read()
        fault(connection)

    if FAMILY.is_injected and client_kind is SYNC and fault is drip_head:
        return  # an injected sync client has a timeout for each read, and a head takes any number
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
        for byte in LISTING_BYTES:
            time.sleep(DRIP)
            yield bytes([byte])

    async def __aiter__(self):
        yield LISTING_BYTES

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


@sync_asyncio_trio
async def test_read_is_retried_after_an_attempt_that_hangs(client_kind) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            if len(server.requests) % 2:
                server.stopping.wait(10)
                return
            connection.send(reply(200, LISTING_BYTES))

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
