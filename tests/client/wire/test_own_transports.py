"""An injected HTTP client or transport is used unchanged, and not closed."""

import asyncio
import gzip
import tracemalloc

import httpx
import pytest
from clients import (
    BASE_URL,
    Service,
    a_draft,
    a_page,
    each_client_class,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)

from adclient import (
    APIError,
    AsyncAdClient,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    TransportError,
)


async def with_their_client(client_kind, handler, scenario, **options) -> None:
    """Run a scenario over an injected HTTP client, which must stay open."""
    theirs = client_kind.http_client(httpx.MockTransport(handler), **options)
    try:
        async with client_kind.open(http_client=theirs) as client:
            await scenario(client)
        assert not theirs.is_closed
    finally:
        await wait(theirs.aclose() if hasattr(theirs, "aclose") else theirs.close())


@sync_and_async
async def test_http_client_is_used_and_not_closed(client_kind) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return a_draft()

    async def scenario(client) -> None:
        assert (await wait(write(client))).draft_id == "draft_7c2e"

    await with_their_client(
        client_kind,
        handler,
        scenario,
        base_url="https://elsewhere.example.com",
        headers={"X-Theirs": "1"},
        params={"theirs": "1"},
        follow_redirects=True,
    )
    (request,) = requests
    assert str(request.url) == f"{BASE_URL}/v1/beta-ads/pause-beta-campaign"
    assert "x-theirs" not in request.headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@sync_and_async
async def test_http_client_follows_no_redirect(client_kind, status) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status, headers={"location": "https://evil.example.com/"})

    async def scenario(client) -> None:
        for call in (write, read):
            with pytest.raises(APIError, match="redirect") as caught:
                await wait(call(client))
            assert caught.value.status == status

    await with_their_client(client_kind, handler, scenario, follow_redirects=True)
    assert [request.url.host for request in requests] == ["ads.example.com"] * 2


@pytest.mark.parametrize("given", ["https://x", 7, object(), [], ""])
@pytest.mark.parametrize("argument", ["transport", "http_client"])
@each_client_class
def test_transport_or_http_client_of_a_wrong_type_is_refused(client_class, argument, given) -> None:
    with pytest.raises(TypeError, match=argument):
        client_class(BASE_URL, **{argument: given})


@pytest.mark.own
@sync_and_async
async def test_injected_transport_is_not_closed(client_kind) -> None:
    class Transport(httpx.MockTransport):
        def close(self) -> None:
            raise AssertionError

        async def aclose(self) -> None:
            raise AssertionError

    transport = Transport(lambda request: a_draft())
    async with client_kind.open(transport=transport) as client:
        await wait(write(client))


@sync_asyncio_trio
async def test_proxy_variables_are_ignored_with_a_transport(client_kind, monkeypatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://[broken")
    service = Service(a_draft())
    async with client_kind.open(transport=service.transport) as client:
        await wait(write(client))


@pytest.mark.parametrize("call", [write, read])
@sync_and_async
async def test_error_on_closing_a_complete_response_is_ignored(client_kind, call) -> None:
    class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __init__(self, content: bytes) -> None:
            self.content = content

        def __iter__(self):
            yield self.content

        async def __aiter__(self):
            yield self.content

        def close(self) -> None:
            raise httpx.CloseError("")

        async def aclose(self) -> None:
            raise httpx.CloseError("")

    def answer(request: httpx.Request) -> httpx.Response:
        whole = a_draft() if request.method == "POST" else a_page("a")
        return httpx.Response(whole.status_code, stream=Body(whole.content))

    class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return answer(request)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return answer(request)

    async with client_kind.open(transport=Transport()) as client:
        assert (await wait(call(client))).response.attempts == 1


class ForeignTimeoutError(Exception):
    __module__ = "another_engine.exceptions"


@pytest.mark.parametrize("broken", [ForeignTimeoutError, ConnectionResetError, BrokenPipeError])
@pytest.mark.parametrize("is_named", [True, False])
@sync_and_async
async def test_write_is_not_retried_after_a_connect_error_for_a_broken_connection(
    client_kind, broken, is_named
) -> None:
    def sent(_: httpx.Request) -> httpx.Response:
        try:
            raise broken
        except Exception as error:
            if is_named:
                raise httpx.ConnectError("") from error
            raise httpx.ConnectError("")  # noqa: B904 (as a careless transport does)

    async with client_kind.open(transport=httpx.MockTransport(sent)) as client:
        with pytest.raises(ConnectionLost) as raised:
            await wait(write(client))
    assert raised.value.outcome_unknown
    assert raised.value.attempts == 1


@sync_and_async
async def test_error_that_is_its_own_cause_ends_the_call(client_kind) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        error = httpx.ConnectError("")
        raise error from error

    async with client_kind.open(transport=httpx.MockTransport(refuse), max_retries=0) as client:
        with pytest.raises(ConnectionFailed):
            await wait(read(client))


# httpx-aiohttp reports a connection that broke in use as one that was never established.


class BrokeInUse(Exception):
    __module__ = "aiohttp.client_exceptions"


class Untrusted(httpx.AsyncBaseTransport):
    __module__ = "httpx_aiohttp.transport"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        raise httpx.ConnectTimeout("") from BrokeInUse()


class UntrustedClient(httpx.AsyncClient):
    __module__ = "httpx_aiohttp.client"


class Wrapper(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.handle_async_request = inner.handle_async_request


@pytest.mark.parametrize(
    "options",
    [
        {"transport": Untrusted()},
        {"http_client": UntrustedClient()},
        {"http_client": httpx.AsyncClient(transport=Untrusted())},
        {"http_client": httpx.AsyncClient(mounts={"https://": Untrusted()})},
    ],
)
def test_httpx_aiohttp_is_refused(options) -> None:
    [argument] = options
    with pytest.raises(ConfigurationError, match=f"leave out {argument}=") as caught:
        AsyncAdClient(BASE_URL, **options)
    assert caught.value.argument == argument


def test_connect_error_of_a_wrapped_httpx_aiohttp_is_outcome_unknown() -> None:
    async def scenario() -> None:
        async with httpx.AsyncClient(transport=Wrapper(Untrusted())) as theirs:
            client = AsyncAdClient(BASE_URL, http_client=theirs)
            with pytest.raises(TransportError):
                await read(client)
            with pytest.raises(OutcomeUnknown) as caught:
                await write(client)
            assert caught.value.attempts == 1

    asyncio.run(scenario())


@pytest.mark.no_cover
@pytest.mark.parametrize("coding", ["identity", "gzip"])
@sync_and_async
async def test_huge_body_in_one_chunk_is_refused_with_bounded_memory(client_kind, coding) -> None:
    whole = bytes(200 * 1024 * 1024)
    body = whole if coding == "identity" else gzip.compress(whole, 0)  # of the same size

    def handler(request: httpx.Request) -> httpx.Response:
        stream = httpx.ByteStream(body)
        return httpx.Response(201, headers={"content-encoding": coding}, stream=stream)

    async with client_kind.open(transport=httpx.MockTransport(handler)) as client:
        tracemalloc.start()
        try:
            with pytest.raises(OutcomeUnknown, match="larger than 64 MiB"):
                await wait(write(client))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 2 * 64 * 1024 * 1024
