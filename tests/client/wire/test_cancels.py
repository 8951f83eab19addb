"""Calls that are cancelled or time out leave the connections usable for later calls."""

import contextlib
import gc
from functools import partial
from importlib.metadata import version

import anyio
import anyio.lowlevel
import httpx
import pytest
from cancelling import NO_RETRY, cancel_at_random, cancel_reads, injected, own
from cases import each_case
from clients import SYNC, TLS, asyncio_and_trio, close, read, sync_asyncio_trio, wait, write
from raw_server import LISTING, RawServer, serve_well

from adclient import AsyncAdClient, CallTimeout, OutcomeUnknown
from adclient._http import async_library

# Before 4.15.1, anyio leaves the socket of a cancelled connect to the garbage collector.
IS_OLD_ANYIO = tuple(map(int, version("anyio").split(".")[:3])) < (4, 15, 1)
NOISE = "ignore::pytest.PytestUnraisableExceptionWarning" if IS_OLD_ANYIO else "error"


class Transport(httpx.AsyncBaseTransport):
    """One that a function answers for, before it reads the request."""

    def __init__(self, answer) -> None:
        self.handle_async_request = answer


def client_over(answer, **options) -> AsyncAdClient:
    """A client with one connection."""
    transport = Transport(answer)
    return AsyncAdClient("https://a.example.com", transport=transport, max_concurrency=1, **options)


@pytest.mark.no_cover
@pytest.mark.filterwarnings(NOISE)
@asyncio_and_trio
async def test_random_cancellations_lose_no_connection(client_kind, pytestconfig) -> None:
    await cancel_at_random(client_kind, own, pytestconfig.getoption("seeds"))
    gc.collect()


@each_case("open_client", own, partial(injected, "httpx"))
@asyncio_and_trio
async def test_cancelled_read_frees_its_connection(client_kind, open_client) -> None:
    """Otherwise an injected pool would hold the connection, and we the slot, until it timed out."""
    await cancel_reads(open_client)


@sync_asyncio_trio
async def test_call_that_timed_out_in_the_queue_of_a_pool_is_not_sent(client_kind) -> None:
    theirs = client_kind.http_client(limits=httpx.Limits(max_connections=1), verify=TLS)
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, http_client=theirs, max_concurrency=2) as client:
            held = await wait(theirs.send(theirs.build_request("GET", server.url), stream=True))
            for call in (read, write):
                expected = r"no (free connection of the http_client|response) in time"
                with pytest.raises(CallTimeout, match=expected) as caught:
                    await wait(call(client.with_options(timeout=0.3, max_retries=0)))
                assert not isinstance(caught.value, OutcomeUnknown)
            # Its connection is free, and the queue goes on.
            await wait(held.read() if client_kind is SYNC else held.aread())
            for _ in range(2):
                assert len((await wait(read(client))).data) == 1
        await close(theirs)
    assert len(server.requests) == 3


@each_case("ending", "timeout", "cancel")
@asyncio_and_trio
async def test_write_that_waited_for_a_pool_is_not_sent_after_its_call(client_kind, ending) -> None:
    is_free, sent = anyio.Event(), []

    async def answer(request: httpx.Request) -> httpx.Response:
        if ending == "cancel":
            scope.cancel()
        await is_free.wait()
        sent.append(await request.aread())
        return httpx.Response(201)

    client = client_over(answer, timeout=0.05 if ending == "timeout" else 20)
    with anyio.CancelScope() as scope, contextlib.suppress(CallTimeout):
        await write(client)
    is_free.set()
    await client.aclose()
    assert sent == []


@asyncio_and_trio
async def test_call_can_be_cancelled_if_its_transport_never_waits(client_kind) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=LISTING))
    async with client_kind.open(transport=transport) as client:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await read(client)
    assert scope.cancelled_caught


@asyncio_and_trio
async def test_exchange_that_a_timed_out_call_left_behind_has_its_slot_until_it_ends(
    client_kind, monkeypatch
) -> None:
    """It reports no read, so it cannot be cancelled at once, only after a grace period."""
    may_end, sent = anyio.Event(), []

    async def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        await (may_end.wait, anyio.sleep_forever, anyio.lowlevel.checkpoint)[len(sent) - 1]()
        return httpx.Response(200, json=LISTING)

    client = client_over(answer, timeout=0.2, retry=NO_RETRY)
    with pytest.raises(CallTimeout, match="no response in time"):
        await read(client)
    with pytest.raises(CallTimeout, match="no free connection in time") as caught:
        await write(client)
    assert not caught.value.outcome_unknown
    assert len(sent) == 1
    may_end.set()
    monkeypatch.setattr(async_library, "_LONGEST_CLOSE", 0.05)
    with pytest.raises(CallTimeout, match="no response in time"):
        await read(client)
    await read(client.with_options(timeout=20))
    await client.aclose()
    assert len(sent) == 3
