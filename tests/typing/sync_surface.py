"""What the type checkers make of the sync client. It is checked, and never run."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Literal, TypedDict, assert_type

import attrs
import httpx
import httpx2
import pandas
import polars

import adclient
from adclient import JSON, Ad, AdClient, AdClientError, Campaign, Draft, Items, Page, WastedSpend
from adclient.agents import call_tool, tools


@attrs.frozen(kw_only=True)
class MyCampaign(Campaign):
    objective: str


@attrs.frozen
class Geo:
    locations: list[str]


@dataclass
class Named:
    name: str


class Fields(TypedDict):
    name: str


class Model:
    """As the type checkers see a pydantic model."""

    def model_dump(
        self, *, mode: Literal["json", "python"] | str = "python", by_alias: bool | None = None
    ) -> dict[str, Any]:
        return {"mode": mode, "by_alias": by_alias}


def signed(request: adclient.Request) -> dict[str, str]:
    return {"x-signature": request.method}


with AdClient("https://ads.example.com", token=lambda: "t0ken") as client:
    assert_type(client, AdClient)
    assert_type(client.with_options(timeout=5, headers={"x-team": "ads"}), AdClient)
    assert_type(tools(client, writes=True), list[dict[str, JSON]])
    assert_type(call_tool(client, "gamma_list_ads", {"account_id": "a"}), dict[str, JSON])

AdClient(token=lambda: adclient.Token("t0ken", expires_at=time.time() + 3600))
AdClient(auth=signed, timeout=5, max_retries=0, retry=adclient.RetryPolicy(), max_concurrency=4)
AdClient(hooks=adclient.Hooks(on_draft=lambda event: assert_type(event.draft, Draft)))
AdClient(hooks=adclient.Hooks(on_retry=print))
AdClient(http_client=httpx.Client())
AdClient(http_client=httpx2.Client())
AdClient(transport=httpx.HTTPTransport())
AdClient(transport=httpx2.HTTPTransport())

# Writes, with objects of several kinds.
a = "account_1"
budget = client.alpha.update_campaign_budget
assert_type(client.alpha.update_creative(account_id=a, fields=Named("x")), Draft)
assert_type(client.alpha.update_creative(account_id=a, fields=Fields(name="x")), Draft)
assert_type(client.alpha.update_creative(account_id=a, fields=Model()), Draft)
assert_type(budget(account_id=a, campaign_id="c", daily_budget=Decimal("0.1")), Draft)
assert_type(client.delta.update_keyword(account_id=a, keywords=("tent", "boot")), Draft)
assert_type(client.gamma.create_dco_ad(account_id=a, ad_id="ad", fields={"a": {"b": [1]}}), Draft)
draft = client.delta.remove_auto_search_themes(account_id=a)
assert_type(draft, Draft)
assert_type(draft.diff.before, JSON)

# Reads.
campaigns = client.beta.list_campaigns(account_id=a, campaign_id="c", date_range="LAST_30_DAYS")
ads = client.gamma.list_ads(account_id=a, cursor={"after": [1, None]})
waste = client.delta.analyze_wasted_spend(account_id=a)
profile = client.delta.infer_business_profile(account_id=a, cursor=campaigns.next)
assert_type(campaigns, Page[Campaign])
assert_type(waste, Page[WastedSpend])

assert_type([campaign.name for campaign in campaigns], list[str])
assert_type(campaigns.data, Items[Campaign])
for page in ads.pages():
    assert_type(page, Page[Ad])
    assert_type([ad.id for ad in page.data], list[str])
assert_type(iter(waste).cursor, JSON)
assert_type(waste.collect(limit=3), Items[WastedSpend])
assert_type(ads.to_pandas(limit=7), pandas.DataFrame)
assert_type(ads.collect().to_polars(), polars.DataFrame)
walk: Iterator[adclient.BusinessProfile] = iter(profile)

typed = campaigns.typed(MyCampaign)
assert_type(typed, Page[MyCampaign])
assert_type(typed.data[0].objective, str)
assert_type(typed.collect(), Items[MyCampaign])
assert_type(ads.collect() + typed.collect(), Items[Ad | MyCampaign])
assert_type(ads.typed(Geo).data[0].locations, list[str])

for account_id, found in client.over_accounts(client.gamma.list_ads, ["a"], at_once=5):
    assert_type(account_id, str)
    assert_type(found, Items[Ad] | AdClientError)
last_days = partial(client.beta.list_campaigns, date_range="LAST_30_DAYS")
assert_type(next(client.over_accounts(last_days, (a for _ in "ab")))[0], str)


def my_campaigns(account_id: str) -> Page[MyCampaign]:
    return client.beta.list_campaigns(account_id=account_id).typed(MyCampaign)


with client.over_accounts(my_campaigns, {"a"}, progress=True) as accounts:
    assert_type(accounts, adclient.AccountIterator[MyCampaign])
geo = client.over_accounts(lambda account_id: ads.typed(Geo), ["a"])
assert_type(next(geo)[1], Items[Geo] | AdClientError)
reader: adclient.AccountRead[Ad] = client.gamma.list_ads
