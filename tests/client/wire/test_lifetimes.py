"""Lifetime of a client: closing, event loops, threads and the garbage collector."""

import asyncio
import contextlib
import gc
import json
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest
from clients import (
    ASYNC,
    TRIO,
    Service,
    a_draft,
    close,
    read,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import (
    Connection,
    RawServer,
    answer_to,
    serve_well,
)

from adclient import (
    AdClient,
    AsyncAdClient,
    ConfigurationError,
)
from adclient._http import addresses, pool

# Closing.


@sync_asyncio_trio
async def test_closing_twice_is_allowed_and_later_calls_are_refused(client_kind) -> None:
    service = Service()
    async with client_kind.open(transport=service.transport) as client:
        await close(client)
        await close(client)
        assert "closed" in repr(client)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(write(client))
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(read(client))
    assert service.requests == []


def test_clients_lack_the_methods_of_the_other_kind() -> None:
    assert not hasattr(AdClient, "__aenter__")
    assert not hasattr(AdClient, "aclose")
    assert not hasattr(AsyncAdClient, "__enter__")
    assert not hasattr(AsyncAdClient, "close")


@sync_asyncio_trio
async def test_closing_a_copy_leaves_the_original_open(client_kind) -> None:
    service = Service(a_draft(), a_draft())
    async with client_kind.open(transport=service.transport) as client:
        other, third = client.with_options(timeout=7), client.with_options(timeout=8)
        await close(other)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(write(other))
        await wait(write(client))
        await wait(write(third))


@sync_asyncio_trio
async def test_closing_the_original_closes_its_copies(client_kind) -> None:
    async with client_kind.open(transport=Service().transport) as client:
        other = client.with_options(timeout=7)
        await close(client)
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(write(other))


@pytest.mark.own
@sync_asyncio_trio
async def test_closing_closes_idle_connections(client_kind) -> None:
    ended = threading.Event()

    def serve(connection: Connection) -> None:
        connection.send(answer_to(connection.read()))
        connection.wait_for_the_end()
        ended.set()

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))
            await close(client.with_options(timeout=5))
            assert not ended.is_set()
            await close(client)
            assert ended.wait(10)
            with pytest.raises(ConfigurationError, match="closed"):
                await wait(read(client))
    assert server.connections == 1


def test_closing_during_a_call_lets_it_finish() -> None:
    received, proceed, ended = threading.Event(), threading.Event(), threading.Event()

    def serve(connection: Connection) -> None:
        request = connection.read()
        received.set()
        proceed.wait(10)
        connection.send(answer_to(request))
        connection.wait_for_the_end()
        ended.set()

    with RawServer(serve) as server, ThreadPoolExecutor() as pool:
        client = AdClient(server.url)
        call = pool.submit(read, client)
        assert received.wait(10)
        client.close()
        proceed.set()
        assert len(call.result().data) == 1
        assert ended.wait(10)


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_closing_during_an_async_call_lets_it_finish(client_kind) -> None:
    proceed, ended = threading.Event(), threading.Event()

    def serve(connection: Connection) -> None:
        request = connection.read()
        proceed.wait(10)
        connection.send(answer_to(request))
        connection.wait_for_the_end()
        ended.set()

    async def close_it(client) -> None:
        while not server.requests:
            await anyio.sleep(0.001)
        await client.aclose()
        proceed.set()

    async def scenario() -> None:
        client = AsyncAdClient(server.url)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(close_it, client)
            assert len((await read(client)).data) == 1
        assert await anyio.to_thread.run_sync(ended.wait, 10)

    with RawServer(serve) as server:
        client_kind.run(scenario)


# Scripts that print nothing although every warning is an error.


PRELUDE = """
import asyncio, gc, logging, sys, threading
logging.getLogger("asyncio").setLevel("ERROR")  # it warns on a slow machine
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
    "async, at exit": """
client = AsyncAdClient(url)
asyncio.run(one(client))
""",
}


AT_EXIT = "async, at exit"
ONE_AFTER_ANOTHER = """
import json
for name, script in json.loads(sys.argv[2]).items():
    print("script:", name, flush=True)
    exec(script, dict(globals()))
    gc.collect()
