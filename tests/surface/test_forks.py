"""Clients in a process forked by `os.fork`, which must share no state with its parent."""

import os
import subprocess
import sys

import pytest
from raw_server import Connection, RawServer, answer_to, serve_well

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

# Scripts that fork run in a separate process, which has only the threads that it starts.


PRELUDE = """
import asyncio, os, selectors, signal, sys, threading, traceback
import httpx
from adclient import AdClient, AsyncAdClient, CallTimeout
url = sys.argv[1]

def read(client, who):
    return client.delta.analyze_wasted_spend(account_id=who)

def in_a_child(work):
    child = os.fork()
    if child == 0:
        end_with(work)
    succeeded(child)

def end_with(work):
    signal.alarm(20)  # what hangs fails
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)

def succeeded(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def timed_out(client, who):
    try:
        read(client, who)
    except CallTimeout:
        return
    raise AssertionError("no timeout")

def answered(request):
    return httpx.Response(200, json={"data": [], "page": {"next": None}})
"""


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", PRELUDE + script, *(arguments or [""])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8", timeout=60)
    return done.stdout


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


def test_forked_child_opens_its_own_connection_on_an_inherited_loop() -> None:
    with RawServer(serve_well) as server:
        run(
            """
def new_loop():  # one that shares nothing by way of the kernel, as an epoll would
    return asyncio.SelectorEventLoop(selectors.SelectSelector())

async def read_in_a_loop(who):
    await read(client, who)

client = AsyncAdClient(url)
with asyncio.Runner(loop_factory=new_loop) as runner:
    runner.run(read_in_a_loop("parent"))
    in_a_child(lambda: runner.run(read_in_a_loop("child")))
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


def test_timeout_is_enforced_in_a_forked_child() -> None:
    def serve(connection: Connection) -> None:
        while request := connection.read():
            if b"account_id=parent" in request:
                connection.send(answer_to(request))
                continue
            connection.send(b"HTTP/1.1 200 OK\r\n")
            while not connection.is_over:
                connection.send(b"x: 1\r\n")
                connection.pause(0.01)

    with RawServer(serve) as server:
        run(
            """
client = AdClient(url)
read(client, "parent")
in_a_child(lambda: timed_out(client.with_options(timeout=0.3, max_retries=0), "child"))
""",
            server.url,
        )
    assert len(server.requests) == 2


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


def test_responses_are_not_mixed_up_between_parent_and_child() -> None:
    output = run(
        """
import json, socket
from concurrent.futures import ThreadPoolExecutor

def serve(listener):
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=answer, args=(sock,), daemon=True).start()

def answer(sock):
    data = b""
    while True:
        while b"\\r\\n\\r\\n" not in data:
            received = sock.recv(65536)
            if not received:
                return
            data += received
        head, data = data.split(b"\\r\\n\\r\\n", 1)
        who = head.split(b"account_id=")[1].split(b" ")[0].decode()
        item = {"id": who, "name": who, "status": "ENABLED"}
        body = json.dumps({"data": [item], "page": {"next": None}}).encode()
        sock.sendall(b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body) + body)

listener = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{listener.getsockname()[1]}"
server = os.fork()
if server == 0:
    signal.alarm(60)
    serve(listener)
client = AdClient(url, timeout=30)
read(client, "warm")

def wrong_answers(me):
    wrong = 0
    for number in range(150):
        page = read(client, f"{me}{number}")
        wrong += page.data[0].id != f"{me}{number}"
    return wrong

with ThreadPoolExecutor(4) as pool:
    others = [pool.submit(wrong_answers, f"thread{n}") for n in range(4)]
    read(client, "before")
    child = os.fork()  # while the others are in the middle of their calls
    if child == 0:
        signal.alarm(60)
        os._exit(wrong_answers("child"))
    wrong = wrong_answers("parent") + sum(other.result() for other in others)
_, status = os.waitpid(child, 0)
os.kill(server, 9)
print(wrong, os.waitstatus_to_exitcode(status))
"""
    )
    assert output.split() == ["0", "0"]
