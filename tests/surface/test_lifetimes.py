"""Event loops, threads, forks and the garbage collector do no harm, and hear no noise."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest
from colours import AT_ONCE
from raw_server import Connection, RawServer, answer_to, reply, serve_well

from adclient import AdClient, AdClientError, AsyncAdClient, ConfigurationError


def read(client):
    return client.alpha.explain_objectives(account_id="a")


# Scripts that print nothing when every warning is an error.

PRELUDE = """
import asyncio, gc, logging, sys, threading
logging.getLogger("asyncio").setLevel("ERROR")  # it tells of a slow machine
from adclient import AdClient, AsyncAdClient
url = sys.argv[1]
def read(client):
    return client.alpha.explain_objectives(account_id="a")
async def one(client):
    for _ in range(2):
        assert len((await read(client)).data) == 1
"""
QUIET = {
    "never used": "AdClient(url); AsyncAdClient(url); gc.collect()",
    "used and closed": """
with AdClient(url) as client:
    read(client)
async def main():
    async with AsyncAdClient(url) as client:
        await one(client)
asyncio.run(main())
""",
    "used in four loops": """
client = AsyncAdClient(url)
for _ in range(4):
    asyncio.run(one(client))
    gc.collect()
""",
    "used in loops of threads": """
client = AsyncAdClient(url)
threads = [threading.Thread(target=lambda: asyncio.run(one(client))) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
    "collected in a foreign loop": """
client = AsyncAdClient(url)
asyncio.run(one(client))
async def elsewhere():
    global client
    client = None
    gc.collect()
    await asyncio.sleep(0)
asyncio.run(elsewhere())
""",
    "with a client of ones own": """
import httpx
async def main():
    async with httpx.AsyncClient(verify=False) as theirs:
        client = AsyncAdClient(url, http_client=theirs)
        await one(client)
        try:
            async with asyncio.timeout(0.0001):
                await read(client)
        except TimeoutError:
            pass
        await client.aclose()
asyncio.run(main())
""",
    "async, never closed, at the end of the interpreter": """
client = AsyncAdClient(url)
asyncio.run(one(client))
""",
}


UNCLOSED = {
    "collected": "client = AdClient(url)\nread(client)\nclient = None; gc.collect()",
    "at exit": "client = AdClient(url)\nread(client)",
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What each script said; they run at once, for each spends most of its time on imports."""

    def said_by(script: str) -> str:
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", PRELUDE + script, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr

    scripts = QUIET | UNCLOSED
    with RawServer(serve_well) as server, ThreadPoolExecutor(3) as pool:
        return dict(zip(scripts, pool.map(said_by, scripts.values()), strict=True))


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said(said, name) -> None:
    assert said[name] == ""


@pytest.mark.parametrize("name", UNCLOSED)
def test_a_sync_client_that_was_never_closed_is_named(said, name) -> None:
    first, *_ = [line for line in said[name].splitlines() if line.startswith("ResourceWarning")]
    assert (
        first == "ResourceWarning: an AdClient was never closed: end it with close(), or use `with`"
    )


def test_a_client_that_was_closed_or_not_used_is_not_named() -> None:
    with RawServer(serve_well) as server, AdClient(server.url) as client:
        connections = client._engine.connections
        connections.__del__()
        read(client)
        with pytest.warns(ResourceWarning, match="AdClient was never closed"):
            connections.__del__()
        client.close()
        connections.__del__()


# Event loops.


def test_loops_that_were_closed_without_a_farewell_are_forgotten() -> None:
    def use() -> None:
        for _ in range(3):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(first_of(client))
            loop.close()
        asyncio.run(first_of(client))
        gc.collect()

    with RawServer(serve_well) as server:
        client = AsyncAdClient(server.url)
        with pytest.warns(ResourceWarning, match="unclosed"):
            use()
    assert client._engine.connections._loops == {}


async def first_of(client):
    return await anext(aiter(read(client)))


def test_closing_in_another_loop_than_the_one_that_was_used() -> None:
    with RawServer(serve_well) as server:
        client = AsyncAdClient(server.url)
        with asyncio.Runner() as runner:
            runner.run(first_of(client))
            asyncio_thread = threading.Thread(target=asyncio.run, args=(client.aclose(),))
            asyncio_thread.start()
            asyncio_thread.join()
            with pytest.raises(ConfigurationError, match="closed"):
                runner.run(first_of(client))
    gc.collect()


# Threads.


def test_fifty_threads_with_ten_clients_of_their_own_keys() -> None:
    crossed = []

    def serve(connection: Connection) -> None:
        while request := connection.read():
            key = request.split(b"Bearer ")[1].split(b"\r\n")[0]
            if b"account_id=" + key + b" " not in request:
                crossed.append(request)
            connection.send(answer_to(request))

    def work(number: int) -> None:
        client = clients[number % 10]
        for _ in range(5):
            client.delta.analyze_wasted_spend(account_id=f"key{number % 10}")

    with RawServer(serve) as server:
        clients = [AdClient(server.url, token=f"key{n}", timeout=60) for n in range(10)]
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(work, range(50)))
        for client in clients:
            client.close()
    assert crossed == []
    assert len(server.requests) == 250


def test_the_garbage_collector_under_threads_and_errors() -> None:
    def serve(connection: Connection) -> None:
        while request := connection.read():
            number = len(server.requests) % 4
            if number == 1:
                connection.send(reply(500, b"no"))
            elif number == 2:
                connection.send(answer_to(request)[:-3])
                return
            elif number == 3:
                connection.reset()
                return
            else:
                connection.send(answer_to(request))

    def work(until: float) -> int:
        calls = 0
        while time.monotonic() < until:
            with contextlib.suppress(AdClientError):
                read(client)
            calls += 1
        return calls

    thresholds = gc.get_threshold()
    with RawServer(serve) as server, AdClient(server.url, retry=AT_ONCE, timeout=20) as client:
        try:
            gc.set_threshold(1)
            with ThreadPoolExecutor(8) as pool:
                until = time.monotonic() + 1.0
                calls = list(pool.map(work, [until] * 8, timeout=60))
        finally:
            gc.set_threshold(*thresholds)
    assert all(calls)


# Many at once.


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_thousand_calls_at_once_on_a_fresh_client(backend) -> None:
    answered = []

    async def one(client) -> None:
        answered.append(len((await read(client)).data))

    async def scenario() -> None:
        async with (
            AsyncAdClient(server.url, max_concurrency=10, timeout=60) as client,
            anyio.create_task_group() as tasks,
        ):
            for _ in range(1000):
                tasks.start_soon(one, client)

    with RawServer(serve_well) as server:
        anyio.run(scenario, backend=backend)
    assert answered == [1] * 1000
    assert server.connections <= 10
