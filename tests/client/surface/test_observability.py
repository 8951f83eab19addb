"""Hooks and spans of both clients."""

import contextlib
import contextvars
import json
import logging
import subprocess
import sys

import anyio
import attrs
import httpx
import pytest
from clients import (
    ASYNC,
    TRIO,
    Service,
    a_draft,
    a_page,
    asyncio_and_trio,
    everything,
    sync_and_async,
    sync_asyncio_trio,
    wait,
)
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import INVALID_SPAN, SpanKind, StatusCode

from adclient import (
    AdClientError,
    AsyncAdClient,
    ConfigurationError,
    Conventions,
    Hooks,
    OutcomeUnknown,
    RateLimited,
    _telemetry,
)
from adclient._core import reporter

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
PAUSE = "/v1/beta-ads/pause-beta-campaign"
LIST = "/v1/beta-ads/list-beta-campaigns"


def all_hooks(hook) -> Hooks:
    return Hooks(on_request=hook, on_response=hook, on_retry=hook, on_draft=hook)


def answer(status: int, **more) -> httpx.Response:
    return httpx.Response(status, json={"error": "no"}, **more)


# Hooks.


@sync_and_async
async def test_with_options_adds_hooks(client_kind) -> None:
    called: list[str] = []
    first, second = (Hooks(on_draft=lambda _, who=who: called.append(who)) for who in "ab")
    service = Service(a_draft(), a_draft(), a_draft())
    async with client_kind.open(transport=service.transport, hooks=first) as client:
        await wait(client.with_options(hooks=second).beta.pause_campaign(**IDS))
        assert called == ["a", "b"]
        await wait(client.with_options(timeout=5).beta.pause_campaign(**IDS))
        assert called == ["a", "b", "a"]
        await wait(client.beta.pause_campaign(**IDS))
        assert called == ["a", "b", "a", "a"]


@sync_and_async
async def test_hooks_of_a_wrong_type_are_refused(client_kind) -> None:
    for wrong in (print, [Hooks()], {"on_draft": print}):
        with pytest.raises(ConfigurationError, match="hooks must be a Hooks"):
            client_kind.client("https://ads.example.com", hooks=wrong)
    async with client_kind.open(transport=Service().transport) as client:
        with pytest.raises(ConfigurationError, match="hooks must be a Hooks"):
            client.with_options(hooks=print)


# Spans.


