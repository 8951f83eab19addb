"""Compare many tasks on one async client with a bare `httpx.AsyncClient`, in turns in one run.

    python benchmarks/concurrency.py [--tasks 1000] [--rounds 3]

The server runs in a separate process and responds after 10 ms. Each task makes one call. The
figures that matter are the ratio of the throughputs and the number of calls that got a response.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import time
from multiprocessing.connection import Connection

import httpx

from adclient import AdClientError, AsyncAdClient

BODY = b'{"data":[{"id":"x","name":"X","status":"ENABLED"}],"page":{"next":null}}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
DELAY = 0.010
PATH = "/v1/alpha-ads/explain-alpha-objectives"


class Server(asyncio.Protocol):
    opened = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        Server.opened += 1
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert data.endswith(b"\r\n\r\n")
        asyncio.get_running_loop().call_later(DELAY, self.respond)

    def respond(self) -> None:
        assert isinstance(self.transport, asyncio.Transport)
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


def serve(pipe: Connection) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Server, "127.0.0.1", 0, backlog=4096)
        pipe.send(server.sockets[0].getsockname()[1])
        while await asyncio.to_thread(pipe.recv):
            pipe.send(Server.opened)
            Server.opened = 0

    asyncio.run(main())


async def ours(url: str, tasks: int) -> int:
    async with AsyncAdClient(url, timeout=120) as client:

        async def one() -> bool:
            try:
                return len((await client.alpha.explain_objectives(account_id="a")).data) == 1
            except AdClientError:
                return False

        return sum(await asyncio.gather(*(one() for _ in range(tasks))))


async def bare(url: str, tasks: int) -> int:
    """httpx with its default pool timeout of 5 seconds."""
    return await by_hand(url, tasks, httpx.Timeout(5))


async def bare_and_patient(url: str, tasks: int) -> int:
    """httpx without a timeout, so that all calls get a response."""
    return await by_hand(url, tasks, httpx.Timeout(None))


async def by_hand(url: str, tasks: int, timeout: httpx.Timeout) -> int:
    async with httpx.AsyncClient(timeout=timeout) as client:

        async def one() -> bool:
            try:
                response = await client.get(url + PATH, params={"account_id": "a"})
                return len(response.json()["data"]) == 1
            except httpx.HTTPError:
                return False

        return sum(await asyncio.gather(*(one() for _ in range(tasks))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}"
    rates: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for contestant in (ours, bare, bare_and_patient):
            began = time.perf_counter()
            answered = asyncio.run(contestant(url, options.tasks))
            elapsed = time.perf_counter() - began
            here.send(True)
            rate = answered / elapsed
            rates.setdefault(contestant.__name__, []).append(rate)
            print(
                f"{contestant.__name__}: {answered} of {options.tasks} answered, "
                f"{rate:.0f} a second, {here.recv()} connections"
            )
    here.send(False)
    best = statistics.median(rates.pop("ours"))
    for name, found in rates.items():
        rate = statistics.median(found)
        ratio = f"{best / rate:.1f}" if rate else "none of its calls was answered"
        print(f"answered calls a second, ours to {name}: {ratio}")


if __name__ == "__main__":
    main()
