"""Lifetime of a client: closing, event loops, threads and the garbage collector."""

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest
from cases import each_case
from clients import (
    ASYNC,
    AT_ONCE,
    BASE_URL,
    CLIENT_KINDS,
    DRAFT,
    TRIO,
    Service,
    a_draft,
    close,
    each_client_class,
    read,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import (
    Connection,
    RawServer,
    answer_to,
    reply,
    serve_well,
)

from adclient import (
    AdClient,
    AsyncAdClient,
    ConfigurationError,
    Draft,
)

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


def test_sync_client_is_a_context_manager() -> None:
    service = Service(a_draft())
    with AdClient(BASE_URL, transport=service.transport) as client:
        assert isinstance(write(client), Draft)
    with pytest.raises(ConfigurationError, match="closed"):
        write(client)


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_async_client_is_an_async_context_manager(client_kind) -> None:
    service = Service(a_draft())

    async def scenario() -> None:
        async with AsyncAdClient(BASE_URL, transport=service.transport) as client:
            assert isinstance(await write(client), Draft)
        with pytest.raises(ConfigurationError, match="closed"):
            await write(client)

    client_kind.run(scenario)


def test_clients_lack_the_methods_of_the_other_kind() -> None:
    assert not hasattr(AdClient, "__aenter__")
    assert not hasattr(AdClient, "aclose")
    assert not hasattr(AsyncAdClient, "__enter__")
    assert not hasattr(AsyncAdClient, "close")


@each_client_class
def test_client_without_calls_needs_no_closing(client_class) -> None:
    client_class(BASE_URL)
    gc.collect()


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


UNCLOSED = {
    "collected": "client = AdClient(url)\nread(client)\nclient = None; gc.collect()",
    "at exit": "client = AdClient(url)\nread(client)",
}
DROPPED = """
import anyio
async def main():
    client = AsyncAdClient(url)
    await one(client)
    client = None
    gc.collect()
anyio.run(main, backend={!r})
"""
UNCLOSED_ASYNC = {loop: DROPPED.format(loop) for loop in ("asyncio", "trio")}
AT_THE_END = ("at exit", "async, at exit")
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

    scripts = QUIET | UNCLOSED | UNCLOSED_ASYNC
    with RawServer(serve_well) as server:
        alone = {name: run(scripts.pop(name)) for name in AT_THE_END}
        parts = run(ONE_AFTER_ANOTHER, json.dumps(scripts)).split("script: ")
    return alone | dict(part.split("\n", 1) for part in parts[1:])


def test_correctly_used_client_prints_no_warning(said) -> None:
    assert {name: said[name] for name in QUIET} == dict.fromkeys(QUIET, "")


@each_case("name", UNCLOSED)
def test_unclosed_sync_client_warns(said, name) -> None:
    first, *_ = [line for line in said[name].splitlines() if line.startswith("ResourceWarning")]
    assert (
        first == "ResourceWarning: an AdClient was never closed: end it with close(), or use `with`"
    )


@each_case("loop", UNCLOSED_ASYNC)
def test_async_client_dropped_in_a_running_loop_warns(said, loop) -> None:
    # Its sockets may warn too, in whatever order the collector visits them.
    assert (
        "ResourceWarning: an AsyncAdClient was never closed: "
        "end it with aclose(), or use `async with`"
    ) in said[loop].splitlines()


@pytest.mark.own
def test_unclosed_async_client_warns_when_it_is_collected() -> None:
    async def scenario() -> None:
        client = AsyncAdClient(server.url)
        await read(client)
        with warnings.catch_warnings(record=True, action="always") as found:
            del client
            gc.collect()
            await anyio.sleep(0)
        check_warning(found, "an AsyncAdClient was never closed")

    with RawServer(serve_well) as server:
        ASYNC.run(scenario)


@pytest.mark.own
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_unclosed_sync_client_warns_when_it_is_collected() -> None:
    with RawServer(serve_well) as server:
        client = AdClient(server.url)
        read(client)
        with warnings.catch_warnings(record=True, action="always") as found:
            del client
            gc.collect()
        check_warning(found, "an AdClient was never closed")


def test_collected_client_closes_nothing_to_avoid_a_deadlock() -> None:
    with RawServer(serve_well) as server, AdClient(server.url) as client:
        read(client)
        with pytest.warns(ResourceWarning, match="AdClient was never closed"):
            client._engine.sender.__del__()
        read(client)
        assert server.connections == 1


def check_warning(found: list[warnings.WarningMessage], text: str) -> None:
    """Find one warning among those of sockets; it names what was dropped and where."""
    [warning] = [warning for warning in found if text in str(warning.message)]
    assert warning.filename == __file__
    assert type(warning.source).__name__.endswith("ConnectionPool")


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
        with pytest.warns(ResourceWarning, match="unclosed"):
            use()
    assert client._engine.sender._loops == {}


async def first_of(client):
    return await anext(aiter(read(client)))


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
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
            del client
            gc.collect()  # the client does not warn, though this loop has an idle connection


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


def test_async_client_works_on_loops_of_several_threads() -> None:
    async def several(client: AsyncAdClient) -> list[int]:
        pages = [await read(client) for _ in range(5)]
        return [len(page.data) for page in pages]

    def use(client: AsyncAdClient) -> list[int]:
        return asyncio.run(several(client))

    with RawServer(serve_well) as server, ThreadPoolExecutor() as pool:
        found = list(pool.map(use, [AsyncAdClient(server.url)] * 4))
    gc.collect()
    assert found == [[1] * 5] * 4


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


@pytest.mark.no_cover
@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_clients_with_different_keys_are_not_mixed_up_by_tasks(client_kind) -> None:
    async def work(client, key: str) -> None:
        for _ in range(3):
            await read(client, account_id=key)

    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as stack:
            opened = [client_kind.open(server.url, token=key, timeout=60) for key in KEYS]
            clients = [await stack.enter_async_context(client) for client in opened]
            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(work, clients[number % 10], KEYS[number % 10])

    with server_of_keys() as server:
        client_kind.run(scenario)


@pytest.mark.no_cover
def test_threads_sharing_a_client_get_their_own_drafts() -> None:
    seen, lock = [], threading.Lock()

    def handler(request: httpx.Request) -> httpx.Response:
        with lock:
            seen.append(request.headers["x-thread"])
        return httpx.Response(
            201, json={**DRAFT, "draft_id": f"draft_{request.headers['x-thread']}"}
        )

    wrong = []

    def work(client: AdClient, name: str) -> None:
        own = client.with_options(headers={"x-thread": name})
        wrong.extend(draft for _ in range(20) if (draft := write(own)).draft_id != f"draft_{name}")

    with AdClient(BASE_URL, transport=httpx.MockTransport(handler), retry=AT_ONCE) as client:
        threads = [threading.Thread(target=work, args=(client, str(n))) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(seen) == 200


COLLECTED = """
import contextlib, gc, importlib, sys
from concurrent.futures import ThreadPoolExecutor
from adclient import AdClient, AdClientError, RetryPolicy
url, library = sys.argv[1:]
theirs = importlib.import_module(library).Client(verify=False) if library else None
client = AdClient(url, http_client=theirs, retry=RetryPolicy(backoff_first=0), timeout=20)

def work(_):
    for _ in range(12):
        with contextlib.suppress(AdClientError):
            client.alpha.explain_objectives(account_id="a")

gc.set_threshold(1)
with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, range(4)))
gc.set_threshold(700)
client.close()
if theirs:
    theirs.close()
"""


@pytest.mark.parametrize("library", ["", "httpx"])
def test_garbage_collection_during_calls_does_not_deadlock(library) -> None:
    """Run in a separate process, which can be killed if its threads deadlock."""

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

    with RawServer(serve) as server:
        command = [sys.executable, "-c", COLLECTED, server.url, library]
        subprocess.run(command, check=True, timeout=60)
    assert len(server.requests) >= 48


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


def test_two_hundred_threads_share_twenty_connections() -> None:
    with (
        RawServer(serve_well) as server,
        ThreadPoolExecutor(200) as pool,
        AdClient(server.url, max_concurrency=20, retry=AT_ONCE) as client,
    ):
        pages = list(pool.map(read, [client] * 200))
    assert [len(page.data) for page in pages] == [1] * 200
    assert len(server.requests) == 200
    assert server.connections <= 20


@pytest.mark.no_cover
@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_two_hundred_tasks_share_twenty_connections(client_kind) -> None:
    pages = []

    async def one(client) -> None:
        pages.append(await read(client))

    async def scenario() -> None:
        async with (
            client_kind.open(server.url, max_concurrency=20) as client,
            anyio.create_task_group() as tasks,
        ):
            for _ in range(200):
                tasks.start_soon(one, client)

    with RawServer(serve_well) as server:
        client_kind.run(scenario)
    assert len(pages) == len(server.requests) == 200
    assert server.connections <= 20