"""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """The output of each script; those that do not test the interpreter's exit share a process."""

    def run(script: str, *arguments: str) -> str:
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", PRELUDE + script, server.url]
        done = subprocess.run(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=50,
        )
        return done.stdout

    with RawServer(serve_well) as server:
        alone = run(QUIET.pop(AT_EXIT))
        parts = run(ONE_AFTER_ANOTHER, json.dumps(QUIET)).split("script: ")
    return {AT_EXIT: alone} | dict(part.split("\n", 1) for part in parts[1:])


def test_correctly_used_client_prints_no_warning(said) -> None:
    assert set(said.values()) == {""}


# Event loops.


def test_loops_closed_without_cleanup_are_dropped() -> None:
    def use() -> None:
        for _ in range(3):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(first_of(client))
            loop.close()
        asyncio.run(first_of(client))
        gc.collect()

    with RawServer(serve_well) as server:
        client = AsyncAdClient(server.url)
        use()
    assert len(client._engine.sender._loops) == 0


async def first_of(client):
    return await anext(aiter(read(client)))


def test_client_can_be_closed_in_another_loop() -> None:
    with RawServer(serve_well) as server:
        client = AsyncAdClient(server.url)
        with asyncio.Runner() as runner:
            runner.run(first_of(client))
            asyncio_thread = threading.Thread(target=asyncio.run, args=(client.aclose(),))
            asyncio_thread.start()
            asyncio_thread.join()
            with pytest.raises(ConfigurationError, match="closed"):
                runner.run(first_of(client))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_client_works_on_successive_loops(backend) -> None:
    async def use() -> None:
        for _ in range(2):
            assert len((await read(client)).data) == 1

    with RawServer(serve_well) as server:
        client = AsyncAdClient(server.url)
        for _ in range(4):
            anyio.run(use, backend=backend)
            gc.collect()
        anyio.run(client.aclose, backend=backend)
        gc.collect()
    assert len(server.requests) == 8


def test_client_that_is_dropped_with_its_loop_warns_of_no_socket(monkeypatch) -> None:
    """The garbage collector may come to a socket before it comes to the connection around it."""
    older = socket.socket()  # it finalizes the objects of a cycle in the order of their creation

    def use() -> None:
        client, loop = AsyncAdClient(server.url), asyncio.new_event_loop()
        cycle = [client, loop]
        cycle.append(cycle)
        with monkeypatch.context() as patch:
            patch.setattr(addresses, "_start_connecting", start_connecting)
            loop.run_until_complete(first_of(client))
        loop.close()

    def start_connecting(address) -> socket.socket:
        nonlocal older
        sock, older = older, None
        sock.connect(address[4])
        sock.setblocking(False)
        return sock

    with RawServer(serve_well) as server:
        use()
        gc.collect()


# Threads.


KEYS = [f"key{number}" for number in range(10)]


@contextlib.contextmanager
def server_of_keys():
    """A server for fifty callers, each of which reads the account of its own key three times."""
    crossed = []

    def serve(connection: Connection) -> None:
        while request := connection.read():
            key = request.split(b"Bearer ")[1].split(b"\r\n")[0]
            if b"account_id=" + key + b" " not in request:
                crossed.append(request)
            connection.send(answer_to(request))

    with RawServer(serve) as server:
        yield server
    assert crossed == []
    assert len(server.requests) == 150


def test_clients_with_different_keys_are_not_mixed_up_by_threads() -> None:
    def work(number: int) -> None:
        for _ in range(3):
            read(clients[number % 10], account_id=KEYS[number % 10])

    with server_of_keys() as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(AdClient(server.url, token=key, timeout=60)) for key in KEYS]
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(work, range(50)))


# Many concurrent calls.


@pytest.mark.no_cover
def test_thousand_concurrent_tasks_share_ten_connections() -> None:
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
        anyio.run(scenario)
    assert answered == [1] * 1000
    assert server.connections <= 10


@pytest.mark.own
@sync_asyncio_trio
async def test_connections_idle_for_too_long_are_closed(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(pool, "KEEPALIVE_EXPIRY", -1.0)
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            for _ in range(3):
                await wait(write(client))
        assert server.connections == 3
