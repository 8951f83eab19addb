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
import httpx
import pytest
from clients import ASYNC, SYNC, TRIO, close, read, sync_asyncio_trio, wait, write
from raw_server import LISTING, Connection, RawServer, answer_to, serve_well

from adclient import (
    AdClientError,
    AsyncAdClient,
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    RetryPolicy,
)
from adclient._http import async_library

ROUNDS = 30  # for each seed; `nox -s long` uses twenty seeds
NO_RETRY = RetryPolicy(max_retries=0)
# Before 4.15.1, anyio leaves the socket of a cancelled connect to the garbage collector.
IS_OLD_ANYIO = tuple(map(int, version("anyio").split(".")[:3])) < (4, 15, 1)
NOISE = "ignore::pytest.PytestUnraisableExceptionWarning" if IS_OLD_ANYIO else "error"
both_loops = pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
every_library = pytest.mark.parametrize("library", ["httpx", "httpx2", None])


async def random_cancels(client: AsyncAdClient, pool: int, seed: int, rounds: int) -> None:
    """Run twice as many calls as connections, and end most of them at a random moment."""
    chance = random.Random(seed)

    async def one(patience: float, timeout: float) -> None:
        with anyio.move_on_after(patience):
            with contextlib.suppress(AdClientError):
                await read(client.with_options(timeout=timeout))

    for _ in range(rounds):
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * pool):
                patience, timeout = chance.uniform(0, 0.01), chance.uniform(0.001, 0.02)
                tasks.start_soon(one, patience, timeout)


async def cancels_at_every_turn(client: AsyncAdClient, pool: int) -> None:
    """Do the same with asyncio's own cancellation, which no cancel scope shields from."""
    for turns in range(60):
        tasks = [asyncio.ensure_future(read(client)) for _ in range(2 * pool)]
        for task in tasks:
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def still_works(client: AsyncAdClient, calls: int = 6) -> None:
    for _ in range(calls):
        assert len((await read(client)).data) == 1


class Meeting:
    """Responds after a moment; calls for the account `meet` wait until all of them have arrived."""

    def __init__(self, size: int) -> None:
        self._size = size
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
        """Run that many concurrent calls; all of them fail if one cannot get a connection."""

        async def one() -> None:
            await read(client, account_id="meet")

        async with anyio.create_task_group() as tasks:
            for _ in range(self._size):
                tasks.start_soon(one)


@contextlib.asynccontextmanager
async def pooled(library: str | None, pool: int, url: str):
    """A client with this many connections, its default ones or those of an injected HTTP client."""
    options = {"max_concurrency": pool, "retry": NO_RETRY, "timeout": 20}
    if library is None:
        async with AsyncAdClient(url, **options) as client:
            yield client
        return
    hx = pytest.importorskip(library)
    limits = hx.Limits(max_connections=pool, max_keepalive_connections=pool)
    async with (
        hx.AsyncClient(limits=limits, verify=False) as theirs,
        AsyncAdClient(url, http_client=theirs, **options) as client,
    ):
        yield client


@pytest.mark.no_cover
@pytest.mark.filterwarnings(NOISE)
@every_library
@both_loops
def test_random_cancellations_lose_no_connection_of_a_pool(
    client_kind, library, pytestconfig
) -> None:
    async def scenario() -> None:
        async with pooled(library, 8, server.url) as client:
            if client_kind is ASYNC:
                await cancels_at_every_turn(client, 4)
            for seed in range(pytestconfig.getoption("seeds")):
                await random_cancels(client, 8, seed, ROUNDS)
            await still_works(client, calls=30)
            await meeting.hold(client)

    meeting = Meeting(8)
    with RawServer(meeting.serve) as server:
        client_kind.run(scenario)
    gc.collect()


