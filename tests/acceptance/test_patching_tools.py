"""Tools that patch httpx see the calls of clients that have connections of their own.

Mocks answer them, recorders record and play them, monitors note them.
"""

import contextlib
import inspect
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import anyio
import httpx
import pytest
import respx
import sentry_sdk
import vcr
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sentry_sdk.integrations.httpx import HttpxIntegration
from sentry_sdk.transport import Transport

from adclient import AdClient, AsyncAdClient

Tool = Callable[[], contextlib.AbstractContextManager[list[object]]]

LISTING = {"data": [{"id": "x", "name": "X", "status": "ENABLED"}], "page": {"next": None}}
DRAFT = {
    "draft_id": "draft_7c2e",
    "status": "pending_approval",
    "diff": {"field": "status", "before": "ENABLED", "after": "PAUSED"},
    "requires": "human_two_step_approve",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Service"

    def do_GET(self) -> None:
        self._answer(200, LISTING)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(201, DRAFT)

    def _answer(self, status: int, value: object) -> None:
        self.server.requests.append(self.path)
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Service(ThreadingHTTPServer):
    """The real service, which hears of nothing that is mocked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[str] = []
        self.connections = 0

    def process_request(self, *arguments: object) -> None:
        self.connections += 1
        super().process_request(*arguments)


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield service
        service.shutdown()
        thread.join()


async def wait(value):
    return await value if inspect.isawaitable(value) else value


async def use(client_class, is_made_before: bool, url: str, tool: Tool) -> None:
    """A read and a write while the tool is at work; and a read before it, and one after it."""
    client = client_class(url, max_retries=0)
    try:
        if is_made_before:
            await wait(client.alpha.explain_objectives(account_id="a"))
        with tool() as seen:
            if not is_made_before:
                await wait(client.aclose() if client_class is AsyncAdClient else client.close())
                client = client_class(url, max_retries=0)
            page = await wait(client.alpha.explain_objectives(account_id="a"))
            assert page.to_dict() == LISTING
            draft = await wait(client.beta.pause_campaign(account_id="a", campaign_id="c"))
            assert draft.draft_id == DRAFT["draft_id"]
        assert len(seen) == 2
        await wait(client.alpha.explain_objectives(account_id="a"))
        assert len(seen) == 2
    finally:
        await wait(client.aclose() if client_class is AsyncAdClient else client.close())


def run(client_class, *arguments) -> None:
    """Use a client; a sync one outside of any event loop, in which some tools use their own."""
    if client_class is AsyncAdClient:
        anyio.run(use, client_class, *arguments)
    else:
        with pytest.raises(StopIteration):
            use(client_class, *arguments).send(None)


@contextlib.contextmanager
def respx_using(*modes: str) -> Iterator[list[object]]:
    """respx, which knows two ways to patch."""
    seen: list[object] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        is_read = request.method == "GET"
        return httpx.Response(200 if is_read else 201, json=LISTING if is_read else DRAFT)

    with contextlib.ExitStack() as stack:
        for mode in modes:
            router = stack.enter_context(respx.mock(using=mode, assert_all_called=False))
            router.route().mock(side_effect=answer)
        yield seen


@contextlib.contextmanager
def opentelemetry() -> Iterator[list[object]]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    seen: list[object] = []
    try:
        yield seen
    finally:
        instrumentor.uninstrument()
    seen += exporter.get_finished_spans()


class Collector(Transport):
    """Keeps what Sentry would send to its server."""

    spans: ClassVar[list[object]] = []

    def capture_envelope(self, envelope) -> None:
        event = envelope.get_transaction_event()
        self.spans += [span for span in event["spans"] if span["op"] == "http.client"]


@contextlib.contextmanager
def sentry() -> Iterator[list[object]]:
    with pytest.MonkeyPatch.context() as patch:
        for cls in (httpx.Client, httpx.AsyncClient):
            patch.setattr(cls, "send", cls.send)  # Sentry never removes its patches
        original = httpx.Client.send
        sentry_sdk.init(
            dsn="http://key@127.0.0.1:1/1",
            transport=Collector,
            traces_sample_rate=1.0,
            default_integrations=False,
            auto_enabling_integrations=False,
            integrations=[HttpxIntegration()],
        )
        if httpx.Client.send is original:  # it applies them only once
            HttpxIntegration.setup_once()
        Collector.spans.clear()
        seen: list[object] = []
        with sentry_sdk.start_transaction(name="test"):
            yield seen
    seen += Collector.spans


@contextlib.contextmanager
def cassette(path, record_mode: str) -> Iterator[list[object]]:
    """A recorder: it plays what it has, and records what it may."""
    seen: list[object] = []
    with vcr.use_cassette(path, record_mode=record_mode, match_on=["method", "path"]) as tape:
        yield seen
        seen += tape.requests
        assert tape.play_count == (2 if record_mode == "none" else 0)


MONITORS = {"OpenTelemetry": opentelemetry, "Sentry": sentry}

each_client = pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])
before_and_during = pytest.mark.parametrize(
    "is_made_before", [True, False], ids=["made before", "made meanwhile"]
)


@pytest.mark.parametrize("tool", MONITORS.values(), ids=MONITORS)
@before_and_during
@each_client
def test_monitor_records_each_request(client_class, is_made_before, tool, service) -> None:
    run(client_class, is_made_before, service.url, tool)
    assert len(service.requests) == 3 + is_made_before
    assert service.connections == 1


@before_and_during
@each_client
def test_cassette_is_recorded_and_replayed(client_class, is_made_before, service, tmp_path) -> None:
    path = str(tmp_path / "cassette.yaml")
    run(client_class, is_made_before, service.url, lambda: cassette(path, "once"))
    assert len(service.requests) == 3 + is_made_before
    service.requests.clear()
    run(client_class, is_made_before, service.url, lambda: cassette(path, "none"))
    assert len(service.requests) == 1 + is_made_before


@each_client
def test_several_tools_work_at_once(client_class, service) -> None:
    @contextlib.contextmanager
    def all_of_them() -> Iterator[list[object]]:
        seen: list[object] = []
        with contextlib.ExitStack() as stack:
            tools = [opentelemetry(), sentry(), respx_using("httpcore", "httpx")]
            lists = [stack.enter_context(tool) for tool in tools]
            yield seen
        assert [len(noted) for noted in lists] == [0, 2, 2]
        seen += lists[-1]

    run(client_class, True, service.url, all_of_them)
    assert len(service.requests) == 2


OF_PYTEST_HTTPX = """
import anyio, inspect, pytest
from adclient import AdClient, AsyncAdClient

URL, LISTING, DRAFT = {url!r}, {listing!r}, {draft!r}

async def wait(value):
    return await value if inspect.isawaitable(value) else value

@pytest.fixture(params=[AdClient, AsyncAdClient])
def client_class(request):
    return request.param

@pytest.fixture
def made_before(client_class):
    return client_class(URL, max_retries=0)

@pytest.mark.parametrize("is_made_before", [True, False])
def test_calls(made_before, client_class, is_made_before, httpx_mock):
    httpx_mock.add_response(method="GET", json=LISTING)
    httpx_mock.add_response(method="POST", status_code=201, json=DRAFT)

    async def use():
        client = made_before if is_made_before else client_class(URL, max_retries=0)
        page = await wait(client.alpha.explain_objectives(account_id="a"))
        assert page.to_dict() == LISTING
        draft = await wait(client.beta.pause_campaign(account_id="a", campaign_id="c"))
        assert draft.draft_id == DRAFT["draft_id"]

    anyio.run(use)
    assert len(httpx_mock.get_requests()) == 2
"""


def test_pytest_httpx_mocks_clients_made_before_and_during_its_test(pytester, service) -> None:
    text = OF_PYTEST_HTTPX.format(url=service.url, listing=LISTING, draft=DRAFT)
    pytester.makepyfile(text)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=4)
    assert service.connections == 0
