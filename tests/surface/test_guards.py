"""Guarantees that hold when credentials, callers, hooks and processes misbehave."""

import pickle

import anyio
import anyio.lowlevel
import httpx
import pytest
from clients import (
    ASYNC,
    DRAFT,
    KEYED,
    SYNC,
    Service,
    a_page,
    everything,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    walk,
)
from raw_server import RawServer, serve_well

from adclient import (
    AdClient,
    CallTimeout,
    ConfigurationError,
    OutcomeUnknown,
    RateLimited,
    RetryPolicy,
    Unauthenticated,
)
from adclient._core import decode
from adclient._http import pool
from adclient.testing import FakeAdService

BASE_URL = "https://ads.example.com"
IDS = {"account_id": "a", "campaign_id": "c"}


@sync_and_async
async def test_token_error_between_attempts_of_a_write_is_outcome_unknown(client_kind) -> None:
    tokens = iter(["t0ken"])
    service = Service(httpx.Response(500))
    options = {"token": lambda: next(tokens), "conventions": KEYED}
    async with client_kind.open(transport=service.transport, **options) as client:
        with pytest.raises(OutcomeUnknown, match=r"stopped by \w+ after an attempt") as caught:
            await wait(client.beta.pause_campaign(**IDS))
    assert caught.value.__cause__ is not None
    assert caught.value.idempotency_key
    assert len(service.requests) == 1


def test_async_token_counts_against_the_timeout() -> None:
    async def token() -> str:
        await anyio.sleep_forever()
        raise AssertionError("never")

    async def scenario() -> None:
        async with ASYNC.open(transport=Service().transport, token=token, timeout=0.05) as client:
            with pytest.raises(CallTimeout, match="credentials took the whole timeout") as caught:
                await client.beta.pause_campaign(**IDS)
        assert not caught.value.outcome_unknown

    ASYNC.run(scenario)


@sync_asyncio_trio
async def test_nothing_is_sent_after_a_token_took_the_whole_timeout(client_kind) -> None:
    fake = FakeAdService()

    def token() -> str:
        fake.clock.advance(2.0)
        return "t0ken"

    # With the fake's transport, a client uses the fake's clock.
    client = client_kind.client(BASE_URL, transport=fake.transport, token=token, timeout=1.0)
    with pytest.raises(CallTimeout, match="credentials took the whole timeout") as caught:
        await wait(client.beta.pause_campaign(**IDS))
    assert not caught.value.outcome_unknown
    assert fake.requests == ()


@sync_and_async
async def test_os_error_while_decoding_a_draft_is_outcome_unknown(client_kind, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")  # as an import could raise

    monkeypatch.setattr(decode, "loads", fails)
    async with client_kind.open(
        transport=Service(httpx.Response(201, json=DRAFT), a_page("a")).transport
    ) as client:
        with pytest.raises(OutcomeUnknown, match="stopped by OSError") as caught:
            await wait(client.beta.pause_campaign(**IDS))
        assert isinstance(caught.value.__cause__, OSError)
        with pytest.raises(OSError, match="Too many"):
            await wait(client.beta.list_campaigns(account_id="a"))


@sync_and_async
async def test_objects_with_credentials_cannot_be_pickled(client_kind) -> None:
    async with client_kind.open(transport=Service().transport, token="sk-canary") as client:
        for holder in (client.alpha, client.alpha.update_campaign_budget):
            with pytest.raises(TypeError, match="credentials cannot be pickled"):
                pickle.dumps(holder)


@sync_and_async
async def test_status_is_kept_if_a_hook_raises_for_it(client_kind) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, json={"message": "who are you?"})

    def complain(response: httpx.Response) -> None:
        response.raise_for_status()

    async def complain_async(response: httpx.Response) -> None:
        response.raise_for_status()

    hook = complain if client_kind is SYNC else complain_async
    theirs = client_kind.http_client(
        transport=httpx.MockTransport(refuse), event_hooks={"response": [hook]}
    )
    async with client_kind.open(http_client=theirs) as client:
        with pytest.raises(Unauthenticated) as caught:
            await wait(client.beta.pause_campaign(**IDS))
    assert not caught.value.outcome_unknown


@sync_and_async
async def test_closed_http_client_is_a_configuration_error(client_kind) -> None:
    theirs = client_kind.http_client(transport=Service().transport)
    async with client_kind.open(http_client=theirs) as client:
        await wait(theirs.close() if client_kind is SYNC else theirs.aclose())
        with pytest.raises(ConfigurationError, match="http_client is closed"):
            await wait(client.beta.pause_campaign(**IDS))


@sync_and_async
async def test_iterator_advanced_by_two_callers_at_once_raises(client_kind) -> None:
    pages, refused = None, []

    def token() -> str:
        if pages is not None:  # the sync client has requested the first page before
            with pytest.raises(RuntimeError, match="already fetching a page") as caught:
                next(pages) if client_kind is SYNC else anext(pages).send(None)
            refused.append(caught.value)
        return "t0ken"

    service = Service(a_page("a", next="2"), a_page("b"))
    async with client_kind.open(transport=service.transport, token=token) as client:
        pages = walk(client.beta.list_campaigns(account_id="a").pages())
        assert [page.data[0].name for page in await everything(pages)] == ["a", "b"]
    assert refused


@pytest.mark.own
@sync_asyncio_trio
async def test_connections_idle_for_too_long_are_closed(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(pool, "KEEPALIVE_EXPIRY", -1.0)
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            for _ in range(3):
                await wait(client.beta.pause_campaign(**IDS))
        assert server.connections == 3


def test_retry_after_0_does_not_replace_the_backoff() -> None:
    answers = [httpx.Response(429, headers={"retry-after": "0"})] * 3
    policy = RetryPolicy(backoff_first=60, backoff_longest=60)
    service = Service(*answers)
    options = {"transport": service.transport, "retry": policy, "timeout": 0.5}
    with AdClient(BASE_URL, **options) as client, pytest.raises(RateLimited):
        client.beta.pause_campaign(**IDS)
    assert len(service.requests) <= 2
