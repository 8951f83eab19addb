"""Code of the caller inside a call: token functions, hooks and HTTP clients that fail."""

import pickle

import anyio
import anyio.lowlevel
import httpx
import pytest
from clients import (
    ASYNC,
    BASE_URL,
    DRAFT,
    KEYED,
    SYNC,
    Service,
    a_page,
    close,
    everything,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    walk,
    write,
)

from adclient import (
    CallTimeout,
    ConfigurationError,
    OutcomeUnknown,
    Unauthenticated,
)
from adclient._core import decode
from adclient.testing import FakeAdService


@sync_and_async
async def test_token_error_between_attempts_of_a_write_is_outcome_unknown(client_kind) -> None:
    tokens = iter(["t0ken"])
    service = Service(httpx.Response(500))
    options = {"token": lambda: next(tokens), "conventions": KEYED}
    async with client_kind.open(transport=service.transport, **options) as client:
        with pytest.raises(OutcomeUnknown, match=r"stopped by \w+ after an attempt") as caught:
            await wait(write(client))
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
                await write(client)
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
        await wait(write(client))
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
            await wait(write(client))
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
            await wait(write(client))
    assert not caught.value.outcome_unknown


@sync_and_async
async def test_closed_http_client_is_a_configuration_error(client_kind) -> None:
    theirs = client_kind.http_client(transport=Service().transport)
    async with client_kind.open(http_client=theirs) as client:
        await close(theirs)
        with pytest.raises(ConfigurationError, match="http_client is closed"):
            await wait(write(client))


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