@pytest.mark.no_cover
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@both_loops
def test_timeouts_in_the_queue_of_an_injected_client_lose_no_connection(
    client_kind, library
) -> None:
    """A pool of httpcore 1.0 may assign a connection to a request at the moment of its timeout."""
    hx = pytest.importorskip(library)
    chance = random.Random(1)

    async def one(client: AsyncAdClient) -> None:
        with contextlib.suppress(AdClientError):
            await read(client.with_options(timeout=chance.uniform(0.002, 0.05)))

    async def scenario() -> None:
        limits = hx.Limits(max_connections=4)
        async with (
            hx.AsyncClient(limits=limits, verify=False) as theirs,
            AsyncAdClient(server.url, http_client=theirs, retry=NO_RETRY, timeout=20) as client,
        ):
            for _ in range(10):
                async with anyio.create_task_group() as tasks:
                    for _ in range(40):
                        tasks.start_soon(one, client)
            await still_works(client)
            await meeting.hold(client)

    meeting = Meeting(4)
    with RawServer(meeting.serve) as server:
        client_kind.run(scenario)


@both_loops
def test_abandoned_request_that_gets_a_connection_is_not_sent(client_kind) -> None:
    async def scenario() -> None:
        async with (
            httpx.AsyncClient(limits=httpx.Limits(max_connections=1), verify=False) as theirs,
            AsyncAdClient(server.url, http_client=theirs, max_concurrency=1) as client,
        ):
            held = await theirs.send(theirs.build_request("GET", server.url), stream=True)
            with pytest.raises(CallTimeout, match="no response in time"):
                await read(client.with_options(timeout=0.5, max_retries=0))
            await held.aread()  # its connection is free, and the queue goes on
            await still_works(client, calls=2)

    with RawServer(serve_well) as server:
        client_kind.run(scenario)
    assert len(server.requests) == 3


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("received", [0, 1, -1], ids=["nothing", "half a head", "half a body"])
@both_loops
def test_cancelled_read_of_an_injected_client_frees_its_connection(
    client_kind, received, library
) -> None:
    """Otherwise its pool would hold the connection, and we the slot, until the read timed out."""
    hx = pytest.importorskip(library)
    awake, asked = threading.Event(), threading.Event()

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if awake.is_set():
                connection.send(answer_to(request))
            else:
                connection.send(answer_to(request)[:received])
                asked.set()
                connection.wait_for_the_end()

    async def scenario() -> None:
        async with (
            hx.AsyncClient(limits=hx.Limits(max_connections=1), verify=False) as theirs,
            AsyncAdClient(server.url, http_client=theirs, timeout=60, max_concurrency=1) as client,
        ):
            for _ in range(3):
                asked.clear()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(write, client)
                    await anyio.to_thread.run_sync(asked.wait)
                    tasks.cancel_scope.cancel()
            awake.set()
            with anyio.fail_after(20):
                await still_works(client)

    with RawServer(serve) as server:
        client_kind.run(scenario)


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_cancelling_the_background_task_of_a_call_raises_a_transport_error(turns) -> None:
    """A request of an injected client runs in a task of its own, which this test cancels."""

    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await asyncio.sleep(0 if is_quick else 60)
            return httpx.Response(200, json=LISTING)

    async def scenario() -> None:
        nonlocal is_quick
        client = AsyncAdClient("https://ads.example.com", transport=Slow(), max_concurrency=1)
        call = asyncio.ensure_future(read(client.with_options(retry=NO_RETRY)))
        for _ in range(2 + turns):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task(), call}:
            task.cancel()
        is_quick = True
        with pytest.raises((ConnectionLost, ConnectionFailed)):
            await call
        await read(client)

    is_quick = False
    asyncio.run(scenario())


