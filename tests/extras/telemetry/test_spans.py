"""Spans of both clients, which need OpenTelemetry."""

import contextlib
import contextvars

import anyio
import clients
import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, SYNC, Service, a_draft, a_page, read, sync_and_async, wait, write
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from adclient import AdClientError, AsyncAdClient, OutcomeUnknown, RateLimited

PAUSE = "/ads/v1/beta-ads/pause-beta-campaign"
CANARY = "canary-7d1f"


@pytest.fixture
def provide(monkeypatch):
    """Set a new tracer provider for the rest of a test."""

    def provide() -> InMemorySpanExporter:
        exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
        return exporter

    return provide


@pytest.fixture
def exported(provide) -> InMemorySpanExporter:
    return provide()


def client_of(*answers, **options):
    return SYNC.client("https://ads.example.com", transport=Service(*answers).transport, **options)


def answer(status: int, **more) -> httpx.Response:
    return httpx.Response(status, json={"error": "no"}, **more)


def events_of(span) -> list:
    return [(event.name, dict(event.attributes)) for event in span.events]


@sync_and_async
async def test_call_is_one_span(client_kind, exported) -> None:
    service = Service(a_draft())
    async with client_kind.open("http://127.0.0.1:8080/ads", transport=service.transport) as client:
        await wait(write(client))
    [span] = exported.get_finished_spans()
    assert span.name == f"POST {PAUSE}"
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    http = {"http.request.method": "POST", "http.response.status_code": 201}
    server = {"server.address": "127.0.0.1", "server.port": 8080, "url.template": PAUSE}
    own = {"adclient.operation": "beta.pause_campaign", "adclient.account_id": "a"}
    own |= {"adclient.draft_id": "draft_7c2e", "url.full": f"http://127.0.0.1:8080{PAUSE}"}
    assert dict(span.attributes) == {**http, **server, **own}
    assert events_of(span) == [
        ("adclient.request", {"adclient.attempt": 1}),
        ("adclient.response", {"adclient.attempt": 1, "http.response.status_code": 201}),
    ]
    assert span.instrumentation_scope.name == "adclient"


def test_attempts_and_waits_are_events_of_the_span(exported) -> None:
    busy = answer(503, headers={"x-request-id": "r1"})
    with client_of(httpx.ReadError("reset"), busy, a_page("a"), retry=AT_ONCE) as client:
        read(client)
    [span] = exported.get_finished_spans()
    [_, lost, retry, again, busy, *_] = events_of(span)
    assert lost[1]["adclient.failure"].startswith("the connection broke")
    assert "http.response.status_code" not in lost[1]
    assert retry == ("adclient.retry", {"adclient.attempt": 1, "adclient.wait": 0.0})
    assert again == ("adclient.request", {"adclient.attempt": 2})
    told = {"http.response.status_code": 503, "adclient.request_id": "r1"}
    assert busy[1] == {"adclient.attempt": 2, **told}
    assert len(span.events) == 8
    assert span.attributes["http.request.resend_count"] == 2
    assert (span.attributes["server.port"], span.kind) == (443, SpanKind.CLIENT)
    assert span.attributes["http.response.status_code"] == 200
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in span.attributes


@each_case(
    ("make_last", "status", "name", "description"),
    (lambda: answer(429), 429, "RateLimited", None),
    (lambda: httpx.ReadTimeout(""), None, "OutcomeUnknownTimeout", "no response in time"),
)
def test_span_of_a_failed_call_has_its_error(provide, make_last, status, name, description) -> None:
    exported = provide()
    client = client_of(make_last(), max_retries=0)
    with pytest.raises((RateLimited, OutcomeUnknown)):
        write(client)
    [span] = exported.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == description
    assert span.attributes["error.type"] == f"adclient.errors.{name}"
    assert span.attributes.get("http.response.status_code") == status


@clients.sync_asyncio_trio
async def test_span_is_current_during_the_call(client_kind, exported) -> None:
    seen: list = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append(trace.get_current_span().get_span_context().span_id)
        return answer(400) if request.method == "GET" else a_draft()

    mine = trace.get_tracer("mine")
    async with client_kind.open(transport=httpx.MockTransport(look)) as client:
        with mine.start_as_current_span("mine") as parent:
            await wait(write(client))
            assert trace.get_current_span() is parent
            with pytest.raises(AdClientError):
                await wait(read(client))
            assert trace.get_current_span() is parent
    spans = exported.get_finished_spans()[:2]
    assert [span.context.span_id for span in spans] == seen
    assert {span.parent.span_id for span in spans} == {parent.get_span_context().span_id}


def test_unfinished_call_can_be_closed_in_another_context(exported, caplog) -> None:
    async def scenario() -> None:
        transport = httpx.MockTransport(lambda _: anyio.sleep_forever())
        call = write(AsyncAdClient("https://ads.example.com", transport=transport))
        contextvars.copy_context().run(call.send, None)
        call.close()

    anyio.run(scenario)
    [span] = exported.get_finished_spans()
    assert (span.attributes["error.type"], caplog.records) == ("GeneratorExit", [])


@each_case(
    "outcome",
    a_draft,
    lambda: httpx.Response(401, json={"error": f"no such token: {CANARY}"}),
    lambda: httpx.Response(201, text=f"<title>{CANARY}</title>"),
    lambda: httpx.ReadError(CANARY),
    lambda: RuntimeError(CANARY),
)
def test_spans_contain_no_secrets(provide, outcome) -> None:
    exported = provide()
    options = {"token": CANARY, "headers": {"x-api-key": CANARY}, "max_retries": 1}
    with client_of(*(outcome() for _ in range(6)), **options) as client:
        with contextlib.suppress(AdClientError, RuntimeError):
            write(client)
        with contextlib.suppress(AdClientError, RuntimeError):
            read(client, cursor=CANARY)
    spans = exported.get_finished_spans()
    assert len(spans) == 2
    assert CANARY not in repr([span.to_json() for span in spans])
