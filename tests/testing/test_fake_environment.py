"""Code that makes its clients from the environment, against the fake and unchanged."""

import asyncio
import os
import threading

import httpx
import pytest
from fake_helpers import CLIENT_KINDS

from adclient import AdClient, AsyncAdClient, ConfigurationError, ConnectionFailed
from adclient.testing import FakeAdService, Fault

NAMES = ("ADCLIENT_BASE_URL", "ADCLIENT_TOKEN")
PAUSE = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
ADDRESSES = ["https://fake.adclient.test", "http://fake.adclient.test:8080/ads"]
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
def test_client_from_the_environment_reaches_the_fake(client_kind) -> None:
    with FakeAdService(token="t0ken").as_environment() as fake:
        assert settings() == [fake.base_url, "t0ken"]
        draft_id = pause(made(client_kind))
    assert [draft.draft_id for draft in fake.drafts] == [draft_id]
    assert fake.requests[0].headers["authorization"] == "Bearer t0ken"


@CLIENT_KINDS
def test_fake_without_token_receives_no_token(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        pause(made(client_kind))
    assert "authorization" not in fake.requests[0].headers


@CLIENT_KINDS
def test_client_uses_the_clock_of_the_fake(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        pause(made(client_kind))
    assert fake.clock.sleeps == (20.5,)


@CLIENT_KINDS
def test_settings_of_own_connections_are_accepted(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        pause(made(client_kind, verify=False, proxy="http://proxy.example.com:3128"))
        fake.base_url += "/ads"
        pause(made(client_kind, fake.base_url))
    assert len(fake.drafts) == 2


@CLIENT_KINDS
def test_another_address_is_not_the_fake(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        client = made(client_kind, NOWHERE, max_retries=0)
        with pytest.raises(ConnectionFailed):
            pause(client)
    assert fake.requests == ()


@CLIENT_KINDS
@pytest.mark.parametrize("way", ["transport", "http_client"])
def test_client_with_a_sender_of_its_own_uses_that(client_kind, way) -> None:
    sender = httpx.MockTransport(lambda request: httpx.Response(418))
    if way == "http_client":
        kind = httpx.Client if client_kind == "sync" else httpx.AsyncClient
        sender = kind(transport=sender)
    with FakeAdService().as_environment() as fake:
        client = made(client_kind, **{way: sender}, max_retries=0)
        with pytest.raises(Exception, match="418"):
            pause(client)
    assert fake.requests == ()


def test_environment_is_restored(monkeypatch) -> None:
    for before in ([NOWHERE, "real"], [None, None]):
        for name, value in zip(NAMES, before, strict=True):
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
        with pytest.raises(ZeroDivisionError), FakeAdService(token="t").as_environment():
            raise ZeroDivisionError
        assert settings() == before


@CLIENT_KINDS
def test_innermost_of_nested_blocks_counts(client_kind) -> None:
    with FakeAdService(token="outer").as_environment() as outer:
        first = made(client_kind)
        with FakeAdService(token="inner").as_environment() as inner:
            pause(made(client_kind))
            pause(first)
        assert settings() == [outer.base_url, "outer"]
        pause(made(client_kind))
    assert (len(outer.drafts), len(inner.drafts)) == (2, 1)


@CLIENT_KINDS
def test_client_keeps_its_fake_after_the_block(client_kind) -> None:
    with FakeAdService().as_environment() as fake:
        client = made(client_kind)
    pause(client)
    assert len(fake.drafts) == 1


def test_all_threads_share_the_environment() -> None:
    with FakeAdService().as_environment() as fake:
        thread = threading.Thread(target=lambda: pause(AdClient()))
        thread.start()
        thread.join()
    assert len(fake.drafts) == 1


@CLIENT_KINDS
@pytest.mark.parametrize("address", ADDRESSES)
def test_address_of_the_fake_is_refused_elsewhere_with_a_hint(client_kind, address) -> None:
    with FakeAdService().as_environment():
        pause(made(client_kind))
    with pytest.raises(ConfigurationError, match=r"no real address; use fake\.client") as caught:
        made(client_kind, address)
    assert caught.value.argument == "base_url"
