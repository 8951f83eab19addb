"""Clients and transports from httpx and httpx2, and their errors."""

import importlib
from unittest.mock import Mock

import clients
import httpx2
import pytest
from cases import each_case
from clients import DRAFT, SYNC, close, sync_and_async, wait, write
from raw_server import RawServer, serve_well

import adclient
from adclient import AdClient, AsyncAdClient, CallTimeout, RetryPolicy
from adclient.testing import FakeAdService

BASE_URL = "https://ads.example.com"
NO_RETRY = RetryPolicy(max_retries=0)


@pytest.fixture(params=["httpx", "httpx2"])
def hx(request):
    return importlib.import_module(request.param)


def client_of(hx, client_kind, **options):
    return getattr(hx, client_kind.http_client_name)(verify=False, **options)


@clients.sync_asyncio_trio
async def test_client_or_transport_from_either_library_is_used(client_kind, hx) -> None:
    transport = hx.MockTransport(lambda request: hx.Response(201, json=DRAFT))
    with RawServer(serve_well) as server:
        theirs = client_of(hx, client_kind)
        for options in ({"http_client": theirs}, {"http_client": None, "transport": transport}):
            async with client_kind.open(server.url, **options) as client:
                assert (await wait(write(client))).draft_id == "draft_7c2e"
        await close(theirs)
    assert len(server.requests) == 1


@sync_and_async
async def test_fake_serves_httpx2_clients(client_kind) -> None:
    fake = FakeAdService()
    theirs = client_of(httpx2, client_kind, transport=fake.transport)
    async with client_kind.open(BASE_URL, http_client=theirs) as client:
        listing = client.delta.analyze_wasted_spend(account_id="account_d118")
        assert (await wait(listing)).data
    assert len(fake.requests) == 1


@sync_and_async
async def test_http_client_of_a_wrong_type_is_refused(client_kind, hx) -> None:
    name = client_kind.http_client_name
    expected = (
        f"http_client of {client_kind.client.__name__} must be an httpx.{name} or httpx2.{name}"
    )
    for wrong in (getattr(hx, client_kind.other_name)(), hx.HTTPTransport()):
        with pytest.raises(TypeError) as caught:
            client_kind.client(BASE_URL, http_client=wrong)
        module = type(wrong).__module__.partition(".")[0]
        assert str(caught.value) == f"{expected}, not {module}.{type(wrong).__name__}"
    with pytest.raises(TypeError, match=f"{expected}, not unittest.Mock"):
        client_kind.client(BASE_URL, http_client=Mock())


def test_transport_of_the_other_kind_is_refused(hx) -> None:
    name = hx.__name__  # another one's, if that takes its place
    with pytest.raises(TypeError, match=rf"httpx or httpx2, not {name}\.AsyncHTTPTransport"):
        AdClient(BASE_URL, transport=hx.AsyncHTTPTransport())
    with pytest.raises(TypeError, match=rf"httpx or httpx2, not {name}\.HTTPTransport"):
        AsyncAdClient(BASE_URL, transport=hx.HTTPTransport())


# Code of the caller that runs within a call.


def fail_by_hand(hx):
    raise hx.ConnectError("no metrics")


def fail_otherwise(_):
    raise LookupError("a reason")


@each_case(
    ("fail", "moment"),
    (fail_by_hand, "response"),
    (fail_otherwise, "response"),
    (fail_otherwise, "request"),
)
@sync_and_async
async def test_write_is_not_repeated_after_a_hook_fails(client_kind, fail, moment, hx) -> None:
    def hook(_) -> None:
        fail(hx)

    async def hook_async(_) -> None:
        fail(hx)

    is_sent = moment == "response"
    theirs = client_of(
        hx, client_kind, event_hooks={moment: [hook if client_kind is SYNC else hook_async]}
    )
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url, http_client=theirs) as client:
            with pytest.raises(adclient.OutcomeUnknown if is_sent else LookupError) as caught:
                await wait(write(client))
            assert len(server.requests) == is_sent
        await close(theirs)
    if is_sent:
        assert caught.value.attempts == 1
        if fail is fail_otherwise:
            assert isinstance(caught.value.__cause__, LookupError)
            assert "stopped by LookupError" in str(caught.value)


def test_timeout_in_the_auth_of_an_injected_client_has_sent_nothing(hx) -> None:
    class Auth(hx.Auth):
        def auth_flow(self, request):
            raise hx.ReadTimeout("no token", request=hx.Request("POST", "https://tokens.example"))
            yield request

    with RawServer(serve_well) as server, hx.Client(verify=False, auth=Auth()) as theirs:
        client = AdClient(server.url, http_client=theirs, retry=NO_RETRY)
        with pytest.raises(CallTimeout) as caught:
            write(client)
    assert not caught.value.outcome_unknown
    assert server.requests == []