def provided(monkeypatch, **settings) -> InMemorySpanExporter:
    """Set a tracer provider for the duration of a test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False, **settings)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


@pytest.fixture
def exported(monkeypatch) -> InMemorySpanExporter:
    return provided(monkeypatch)


def events_of(span) -> list:
    return [(event.name, dict(event.attributes)) for event in span.events]


@sync_asyncio_trio
async def test_call_is_one_span(client_kind, exported) -> None:
    service = Service(a_draft())
    async with client_kind.open("http://127.0.0.1:8080/ads", transport=service.transport) as client:
        await wait(client.beta.pause_campaign(**IDS))
    [span] = exported.get_finished_spans()
    assert span.name == f"POST /ads{PAUSE}"
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes) == {
        "http.request.method": "POST",
        "http.response.status_code": 201,
        "server.address": "127.0.0.1",
        "server.port": 8080,
        "url.full": f"http://127.0.0.1:8080/ads{PAUSE}",
        "url.template": f"/ads{PAUSE}",
        "adclient.operation": "beta.pause_campaign",
        "adclient.account_id": "account_b204",
        "adclient.draft_id": "draft_7c2e",
    }
    assert events_of(span) == [
        ("adclient.request", {"adclient.attempt": 1}),
        ("adclient.response", {"adclient.attempt": 1, "http.response.status_code": 201}),
    ]
    assert span.instrumentation_scope.name == "adclient"


@sync_and_async
async def test_attempts_and_waits_are_events_of_the_span(client_kind, exported) -> None:
    busy = answer(503, headers={"x-request-id": "r1"})
    service = Service(httpx.ReadError("reset"), busy, a_page("a"))
    async with client_kind.open(transport=service.transport) as client:
        await everything(client.beta.list_campaigns(account_id="account_b204"))
    [span] = exported.get_finished_spans()
    [_, lost, retry, again, busy, *_] = events_of(span)
    assert lost[1]["adclient.failure"].startswith("the connection broke")
    assert "http.response.status_code" not in lost[1]
    assert retry == ("adclient.retry", {"adclient.attempt": 1, "adclient.wait": 0.0})
    assert again == ("adclient.request", {"adclient.attempt": 2})
    assert busy[1] == {
        "adclient.attempt": 2,
        "http.response.status_code": 503,
        "adclient.request_id": "r1",
    }
    assert len(span.events) == 8
    assert span.attributes["http.request.resend_count"] == 2
    assert span.attributes["http.response.status_code"] == 200
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in span.attributes


@pytest.mark.parametrize(
    ("make_last", "error", "name", "description"),
    [
        (lambda: answer(429), RateLimited, "adclient.errors.RateLimited", None),
        (lambda: answer(500), OutcomeUnknown, "adclient.errors.OutcomeUnknownServerError", None),
        (
            lambda: httpx.ReadTimeout(""),
            OutcomeUnknown,
            "adclient.errors.OutcomeUnknownTimeout",
            "no response in time",
        ),
        (
            lambda: httpx.Response(201, text="hm"),
            OutcomeUnknown,
            "adclient.errors.OutcomeUnknownResponse",
            None,
        ),
    ],
)
@sync_and_async
async def test_span_of_a_failed_call_has_the_error_type(
    client_kind, exported, make_last, error, name, description
) -> None:
    last = make_last()  # one per test, because an HTTP client modifies the response
    async with client_kind.open(transport=Service(last).transport, max_retries=0) as client:
        with pytest.raises(error):
            await wait(client.beta.pause_campaign(**IDS))
    [span] = exported.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == description
    assert span.attributes["error.type"] == name
    status = last.status_code if isinstance(last, httpx.Response) else None
    assert span.attributes.get("http.response.status_code") == status


@sync_asyncio_trio
async def test_span_is_current_during_the_call(client_kind, exported) -> None:
    seen: list = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append(trace.get_current_span().get_span_context().span_id)
        return answer(400) if "list" in request.url.path else a_draft()

    mine = trace.get_tracer("mine")
    async with client_kind.open(transport=httpx.MockTransport(look)) as client:
        with mine.start_as_current_span("mine") as parent:
            await wait(client.beta.pause_campaign(**IDS))
            assert trace.get_current_span() is parent
            with pytest.raises(AdClientError):
                await everything(client.beta.list_campaigns(account_id="a"))
            assert trace.get_current_span() is parent
    spans = exported.get_finished_spans()[:2]
    assert [span.context.span_id for span in spans] == seen
    assert {span.parent.span_id for span in spans} == {parent.get_span_context().span_id}


@asyncio_and_trio
async def test_spans_of_concurrent_tasks_are_separate(client_kind, exported) -> None:
    seen: dict[str, int] = {}

    async def look(request: httpx.Request) -> httpx.Response:
        await anyio.sleep(0.001)
        account = request.url.params["account_id"]
        seen[account] = trace.get_current_span().get_span_context().span_id
        return a_page()

    async with (
        client_kind.open(transport=httpx.MockTransport(look)) as client,
        anyio.create_task_group() as tasks,
    ):
        for number in range(20):
            tasks.start_soon(everything, client.beta.list_campaigns(account_id=f"a{number}"))
    spans = exported.get_finished_spans()
    assert seen == {span.attributes["adclient.account_id"]: span.context.span_id for span in spans}
    assert len(seen) == 20


@pytest.mark.parametrize(
    ("client_kind", "error"),
    [(ASYNC, "asyncio.exceptions.CancelledError"), (TRIO, "trio.Cancelled")],
)
def test_span_of_a_cancelled_call_ends_at_once(client_kind, error, exported) -> None:
    async def scenario() -> None:
        is_over = anyio.Event()

        async def hang(request: httpx.Request) -> httpx.Response:
            scope.cancel()
            await is_over.wait()
            return a_draft()

        async with client_kind.open(transport=httpx.MockTransport(hang)) as client:
            with anyio.CancelScope() as scope:
                await client.beta.pause_campaign(**IDS)
            [span] = exported.get_finished_spans()
            assert span.attributes["error.type"] == error
            assert span.status.status_code is StatusCode.ERROR
            assert trace.get_current_span() is INVALID_SPAN
            is_over.set()  # closing waits for the background request

    client_kind.run(scenario)


def test_unfinished_call_can_be_closed_in_another_context(exported, caplog) -> None:
    async def hang(request: httpx.Request) -> httpx.Response:
        await anyio.sleep_forever()

    async def scenario() -> None:
        client = AsyncAdClient("https://ads.example.com", transport=httpx.MockTransport(hang))
        call = client.beta.pause_campaign(**IDS)
        contextvars.copy_context().run(call.send, None)
        call.close()

    anyio.run(scenario)
    [span] = exported.get_finished_spans()
    assert span.attributes["error.type"] == "GeneratorExit"
    assert caplog.records == []


@sync_and_async
async def test_without_a_provider_no_spans_and_no_events_are_created(
    client_kind, monkeypatch
) -> None:
    monkeypatch.setattr(reporter, "Reporter", pytest.fail)
    seen: list = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append(trace.get_current_span())
        return a_draft()

    async with client_kind.open(transport=httpx.MockTransport(look)) as client:
        await wait(client.beta.pause_campaign(**IDS))
    assert seen == [INVALID_SPAN]


def test_calls_work_without_opentelemetry() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None  # as if it were not installed
from adclient.testing import FakeAdService
draft = FakeAdService().client().beta.pause_campaign(
    account_id="account_b204", campaign_id="campaign_57a7"
)
print(draft.status, *(name for name in sys.modules if name.startswith("opentelemetry.")))
"""
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["pending_approval"]
    assert run.stderr == ""


