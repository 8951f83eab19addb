"""What the type checkers make of the async client. It is checked, and never run."""

import asyncio
import time
from decimal import Decimal
from typing import assert_type

import httpx
import httpx2
import polars
from sync_surface import Geo, MyCampaign

import adclient
from adclient import Ad, AsyncAdClient, AsyncListing, AsyncPage, Campaign, Items, Token
from adclient.agents import call_tool


async def fresh_token() -> Token:
    return Token("t0ken", expires_at=time.time() + 3600)


async def signed(request: adclient.Request) -> dict[str, str]:
    return {"x-signature": request.method}


AsyncAdClient(token=fresh_token)
AsyncAdClient(auth=signed)
AsyncAdClient(hooks=adclient.Hooks(on_response=lambda event: assert_type(event.status, int | None)))
AsyncAdClient(http_client=httpx2.AsyncClient())
AsyncAdClient(transport=httpx.AsyncHTTPTransport())


async def drafts(a: str) -> None:
    async with AsyncAdClient("https://ads.example.com") as client:
        assert_type(client, AsyncAdClient)
        assert_type(client.with_options(max_retries=5), AsyncAdClient)
        called = await call_tool(client, "gamma_list_ads", {}, writes=True)
        assert_type(called, dict[str, adclient.JSON])
        budget = client.alpha.update_campaign_budget
        staged = budget(account_id=a, campaign_id="c", daily_budget=Decimal("9.90"))
        assert_type(await staged, adclient.Draft)
        await client.aclose()


async def listings(client: AsyncAdClient, a: str) -> None:
    campaigns = client.beta.list_campaigns(account_id=a, date_range="LAST_30_DAYS")
    ads = client.gamma.list_ads(account_id=a)
    assert_type(campaigns, AsyncListing[Campaign])
    async for campaign in campaigns:
        assert_type(campaign, Campaign)
    async for ad in await ads:
        assert_type(ad, Ad)
    async for page in ads.pages():
        assert_type(page, AsyncPage[Ad])
    assert_type(await ads.collect(limit=10), Items[Ad])
    assert_type(await (await ads).collect(), Items[Ad])
    assert_type(await (await ads).to_polars(), polars.DataFrame)


async def accounts(client: AsyncAdClient, a: str) -> None:
    async def my_campaigns(account_id: str) -> AsyncPage[MyCampaign]:
        return await client.beta.list_campaigns(account_id=account_id).typed(MyCampaign)

    async for account_id, found in client.over_accounts(client.gamma.list_ads, [a], at_once=5):
        assert_type(account_id, str)
        assert_type(found, Items[Ad] | adclient.AdClientError)
    async with client.over_accounts(my_campaigns, {a}, progress=True) as each:
        assert_type(each, adclient.AsyncAccountIterator[MyCampaign])
    locations = client.gamma.list_ads(account_id=a).typed(Geo)
    geo = client.over_accounts(lambda account_id: locations, [a])
    assert_type((await anext(geo))[1], Items[Geo] | adclient.AdClientError)
    await geo.aclose()


async def tasks(client: AsyncAdClient, a: str) -> None:
    assert_type(await asyncio.create_task(client.gamma.list_ads(account_id=a)), AsyncPage[Ad])
    async with asyncio.TaskGroup() as group:
        task = group.create_task(client.beta.list_campaigns(account_id=a).typed(MyCampaign))
    assert_type(task.result(), AsyncPage[MyCampaign])
    ads, waste = await asyncio.gather(
        client.gamma.list_ads(account_id=a), client.delta.analyze_wasted_spend(account_id=a)
    )
    assert_type((ads, waste), tuple[AsyncPage[Ad], AsyncPage[adclient.WastedSpend]])


async def typed(client: AsyncAdClient, a: str) -> None:
    listing = client.beta.list_campaigns(account_id=a).typed(MyCampaign)
    assert_type(listing, AsyncListing[MyCampaign])
    assert_type(await listing, AsyncPage[MyCampaign])
    assert_type(await listing.collect(), Items[MyCampaign])
    async for each in (await client.gamma.list_ads(account_id=a)).typed(Geo).pages():
        assert_type(each.data[0].locations, list[str])
