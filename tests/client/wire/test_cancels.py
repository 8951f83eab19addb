"""Calls that are cancelled or time out leave the connections usable for later calls."""

import asyncio
import contextlib
import gc
import random
import threading
from importlib.metadata import version

import anyio
import anyio.lowlevel
import anyio.to_thread
import clients
import httpx
import pytest
from cases import each_case
from clients import ASYNC, FAMILY, SYNC, asyncio_and_trio, close, read, wait, write
from raw_server import LISTING, Connection, RawServer, answer_to, serve_well

from adclient import AdClientError, AsyncAdClient, CallTimeout, OutcomeUnknown, RetryPolicy
from adclient._http import async_library

# Before 4.15.1, anyio leaves the socket of a cancelled connect to the garbage collector.
IS_OLD_ANYIO = tuple(map(int, version("anyio").split(".")[:3])) < (4, 15, 1)
NOISE = "ignore::pytest.PytestUnraisableExceptionWarning" if IS_OLD_ANYIO else "error"


NO_RETRY = RetryPolicy(max_retries=0)
OPTIONS = {"retry": NO_RETRY, "timeout": 20}  # a connection that is lost fails the next call


@contextlib.asynccontextmanager
async def injected(url: str, pool: int, **options):
    """A client over an injected one, with this many connections and slots."""
    hx = FAMILY.library
    limits = hx.Limits(max_connections=pool, max_keepalive_connections=pool)
    options = {**OPTIONS, "max_concurrency": pool, **options}
    async with (
        hx.AsyncClient(limits=limits, verify=False) as theirs,
        AsyncAdClient(url, http_client=theirs, **options) as client,
    ):
        yield client


def own(url: str, pool: int) -> AsyncAdClient:
    return AsyncAdClient(url, max_concurrency=pool, **OPTIONS)


class Meeting:
    """Responds after a moment; calls for the account `meet` wait until all of them have arrived."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._barrier = threading.Barrier(size)

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            if b"meet" in request:
                try:
                    self._barrier.wait(10)
                except threading.BrokenBarrierError:
                    return
            else:
                connection.pause(0.003)
            connection.send(answer_to(request))

    async def hold(self, client: AsyncAdClient) -> None:
        """Use every connection at once; all calls fail if one of them cannot get a connection."""
        await still_works(client)
        async with anyio.create_task_group() as tasks:
            for _ in range(self.size):
                tasks.start_soon(read_quickly, client, 20, "meet")


async def read_quickly(client: AsyncAdClient, timeout: float, account_id: str = "a") -> None:
    await read(client.with_options(timeout=timeout), account_id=account_id)


async def still_works(client: AsyncAdClient, calls: int = 6) -> None:
    for _ in range(calls):
        assert len((await read(client)).data) == 1


async def cancel_randomly(client: AsyncAdClient, pool: int, seed: int, rounds: int) -> None:
    """Run twice as many calls as connections, and end most of them at a random moment."""
    chance = random.Random(seed)

    async def one(patience: float, timeout: float) -> None:
        with anyio.move_on_after(patience), contextlib.suppress(AdClientError):
            await read_quickly(client, timeout)

    for _ in range(rounds):
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * pool):
                tasks.start_soon(one, chance.uniform(0, 0.01), chance.uniform(0.001, 0.02))


async def cancel_at_every_turn(client: AsyncAdClient, calls: int, turns: int) -> None:
    """Do the same with asyncio's own cancellation, which no cancel scope shields from."""
    for turn in range(turns):
        tasks = [asyncio.ensure_future(read(client)) for _ in range(calls)]
        for task in tasks:
            for _ in range(turn):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def client_over(answer, **options) -> AsyncAdClient:
    """A client with one connection, for which a function answers before it reads the request."""
    transport = httpx.AsyncBaseTransport()
    transport.handle_async_request = answer
    return AsyncAdClient("https://a.example.com", transport=transport, max_concurrency=1, **options)


each_client = each_case("open_client", own, injected)


@pytest.mark.no_cover
@pytest.mark.filterwarnings(NOISE)
@each_client
@asyncio_and_trio
async def test_random_cancellations_lose_no_connection(
    client_kind, open_client, pytestconfig
) -> None:
    meeting = Meeting(8)
    with RawServer(meeting.serve) as server:
        async with open_client(server.url, 8) as client:
            if client_kind is ASYNC:
                await cancel_at_every_turn(client, 8, 60)
            for seed in range(pytestconfig.getoption("seeds")):
                await cancel_randomly(client, 8, seed, rounds=30)
            await meeting.hold(client)
    gc.collect()


@pytest.mark.no_cover
@asyncio_and_trio
async def test_timeouts_in_the_queue_of_a_pool_lose_no_connection(client_kind) -> None:
    """A pool of httpcore 1.0 may assign a connection to a request at the moment of its timeout."""
    chance, meeting = random.Random(1), Meeting(4)

    async def one(client: AsyncAdClient) -> None:
        with contextlib.suppress(AdClientError):
            await read_quickly(client, chance.uniform(0.002, 0.05))

    with RawServer(meeting.serve) as server:
        async with injected(server.url, 4, max_concurrency=40) as client:
            for _ in range(10):
                async with anyio.create_task_group() as tasks:
                    for _ in range(40):
                        tasks.start_soon(one, client)
            await meeting.hold(client)


@each_client
@asyncio_and_trio
async def test_cancelled_read_frees_its_connection(client_kind, open_client) -> None:
    """Otherwise an injected pool would hold the connection, and we the slot, until it timed out."""
    awake, asked, received = threading.Event(), threading.Event(), iter([0, 1, -1])

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if awake.is_set():
                connection.send(answer_to(request))
            else:
                connection.send(answer_to(request)[: next(received)])
                asked.set()
                connection.wait_for_the_end()

    with RawServer(serve) as server:
        async with open_client(server.url, 1) as client:
            for _ in range(3):
                asked.clear()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(write, client)
                    assert await anyio.to_thread.run_sync(asked.wait, 10)
                    tasks.cancel_scope.cancel()
            awake.set()
            with anyio.fail_after(20):
                await still_works(client)


@clients.sync_asyncio_trio
async def test_call_that_timed_out_in_the_queue_of_a_pool_is_not_sent(client_kind) -> None:
    theirs = client_kind.http_client(limits=httpx.Limits(max_connections=1), verify=clients.TLS)
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
