"""Clients and transports from httpx and httpx2, and their errors."""

import ssl
import subprocess
import sys

import anyio
import httpx
import pytest
from clients import (
    CLIENT_KINDS,
    DRAFT,
    SYNC,
    close,
    only_of_httpx,
    sync_and_async,
    sync_asyncio_trio,
    wait,
)
from raw_server import RawServer, refusing_url, serve_well

from adclient import (
    AdClient,
    AsyncAdClient,
    CallTimeout,
    OutcomeUnknown,
    RetryPolicy,
    TransportError,
)
from adclient.testing import FakeAdService

BASE_URL = "https://ads.example.com"
NO_RETRY = RetryPolicy(max_retries=0)
families = pytest.mark.parametrize("library", ["httpx", "httpx2"])


def pause(client):
    return client.beta.pause_campaign(account_id="a", campaign_id="c")


@families
@sync_asyncio_trio
async def test_client_from_either_library_is_used(client_kind, library) -> None:
    hx = pytest.importorskip(library)
    with RawServer(serve_well) as server:
        theirs = getattr(hx, client_kind.http_client_name)(verify=False)
        client = client_kind.client(server.url, http_client=theirs)
        assert (await wait(pause(client))).draft_id == "draft_7c2e"
        await wait(theirs.aclose() if hasattr(theirs, "aclose") else theirs.close())


@families
@sync_and_async
async def test_transport_from_either_library_is_used(client_kind, library) -> None:
    hx = pytest.importorskip(library)
    transport = hx.MockTransport(lambda request: hx.Response(201, json=DRAFT))
    async with client_kind.open(http_client=None, transport=transport) as client:
        assert (await wait(pause(client))).draft_id == "draft_7c2e"


@sync_and_async
async def test_fake_serves_httpx2_clients(client_kind) -> None:
    hx = pytest.importorskip("httpx2")
    fake = FakeAdService()
    theirs = getattr(hx, client_kind.http_client_name)(transport=fake.transport)
    async with client_kind.open(BASE_URL, http_client=theirs) as client:
        listing = client.delta.analyze_wasted_spend(account_id="account_d118")
        assert (await wait(listing)).data
    assert len(fake.requests) == 1


class Stranger:
    """Something that looks like an HTTP client but comes from neither library."""

    is_closed = False

    def send(self, request: object, *, stream: bool = False) -> None: ...

    def close(self) -> None: ...

    aclose = close


@families
@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_http_client_of_a_wrong_type_is_refused(client_kind, library) -> None:
    hx, name = pytest.importorskip(library), client_kind.http_client_name
    expected = (
        f"http_client of {client_kind.client.__name__} must be an httpx.{name} or httpx2.{name}"
    )
    for wrong in (getattr(hx, client_kind.other_name)(), Stranger(), hx.HTTPTransport()):
        with pytest.raises(TypeError) as caught:
            client_kind.client(BASE_URL, http_client=wrong)
        module = type(wrong).__module__.partition(".")[0]
        assert str(caught.value) == f"{expected}, not {module}.{type(wrong).__name__}"


@families
def test_transport_of_the_other_kind_is_refused(library) -> None:
    hx = pytest.importorskip(library)
    name = hx.__name__  # another one's, if that takes its place
    with pytest.raises(TypeError, match=rf"httpx or httpx2, not {name}\.AsyncHTTPTransport"):
        AdClient(BASE_URL, transport=hx.AsyncHTTPTransport())
    with pytest.raises(TypeError, match=rf"httpx or httpx2, not {name}\.HTTPTransport"):
        AsyncAdClient(BASE_URL, transport=hx.HTTPTransport())


