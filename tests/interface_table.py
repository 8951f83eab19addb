"""Section 4 of the interface, transcribed by hand to find errors in the library."""

from collections.abc import Mapping
from decimal import Decimal

import attrs

from adclient import (
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Item,
    Objective,
    TargetingOption,
    WastedSpend,
)

STRING, OBJECT, NUMBER, STRINGS = "string", "object", "number", "array of strings"


@attrs.frozen
class Parameter:
    name: str
    type: str
    required: bool


def required(name: str, type: str = STRING) -> Parameter:
    return Parameter(name, type, required=True)


def optional(name: str, type: str = STRING) -> Parameter:
    return Parameter(name, type, required=False)


@attrs.frozen(kw_only=True)
class Row:
    """One operation; `wire` is the query of a read and the body of a write.

    `wire` is the encoding of `arguments`, `least` that of the required ones.
    """

    number: int
    call: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    result: type[Draft | Item]
    arguments: Mapping[str, object]
    wire: str
    least: str

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def required(self) -> dict[str, object]:
        return {p.name: self.arguments[p.name] for p in self.parameters if p.required}

    def __str__(self) -> str:
        return self.call


ROWS = (
    Row(
        number=1,
        call="alpha.update_campaign_targeting",
        method="POST",
        path="/v1/alpha-ads/update-alpha-campaign-targeting",
        parameters=(
            required("account_id"),
            required("campaign_id"),
            optional("targeting", OBJECT),
            optional("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_a91f",
            "campaign_id": "campaign_4c10",
            "targeting": {"locations": ["geo:103644278"], "seniority": None},
            "fields": {"name": "Größe"},
        },
        wire='{"account_id":"account_a91f","campaign_id":"campaign_4c10",'
        '"targeting":{"locations":["geo:103644278"],"seniority":null},"fields":{"name":"Größe"}}',
        least='{"account_id":"account_a91f","campaign_id":"campaign_4c10"}',
    ),
    Row(
        number=2,
        call="alpha.update_campaign_budget",
        method="POST",
        path="/v1/alpha-ads/update-alpha-campaign-budget",
        parameters=(
            required("account_id"),
            required("campaign_id"),
            optional("daily_budget", NUMBER),
            optional("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_a91f",
            "campaign_id": "campaign_4c10",
            "daily_budget": Decimal("120.50"),
            "fields": {"pacing": "EVEN"},
        },
        wire='{"account_id":"account_a91f","campaign_id":"campaign_4c10",'
        '"daily_budget":120.50,"fields":{"pacing":"EVEN"}}',
        least='{"account_id":"account_a91f","campaign_id":"campaign_4c10"}',
    ),
    Row(
        number=3,
        call="beta.create_video_campaign",
        method="POST",
        path="/v1/beta-ads/create-beta-video-campaign",
        parameters=(
            required("account_id"),
            optional("campaign_id"),
            required("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_b204",
            "campaign_id": "campaign_57a7",
            "fields": {"name": "Autumn", "daily_budget": 150},
        },
        wire='{"account_id":"account_b204","campaign_id":"campaign_57a7",'
        '"fields":{"name":"Autumn","daily_budget":150}}',
        least='{"account_id":"account_b204","fields":{"name":"Autumn","daily_budget":150}}',
    ),
    Row(
        number=4,
        call="alpha.update_creative",
        method="POST",
        path="/v1/alpha-ads/update-alpha-creative",
        parameters=(
            required("account_id"),
            optional("creative_id"),
            optional("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_a91f",
            "creative_id": "creative_0b2c",
            "fields": {"headline": 'Say "yes"'},
        },
        wire='{"account_id":"account_a91f","creative_id":"creative_0b2c",'
        '"fields":{"headline":"Say \\"yes\\""}}',
        least='{"account_id":"account_a91f"}',
    ),
    Row(
        number=5,
        call="gamma.create_image_campaign",
        method="POST",
        path="/v1/gamma-ads/create-gamma-image-campaign",
        parameters=(
            required("account_id"),
            optional("campaign_id"),
            required("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_c3d8",
            "campaign_id": "campaign_1dce",
            "fields": {"objective": "TRAFFIC"},
        },
        wire='{"account_id":"account_c3d8","campaign_id":"campaign_1dce",'
        '"fields":{"objective":"TRAFFIC"}}',
        least='{"account_id":"account_c3d8","fields":{"objective":"TRAFFIC"}}',
    ),
    Row(
        number=6,
        call="delta.update_keyword",
        method="POST",
        path="/v1/delta-ads/update-keyword",
        parameters=(
            required("account_id"),
            required("keywords", STRINGS),
            optional("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_d118",
            "keywords": ["outdoor jacket", "tent"],
            "fields": {"action": "PAUSE"},
        },
        wire='{"account_id":"account_d118","keywords":["outdoor jacket","tent"],'
        '"fields":{"action":"PAUSE"}}',
        least='{"account_id":"account_d118","keywords":["outdoor jacket","tent"]}',
    ),
    Row(
        number=7,
        call="gamma.create_dco_ad",
        method="POST",
        path="/v1/gamma-ads/create-gamma-dco-ad",
        parameters=(
            required("account_id"),
            optional("ad_id"),
            required("fields", OBJECT),
        ),
        result=Draft,
        arguments={
            "account_id": "account_c3d8",
            "ad_id": "ad_9f10",
            "fields": {"assets": {"images": ["img_1"], "titles": []}},
        },
        wire='{"account_id":"account_c3d8","ad_id":"ad_9f10",'
        '"fields":{"assets":{"images":["img_1"],"titles":[]}}}',
        least='{"account_id":"account_c3d8","fields":{"assets":{"images":["img_1"],"titles":[]}}}',
    ),
    Row(
        number=8,
        call="beta.pause_campaign",
        method="POST",
        path="/v1/beta-ads/pause-beta-campaign",
        parameters=(required("account_id"), required("campaign_id")),
        result=Draft,
        arguments={"account_id": "account_b204", "campaign_id": "campaign_57a7"},
        wire='{"account_id":"account_b204","campaign_id":"campaign_57a7"}',
        least='{"account_id":"account_b204","campaign_id":"campaign_57a7"}',
    ),
    Row(
        number=9,
        call="delta.remove_auto_search_themes",
        method="DELETE",
        path="/v1/delta-ads/remove-delta-auto-search-themes",
        parameters=(required("account_id"),),
        result=Draft,
        arguments={"account_id": "account_d118"},
        wire='{"account_id":"account_d118"}',
        least='{"account_id":"account_d118"}',
    ),
    Row(
        number=10,
        call="beta.list_campaigns",
        method="GET",
        path="/v1/beta-ads/list-beta-campaigns",
        parameters=(
            required("account_id"),
            optional("campaign_id"),
            optional("date_range"),
        ),
        result=Campaign,
        arguments={
            "account_id": "account_b204",
            "campaign_id": "campaign/57a7",
            "date_range": "LAST_30_DAYS",
        },
        wire="account_id=account_b204&campaign_id=campaign%2F57a7&date_range=LAST_30_DAYS",
        least="account_id=account_b204",
    ),
    Row(
        number=11,
        call="gamma.search_targeting",
        method="GET",
        path="/v1/gamma-ads/search-gamma-targeting",
        parameters=(required("account_id"), optional("targeting", OBJECT)),
        result=TargetingOption,
        arguments={
            "account_id": "account_c3d8",
            "targeting": {"type": "INTEREST", "query": "trail & hut"},
        },
        wire="account_id=account_c3d8&targeting="
        "%7B%22type%22%3A%22INTEREST%22%2C%22query%22%3A%22trail%20%26%20hut%22%7D",
        least="account_id=account_c3d8",
    ),
    Row(
        number=12,
        call="beta.detect_creative_fatigue",
        method="GET",
        path="/v1/beta-ads/detect-beta-creative-fatigue",
        parameters=(required("account_id"), optional("creative_id")),
        result=CreativeFatigue,
        arguments={"account_id": "account_b204", "creative_id": "creative_0b2c"},
        wire="account_id=account_b204&creative_id=creative_0b2c",
        least="account_id=account_b204",
    ),
    Row(
        number=13,
        call="gamma.list_ads",
        method="GET",
        path="/v1/gamma-ads/list-gamma-ads",
        parameters=(required("account_id"), optional("date_range")),
        result=Ad,
        arguments={"account_id": "account_c3d8", "date_range": "LAST_30_DAYS"},
        wire="account_id=account_c3d8&date_range=LAST_30_DAYS",
        least="account_id=account_c3d8",
    ),
    Row(
        number=14,
        call="alpha.explain_objectives",
        method="GET",
        path="/v1/alpha-ads/explain-alpha-objectives",
        parameters=(required("account_id"),),
        result=Objective,
        arguments={"account_id": "account a+91f"},
        wire="account_id=account%20a%2B91f",
        least="account_id=account%20a%2B91f",
    ),
    Row(
        number=15,
        call="delta.analyze_wasted_spend",
        method="GET",
        path="/v1/delta-ads/analyze-wasted-spend",
        parameters=(required("account_id"),),
        result=WastedSpend,
        arguments={"account_id": "account_d118"},
        wire="account_id=account_d118",
        least="account_id=account_d118",
    ),
    Row(
        number=16,
        call="delta.infer_business_profile",
        method="GET",
        path="/v1/delta-ads/infer-business-profile",
        parameters=(required("account_id"),),
        result=BusinessProfile,
        arguments={"account_id": "account_d118"},
        wire="account_id=account_d118",
        least="account_id=account_d118",
    ),
)