@pytest.mark.parametrize("ending", ["timeout", "cancel"])
@both_loops
def test_write_that_waited_for_a_pool_is_not_sent_after_its_call_ended(client_kind, ending) -> None:
    """It waited for a connection of an injected pool; its call reported that nothing was sent."""
    sent = []

    async def scenario() -> None:
        is_free = anyio.Event()

        class Full(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                await is_free.wait()
                sent.append(await request.aread())
                return httpx.Response(201)

        client = AsyncAdClient("https://ads.example.com", transport=Full())
        if ending == "timeout":
            with pytest.raises(CallTimeout) as caught:
                await write(client.with_options(timeout=0.05))
            assert not isinstance(caught.value, OutcomeUnknown)
        else:
            with anyio.move_on_after(0.05):
                await write(client)
        is_free.set()
        await client.aclose()

    client_kind.run(scenario)
    assert sent == []


class Unhurried:
    """Closes something after a checkpoint, at which a cancelled call can be interrupted."""

    def __init__(self, close) -> None:
        self._close = close
        self.is_closed = False

    async def close(self) -> None:
        await anyio.lowlevel.checkpoint()
        await self._close()
        self.is_closed = True


class Endless(httpx.AsyncByteStream):
    """A body that never ends; it calls `begun` when somebody waits for the rest."""

    def __init__(self, request: httpx.Request, begun) -> None:
        self._trace = request.extensions["trace"]
        self._begun = begun
        self.end = Unhurried(anyio.lowlevel.checkpoint)
        self.aclose = self.end.close

    async def __aiter__(self):
        yield b"{"
        await self._trace("http11.receive_response_body.started", {})
        self._begun()
        await anyio.sleep_forever()


@both_loops
def test_response_of_a_cancelled_call_is_closed(client_kind) -> None:
    """This includes a response of an injected transport, cancelled while its body is read."""
    bodies = []

    async def scenario() -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            bodies.append(Endless(request, scope.cancel))
            return httpx.Response(200, stream=bodies[-1])

        client = AsyncAdClient("https://ads.example.com", transport=httpx.MockTransport(answer))
        with anyio.fail_after(10), anyio.CancelScope() as scope:
            await read(client)
        await client.aclose()

    client_kind.run(scenario)
    assert [body.end.is_closed for body in bodies] == [True]


@both_loops
def test_hanging_request_of_an_injected_transport_frees_its_slot(client_kind, monkeypatch) -> None:
    """It reports no read, so it cannot be cancelled at once, only after a grace period."""
    is_stuck = True

    async def answer(request: httpx.Request) -> httpx.Response:
        if is_stuck:
            await anyio.sleep_forever()
        return httpx.Response(200, json=LISTING)

    async def scenario() -> None:
        nonlocal is_stuck
        transport = httpx.MockTransport(answer)
        client = AsyncAdClient("https://ads.example.com", transport=transport, max_concurrency=1)
        with pytest.raises(CallTimeout, match="no response in time"):
            await read(client.with_options(timeout=0.5))
        is_stuck = False
        await read(client.with_options(timeout=10))
        await client.aclose()

    monkeypatch.setattr(async_library, "_LONGEST_CLOSE", 0.05)
    client_kind.run(scenario)


@both_loops
def test_write_is_not_sent_while_an_abandoned_exchange_has_the_slot(client_kind) -> None:
    """The exchange that a timed-out call left behind counts until its end."""
    sent = []

    async def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        await anyio.sleep_forever()

    async def scenario() -> None:
        transport = httpx.MockTransport(answer)
        client = AsyncAdClient(
            "https://ads.example.com", transport=transport, max_concurrency=1, timeout=0.5
        )
        with pytest.raises(CallTimeout):
            await read(client.with_options(max_retries=0))
        with pytest.raises(CallTimeout, match="no free connection in time") as caught:
            await write(client)
        assert not caught.value.outcome_unknown

    client_kind.run(scenario)
    assert len(sent) == 1


@sync_asyncio_trio
async def test_full_pool_of_an_injected_client_is_not_outcome_unknown(client_kind) -> None:
    limits = httpx.Limits(max_connections=1)
    theirs = getattr(httpx, client_kind.http_client_name)(limits=limits, verify=False)
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, http_client=theirs, timeout=0.2) as client:
            held = await wait(theirs.send(theirs.build_request("GET", server.url), stream=True))
            with pytest.raises(CallTimeout, match=r"no (free connection|response)") as caught:
                await wait(write(client))
            await wait(held.close() if client_kind is SYNC else held.aclose())
            await close(theirs)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert len(server.requests) == 1


@both_loops
def test_closing_waits_for_background_requests(client_kind) -> None:
    order = []

    async def scenario() -> None:
        may_answer = anyio.Event()

        async def answer(request: httpx.Request) -> httpx.Response:
            scope.cancel()
            await may_answer.wait()
            order.append("answered")
            return httpx.Response(200)

        async def close(client: AsyncAdClient) -> None:
            await client.aclose()
            order.append("closed")

        client = AsyncAdClient("https://ads.example.com", transport=httpx.MockTransport(answer))
        with anyio.CancelScope() as scope:
            await read(client)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(close, client)
            await anyio.wait_all_tasks_blocked()
            order.append("may answer")
            may_answer.set()

    client_kind.run(scenario)
    assert order == ["may answer", "answered", "closed"]
