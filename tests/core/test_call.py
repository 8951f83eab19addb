"""The operations, against a transcription of section 4 of the interface made by hand."""

import inspect

from cases import each_case

import adclient
from adclient._core.call import OPERATIONS
from adclient._core.listing import Listing
from adclient.models import (
    Ad,
    BusinessProfile,
    Campaign,
    CreativeFatigue,
    Draft,
    Objective,
    TargetingOption,
    WastedSpend,
)

INTERFACE = """
POST   /v1/alpha-ads/update-alpha-campaign-targeting  account_id! campaign_id! targeting fields
POST   /v1/alpha-ads/update-alpha-campaign-budget     account_id! campaign_id! daily_budget fields
POST   /v1/beta-ads/create-beta-video-campaign        account_id! campaign_id fields!
POST   /v1/alpha-ads/update-alpha-creative            account_id! creative_id fields
POST   /v1/gamma-ads/create-gamma-image-campaign      account_id! campaign_id fields!
POST   /v1/delta-ads/update-keyword                   account_id! keywords! fields
POST   /v1/gamma-ads/create-gamma-dco-ad              account_id! ad_id fields!
POST   /v1/beta-ads/pause-beta-campaign               account_id! campaign_id!
DELETE /v1/delta-ads/remove-delta-auto-search-themes  account_id!
GET    /v1/beta-ads/list-beta-campaigns               account_id! campaign_id date_range
GET    /v1/gamma-ads/search-gamma-targeting           account_id! targeting
GET    /v1/beta-ads/detect-beta-creative-fatigue      account_id! creative_id
GET    /v1/gamma-ads/list-gamma-ads                   account_id! date_range
GET    /v1/alpha-ads/explain-alpha-objectives         account_id!
GET    /v1/delta-ads/analyze-wasted-spend             account_id!
GET    /v1/delta-ads/infer-business-profile           account_id!
"""
TYPES = {
    "account_id": "id",
    "campaign_id": "id",
    "creative_id": "id",
    "ad_id": "id",
    "targeting": "object",
    "fields": "object",
    "daily_budget": "number",
    "keywords": "texts",
    "date_range": "text",
}
METHODS = {
    "update-alpha-campaign-targeting": ("alpha", "update_campaign_targeting", Draft),
    "update-alpha-campaign-budget": ("alpha", "update_campaign_budget", Draft),
    "create-beta-video-campaign": ("beta", "create_video_campaign", Draft),
    "update-alpha-creative": ("alpha", "update_creative", Draft),
    "create-gamma-image-campaign": ("gamma", "create_image_campaign", Draft),
    "update-keyword": ("delta", "update_keyword", Draft),
    "create-gamma-dco-ad": ("gamma", "create_dco_ad", Draft),
    "pause-beta-campaign": ("beta", "pause_campaign", Draft),
    "remove-delta-auto-search-themes": ("delta", "remove_auto_search_themes", Draft),
    "list-beta-campaigns": ("beta", "list_campaigns", Listing[Campaign]),
    "search-gamma-targeting": ("gamma", "search_targeting", Listing[TargetingOption]),
    "detect-beta-creative-fatigue": ("beta", "detect_creative_fatigue", Listing[CreativeFatigue]),
    "list-gamma-ads": ("gamma", "list_ads", Listing[Ad]),
    "explain-alpha-objectives": ("alpha", "explain_objectives", Listing[Objective]),
    "analyze-wasted-spend": ("delta", "analyze_wasted_spend", Listing[WastedSpend]),
    "infer-business-profile": ("delta", "infer_business_profile", Listing[BusinessProfile]),
}
ROWS = [line.split() for line in INTERFACE.strip().splitlines()]
PAIRS = list(zip(OPERATIONS, ROWS, strict=True))


def test_there_are_sixteen():
    assert len(OPERATIONS) == len(ROWS) == len(METHODS) == 16


@each_case(("operation", "row"), PAIRS)
def test_each_is_the_interface_s(operation, row):
    method, path, *parameters = row
    assert (operation.method, operation.path) == (method, path)
    assert [p.name + "!" * p.required for p in operation.parameters] == parameters
    assert [p.type for p in operation.parameters] == [TYPES[p.rstrip("!")] for p in parameters]
    assert operation.kind == ("read" if method == "GET" else "write")


@each_case(("operation", "row"), PAIRS)
def test_each_has_its_name_and_result(operation, row):
    namespace, name, result = METHODS[row[1].rpartition("/")[2]]
    assert (operation.namespace, operation.name) == (namespace, name)
    assert operation.full_name == f"{namespace}.{name}"
    assert operation.result == result
    assert f"/v1/{namespace}-ads/" in operation.path


@each_case("client", [adclient.AdClient, adclient.AsyncAdClient])
@each_case("operation", OPERATIONS)
def test_each_is_a_method_with_these_arguments(client, operation):
    namespace = inspect.get_annotations(client, eval_str=True)[operation.namespace]
    signature = inspect.signature(getattr(namespace, operation.name))
    expected = {p.name: p.required for p in operation.parameters}
    if operation.kind == "read":
        expected["cursor"] = False
    given = {
        name: parameter.default is parameter.empty
        for name, parameter in signature.parameters.items()
        if name != "self"
    }
    assert given == expected
    assert list(given) == list(expected)
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY
        for name, parameter in signature.parameters.items()
        if name != "self"
    )
