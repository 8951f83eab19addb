"""Lifetime of a client: closing, event loops, threads, forks and the garbage collector."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest
from cases import each_case
from clients import SYNC, Service, a_draft, close, read, sync_and_async, wait, write
from forking import run
from raw_server import Connection, RawServer, answer_to, serve_well, serving

from adclient import ConfigurationError
from adclient._http import pool
from adclient._tasks import forks


async def is_refused(client) -> None:
    for call in (write, read):
        with pytest.raises(ConfigurationError, match="closed"):
            await wait(call(client))


@sync_and_async
async def test_closed_client_and_its_copies_refuse_calls(client_kind) -> None:
    service = Service(a_draft(), a_draft())
    async with client_kind.open(transport=service.transport) as client:
        second, third = client.with_options(timeout=7), client.with_options(timeout=8)
        await close(second)
        await is_refused(second)
        for still_open in (client, third):
            await wait(write(still_open))
        await close(client)
        await close(client)
        assert "closed" in repr(client)
        for closed in (client, third):
            await is_refused(closed)


@each_case("is_idle", True, False)
@pytest.mark.own
@sync_and_async
async def test_closing_lets_a_call_finish_and_closes_its_connection(client_kind, is_idle) -> None:
    ended = threading.Event()

    def serve(connection: Connection) -> None:
        request = connection.read()
        if not is_idle and client_kind is SYNC:
            client.close()
        elif not is_idle:
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(20)
        connection.send(answer_to(request))
        connection.wait_for_the_end()
        ended.set()

    loop = None if client_kind is SYNC else asyncio.get_running_loop()
    async with serving(client_kind, serve) as (_, client):
        assert len((await wait(read(client))).data) == 1
        if is_idle:
            await close(client)
        assert ended.wait(20)


@pytest.mark.own
@sync_and_async
async def test_connections_idle_for_too_long_are_closed(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(pool, "KEEPALIVE_EXPIRY", -1.0)
    async with serving(client_kind, serve_well) as (server, client):
        for _ in range(3):
            await wait(write(client))
    assert server.connections == 3


# A program that prints no warning.

QUIET = """
import asyncio, atexit, gc, logging, sys, threading
from adclient import AdClient, AsyncAdClient

logging.getLogger("asyncio").setLevel("ERROR")  # it warns on a slow machine
url = sys.argv[1]

def read(client):
    return client.alpha.explain_objectives(account_id="a")

async def one(client):
    for _ in range(2):
        assert len((await read(client)).data) == 1

def never_used():
    AdClient(url), AsyncAdClient(url)

def used_and_closed():
    with AdClient(url) as client:
        read(client)
    async def use():
        async with AsyncAdClient(url) as client:
            await one(client)
    asyncio.run(use())

def used_in_loops_of_threads():
    client = AsyncAdClient(url)
    threads = [threading.Thread(target=lambda: asyncio.run(one(client))) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

def collected_in_a_foreign_loop():
    clients = [AsyncAdClient(url)]
    asyncio.run(one(clients[0]))
    async def elsewhere():
        clients.clear()
        gc.collect()
        await asyncio.sleep(0)
    asyncio.run(elsewhere())

for use in (never_used, used_and_closed, used_in_loops_of_threads, collected_in_a_foreign_loop):
    use()
    gc.collect()
client = AsyncAdClient(url)
asyncio.run(one(client))
closed_at_exit = AdClient(url, timeout=20)
atexit.register(closed_at_exit.close)
atexit.register(lambda: print("at exit:", len(read(closed_at_exit).data)))
"""


def test_correctly_used_client_prints_no_warning_and_can_be_called_at_exit() -> None:
    with RawServer(serve_well) as server:
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", QUIET, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    assert (done.stdout, done.stderr) == ("at exit: 1\n", "")


# Processes forked by `os.fork` share no state with their parents.

FORKS = """
# A forked child opens a connection of its own.
client = AdClient(url)
read(client, "parent")
in_a_child(lambda: read(client, "child"))

# Parent and child each reuse one connection on an inherited loop.
def new_loop():  # one that shares nothing by way of the kernel, as an epoll would
    return asyncio.SelectorEventLoop(selectors.SelectSelector())

async def read_in_a_loop(client, who):
    for _ in range(2):
        await read(client, who)

def read_twice():
    runner.run(read_in_a_loop(client, "child"))
    runner.run(read_in_a_loop(client, "child"))
    runner.close()

client = AsyncAdClient(url)
with asyncio.Runner(loop_factory=new_loop) as runner:
    runner.run(read_in_a_loop(client, "parent"))
    in_a_child(read_twice)
    runner.run(read_in_a_loop(client, "parent"))

# A forked child does not wait for a slot that is held by its parent.
is_received, is_parent_done = threading.Event(), threading.Event()

def answer(request):
    if request.url.params["account_id"] == "parent":
        is_received.set()
        is_parent_done.wait(30)
    return answered(request)

transport = httpx.MockTransport(answer)
client = AdClient("http://127.0.0.1", transport=transport, max_concurrency=1, timeout=5)
threading.Thread(target=read, args=(client, "parent"), daemon=True).start()
assert is_received.wait(10)
in_a_child(lambda: read(client, "child"))
is_parent_done.set()

# Parent and child each get the page that was requested ahead of the fork.
is_ahead, is_forked = threading.Event(), threading.Event()

def answer(request):
    if "cursor" in request.url.params and not is_forked.is_set():
        is_ahead.set()
        is_forked.wait(30)
    return answered(request, None if "cursor" in request.url.params else "c1")

def walk_on():
    is_forked.set()
    assert next(pages).next is None

client = AdClient("http://127.0.0.1", transport=httpx.MockTransport(answer))
pages = client.delta.analyze_wasted_spend(account_id="a").pages(prefetch=True)
assert next(pages).next == "c1" and is_ahead.wait(10)
in_a_child(walk_on)
walk_on()
print("done")
"""

has_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@has_fork
def test_forked_child_shares_no_connections_and_slots_with_its_parent() -> None:
    with RawServer(serve_well) as server:
        assert run(FORKS, server.url) == "done\n"
    assert len(server.requests) == 2 + 8
    assert server.connections == 2 + 2


@has_fork
@pytest.mark.own
@sync_and_async
async def test_reset_after_a_fork_closes_idle_connections(client_kind) -> None:
    async with serving(client_kind, serve_well) as (server, client):
        await wait(read(client))
        forks.reset_all()
        await wait(read(client))
    assert server.connections == 2