@only_of_httpx
def test_other_library_is_not_imported() -> None:
    code = (
        "import httpx, sys; from adclient import AdClient\n"
        "AdClient('https://ads.example.com', http_client=httpx.Client())\n"
        "print('httpx2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# Every error of the HTTP library and the layers below it, while sending and while reading.


def errors_of(hx) -> list[Exception]:
    found, todo = [], [hx.TransportError]
    while todo:
        cls = todo.pop()
        found.append(cls)
        todo += cls.__subclasses__()
    found += [hx.DecodingError, hx.TooManyRedirects, hx.InvalidURL, hx.StreamError]
    found += [ssl.SSLError, ssl.SSLEOFError, OSError, ConnectionResetError, TimeoutError]
    found += [anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError]
    return [cls("a reason") for cls in found]


NOT_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"}
NOT_SENT |= {"UnsupportedProtocol", "LocalProtocolError"}


@families
@pytest.mark.parametrize("where", ["send", "body"])
@sync_and_async
async def test_every_http_library_error_becomes_a_library_error(
    client_kind, where, library
) -> None:
    hx = pytest.importorskip(library)
    errors = errors_of(hx)
    assert len(errors) > 20

    class Broken(hx.SyncByteStream, hx.AsyncByteStream):
        def __init__(self, error: Exception) -> None:
            self.error = error

        def __iter__(self):
            yield b'{"draft_id":'
            raise self.error

        async def __aiter__(self):
            for chunk in self:
                yield chunk

    def answer(request):
        request.read()
        return fail()

    async def answer_async(request):
        await request.aread()
        return fail()

    def fail():
        if where == "send":
            raise error
        return hx.Response(201, stream=Broken(error))

    handler = answer if client_kind is SYNC else answer_async
    theirs = getattr(hx, client_kind.http_client_name)(transport=hx.MockTransport(handler))
    options = {"retry": NO_RETRY, "max_concurrency": 1}
    async with client_kind.open(BASE_URL, http_client=theirs, **options) as client:
        for error in errors:
            with pytest.raises((TransportError, OutcomeUnknown)) as caught:
                await wait(pause(client))
            is_unknown = where == "body" or type(error).__name__ not in NOT_SENT
            assert isinstance(caught.value, OutcomeUnknown) == is_unknown, error
            assert "httpx" not in type(caught.value).__module__
            # An unknown state makes the outcome of a write unknown, but not that of a read.
            with pytest.raises(TransportError):
                await wait(client.beta.list_campaigns(account_id="a"))


def bad_text() -> Exception:
    return UnicodeDecodeError("ascii", b"\xff", 0, 1, "a reason")


@families
@pytest.mark.parametrize("failing", ["a request of its own", "text", "by hand"])
@sync_asyncio_trio
async def test_write_is_not_repeated_after_a_response_hook_fails(
    client_kind, failing, library
) -> None:
    hx, nobody = pytest.importorskip(library), refusing_url()

    def hook(response) -> None:
        if failing == "text":
            raise bad_text()
        if failing == "by hand":
            raise hx.ConnectError("no metrics")
        with hx.Client(verify=False) as other:
            other.post(nobody)

    async def hook_async(response) -> None:
        if failing == "text":
            raise bad_text()
        if failing == "by hand":
            raise hx.ConnectError("no metrics")
        async with hx.AsyncClient(verify=False) as other:
            await other.post(nobody)

    hooks = {"response": [hook if client_kind is SYNC else hook_async]}
    theirs = getattr(hx, client_kind.http_client_name)(verify=False, event_hooks=hooks)
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, http_client=theirs) as client:
            with pytest.raises(OutcomeUnknown):
                await wait(pause(client))
            await close(theirs)
    assert len(server.requests) == 1


@families
@sync_asyncio_trio
async def test_response_hook_error_after_a_write_is_outcome_unknown(client_kind, library) -> None:
    hx = pytest.importorskip(library)

    def hook(_) -> None:
        raise LookupError("a reason")

    async def hook_async(_) -> None:
        raise LookupError("a reason")

    for moment in ("request", "response"):
        hooks = {moment: [hook if client_kind is SYNC else hook_async]}
        theirs = getattr(hx, client_kind.http_client_name)(verify=False, event_hooks=hooks)
        with RawServer(serve_well) as server:
            async with client_kind.open(server.url, http_client=theirs) as client:
                with pytest.raises(LookupError):
                    await wait(client.beta.list_campaigns(account_id="a"))
                with pytest.raises((LookupError, OutcomeUnknown)) as caught:
                    await wait(pause(client))
                await close(theirs)
        if moment == "request":
            assert isinstance(caught.value, LookupError)
            assert server.requests == []
        else:
            assert isinstance(caught.value, OutcomeUnknown)
            assert isinstance(caught.value.__cause__, LookupError)
            assert caught.value.attempts == 1
            assert "stopped by LookupError" in str(caught.value)
            assert len(server.requests) == 2


@families
def test_timeout_in_the_auth_of_an_injected_client_has_sent_nothing(library) -> None:
    hx = pytest.importorskip(library)

    class Auth(hx.Auth):
        def auth_flow(self, request):
            raise hx.ReadTimeout("no token", request=hx.Request("POST", "https://tokens.example"))
            yield request

    with RawServer(serve_well) as server, hx.Client(verify=False, auth=Auth()) as theirs:
        client = AdClient(server.url, http_client=theirs, retry=NO_RETRY)
        with pytest.raises(CallTimeout) as caught:
            pause(client)
    assert not caught.value.outcome_unknown
    assert server.requests == []


@pytest.mark.parametrize("fault", [httpx.ConnectError, httpx.ReadError, httpx.PoolTimeout, OSError])
@sync_and_async
async def test_ten_failures_leak_no_slot(client_kind, fault) -> None:
    count = [0]

    def answer(request: httpx.Request) -> httpx.Response:
        count[0] += 1
        if count[0] <= 10:
            raise fault("")
        return httpx.Response(201, json=DRAFT)

    options = {"max_concurrency": 1, "retry": NO_RETRY}
    async with client_kind.open(transport=httpx.MockTransport(answer), **options) as client:
        for _ in range(10):
            with pytest.raises(TransportError):
                await wait(pause(client))
        assert (await wait(pause(client))).draft_id == "draft_7c2e"


def test_duck_typed_transport_receives_httpx_requests() -> None:
    class Bare:
        def handle_request(self, request):
            assert isinstance(request, httpx.Request)
            return httpx.Response(201, json=DRAFT)

    assert pause(AdClient(BASE_URL, transport=Bare())).draft_id == "draft_7c2e"
