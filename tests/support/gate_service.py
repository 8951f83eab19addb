"""A service that notes when requests arrive, and processes that read from it through a gate."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
import attrs

from adclient import AdClient, AdClientError, AsyncAdClient, RetryPolicy, SharedGate
from adclient.ledger import open_ledger

PRELOADED = ["gate_service", "adclient._sync.engine", "adclient._async.engine"]
PRELOADED += ["adclient._http.pool", "adclient._http.async_pool", "adclient.ledger.gate_sqlite"]
PAGE = json.dumps({"data": [], "page": {"next": None}}).encode()


@attrs.define
class RecordingService:
    """Answers reads after `delay` seconds, and refuses one of them with a `Retry-After` of 1."""

    delay: float = 0.0
    refuses: int | None = None
    arrivals: list[float] = attrs.field(factory=list)
    accounts: Counter = attrs.field(factory=Counter)
    url: str = ""
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def answer(self, account_id: str) -> tuple[int, dict[str, str]]:
        with self._lock:
            self.arrivals.append(time.time())
            self.accounts[account_id] += 1
            is_refused = len(self.arrivals) == self.refuses
        time.sleep(self.delay)
        return (429, {"Retry-After": "1"}) if is_refused else (200, {})


@contextmanager
def serving(service: RecordingService) -> Iterator[RecordingService]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            status, headers = service.answer(query["account_id"][0])
            self.send_response(status)
            for name, value in {"Content-Length": str(len(PAGE)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 100

        def handle_error(self, *_: object) -> None:
            pass  # a client that was killed

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        service.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


@attrs.frozen
class Reader:
    """What one process does: `threads` threads or tasks make `calls` calls each."""

    url: str
    where: str
    is_async: bool = False
    threads: int = 2
    calls: int = 5
    timeout: float = 30.0
    retry: RetryPolicy = attrs.field(factory=RetryPolicy)
    per_second: float | None = None

    def run(self, ready: Connection) -> None:
        """Say that it is ready, wait for a start, and send the names of the errors."""
        gate = SharedGate(open_ledger(self.where), per_second=self.per_second)
        client_class = AsyncAdClient if self.is_async else AdClient
        client = client_class(self.url, gate=gate, timeout=self.timeout, retry=self.retry)
        ready.send(None)
        ready.recv()
        ready.send(anyio.run(self._read, client))

    async def _read(self, client: AdClient | AsyncAdClient) -> list[str]:
        errors: list[str] = []

        explain = partial(client.alpha.explain_objectives, account_id="a")

        async def repeat() -> None:
            for _ in range(self.calls):
                try:
                    await (explain() if self.is_async else anyio.to_thread.run_sync(explain))
                except AdClientError as error:
                    errors.append(type(error).__name__)

        async with anyio.create_task_group() as tasks:
            for _ in range(self.threads):
                tasks.start_soon(repeat)
        return errors


@contextmanager
def started(*readers: Reader) -> Iterator[list[tuple]]:
    """Processes that have begun, each with its connection."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    running = []
    try:
        for reader in readers:
            here, there = context.Pipe()
            process = context.Process(target=reader.run, args=(there,))
            process.start()
            running.append((process, here))
        for _, here in running:
            here.recv()
        for _, here in running:
            here.send(None)
        yield running
    finally:
        for process, here in running:
            process.kill()
            process.join()
            process.close()
            here.close()


def read_all(*readers: Reader) -> list[str]:
    """Let processes read, and return the names of the errors of all."""
    with started(*readers) as running:
        return [error for _, here in running for error in here.recv()]
