"""Measure the fake over HTTP on loopback with many requests in flight.

    python benchmarks/server_load.py --at-once 1000 --rounds 3

The server runs in a separate process. Each round stages drafts and reads pages, half and half,
all at once; a response that takes more than a minute counts as failed. The approval page is read at
the end.
"""

import argparse
import asyncio
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from adclient import AsyncAdClient

MOST_AT_ONCE, MOST_ROUNDS = 5000, 20

SERVER = """
import threading
from adclient.testing import FakeAdService
from adclient.testing.server import serving

with serving(FakeAdService()) as url:
    print(url, flush=True)
    threading.Event().wait()
"""


def main() -> None:
    at_once, rounds = arguments()
    allow_sockets()
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            for number in range(1, rounds + 1):
                report(number, asyncio.run(load(url, at_once)), memory(server.pid))
            started = time.perf_counter()
            with urlopen(f"{url}/approval") as page:
                size = len(page.read())
            print(f"approval page: {size:,} bytes in {time.perf_counter() - started:.3f} s")
        finally:
            server.terminate()


def arguments() -> tuple[int, int]:
    parser = argparse.ArgumentParser(description="Load the fake over HTTP, on loopback.")
    parser.add_argument("--at-once", type=int, default=1000, help=f"at most {MOST_AT_ONCE}")
    parser.add_argument("--rounds", type=int, default=3, help=f"at most {MOST_ROUNDS}")
    given = parser.parse_args()
    if not (1 <= given.at_once <= MOST_AT_ONCE and 1 <= given.rounds <= MOST_ROUNDS):
        parser.error("out of bounds")
    return given.at_once, given.rounds


def allow_sockets() -> None:
    """Raise the limit of open files to the maximum of this user."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def load(url: str, at_once: int) -> list[float]:
    """Return the sorted seconds of all calls, followed by the seconds of the whole round."""
    async with AsyncAdClient(url, timeout=60, max_retries=0, max_concurrency=at_once) as client:
        started = time.perf_counter()
        took = await asyncio.gather(*(call(client, number) for number in range(at_once)))
        return [*sorted(took), time.perf_counter() - started]


async def call(client: AsyncAdClient, number: int) -> float:
    started = time.perf_counter()
    if number % 2:
        await client.beta.list_campaigns(account_id="account_b7e0")
    else:
        await client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=101 + number
        )
    return time.perf_counter() - started


def memory(pid: int) -> str:
    """Return the resident memory of the server, if the system reports it."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return f"{int(found[1]) / 1024:.0f} MB" if found else "unknown"


def report(number: int, took: list[float], used: str) -> None:
    *calls, whole = took
    middle, slow = calls[len(calls) // 2], calls[int(len(calls) * 0.99)]
    print(
        f"round {number}: {len(calls)} in flight, all answered in {whole:.2f} s "
        f"({len(calls) / whole:.0f}/s); median {middle:.2f} s, 99 % {slow:.2f} s; server {used}"
    )


if __name__ == "__main__":
    main()
