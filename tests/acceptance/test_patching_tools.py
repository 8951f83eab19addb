"""Tools that patch httpx see the calls of clients that have connections of their own.

Recorders record and play them, monitors note them, and mocks answer them: pytest-httpx here, respx
in tests/client/wire/test_patched.py.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import anyio
import httpx
import pytest
import sentry_sdk
import vcr
from clients import close, wait
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sentry_sdk.integrations.httpx import HttpxIntegration
from sentry_sdk.transport import Transport

from adclient import AdClient, AsyncAdClient
from adclient.testing import FakeAdService
from adclient.testing.server import serving

Tool = Callable[[], contextlib.AbstractContextManager[list[object]]]


@pytest.fixture
def fake() -> FakeAdService:
    """The real service, which hears of nothing that is mocked."""
    return FakeAdService()


@pytest.fixture
def url(fake) -> Iterator[str]:
    with serving(fake) as url:
        yield url


async def read(client) -> None:
    page = await wait(client.alpha.explain_objectives(account_id="account_a91f"))
    assert page.data


async def use(client_class, is_made_before: bool, url: str, tool: Tool) -> None:
    """A read and a write while the tool is at work; and a read before it, and one after it."""
    client = client_class(url, max_retries=0)
    if is_made_before:
        await read(client)
    with tool() as seen:
        if not is_made_before:
            await close(client)
            client = client_class(url, max_retries=0)
        await read(client)
        campaign = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
        assert (await wait(client.beta.pause_campaign(**campaign))).draft_id
    assert len(seen) == 2
    await read(client)
    assert len(seen) == 2
    await close(client)


def run(client_class, *arguments) -> None:
    """Use a client; a sync one outside of any event loop, in which some tools use their own."""
    if client_class is AsyncAdClient:
        anyio.run(use, client_class, *arguments)
    else:
        with pytest.raises(StopIteration):
            use(client_class, *arguments).send(None)


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
        options = {"default_integrations": False, "auto_enabling_integrations": False}
        options |= {"integrations": [HttpxIntegration()], "traces_sample_rate": 1.0}
        sentry_sdk.init(dsn="http://key@127.0.0.1:1/1", transport=Collector, **options)
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


@pytest.mark.parametrize("is_made_before", [True, False])
@pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])
def test_tool_sees_each_request(client_class, is_made_before, url, fake, tmp_path) -> None:
    path = str(tmp_path / "cassette.yaml")
    recorder, player = partial(cassette, path, "once"), partial(cassette, path, "none")
    for tool, missed in ((opentelemetry, 0), (sentry, 0), (recorder, 0), (player, 2)):
        before = len(fake.requests)
        run(client_class, is_made_before, url, tool)
        assert len(fake.requests) - before == 3 + is_made_before - missed, tool


OF_PYTEST_HTTPX = """
import anyio, inspect
from adclient import AdClient, AsyncAdClient
from adclient.testing import FakeAdService

def clients():
    return [cls("http://127.0.0.1:9", max_retries=0) for cls in (AdClient, AsyncAdClient)]

MADE_BEFORE = clients()

def test_calls(httpx_mock):
    fake = FakeAdService()
    httpx_mock.add_callback(fake.transport.handle_request, is_reusable=True)

    async def use():
        for client in [*MADE_BEFORE, *clients()]:
            campaign = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
            draft = client.beta.pause_campaign(**campaign)
            draft = await draft if inspect.isawaitable(draft) else draft
            assert draft.draft_id == fake.drafts[-1].draft_id

    anyio.run(use)
    assert len(fake.drafts) == 4
"""


def test_pytest_httpx_mocks_clients_made_before_and_during_its_test(pytester) -> None:
    pytester.makepyfile(OF_PYTEST_HTTPX)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
