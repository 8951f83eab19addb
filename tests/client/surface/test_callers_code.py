"""Code of the caller inside a call: functions for credentials, hooks and HTTP clients."""

import clients
import httpx
import pytest
from clients import SYNC, Service, a_draft, a_page, close, sync_and_async, wait, walk, write

from adclient import ConfigurationError, OutcomeUnknown, Request, Unauthenticated
from adclient._core import decode


@sync_and_async
async def test_os_error_while_decoding_a_draft_is_outcome_unknown(client_kind, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")  # as an import could raise

    monkeypatch.setattr(decode, "loads", fails)
    async with client_kind.open(
        transport=Service(httpx.Response(201, json=clients.DRAFT), a_page("a")).transport
    ) as client:
        with pytest.raises(OutcomeUnknown, match="stopped by OSError") as caught:
            await wait(write(client))
        assert isinstance(caught.value.__cause__, OSError)
        with pytest.raises(OSError, match="Too many"):
            await wait(client.beta.list_campaigns(account_id="a"))


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
        assert [page.data[0].name for page in await clients.everything(pages)] == ["a", "b"]
    assert refused


@clients.asyncio_and_trio
async def test_async_token_and_auth_are_awaited(client_kind) -> None:
    async def token() -> str:
        return "awaited"

    async def sign(request: Request) -> dict[str, str]:
        return {"x-signature": request.method}

    service = Service(a_draft(), a_draft())
    for credentials in ({"token": token}, {"auth": sign}):
        async with client_kind.open(transport=service.transport, **credentials) as client:
            await write(client)
    first, second = service.requests
    assert first.headers["authorization"] == "Bearer awaited"
    assert second.headers["x-signature"] == "POST"
