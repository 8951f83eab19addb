"""A process ends although requests of a prefetch or of `over_accounts` hang."""

import signal
import subprocess
import sys
import threading

import pytest
from clients import SYNC
from raw_server import RawServer, reply
from waiting import LONG, until

PROGRAM = """
import logging, signal, sys, time
import anyio
from adclient import AdClient, AsyncAdClient
logging.getLogger("asyncio").setLevel("ERROR")  # it warns on a slow machine
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
url = sys.argv[1]
ids = ["fast", *(f"slow{number}" for number in range(100))]
def run(place):
    client = AdClient(url)
    for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
        print(account_id, flush=True)
        if place == "body":
            time.sleep(600)
async def run_async(place):
    async with AsyncAdClient(url) as client:
        async for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
            print(account_id, flush=True)
            if place == "body":
                await anyio.sleep(600)
for kind in ("sync", "asyncio", "trio"):
    for place in ("body", "step"):
        try:
            run(place) if kind == "sync" else anyio.run(run_async, place, backend=kind)
        except KeyboardInterrupt:
            print("interrupted", kind, place, flush=True)
pages = AdClient(url).beta.list_campaigns(account_id="paged").pages(prefetch=True)
print(*(campaign.name for campaign in next(pages).data), flush=True)
sys.stdin.readline()  # until the server has the request for the next page
"""


def page(next: str) -> bytes:
    item = b'{"id": "x", "name": "x", "status": "s"}'
    return reply(200, b'{"data": [%b], "page": {"next": %b}}' % (item, next.encode()))


@pytest.mark.own
@pytest.mark.no_cover
def test_process_ends_although_requests_hang() -> None:
    def serve(connection) -> None:
        while request := connection.read():
            if b"account_id=fast" in request or b"account_id=paged HTTP" in request:
                connection.send(page('"c1"' if b"paged" in request else "null"))
            else:
                connection.stay_silent()

    async def sent(number: int) -> None:
        await until(lambda: len(server.requests) == number)

    with RawServer(serve) as server:
        process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM, server.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        watchdog = threading.Timer(2 * LONG, process.kill)  # ends what reads its output below
        watchdog.start()
        requests = 0
        with process:
            try:
                for kind in ("sync", "asyncio", "trio"):
                    for place in ("body", "step"):
                        assert process.stdout.readline() == "fast\n"
                        requests += 6 if place == "step" else 5
                        SYNC.run(sent, number=requests)
                        process.send_signal(signal.SIGINT)
                        assert process.stdout.readline() == f"interrupted {kind} {place}\n"
                assert process.stdout.readline() == "x\n"
                SYNC.run(sent, number=requests + 2)
                # A request takes up to 30 seconds.
                assert process.communicate("\n", timeout=LONG) == ("", "")
            finally:
                watchdog.cancel()
                process.kill()
    assert process.returncode == 0
    assert len(server.requests) == requests + 2
