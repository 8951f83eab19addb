"""Section 4 of the interface, transcribed by hand to find errors in the library."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import quote

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


def _parsed(text: str) -> tuple[Parameter, ...]:
    """The parameters of an operation, as the interface writes them."""
    found = re.findall(r"(\w+) \(([\w ]+), (required|optional)", text)
    return tuple(Parameter(name, kind, need == "required") for name, kind, need in found)


@attrs.frozen
class Row:
    """One operation; `wire` is the encoding of `arguments`, `least` that of the required ones.

    That is the query of a read, or the body of a write.
    """

    call: str
    method: str
    path: str
    parameters: tuple[Parameter, ...] = attrs.field(converter=_parsed)
    result: type[Draft | Item]
    arguments: Mapping[str, object]
    wire: str

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def required(self) -> dict[str, object]:
        return {p.name: self.arguments[p.name] for p in self.parameters if p.required}

    @property
    def least(self) -> str:
        if self.is_read:
            return f"account_id={quote(str(self.arguments['account_id']))}"
        return json.dumps(self.required, ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        return self.call


ROWS = (
    Row(
        "alpha.update_campaign_targeting",
        "POST",
        "/v1/alpha-ads/update-alpha-campaign-targeting",
        "account_id (string, required); campaign_id (string, required); targeting (object,"
        " optional); fields (object, optional)",
        Draft,
        {
            "account_id": "account_a91f",
            "campaign_id": "campaign_4c10",
            "targeting": {"locations": ["geo:103644278"], "seniority": None},
            "fields": {"name": "Größe"},
        },
        '{"account_id":"account_a91f","campaign_id":"campaign_4c10",'
        '"targeting":{"locations":["geo:103644278"],"seniority":null},"fields":{"name":"Größe"}}',
    ),
    Row(
        "alpha.update_campaign_budget",
        "POST",
        "/v1/alpha-ads/update-alpha-campaign-budget",
        "account_id (string, required); campaign_id (string, required); daily_budget (number,"
        " optional, in account currency); fields (object, optional)",
        Draft,
        {
            "account_id": "account_a91f",
            "campaign_id": "campaign_4c10",
            "daily_budget": Decimal("120.50"),
            "fields": {"pacing": "EVEN"},
        },
        '{"account_id":"account_a91f","campaign_id":"campaign_4c10","daily_budget":120.50,'
        '"fields":{"pacing":"EVEN"}}',
    ),
    Row(
        "beta.create_video_campaign",
        "POST",
        "/v1/beta-ads/create-beta-video-campaign",
        "account_id (string, required); campaign_id (string, optional); fields (object, required)",
        Draft,
        {
            "account_id": "account_b204",
            "campaign_id": "campaign_57a7",
            "fields": {"name": "Autumn", "daily_budget": 150},
        },
        '{"account_id":"account_b204","campaign_id":"campaign_57a7","fields":{"name":"Autumn",'
        '"daily_budget":150}}',
    ),
    Row(
        "alpha.update_creative",
        "POST",
        "/v1/alpha-ads/update-alpha-creative",
        "account_id (string, required); creative_id (string, optional); fields (object, optional)",
        Draft,
        {
            "account_id": "account_a91f",
            "creative_id": "creative_0b2c",
            "fields": {"headline": 'Say "yes"'},
        },
        '{"account_id":"account_a91f","creative_id":"creative_0b2c",'
        '"fields":{"headline":"Say \\"yes\\""}}',
    ),
    Row(
        "gamma.create_image_campaign",
        "POST",
        "/v1/gamma-ads/create-gamma-image-campaign",
        "account_id (string, required); campaign_id (string, optional); fields (object, required)",
        Draft,
        {
            "account_id": "account_c3d8",
            "campaign_id": "campaign_1dce",
            "fields": {"objective": "TRAFFIC"},
        },
        '{"account_id":"account_c3d8","campaign_id":"campaign_1dce",'
        '"fields":{"objective":"TRAFFIC"}}',
    ),
    Row(
        "delta.update_keyword",
        "POST",
        "/v1/delta-ads/update-keyword",
        "account_id (string, required); keywords (array of strings, required); fields (object,"
        " optional)",
        Draft,
        {
            "account_id": "account_d118",
            "keywords": ["outdoor jacket", "tent"],
            "fields": {"action": "PAUSE"},
        },
        '{"account_id":"account_d118","keywords":["outdoor jacket","tent"],'
        '"fields":{"action":"PAUSE"}}',
    ),
    Row(
        "gamma.create_dco_ad",
        "POST",
        "/v1/gamma-ads/create-gamma-dco-ad",
        "account_id (string, required); ad_id (string, optional); fields (object, required)",
        Draft,
        {
            "account_id": "account_c3d8",
            "ad_id": "ad_9f10",
            "fields": {"assets": {"images": ["img_1"], "titles": []}},
        },
        '{"account_id":"account_c3d8","ad_id":"ad_9f10","fields":{"assets":{"images":["img_1"],'
        '"titles":[]}}}',
    ),
    Row(
        "beta.pause_campaign",
        "POST",
        "/v1/beta-ads/pause-beta-campaign",
        "account_id (string, required); campaign_id (string, required)",
        Draft,
        {"account_id": "account_b204", "campaign_id": "campaign_57a7"},
        '{"account_id":"account_b204","campaign_id":"campaign_57a7"}',
    ),
    Row(
        "delta.remove_auto_search_themes",
        "DELETE",
        "/v1/delta-ads/remove-delta-auto-search-themes",
        "account_id (string, required)",
        Draft,
        {"account_id": "account_d118"},
        '{"account_id":"account_d118"}',
    ),
    Row(
        "beta.list_campaigns",
        "GET",
        "/v1/beta-ads/list-beta-campaigns",
        "account_id (string, required); campaign_id (string, optional); date_range (string,"
        " optional)",
        Campaign,
        {
            "account_id": "account_b204",
            "campaign_id": "campaign/57a7",
            "date_range": "LAST_30_DAYS",
        },
        "account_id=account_b204&campaign_id=campaign%2F57a7&date_range=LAST_30_DAYS",
    ),
    Row(
        "gamma.search_targeting",
        "GET",
        "/v1/gamma-ads/search-gamma-targeting",
        "account_id (string, required); targeting (object, optional)",
        TargetingOption,
        {"account_id": "account_c3d8", "targeting": {"type": "INTEREST", "query": "trail & hut"}},
        "account_id=account_c3d8&"
        "targeting=%7B%22type%22%3A%22INTEREST%22%2C%22query%22%3A%22trail%20%26%20hut%22%7D",
    ),
    Row(
        "beta.detect_creative_fatigue",
        "GET",
        "/v1/beta-ads/detect-beta-creative-fatigue",
        "account_id (string, required); creative_id (string, optional)",
        CreativeFatigue,
        {"account_id": "account_b204", "creative_id": "creative_0b2c"},
        "account_id=account_b204&creative_id=creative_0b2c",
    ),
    Row(
        "gamma.list_ads",
        "GET",
        "/v1/gamma-ads/list-gamma-ads",
        "account_id (string, required); date_range (string, optional)",
        Ad,
        {"account_id": "account_c3d8", "date_range": "LAST_30_DAYS"},
        "account_id=account_c3d8&date_range=LAST_30_DAYS",
    ),
    Row(
        "alpha.explain_objectives",
        "GET",
        "/v1/alpha-ads/explain-alpha-objectives",
        "account_id (string, required)",
        Objective,
        {"account_id": "account a+91f"},
        "account_id=account%20a%2B91f",
    ),
    Row(
        "delta.analyze_wasted_spend",
        "GET",
        "/v1/delta-ads/analyze-wasted-spend",
        "account_id (string, required)",
        WastedSpend,
        {"account_id": "account_d118"},
        "account_id=account_d118",
    ),
    Row(
        "delta.infer_business_profile",
        "GET",
        "/v1/delta-ads/infer-business-profile",
        "account_id (string, required)",
        BusinessProfile,
        {"account_id": "account_d118"},
        "account_id=account_d118",
    ),
)