def test_tracer_is_none_without_opentelemetry(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "adclient._telemetry.spans", None)  # it cannot be imported
    assert _telemetry._maker.__wrapped__() is None
    monkeypatch.setattr(_telemetry, "_maker", lambda: None)
    assert _telemetry.tracer() is None


# Redaction.

CANARY = "canary-7d1f"
OUTCOMES = [
    a_draft,
    lambda **more: answer(400),
    lambda **more: httpx.Response(401, json={"error": f"no such token: {CANARY}"}),
    lambda **more: httpx.Response(201, text=f"<title>{CANARY}</title>"),
    lambda **more: httpx.ConnectError(CANARY),
    lambda **more: httpx.ReadError(CANARY),
    lambda **more: RuntimeError(CANARY),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("credentials", ["token", "auth", "headers"])
@sync_and_async
async def test_events_logs_and_spans_do_not_contain_secrets(
    client_kind, exported, caplog, outcome, credentials
) -> None:
    caplog.set_level(logging.DEBUG, "adclient")
    events: list = []
    settings = {
        "token": {"token": CANARY},
        "auth": {"auth": lambda request: {"x-api-key": CANARY}},
        "headers": {"headers": {"x-api-key": CANARY}},
    }[credentials]
    service = Service(*(outcome() for _ in range(6)))
    async with client_kind.open(
        transport=service.transport,
        hooks=all_hooks(events.append),
        conventions=Conventions(idempotency_header="Idempotency-Key"),
        max_retries=1,
        **settings,
    ) as client:
        with contextlib.suppress(AdClientError, RuntimeError):
            keyed = client.with_options(headers={"idempotency-key": CANARY})
            await wait(keyed.beta.pause_campaign(**IDS))
        with contextlib.suppress(AdClientError, RuntimeError):
            await everything(client.beta.list_campaigns(account_id="a", cursor=CANARY))
    records = [attrs.asdict(event) for event in events]
    lines = [vars(record) for record in caplog.records]
    spans = [json.loads(span.to_json()) for span in exported.get_finished_spans()]
    assert len(records) >= 2
    assert len(lines) >= 2
    assert len(spans) == 2
    assert CANARY not in repr([events, records, lines, spans])
    assert CANARY not in caplog.text
