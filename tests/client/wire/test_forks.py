"""Clients in a process forked by `os.fork`, which must share no state with its parent."""

import os

import pytest
from clients import read, sync_asyncio_trio, wait
from forking import run
from raw_server import RawServer, serve_well

from adclient._http import forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def test_forked_child_opens_its_own_connection() -> None:
    with RawServer(serve_well) as server:
        run(
            """
client = AdClient(url)
read(client, "parent")
in_a_child(lambda: read(client, "child"))
""",
            server.url,
        )
    assert len(server.requests) == 2
    assert server.connections == 2


ON_ONE_LOOP = """
def new_loop():  # one that shares nothing by way of the kernel, as an epoll would
    return asyncio.SelectorEventLoop(selectors.SelectSelector())

async def read_in_a_loop(who):
    for _ in range(2):
        await read(client, who)

def read_twice():
    runner.run(read_in_a_loop("child"))
    runner.run(read_in_a_loop("child"))
    runner.close()

client = AsyncAdClient(url)
with asyncio.Runner(loop_factory=new_loop) as runner:
    runner.run(read_in_a_loop("parent"))
    in_a_child(read_twice)
    runner.run(read_in_a_loop("parent"))
"""


def test_parent_and_child_each_reuse_one_connection_on_an_inherited_loop() -> None:
    with RawServer(serve_well) as server:
        run(ON_ONE_LOOP, server.url)
    assert len(server.requests) == 8
    assert server.connections == 2


def test_forked_child_does_not_wait_for_slots_held_by_the_parent() -> None:
    run(
        """
received, proceed = threading.Event(), threading.Event()

def answer(request):
    if request.url.params["account_id"] == "parent":
        received.set()
        proceed.wait(30)
    return answered(request)

client = AdClient(
    "http://127.0.0.1", transport=httpx.MockTransport(answer), max_concurrency=1, timeout=5
)
threading.Thread(target=read, args=(client, "parent"), daemon=True).start()
assert received.wait(30)
in_a_child(lambda: read(client, "child"))
"""
    )


def test_call_that_ends_in_a_forked_child_releases_no_extra_slot() -> None:
    run(
        """
received = threading.Event()
child = None

def answer(request):
    global child
    who = request.url.params["account_id"]
    if who == "forks":
        child = os.fork()
    elif who == "held":
        received.set()
        threading.Event().wait()
    return answered(request)

client = AdClient("http://127.0.0.1", transport=httpx.MockTransport(answer), max_concurrency=1)

def have_one_call_at_once():
    threading.Thread(target=read, args=(client, "held"), daemon=True).start()
    assert received.wait(10)
    timed_out(client.with_options(timeout=0.05), "one more")

read(client, "forks")
if child == 0:
    end_with(have_one_call_at_once)
succeeded(child)
"""
    )


@pytest.mark.own
@sync_asyncio_trio
async def test_reset_after_a_fork_closes_idle_connections(client_kind) -> None:
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            await wait(read(client))
            forks.reset_all()
            await wait(read(client))
    assert server.connections == 2
