"""Measure each layer below a call alone: what adclient could save at most, and what it adds.

    python benchmarks/layers.py [ROW …]

Every layer does the same work in turns, in one process, against one service on another core. A
figure is the least time of many short turns; the ratios are to bare httpx in the same run.
"""

import argparse
import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
import httpcore
import httpx
import orjson
from field.contestants import httpx_by_hand, ours
from field.cores import CLIENT_CORE, pin
from field.shapes import reply_to
from field.turns import service as running_service

from adclient import Page, ResponseInfo
from adclient._async.connections import AsyncBackend
from adclient._core import decode
from adclient._core.call import Call
from adclient._core.operations import BY_NAME
from adclient._core.response import RawResponse
from adclient._sync.connections import Backend
from adclient._values import jsontext

PATH = "/v1/beta-ads/list-beta-campaigns?account_id=account_b204&date_range=LAST_30_DAYS"
TOKEN = "secret"
TURNS, SECONDS = 400, 0.001
TASKS, CONNECTIONS = 1_000, 100

Work = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure each layer below a call alone.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    rows = parser.parse_args().rows or list(ROWS)
    print(f"CPython {platform.python_version()}, load {os.getloadavg()[0]:.1f}")
    pin(CLIENT_CORE)
    with running_service(sys.executable) as service:
        for row in rows:
            print(f"\n| {row} | | to bare httpx |\n|---|---|---|")
            figures = ROWS[row](f"{service}/ads/ten")
            bare = figures["bare httpx"]
            for layer, seconds in figures.items():
                print(f"| {layer} | {seconds * 1e6:,.1f} µs | {seconds / bare:.2f} |", flush=True)


def least_seconds(layers: Mapping[str, Work]) -> dict[str, float]:
    """The least time of each layer; they take turns, so that each meets the same machine."""
    times = {layer: max(1, int(SECONDS / _seconds(work, 5))) for layer, work in layers.items()}
    least = dict.fromkeys(layers, float("inf"))
    for _ in range(TURNS):
        for layer, work in layers.items():
            least[layer] = min(least[layer], _seconds(work, times[layer]))
    return least


