"""Ends calls of an async client at random moments, and checks that no connection is lost."""

import asyncio
import contextlib
import importlib
import random
import threading

import anyio
import anyio.to_thread
from clients import ASYNC, read, write
from raw_server import Connection, RawServer, answer_to

from adclient import AdClientError, AsyncAdClient, RetryPolicy

NO_RETRY = RetryPolicy(max_retries=0)
OPTIONS = {"retry": NO_RETRY, "timeout": 20}  # a connection that is lost fails the next call


@contextlib.asynccontextmanager
async def injected(library: str, url: str, pool: int, **options):
    """A client over an injected one of a library, with this many connections and slots."""
    hx = importlib.import_module(library)
    limits = hx.Limits(max_connections=pool, max_keepalive_connections=pool)
    options = {**OPTIONS, "max_concurrency": pool, **options}
    async with (
        hx.AsyncClient(limits=limits, verify=False) as theirs,
        AsyncAdClient(url, http_client=theirs, **options) as client,
    ):
        yield client


def own(url: str, pool: int) -> AsyncAdClient:
    """A client with connections of its own."""
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


async def cancel_at_random(client_kind, open_client, seeds: int) -> None:
    """Cancel calls of a client with eight connections at random moments."""
    meeting = Meeting(8)
    with RawServer(meeting.serve) as server:
        async with open_client(server.url, 8) as client:
            if client_kind is ASYNC:
                await cancel_at_every_turn(client, 8, 60)
            for seed in range(seeds):
                await cancel_randomly(client, 8, seed, rounds=30)
            await meeting.hold(client)


async def cancel_reads(open_client) -> None:
    """Cancel calls of a client with one connection, at each point of their responses."""
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
