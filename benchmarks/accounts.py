"""Compare `over_accounts` with a loop of httpx written by hand, in turns in one run.

    python benchmarks/accounts.py [--accounts 300] [--at-once 10 100] [--rounds 5]

Each account has three pages. The services run in processes of their own: the fake over HTTP, and a
replay of its responses, because the fake takes longer for a request than our client. So the figures
that matter are the ratio of requests a second with the replay, and the ratio of processor time. At
the end, it shows the peak memory that fresh processes needed beyond their start, for as many
accounts and for ten times as many.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import attrs
import httpx

from adclient import AdClient, AdClientError, AsyncAdClient

PAGES, PAGE_SIZE = 3, 20
PATH = "/v1/beta-ads/list-beta-campaigns"
ACCOUNTS = [f"account_{number}" for number in range(300)]


def campaigns(account_id: str) -> list[dict[str, object]]:
    return [
        {
            "id": f"{account_id}_{number}",
            "name": f"Spring {number}",
            "status": "ENABLED",
            "daily_budget": 450.0,
            "currency": "EUR",
            "objective": "CONVERSIONS",
            "start": "2026-03-01",
            "cost_micros": 1_250_000 + number,
            "clicks": 300 + number,
            "geo": ["DE", "AT"],
        }
        for number in range(PAGES * PAGE_SIZE)
    ]


# The services.


def serve_fake(pipe: Connection) -> None:
    from adclient.testing import FakeAccount, FakeAdService  # large, and no part of a client
    from adclient.testing.server import serving

    accounts = [FakeAccount(each, campaigns=campaigns(each)) for each in ACCOUNTS]
    with serving(FakeAdService(accounts=accounts, page_size=PAGE_SIZE)) as url:
        pipe.send(url)
        pipe.recv()


class Replay(asyncio.Protocol):
    """Sends what the fake sent for the same first line of a request."""

    responses: dict[bytes, bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert data.endswith(b"\r\n\r\n")
        self.transport.write(self.responses[data.split(b" ", 2)[1]])


def serve_replay(pipe: Connection) -> None:
    Replay.responses = pipe.recv()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Replay, "127.0.0.1", 0, backlog=4096)
        pipe.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await asyncio.to_thread(pipe.recv)

    asyncio.run(main())


def responses_of(url: str) -> dict[bytes, bytes]:
    """All responses of a service, by their targets as both clients write them."""
    found = {}
    with httpx.Client() as client:
        for account_id in ACCOUNTS:
            query = {"account_id": account_id}
            while True:
                response = client.get(url + PATH, params=query)
                head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d"
                body = response.content
                found[response.request.url.raw_path] = (head % len(body)) + b"\r\n\r\n" + body
                if (cursor := response.json()["page"]["next"]) is None:
                    break
                query["cursor"] = cursor
    return found


# The contestants: each returns how many items it has read.


async def ours_async(url: str, account_ids: Iterable[str], at_once: int) -> int:
    items = 0
    async with AsyncAdClient(url) as client:
        read = client.beta.list_campaigns
        async for _, found in client.over_accounts(read, account_ids, at_once=at_once):
            assert not isinstance(found, AdClientError), found
            items += len(found)
    return items


async def httpx_async(url: str, account_ids: Iterable[str], at_once: int) -> int:
    slots = asyncio.Semaphore(at_once)
    async with httpx.AsyncClient(timeout=30) as client:

        async def one(account_id: str) -> list[object]:
            items: list[object] = []
            query = {"account_id": account_id}
            async with slots:
                while True:
                    response = await client.get(url + PATH, params=query)
                    response.raise_for_status()
                    page = response.json()
                    items += page["data"]
                    if (cursor := page["page"]["next"]) is None:
                        return items
                    query["cursor"] = cursor

        return sum(map(len, await asyncio.gather(*map(one, account_ids))))


def ours_sync(url: str, account_ids: Iterable[str], at_once: int) -> int:
    items = 0
    with AdClient(url) as client:
        read = client.beta.list_campaigns
        for _, found in client.over_accounts(read, account_ids, at_once=at_once):
            assert not isinstance(found, AdClientError), found
            items += len(found)
    return items


def httpx_sync(url: str, account_ids: Iterable[str], at_once: int) -> int:
    with httpx.Client(timeout=30) as client, ThreadPoolExecutor(at_once) as pool:

        def one(account_id: str) -> list[object]:
            items: list[object] = []
            query = {"account_id": account_id}
            while True:
                try:
                    response = client.get(url + PATH, params=query)
                except httpx.TransportError:  # its pool may close a connection that is in use
                    return []
                response.raise_for_status()
                page = response.json()
                items += page["data"]
                if (cursor := page["page"]["next"]) is None:
                    return items
                query["cursor"] = cursor

        return sum(map(len, pool.map(one, account_ids)))


Contestant = Callable[[str, Iterable[str], int], int]
CONTESTANTS: dict[str, Contestant] = {
    "ours, async": lambda *given: asyncio.run(ours_async(*given)),
    "httpx, async": lambda *given: asyncio.run(httpx_async(*given)),
    "ours, sync": ours_sync,
    "httpx, sync": httpx_sync,
}


@attrs.frozen
class Turn:
    """What one contestant took for one round; an account of which a page failed is missing."""

    accounts: int
    missing: int
    seconds: float
    processor: float

    @property
    def rate(self) -> float:
        return PAGES * self.accounts / self.seconds

    @property
    def cost(self) -> float:
        return self.processor / (PAGES * self.accounts) * 1e6


def turn_of(run: Contestant, url: str, accounts: int, at_once: int) -> Turn:
    account_ids = list(islice(cycle(ACCOUNTS), accounts))
    began, worked = time.perf_counter(), time.process_time()
    items = run(url, account_ids, at_once)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    return Turn(accounts, accounts - items // (PAGES * PAGE_SIZE), seconds, processor)


def compare(name: str, url: str, accounts: int, at_once: int, rounds: int) -> None:
    """Print the median of each contestant, and ours to the other."""
    turns: dict[str, list[Turn]] = {each: [] for each in CONTESTANTS}
    for _ in range(rounds):
        for each, run in CONTESTANTS.items():
            turns[each].append(turn_of(run, url, accounts, at_once))
    print(f"{name}: {accounts} accounts × {PAGES} pages, {at_once} at once")
    for each, found in turns.items():
        rate = statistics.median(turn.rate for turn in found)
        cost = statistics.median(turn.cost for turn in found)
        failed = sum(turn.missing for turn in found)
        print(
            f"  {each:12} {rate:6.0f} requests a second, {cost:5.0f} µs of processor time each"
            + f"; {failed} accounts failed" * bool(failed)
        )
    for kind in ("async", "sync"):
        pairs = list(zip(turns[f"ours, {kind}"], turns[f"httpx, {kind}"], strict=True))
        rate = statistics.median(ours.rate / theirs.rate for ours, theirs in pairs)
        cost = statistics.median(theirs.cost / ours.cost for ours, theirs in pairs)
        print(f"  {kind}: {rate:.2f} × the requests a second, {cost:.2f} × less processor time")


def peak() -> int:
    """Kilobytes of this process at its peak, where the system reports it."""
    status = Path("/proc/self/status")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) if status.exists() else 0


def send_peak(pipe: Connection, contestant: str, url: str, accounts: int, at_once: int) -> None:
    run = CONTESTANTS[contestant]
    run(url, ACCOUNTS[:1], at_once)
    before = peak()
    run(url, islice(cycle(ACCOUNTS), accounts), at_once)
    pipe.send((peak() - before) / 1024)


def peak_memory(*given: object) -> float:
    """Megabytes of a fresh process at its peak, beyond those after the first account."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=send_peak, args=(there, *given))
    process.start()
    megabytes: float = here.recv()
    process.join()
    return megabytes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accounts", type=int, default=len(ACCOUNTS))
    parser.add_argument("--at-once", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    context = multiprocessing.get_context("spawn")
    pipes = {}
    for name, serve in (("fake", serve_fake), ("replay", serve_replay)):
        pipes[name], there = context.Pipe()
        context.Process(target=serve, args=(there,), daemon=True).start()
    fake = pipes["fake"].recv()
    with urlopen(f"{fake}{PATH}?{urlencode({'account_id': ACCOUNTS[0]})}") as response:
        print(f"a page has {len(response.read()):,} bytes")
    pipes["replay"].send(responses_of(fake))
    replay = pipes["replay"].recv()
    compare("fake", fake, options.accounts, options.at_once[0], options.rounds)
    for at_once in options.at_once:
        compare("replay", replay, options.accounts, at_once, options.rounds)
    sizes = [options.accounts, 10 * options.accounts]
    for each in CONTESTANTS:
        peaks = [peak_memory(each, replay, size, options.at_once[0]) for size in sizes]
        shown = " and ".join(f"{megabytes:.1f} MB" for megabytes in peaks)
        print(f"{each}: memory for {sizes[0]} and {sizes[1]} accounts: {shown}")
    for pipe in pipes.values():
        pipe.send(None)


if __name__ == "__main__":
    main()
