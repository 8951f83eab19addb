"""Code that makes its clients from the environment, against the fake and unchanged."""

import asyncio
import os

import httpx
import pytest
from fake_helpers import CLIENT_KINDS

from adclient import AdClient, AsyncAdClient, ConfigurationError, Conventions
from adclient.errors import AdClientError
from adclient.testing import FakeAdService, Fault

NAMES = ("ADCLIENT_BASE_URL", "ADCLIENT_TOKEN")
PAUSE = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def other_settings(monkeypatch) -> None:
    """What a developer may have set for the real service."""
    monkeypatch.setenv("ADCLIENT_BASE_URL", NOWHERE)
    monkeypatch.setenv("ADCLIENT_TOKEN", "real")


def settings() -> list[str | None]:
    return [os.environ.get(name) for name in NAMES]


def made(client_kind: str, *arguments, **options) -> AdClient | AsyncAdClient:
    return (AdClient if client_kind == "sync" else AsyncAdClient)(*arguments, **options)


def pause(client: AdClient | AsyncAdClient) -> str:
    """The code under test."""
    if isinstance(client, AdClient):
        return client.beta.pause_campaign(**PAUSE).draft_id

    async def paused() -> str:
        return (await client.beta.pause_campaign(**PAUSE)).draft_id

    return asyncio.run(paused())


@CLIENT_KINDS
@pytest.mark.parametrize("token", ["t0ken", None])
def test_client_from_the_environment_reaches_the_fake_by_its_clock(client_kind, token) -> None:
    with FakeAdService(token=token).as_environment() as fake:
        assert settings() == [fake.base_url, token or ""]
        fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        client = made(client_kind)
        draft_id = pause(client)
    assert [draft.draft_id for draft in fake.drafts] == [draft_id]
    assert fake.requests[0].headers.get("authorization") == (token and f"Bearer {token}")
    assert fake.clock.sleeps == (20.5,)
    pause(client)
    assert len(fake.drafts) == 2, "it keeps its fake after the block"


@CLIENT_KINDS
def test_settings_of_own_connections_are_accepted(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        pause(made(client_kind, verify=False, proxy="http://proxy.example.com:3128"))
        fake.base_url += "/ads"
        pause(made(client_kind, fake.base_url))
    assert len(fake.drafts) == 2


@CLIENT_KINDS
@pytest.mark.parametrize("way", ["address", "transport", "http_client"])
def test_client_with_another_address_or_sender_does_not_reach_the_fake(client_kind, way) -> None:
    sender = httpx.MockTransport(lambda request: httpx.Response(418))
    if way == "http_client":
        kind = httpx.Client if client_kind == "sync" else httpx.AsyncClient
        sender = kind(transport=sender)
    with FakeAdService().as_environment() as fake:
        if way == "address":
            client, expected = made(client_kind, NOWHERE, max_retries=0), "cannot be reached"
        else:
            client, expected = made(client_kind, **{way: sender}, max_retries=0), "418"
        with pytest.raises(AdClientError, match=expected):
            pause(client)
    assert fake.requests == ()


@CLIENT_KINDS
def test_none_as_an_argument_of_the_own_client_is_none_of_the_environment(client_kind) -> None:
    fake = FakeAdService()
    make = fake.client if client_kind == "sync" else fake.async_client
    pause(make(auth=None, token=None, base_url=None, transport=None, conventions=None))
    assert "authorization" not in fake.requests[0].headers
    in_body = fake.client(conventions=Conventions(read_parameters="body"))
    with pytest.raises(AdClientError, match="400"):
        in_body.beta.list_campaigns(account_id="account_b204")
    fake = FakeAdService()
    make = fake.client if client_kind == "sync" else fake.async_client
    sender = httpx.MockTransport(lambda request: httpx.Response(418))
    kind = httpx.Client if client_kind == "sync" else httpx.AsyncClient
    for way in ({"transport": sender}, {"http_client": kind(transport=sender)}):
        with pytest.raises(AdClientError, match="418"):
            pause(make(**way, max_retries=0))
    assert fake.requests == ()


def test_environment_without_the_settings_is_restored_after_an_error(monkeypatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name)
    with pytest.raises(ZeroDivisionError), FakeAdService(token="t").as_environment():
        raise ZeroDivisionError
    assert settings() == [None, None]


@CLIENT_KINDS
def test_innermost_of_nested_blocks_counts(client_kind) -> None:
    with FakeAdService(token="outer").as_environment() as outer:
        first = made(client_kind)
        with FakeAdService(token="inner").as_environment() as inner:
            pause(made(client_kind))
            pause(first)
        assert settings() == [outer.base_url, "outer"]
        pause(made(client_kind))
    assert settings() == [NOWHERE, "real"]
    assert (len(outer.drafts), len(inner.drafts)) == (2, 1)


@pytest.mark.parametrize("address", ["https://fake.adclient.test", "http://fake.adclient.test:8/x"])
@CLIENT_KINDS
def test_address_of_the_fake_is_refused_elsewhere_with_a_hint(client_kind, address) -> None:
    with pytest.raises(ConfigurationError, match=r"no real address; use fake\.client") as caught:
        made(client_kind, address)
    assert caught.value.argument == "base_url"
