"""An injected HTTP client or transport is used unchanged, and not closed."""

import gzip

import httpx
import pytest
from cases import each_case
from clients import BASE_URL, Service, a_draft, a_page, close, read, sync_and_async, wait, write
from memory import MIB, TOO_LARGE, bounded_memory

from adclient import APIError, AsyncAdClient, ConfigurationError, ConnectionLost, OutcomeUnknown


class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """One that a function answers for, and that nobody may close."""

    def __init__(self, answer) -> None:
        self.handle_request = self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self._answer(request)

    def close(self) -> None:
        raise AssertionError

    async def aclose(self) -> None:
        raise AssertionError


@each_case("status", 201, 301, 307)
@sync_and_async
async def test_http_client_is_used_without_its_settings_and_not_closed(client_kind, status) -> None:
    redirect = httpx.Response(status, headers={"location": "https://evil.example.com/"})
    answers = (a_draft(), a_page("a")) if status == 201 else (redirect, redirect)
    service = Service(*answers)
    theirs = client_kind.http_client(
        service.transport,
        base_url="https://elsewhere.example.com",
        headers={"X-Theirs": "1"},
        params={"theirs": "1"},
        follow_redirects=True,
    )
    async with client_kind.open(http_client=theirs) as client:
        for call in (write, read):
            if status == 201:
                await wait(call(client))
            else:
                with pytest.raises(APIError, match="redirect") as caught:
                    await wait(call(client))
                assert caught.value.status == status
    assert not theirs.is_closed
    await close(theirs)
    written, seen = service.requests
    assert str(written.url) == f"{BASE_URL}/v1/beta-ads/pause-beta-campaign"
    assert str(seen.url) == f"{BASE_URL}/v1/alpha-ads/explain-alpha-objectives?account_id=a"
    assert "x-theirs" not in written.headers


@sync_and_async
async def test_error_on_closing_a_complete_response_is_ignored(client_kind) -> None:
    class Body(httpx.ByteStream):
        def close(self) -> None:
            raise httpx.CloseError("")

        async def aclose(self) -> None:
            raise httpx.CloseError("")

    def answer(request: httpx.Request) -> httpx.Response:
        whole = a_draft() if request.method == "POST" else a_page("a")
        return httpx.Response(whole.status_code, stream=Body(whole.content))

    async with client_kind.open(transport=Transport(answer)) as client:
        for call in (write, read):
            assert (await wait(call(client))).response.attempts == 1


class ForeignError(Exception):
    __module__ = "another_engine.exceptions"


@each_case("broken", ForeignError, ConnectionResetError)
@each_case("is_named", True, False)
@each_case("reported", httpx.ConnectError, httpx.ConnectTimeout)
@sync_and_async
async def test_write_is_not_retried_after_a_connect_error_for_a_broken_connection(
    client_kind, broken, is_named, reported
) -> None:
    """As httpx-aiohttp does, wrapped in another transport."""

    def sent(_: httpx.Request) -> httpx.Response:
        try:
            raise broken
        except Exception as error:
            raise reported("") from (error if is_named else None)

    async with client_kind.open(transport=httpx.MockTransport(sent)) as client:
        with pytest.raises(OutcomeUnknown) as raised:
            await wait(write(client))
    assert isinstance(raised.value, ConnectionLost) is (reported is httpx.ConnectError)
    assert raised.value.attempts == 1


# httpx-aiohttp reports a connection that broke in use as one that was never established.
class Untrusted(httpx.AsyncBaseTransport):
    __module__ = "httpx_aiohttp.transport"


class UntrustedClient(httpx.AsyncClient):
    __module__ = "httpx_aiohttp.client"


@each_case(
    ("argument", "given"),
    ("transport", Untrusted()),
    ("http_client", UntrustedClient()),
    ("http_client", httpx.AsyncClient(transport=Untrusted())),
    ("http_client", httpx.AsyncClient(mounts={"https://": Untrusted()})),
)
def test_httpx_aiohttp_is_refused(argument, given) -> None:
    with pytest.raises(ConfigurationError, match=f"leave out {argument}=") as caught:
        AsyncAdClient(BASE_URL, **{argument: given})
    assert caught.value.argument == argument


@pytest.mark.no_cover
@each_case("coding", "identity", "gzip")
@sync_and_async
async def test_huge_body_in_one_chunk_is_refused_with_bounded_memory(client_kind, coding) -> None:
    whole = bytes(20 * MIB)
    body = whole if coding == "identity" else gzip.compress(whole, 0)  # of the same size
    headers = {"content-encoding": coding}
    response = httpx.Response(201, headers=headers, stream=httpx.ByteStream(body))
    async with client_kind.open(transport=httpx.MockTransport(lambda _: response)) as client:
        with bounded_memory(), pytest.raises(OutcomeUnknown, match=TOO_LARGE):
            await wait(write(client))
