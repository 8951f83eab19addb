"""A transport of another HTTP library that is only sync or only async: pyreqwest's for httpx."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
from pyreqwest.compatibility.httpx import HttpxTransport, SyncHttpxTransport

from adclient import AdClient, AsyncAdClient, CallTimeout, ConnectionFailed, NotFound
from adclient.testing import FakeAdService
from adclient.testing.server import serving

ADS = {"account_id": "account_c3d8"}
BUDGET = {"account_id": "account_a91f", "campaign_id": "campaign_4c10", "daily_budget": 99}


def test_sync_calls_over_pyreqwest() -> None:
    fake = FakeAdService()
    with (
        serving(fake) as url,
        SyncHttpxTransport() as transport,
        AdClient(url, transport=transport) as client,
    ):
        draft = client.alpha.update_campaign_budget(**BUDGET)
        assert [draft.draft_id] == [each.draft_id for each in fake.drafts]
        assert len(client.gamma.list_ads(**ADS).collect()) > 50
        with pytest.raises(NotFound):
            client.gamma.list_ads(account_id="account_0000")


def test_async_calls_over_pyreqwest() -> None:
    fake = FakeAdService()

    async def scenario(url: str) -> None:
        async with (
            HttpxTransport() as transport,
            AsyncAdClient(url, transport=transport) as client,
        ):
            draft = await client.alpha.update_campaign_budget(**BUDGET)
            assert [draft.draft_id] == [each.draft_id for each in fake.drafts]
            assert len(await client.gamma.list_ads(**ADS).collect()) > 50
            with pytest.raises(NotFound):
                await client.gamma.list_ads(account_id="account_0000")

    with serving(fake) as url:
        asyncio.run(scenario(url))


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_write_that_was_sent_is_not_repeated_after_a_timeout_over_pyreqwest(silent) -> None:
    # pyreqwest reports it as a timeout of the connection.
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    with (
        SyncHttpxTransport() as transport,
        AdClient(url, transport=transport, timeout=0.2) as client,
        pytest.raises(CallTimeout, match="no response in time") as raised,
    ):
        client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    assert raised.value.outcome_unknown
    assert raised.value.attempts == 1


def test_refused_connection_over_pyreqwest_is_retried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with (
        SyncHttpxTransport() as transport,
        AdClient(url, transport=transport, timeout=5, max_retries=1) as client,
        pytest.raises(ConnectionFailed) as raised,
    ):
        client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    assert raised.value.attempts == 2