def _seconds(work: Work, times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times


def get(url: str) -> dict[str, float]:
    """A GET of ten items over loopback."""
    bare, client = httpx_by_hand.Client(url), ours.Client(url, token=TOKEN)
    there = Target(url)
    request = httpx.Request("GET", there.url, headers=there.headers)
    transport, backend = httpx.HTTPTransport(), Backend()

    def over_httpx() -> bytes:
        response = transport.handle_request(request)
        try:
            return response.read()
        finally:
            response.close()

    def over(sender: httpcore.ConnectionPool | httpcore.HTTPConnection) -> Work:
        def send() -> bytes:
            backend.deadline = time.monotonic() + 30
            response = sender.handle_request(there.request())
            try:
                return response.read()
            finally:
                response.close()

        return send

    return least_seconds(
        {
            "bare httpx": bare.page,
            "adclient": client.page,
            "`httpx.HTTPTransport`, called with a request that is ready": over_httpx,
            "`httpcore.ConnectionPool`": over(httpcore.ConnectionPool()),
            "`httpcore.HTTPConnection`": over(httpcore.HTTPConnection(there.origin)),
            "the same with adclient's network backend": over(
                httpcore.HTTPConnection(there.origin, network_backend=backend)
            ),
            "h11 on a socket": over_h11(there),
        }
    )


def over_h11(there: "Target") -> Work:
    """Send with the parser of httpcore alone."""
    connected = socket.create_connection((there.host, there.port))
    parser = h11.Connection(h11.CLIENT)

    def send() -> bytes:
        request = h11.Request(method="GET", target=there.target, headers=there.headers)
        head, end = parser.send(request), parser.send(h11.EndOfMessage())
        connected.sendall((head or b"") + (end or b""))
        chunks: list[bytes] = []
        while not isinstance(event := parser.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                parser.receive_data(connected.recv(65_536))
            elif isinstance(event, h11.Data):
                chunks.append(event.data)
        parser.start_next_cycle()
        return b"".join(chunks)

    return send


def in_process(url: str) -> dict[str, float]:
    """A GET of ten items through a mock transport of httpx."""
    canned = reply_to("GET", "ads", "ten")
    transport, there = ours.canned(canned), Target(url)
    request = httpx.Request("GET", there.url, headers=there.headers)
    bare, client = (library.Client(url, response=canned) for library in (httpx_by_hand, ours))
    return least_seconds(
        {
            "bare httpx": bare.page,
            "adclient": client.page,
            "the mock transport, which makes an `httpx.Response`": (
                lambda: transport.handle_request(request)
            ),
            "making an `httpx.Request`": (
                lambda: httpx.Request("GET", there.parsed, headers=there.headers)
            ),
            **_decoding(canned.body),
        }
    )


def decoding(_: str, holding: str = "page") -> dict[str, float]:
    """The bytes of 500 items to a page, or of those of another holding."""
    body = reply_to("GET", "ads", holding).body
    return least_seconds({"bare httpx": lambda: json.loads(body), **_decoding(body)})


def decoding_long(_: str) -> dict[str, float]:
    """The same with a number of about 17 digits in each item, such as a ratio that was computed."""
    page = json.loads(reply_to("GET", "ads", "page").body)
    for number, item in enumerate(page["data"]):
        item["share"] = 1 / (number + 3)
    body = json.dumps(page).encode()
    return least_seconds({"bare httpx": lambda: json.loads(body), **_decoding(body)})


def _decoding(body: bytes) -> dict[str, Work]:
    call = Call(BY_NAME["beta.list_campaigns"], "account_b204", None, {}, {})
    response, info = RawResponse(status=200, body=body), ResponseInfo(status=200)
    return {
        "`orjson.loads`": lambda: orjson.loads(body),
        "the same, with the search for numbers that it would change": lambda: jsontext.loads(body),
        "the same, and typed items": lambda: decode.result_of(call, response, info, Page),
    }


def tasks(url: str) -> dict[str, float]:
    """A thousand tasks that make two requests each, over at most a hundred connections."""
    there = Target(url)

    async def over_httpcore() -> float:
        idle: list[tuple[httpcore.AsyncHTTPConnection, AsyncBackend]] = []
        free = asyncio.Semaphore(CONNECTIONS)

        async def send() -> bytes:
            async with free:
                if idle:
                    connection, backend = idle.pop()
                else:
                    backend = AsyncBackend()
                    connection = httpcore.AsyncHTTPConnection(there.origin, network_backend=backend)
                backend.deadline = time.monotonic() + 30
                response = await connection.handle_async_request(there.request())
                body = await response.aread()
                await response.aclose()
                idle.append((connection, backend))
                return body

        took = await _of_many(send)
        for connection, _ in idle:
            await connection.aclose()
        return took

    async def over(library: Any) -> float:
        client = library.AsyncClient(url, timeout=600)
        took = await _of_many(client.page)
        await client.close()
        return took

    works: dict[str, Callable[[], Any]] = {
        "bare httpx": lambda: over(httpx_by_hand),
        "adclient": lambda: over(ours),
        "`httpcore.AsyncHTTPConnection` with adclient's network backend": over_httpcore,
    }
    took: dict[str, list[float]] = {layer: [] for layer in works}
    for _ in range(5):
        for layer, work in works.items():
            took[layer].append(asyncio.run(work()))
    return {layer: min(times) for layer, times in took.items()}


async def _of_many(send: Callable[[], Awaitable[Any]]) -> float:
    """Seconds of one request among many, of a client that is in use."""

    async def twice() -> None:
        await send()
        await send()

    await send()
    began = time.perf_counter()
    await asyncio.gather(*(twice() for _ in range(TASKS)))
    return (time.perf_counter() - began) / (2 * TASKS)


def start(url: str) -> dict[str, float]:
    """A fresh process: its imports, and its first response."""
    first = "from field.contestants.{0} import Client, ids; ids(Client({1!r}).page())"
    codes = {
        "bare httpx": first.format("httpx_by_hand", url),
        "adclient": first.format("ours", url),
        "the interpreter": "pass",
        "`import httpcore`": "import httpcore",
        "`import httpcore, attrs`": "import httpcore, attrs",
        "`from adclient import AdClient`": "from adclient import AdClient",
    }
    works = {layer: _process(code) for layer, code in codes.items()}
    for work in works.values():
        work()  # the first start compiles
    took: dict[str, list[float]] = {layer: [] for layer in works}
    for _ in range(25):
        for layer, work in works.items():
            took[layer].append(_seconds(work, 1))
    return {layer: min(times) for layer, times in took.items()}


def _process(code: str) -> Work:
    command = [sys.executable, "-c", code]
    return lambda: subprocess.run(command, cwd=Path(__file__).parent, check=True)


class Target:
    """The address of a read, and what is sent there."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port = str(parts.hostname), parts.port or 80
        self.url = url + PATH
        self.parsed = httpx.URL(self.url)
        self.target = (parts.path + PATH).encode()
        self.headers = [
            (b"host", parts.netloc.encode()),
            (b"accept", b"application/json"),
            (b"accept-encoding", b"gzip, deflate"),
            (b"user-agent", b"adclient"),
            (b"authorization", b"Bearer " + TOKEN.encode()),
        ]
        self.origin = httpcore.Origin(b"http", self.host.encode(), self.port)

    def request(self) -> httpcore.Request:
        url = httpcore.URL(
            scheme=b"http", host=self.host.encode(), port=self.port, target=self.target
        )
        return httpcore.Request("GET", url, headers=self.headers)


ROWS: dict[str, Callable[[str], dict[str, float]]] = {
    "get": get,
    "in-process": in_process,
    "decode": decoding,
    "decode-ten": partial(decoding, holding="ten"),
    "decode-long": decoding_long,
    "tasks": tasks,
    "start": start,
}

if __name__ == "__main__":
    main()
