"""A transport of another HTTP library that is only sync or only async: pyreqwest's for httpx."""

import asyncio
import inspect
import socket

import pytest
from pyreqwest.compatibility.httpx import HttpxTransport, SyncHttpxTransport

from adclient import AdClient, AsyncAdClient, CallTimeout, ConnectionFailed, NotFound
from adclient.testing import FakeAdService
from adclient.testing.server import serving

ADS = {"account_id": "account_c3d8"}
BUDGET = {"account_id": "account_a91f", "campaign_id": "campaign_4c10", "daily_budget": 99}


async def wait(value):
    return await value if inspect.isawaitable(value) else value


async def use(client, fake: FakeAdService) -> None:
    draft = await wait(client.alpha.update_campaign_budget(**BUDGET))
    assert [draft.draft_id] == [each.draft_id for each in fake.drafts]
    assert len(await wait(client.gamma.list_ads(**ADS).collect())) > 50
    with pytest.raises(NotFound):
        await wait(client.gamma.list_ads(account_id="account_0000"))


def test_calls_over_pyreqwest() -> None:
    async def scenario() -> None:
        fake = FakeAdService()
        with (
            serving(fake) as url,
            SyncHttpxTransport() as transport,
            AdClient(url, transport=transport) as client,
        ):
            await use(client, fake)
        fake = FakeAdService()
        with serving(fake) as url:
            async with (
                HttpxTransport() as transport,
                AsyncAdClient(url, transport=transport) as client,
            ):
                await use(client, fake)

    asyncio.run(scenario())


def pause_over_pyreqwest(port: int, **options) -> None:
    campaign = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
    with (
        SyncHttpxTransport() as transport,
        AdClient(f"http://127.0.0.1:{port}", transport=transport, **options) as client,
    ):
        client.beta.pause_campaign(**campaign)


def test_write_that_was_sent_is_not_repeated_after_a_timeout_over_pyreqwest() -> None:
    # pyreqwest reports it as a timeout of the connection.
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(CallTimeout, match="no response in time") as raised,
    ):
        pause_over_pyreqwest(silent.getsockname()[1], timeout=0.2)
    assert raised.value.outcome_unknown
    assert raised.value.attempts == 1


def test_refused_connection_over_pyreqwest_is_retried() -> None:
    with pytest.raises(ConnectionFailed) as raised:
        pause_over_pyreqwest(1, timeout=5, max_retries=1)
    assert raised.value.attempts == 2
