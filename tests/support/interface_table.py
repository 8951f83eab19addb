"""Section 4 of the interface, transcribed by hand to find errors in the library."""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

import attrs

from adclient import models
from adclient.models import Draft, Item

STRING, OBJECT, NUMBER, STRINGS = "string", "object", "number", "array of strings"

INTERFACE = r"""
POST /v1/alpha-ads/update-alpha-campaign-targeting
alpha.update_campaign_targeting -> Draft
account_id (string, required); campaign_id (string, required); targeting (object, optional);
fields (object, optional)
{"account_id": "account_a91f", "campaign_id": "campaign_4c10",
"targeting": {"locations": ["geo:103644278"], "seniority": null}, "fields": {"name": "Größe"}}

POST /v1/alpha-ads/update-alpha-campaign-budget
alpha.update_campaign_budget -> Draft
account_id (string, required); campaign_id (string, required);
daily_budget (number, optional, in account currency); fields (object, optional)
{"account_id": "account_a91f", "campaign_id": "campaign_4c10", "daily_budget": 120.5,
"fields": {"pacing": "EVEN"}}

POST /v1/beta-ads/create-beta-video-campaign
beta.create_video_campaign -> Draft
account_id (string, required); campaign_id (string, optional); fields (object, required)
{"account_id": "account_b204", "campaign_id": "campaign_57a7",
"fields": {"name": "Autumn", "daily_budget": 150}}

POST /v1/alpha-ads/update-alpha-creative
alpha.update_creative -> Draft
account_id (string, required); creative_id (string, optional); fields (object, optional)
{"account_id": "account_a91f", "creative_id": "creative_0b2c",
"fields": {"headline": "Say \"yes\""}}

POST /v1/gamma-ads/create-gamma-image-campaign
gamma.create_image_campaign -> Draft
account_id (string, required); campaign_id (string, optional); fields (object, required)
{"account_id": "account_c3d8", "campaign_id": "campaign_1dce", "fields": {"objective": "TRAFFIC"}}

POST /v1/delta-ads/update-keyword
delta.update_keyword -> Draft
account_id (string, required); keywords (array of strings, required); fields (object, optional)
{"account_id": "account_d118", "keywords": ["outdoor jacket", "tent"],
"fields": {"action": "PAUSE"}}

POST /v1/gamma-ads/create-gamma-dco-ad
gamma.create_dco_ad -> Draft
account_id (string, required); ad_id (string, optional); fields (object, required)
{"account_id": "account_c3d8", "ad_id": "ad_9f10",
"fields": {"assets": {"images": ["img_1"], "titles": []}}}

POST /v1/beta-ads/pause-beta-campaign
beta.pause_campaign -> Draft
account_id (string, required); campaign_id (string, required)
{"account_id": "account_b204", "campaign_id": "campaign_57a7"}

DELETE /v1/delta-ads/remove-delta-auto-search-themes
delta.remove_auto_search_themes -> Draft
account_id (string, required)
{"account_id": "account_d118"}

GET /v1/beta-ads/list-beta-campaigns
beta.list_campaigns -> Campaign
account_id (string, required); campaign_id (string, optional); date_range (string, optional)
{"account_id": "account_b204", "campaign_id": "campaign/57a7", "date_range": "LAST_30_DAYS"}

GET /v1/gamma-ads/search-gamma-targeting
gamma.search_targeting -> TargetingOption
account_id (string, required); targeting (object, optional)
{"account_id": "account_c3d8", "targeting": {"type": "INTEREST", "query": "trail & hut"}}

GET /v1/beta-ads/detect-beta-creative-fatigue
beta.detect_creative_fatigue -> CreativeFatigue
account_id (string, required); creative_id (string, optional)
{"account_id": "account_b204", "creative_id": "creative_0b2c"}

GET /v1/gamma-ads/list-gamma-ads
gamma.list_ads -> Ad
account_id (string, required); date_range (string, optional)
{"account_id": "account_c3d8", "date_range": "LAST_30_DAYS"}

GET /v1/alpha-ads/explain-alpha-objectives
alpha.explain_objectives -> Objective
account_id (string, required)
{"account_id": "account a+91f"}

GET /v1/delta-ads/analyze-wasted-spend
delta.analyze_wasted_spend -> WastedSpend
account_id (string, required)
{"account_id": "account_d118"}

GET /v1/delta-ads/infer-business-profile
delta.infer_business_profile -> BusinessProfile
account_id (string, required)
{"account_id": "account_d118"}
"""


@attrs.frozen
class Parameter:
    name: str
    type: str
    required: bool


@attrs.frozen
class Row:
    """One operation, and arguments for a call of it."""

    method: str
    path: str
    call: str
    result: type[Draft | Item]
    parameters: tuple[Parameter, ...]
    arguments: Mapping[str, object]

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def required(self) -> dict[str, object]:
        return {p.name: self.arguments[p.name] for p in self.parameters if p.required}

    def encoded(self, arguments: Mapping[str, object]) -> str:
        """The query of a read, or the body of a write."""
        if not self.is_read:
            return _dumps(arguments)
        texts = {name: v if isinstance(v, str) else _dumps(v) for name, v in arguments.items()}
        return urlencode(texts, quote_via=quote, safe="")

    def __str__(self) -> str:
        return self.call


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parsed(text: str) -> Row:
    method, path, call, _, result = text.split()[:5]
    parameters = re.findall(r"(\w+) \(([\w ]+), (required|optional)", text)
    return Row(
        method=method,
        path=path,
        call=call,
        result=getattr(models, result),
        parameters=tuple(Parameter(name, kind, of == "required") for name, kind, of in parameters),
        arguments=json.loads(text[text.index("{") :]),
    )


ROWS = tuple(map(_parsed, INTERFACE.strip().split("\n\n")))
