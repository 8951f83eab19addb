import json
from datetime import timedelta
from functools import partial

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, READS, VALID_WRITES, WRITES, approve, refusal, send, stage

from adclient import AdClient, NotFound, PermissionDenied, Request, Unauthenticated, Unprocessable
from adclient._core.operations import OPERATIONS
from adclient.errors import ServerError
from adclient.testing import FakeAdService

ALPHA = {"account_id": "account_a91f"}
BETA = {"account_id": "account_b204"}
GAMMA = {"account_id": "account_c3d8"}
DELTA = {"account_id": "account_d118"}
CAMPAIGN = {**ALPHA, "campaign_id": "campaign_4c10"}


@pytest.fixture
def fake():
    return FakeAdService()


def asked(fake, operation, given, **how):
    """A refusal of a read or write that is sent as its kind is sent."""
    if not operation.is_write:
        return refusal(fake, operation.full_name, query=given, **how)
    return refusal(fake, operation.full_name, given, **how)


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


@each_case("operation", OPERATIONS)
def test_parameters_are_checked_against_the_interface(fake, operation):
    for parameter in operation.parameters:
        without = {k: v for k, v in valid(operation).items() if k != parameter.name}
        if parameter.required:
            details = [{"field": parameter.name, "reason": "required"}]
            assert asked(fake, operation, without) == (422, "invalid_parameter", details)
        if operation.is_write:
            status, code, [detail] = asked(fake, operation, {**without, parameter.name: True})
            assert (status, code) == (422, "invalid_parameter")
            assert detail["field"] == parameter.name
            assert detail["reason"].startswith("expected_")
    details = [{"field": "unheard_of", "reason": "unknown"}]
    given = {**valid(operation), "unheard_of": "1"}
    assert asked(fake, operation, given) == (422, "invalid_parameter", details)
    assert fake.drafts == ()


@each_case("operation", OPERATIONS)
def test_unknown_or_wrong_account_is_refused(fake, operation):
    given = valid(operation)
    unknown = {**given, "account_id": "account_0000"}
    assert asked(fake, operation, unknown) == (404, "account_not_found", [])
    gone = {**given, "account_id": "account_f403"}
    assert asked(fake, operation, gone) == (403, "account_disconnected", [])
    other = "delta" if operation.namespace != "delta" else "alpha"
    details = [{"field": "account_id", "reason": "platform_mismatch"}]
    elsewhere = {**given, "account_id": ACCOUNTS[other]}
    assert asked(fake, operation, elsewhere) == (422, "platform_mismatch", details)


SHUT = {
    "delta": ("account_5a5a", 403, "account_read_only"),
    "alpha": ("account_5a5b", 503, "drafting_paused"),
}


@each_case("operation", [w for w in WRITES if w.namespace in SHUT])
def test_read_only_and_paused_accounts_refuse_writes(fake, operation):
    account_id, status, code = SHUT[operation.namespace]
    given = {**valid(operation), "account_id": account_id}
    assert asked(fake, operation, given) == (status, code, [])


def test_paused_drafting_has_a_retry_after(fake):
    with pytest.raises(ServerError) as caught:
        fake.client().alpha.update_creative(account_id="account_5a5b", fields={"a": 1})
    assert caught.value.retry_after == 900
    assert caught.value.outcome_unknown


def test_unknown_path_and_wrong_method_are_refused(fake):
    reply = fake.handle(Request(method="GET", url=f"{fake.base_url}/v1/elsewhere"))
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (404, "not_found")
    for operation in OPERATIONS:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {operation.method}:
            request = Request(method=method, url=fake.base_url + operation.path)
            reply = fake.handle(request)
            assert reply.status == 405
            assert reply.headers["allow"] == operation.method
    assert fake.requests[-1].operation is None


@each_case("body", [None, b"", b"[1]", b"{", b"NaN", b"\xff"])
def test_body_that_is_not_an_object_is_refused(fake, body):
    assert refusal(fake, "beta.pause_campaign", body) == (400, "invalid_json", [])
    assert fake.requests[0].account_id is None


def test_parameters_in_the_wrong_place_are_refused(fake):
    given = {**BETA, "campaign_id": "campaign_57a7"}
    for operation in ("beta.pause_campaign", "delta.remove_auto_search_themes"):
        found = refusal(fake, operation, given, query=given)
        assert found == (400, "unexpected_query", [])
    found = refusal(fake, "beta.list_campaigns", BETA, query=BETA)
    assert found == (400, "unexpected_body", [])


def test_malformed_query_is_refused(fake):
    twice = "account_id=account_c3d8&account_id=account_c3d8"
    search = "gamma.search_targeting"
    for query, field, reason in [
        (twice, "account_id", "repeated"),
        ("account_id=account_c3d8&targeting=%7B", "targeting", "not_json"),
        ("account_id=account_c3d8&targeting=1", "targeting", "expected_object"),
        ("account_id=account_c3d8&targeting[type]=X", "targeting[type]", "unknown"),
        ("account_id=", "account_id", "expected_text"),
    ]:
        details = [{"field": field, "reason": reason}]
        assert refusal(fake, search, query=query) == (422, "invalid_parameter", details)


@each_case(("operation", "given", "code"), [
        ("alpha.update_campaign_budget", {**ALPHA, "campaign_id": "campaign_57a7"}, "campaign"),
        ("beta.pause_campaign", {**BETA, "campaign_id": "campaign_4c10"}, "campaign"),
        ("beta.create_video_campaign", {**BETA, "campaign_id": "x", "fields": {}}, "campaign"),
        ("gamma.create_image_campaign", {**GAMMA, "campaign_id": "x", "fields": {}}, "campaign"),
        ("alpha.update_creative", {**ALPHA, "creative_id": "campaign_4c10"}, "creative"),
        ("gamma.create_dco_ad", {**GAMMA, "ad_id": "x", "fields": {}}, "ad"),
        ("beta.list_campaigns", {**BETA, "campaign_id": "campaign_4c10"}, "campaign"),
        ("beta.detect_creative_fatigue", {**BETA, "creative_id": "creative_2f70"}, "creative"),
        ("delta.update_keyword", {**DELTA, "keywords": ["zither"], "fields": {"action": "PAUSE"}},
         "keyword"),
    ])  # fmt: skip
def test_entity_of_another_account_is_not_found(fake, operation, given, code):
    found = next(o for o in OPERATIONS if o.full_name == operation)
    field = "keywords" if code == "keyword" else f"{code}_id"
    assert asked(fake, found, given) == (404, f"{code}_not_found", details(field, "not_found"))


@pytest.mark.parametrize("operation", ["beta.list_campaigns", "gamma.list_ads"])
def test_unknown_date_range_is_refused(fake, operation):
    query = {"account_id": ACCOUNTS[operation[: operation.index(".")]], "date_range": "EVER"}
    details = [{"field": "date_range", "reason": "unknown"}]
    assert refusal(fake, operation, query=query) == (422, "unknown_date_range", details)


@each_case(("operation", "given"), [
        ("alpha.update_campaign_targeting", CAMPAIGN),
        ("alpha.update_campaign_budget", CAMPAIGN),
        ("alpha.update_campaign_budget", {**CAMPAIGN, "daily_budget": 100}),
        ("alpha.update_campaign_budget", {**CAMPAIGN, "daily_budget": 100.00}),
        ("alpha.update_campaign_budget", {**CAMPAIGN, "fields": {"bid": {"amount": 9.5}}}),
        ("alpha.update_creative", ALPHA),
        ("alpha.update_creative", {**ALPHA, "creative_id": "creative_2f70"}),
        ("beta.create_video_campaign", {**BETA, "campaign_id": "campaign_57a7", "fields": {}}),
        ("beta.pause_campaign", {**BETA, "campaign_id": "campaign_b151"}),
        ("delta.update_keyword",
         {**DELTA, "keywords": ["outdoor jacket"], "fields": {"action": "ENABLE"}}),
        ("delta.update_keyword",
         {**DELTA, "keywords": ["outdoor jacket"], "fields": {"action": "UPDATE"}}),
    ])  # fmt: skip
def test_write_without_a_change_is_refused(fake, operation, given):
    assert refusal(fake, operation, given) == (422, "no_change", [])
    assert fake.drafts == ()


def details(field, reason, limit=None):
    return [{"field": field, "reason": reason} | ({} if limit is None else {"limit": limit})]


@each_case(
    ("budget", "code", "limit"),
    [
        (0, "budget_invalid", None),
        (-5, "budget_invalid", None),
        (19.99, "budget_below_minimum", 20),
        (100_001, "budget_too_large", 100_000),
        (50.005, "not_multiple_of_currency_unit", 2),
    ],
)
def test_invalid_budgets_are_refused(fake, budget, code, limit):
    expected = 422, code, details("daily_budget", code.removeprefix("budget_"), limit)
    given = {**CAMPAIGN, "daily_budget": budget}
    assert refusal(fake, "alpha.update_campaign_budget", given) == expected
    inside = {**CAMPAIGN, "fields": {"daily_budget": budget}}
    assert refusal(fake, "alpha.update_campaign_budget", inside) == expected
    made = {**BETA, "fields": {"name": "x", "daily_budget": budget}}
    assert refusal(fake, "beta.create_video_campaign", made) == expected


@pytest.mark.parametrize("budget", [20, 99_999.99, 100_000])
def test_budgets_at_the_limits_are_accepted(fake, budget):
    given = {**CAMPAIGN, "daily_budget": budget}
    assert send(fake, "alpha.update_campaign_budget", given)[0] == 201


@pytest.mark.parametrize("budget", ["100", True, [100]])
def test_budgets_of_the_wrong_type_are_refused(fake, budget):
    given = {**CAMPAIGN, "fields": {"daily_budget": budget}}
    expected = 422, "budget_invalid", details("daily_budget", "invalid")
    assert refusal(fake, "alpha.update_campaign_budget", given) == expected


def test_fractions_are_refused_in_a_currency_without_decimals(fake):
    for budget, code in [
        (3000.5, "not_multiple_of_currency_unit"),
        (2499, "budget_below_minimum"),
    ]:
        given = {"account_id": "account_b7e0", "fields": {"daily_budget": budget}}
        assert refusal(fake, "beta.create_video_campaign", given)[:2] == (422, code)
    given = {"account_id": "account_b7e0", "fields": {"daily_budget": 2500.0}}
    assert send(fake, "beta.create_video_campaign", given)[0] == 201


@each_case(("fields", "code", "field"), [
        ({"daily_budget": 100, "lifetime_budget": 700}, "conflicting_fields", "lifetime_budget"),
        ({"lifetime_budget": 700, "end_date": "2026-05-01"}, "conflicting_fields",
         "lifetime_budget"),
        ({"lifetime_budget": 700, "daily_budget": None}, "missing_field", "end_date"),
        ({"lifetime_budget": 139, "end_date": "2026-05-01"}, "budget_below_minimum",
         "lifetime_budget"),
        ({"end_date": "2025-01-01"}, "invalid_dates", "end_date"),
        ({"end_date": "2026-03-01"}, "invalid_dates", "end_date"),
        ({"daily_budget": None}, "missing_field", "daily_budget"),
        ({"bid": {"amount": -8.0}}, "bid_invalid", "bid.amount"),
        ({"bid": {"amount": "8"}}, "bid_invalid", "bid.amount"),
        ({"end_date": "soon"}, "invalid_dates", "end_date"),
        ({"start_date": 5}, "invalid_dates", "start_date"),
        ({"end_date": "2026-W30-1"}, "invalid_dates", "end_date"),
        ({"end_date": "20261231"}, "invalid_dates", "end_date"),
        ({"end_date": 20261231}, "invalid_dates", "end_date"),
        ({"end_date": "2026-12-31T00:00:00Z"}, "invalid_dates", "end_date"),
        ({"end_date": "2026-02-30"}, "invalid_dates", "end_date"),
        ({"end_date": ["2026-12-31"]}, "invalid_dates", "end_date"),
    ])  # fmt: skip
def test_conflicting_budget_fields_are_refused(fake, fields, code, field):
    given = {**CAMPAIGN, "fields": fields}
    status, found, [detail] = refusal(fake, "alpha.update_campaign_targeting", given)
    assert (status, found, detail["field"]) == (422, code, field)


def test_lifetime_budget_with_end_date_is_accepted(fake):
    fields = {"lifetime_budget": 700, "end_date": "2026-05-01", "daily_budget": None}
    given = {**CAMPAIGN, "fields": fields}
    assert send(fake, "alpha.update_campaign_budget", given)[0] == 201


def test_budget_given_twice_is_refused(fake):
    given = {**CAMPAIGN, "daily_budget": 120, "fields": {"daily_budget": 120}}
    expected = 422, "conflicting_fields", details("daily_budget", "conflicting_fields")
    assert refusal(fake, "alpha.update_campaign_budget", given) == expected


def test_targeting_given_twice_is_refused(fake):
    given = {**CAMPAIGN, "targeting": {"a": 1}, "fields": {"targeting": {"b": 1}}}
    expected = 422, "conflicting_fields", details("targeting", "conflicting_fields")
    assert refusal(fake, "alpha.update_campaign_targeting", given) == expected


def test_end_date_of_a_lifetime_budget_cannot_be_removed(fake):
    fields = {"lifetime_budget": 700, "end_date": "2026-05-01", "daily_budget": None}
    approve(fake, stage(fake, "alpha.update_campaign_budget", **CAMPAIGN, fields=fields))
    listed = {
        campaign["id"]: campaign
        for objective in fake.client().alpha.explain_objectives(account_id="account_a91f")
        for campaign in objective.extra["campaigns"]
    }["campaign_4c10"]
    assert {key: listed[key] for key in fields} == fields
    given = {**CAMPAIGN, "fields": {"end_date": None}}
    expected = 422, "missing_field", details("end_date", "missing_field")
    assert refusal(fake, "alpha.update_campaign_budget", given) == expected


def test_campaign_can_be_changed_until_its_last_day(fake):
    fields = {"end_date": "2026-03-03"}
    approve(fake, stage(fake, "alpha.update_campaign_budget", **CAMPAIGN, fields=fields))
    given = {**CAMPAIGN, "daily_budget": 120}
    fake.clock.advance(timedelta(days=1))
    assert send(fake, "alpha.update_campaign_budget", given)[0] == 201
    fake.clock.advance(timedelta(days=1))
    found = refusal(fake, "alpha.update_campaign_budget", given)
    assert found == (409, "campaign_ended", [])


def test_change_of_an_ended_campaign_is_refused(fake):
    objectives = fake.client().alpha.explain_objectives(account_id="account_a91f")
    visits = next(o for o in objectives if o.name == "WEBSITE_VISITS")
    given = {**ALPHA, "campaign_id": visits.extra["campaigns"][0]["id"], "daily_budget": 50}
    found = refusal(fake, "alpha.update_campaign_budget", given)
    assert found == (409, "campaign_ended", [])


LOCATION = {"or": {"locations": ["geo:1"]}}
EMPLOYER = {"or": {"employers": ["org:1"]}}
RETARGETING = {"or": {"retargeting_segments": ["seg:1"]}}


@each_case(
    ("groups", "code"),
    [
        ([], "location_required"),
        ([{"or": {"locations": []}}], "location_required"),
        ([EMPLOYER], "location_required"),
        ([LOCATION, EMPLOYER, {"or": {"industries": ["ind:4"]}}], "incompatible_facets"),
        ([LOCATION, EMPLOYER, {"or": {"company_size": ["size:1"]}}], "incompatible_facets"),
        ([LOCATION, RETARGETING, {"or": {"interests": ["i:1"]}}], "incompatible_facets"),
        ([LOCATION, {"or": {"interface_locales": ["en", "pt"]}}], "too_many_facet_values"),
        ([{"or": {"locations": ["Lisbon"]}}], "unknown_facet_value"),
        ([LOCATION, {"or": {"titles": ["title:1", 2]}}], "unknown_facet_value"),
        ([LOCATION, *[{"or": {"skills": ["skill:1"]}}] * 4], "audience_too_small"),
        ([LOCATION, {"or": {"skills": []}}], "audience_too_small"),
    ],
)
def test_invalid_targeting_is_refused(fake, groups, code):
    given = {**CAMPAIGN, "targeting": {"include": {"and": groups}}}
    limit = {"audience_too_small": 300, "too_many_facet_values": 1}.get(code)
    expected = 422, code, details("targeting", code, limit)
    assert refusal(fake, "alpha.update_campaign_targeting", given) == expected
    inside = {**CAMPAIGN, "fields": {"targeting": given["targeting"]}}
    assert refusal(fake, "alpha.update_campaign_targeting", inside) == expected


@each_case(
    "targeting",
    [
        {},
        {"include": 1},
        {"include": {"and": {}}},
        {"include": {"and": [LOCATION, 1, {"or": 1}, {"not": 1}]}, "unheard_of": None},
        {"include": {"and": [LOCATION, *[{"or": {"skills": ["skill:1"]}}] * 3]}},
        {"include": {"and": [LOCATION, {"or": {"moon_phases": ["full"] * 50}}]}},
        {"include": {"and": [LOCATION, {"or": {"employers": ["org:1"], "industries": ["ind:4"]}}]}},
    ],
)
def test_targeting_in_another_form_is_accepted(fake, targeting):
    given = {**CAMPAIGN, "targeting": targeting}
    assert send(fake, "alpha.update_campaign_targeting", given)[0] == 201


VIDEO, IMAGE, DCO = (
    "beta.create_video_campaign",
    "gamma.create_image_campaign",
    "gamma.create_dco_ad",
)


@each_case(("operation", "fields", "code", "field"), [
        (VIDEO, {"objective": "FAME"}, "objective_not_supported", "objective"),
        (IMAGE, {"objective": ["SALES"]}, "objective_not_supported", "objective"),
        (VIDEO, {"ad": {"text": "x" * 101}}, "text_too_long", "ad.text"),
        (VIDEO, {"objective": "TRAFFIC", "ad_group": {"pixel_id": "1"}}, "pixel_not_allowed",
         "ad_group.pixel_id"),
        (VIDEO, {"ad": {"image_url": "https://halden.example/a.png"}}, "format_not_supported",
         "ad"),
        (VIDEO, {"ad": {"call_to_action": "BUY"}}, "invalid_call_to_action", "ad.call_to_action"),
        (VIDEO, {"ad": {"call_to_action": ["SHOP_NOW"]}}, "invalid_call_to_action",
         "ad.call_to_action"),
        (DCO, {"assets": {"images": ["1"] * 10, **dict.fromkeys("abcd", ["1"] * 5), "e": ["1"]}},
         "asset_count", "assets"),
        (IMAGE, {"ad": {"link": "http://halden.example"}}, "invalid_url", "ad.link"),
        (IMAGE, {"ad": {"id": "ad_1"}}, "immutable_field", "ad.id"),
        (VIDEO, {"ad_group": {"id": "ad_group_1"}}, "immutable_field", "ad_group.id"),
        (DCO, {"link": "ftp://halden.example"}, "invalid_url", "link"),
        (DCO, {"assets": {"images": ["1"]}}, "asset_count", "assets.images"),
        (DCO, {"assets": {"images": ["1"] * 11}}, "asset_count", "assets.images"),
        (DCO, {"assets": {"titles": ["1"] * 6}}, "asset_count", "assets.titles"),
        (DCO, {"assets": {"formats": ["1"] * 2}}, "asset_count", "assets.formats"),
    ])  # fmt: skip
def test_invalid_fields_of_new_campaigns_and_ads_are_refused(fake, operation, fields, code, field):
    account = BETA if operation == VIDEO else GAMMA
    status, found, [detail] = refusal(fake, operation, {**account, "fields": fields})
    assert (status, found, detail["field"]) == (422, code, field)


@each_case(
    ("operation", "fields"),
    [
        (VIDEO, {}),
        (VIDEO, {"unheard_of": 1, "ad": 5, "ad_group": None}),
        (VIDEO, {"objective": "SALES", "ad_group": {"pixel_id": "1"}, "ad": {"text": "x" * 100}}),
        (VIDEO, {"ad": {"image_url": "https://halden.example/a.png", "video_id": "video_1"}}),
        (VIDEO, {"ad": {"call_to_action": "SHOP_NOW"}}),
        (IMAGE, {"ad": {"link": "https://halden.example", "x": 1}}),
        (DCO, {"assets": {"images": ["1"] * 10, **dict.fromkeys("abcd", ["1"] * 5)}}),
        (DCO, {"ad_group_id": 5}),
        (IMAGE, {"ad": "none"}),
        (DCO, {"assets": {"images": ["1"] * 10, "unheard_of": 1}}),
        (DCO, {"assets": None}),
    ],
)
def test_unknown_fields_are_accepted(fake, operation, fields):
    account = BETA if operation == VIDEO else GAMMA
    assert send(fake, operation, {**account, "fields": fields})[0] == 201


@each_case(
    ("keywords", "fields", "code"),
    [
        ([], {}, "keywords_empty"),
        ([" "], {}, "keywords_empty"),
        (["x" * 81], {}, "keyword_too_long"),
        (["a b c d e f g h i j k"], {}, "keyword_too_long"),
        (["tents!"], {}, "keyword_invalid_chars"),
        (["tarp\u202e"], {}, "keyword_invalid_chars"),
        (["tarp\0"], {}, "keyword_invalid_chars"),
        (["tarp", "tarp"], {}, "keyword_duplicate"),
        (["tarp", " Tarp"], {}, "keyword_duplicate"),
        (["Outdoor  jacket"], {}, "keyword_duplicate"),
        (["outdoor jacket"], {}, "keyword_duplicate"),
        (["tarp"], {"cpc_bid": 0}, "bid_invalid"),
        (["tarp"], {"cpc_bid": "1"}, "bid_invalid"),
        (["tarp"], {"action": "SELL"}, "unknown_action"),
        (["rental"], {"action": "UPDATE", "cpc_bid": 1}, "cannot_update_negative"),
        (["rental"], {"action": "ENABLE", "negative": False}, "cannot_update_negative"),
        (["outdoor jacket"], {"action": "UPDATE", "text": "rain jacket"}, "immutable_field"),
        (["tarp"], {"text": "rain jacket"}, "immutable_field"),
        (["tarp"], {"id": "keyword_0000"}, "immutable_field"),
        (["tarp"], {"match_type": "FUZZY"}, "unknown_match_type"),
        (["tarp"], {"match_type": ["BROAD"]}, "unknown_match_type"),
        (["outdoor jacket"], {"action": "UPDATE", "match_type": None}, "unknown_match_type"),
    ],
)
def test_invalid_keywords_are_refused(fake, keywords, fields, code):
    given = {**DELTA, "keywords": keywords, "fields": fields}
    assert refusal(fake, "delta.update_keyword", given)[:2] == (422, code)


@pytest.mark.parametrize("operation", ["targeting", "budget"])
def test_id_and_objective_of_a_campaign_are_immutable(fake, operation):
    name = f"alpha.update_campaign_{operation}"
    for field, value in (("id", "campaign_1"), ("objective", "AWARENESS")):
        given = {**CAMPAIGN, "fields": {field: value}}
        assert refusal(fake, name, given) == (
            422,
            "immutable_field",
            details(field, "immutable_field"),
        )
    same = {"id": "campaign_4c10", "objective": "LEADS", "audience_expansion": False}
    assert send(fake, "alpha.update_campaign_targeting", {**CAMPAIGN, "fields": same})[0] == 201


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("alpha.update_creative", {**ALPHA, "creative_id": "creative_2f70"}),
        ("gamma.create_dco_ad", {**GAMMA, "ad_id": "ad"}),
    ],
)
def test_ids_are_immutable(fake, operation, given):
    ads = fake.client().gamma.list_ads(account_id="account_c3d8").data
    given = {**given, **({"ad_id": ads[0].id} if "ad_id" in given else {}), "fields": {"id": "x"}}
    expected = 422, "immutable_field", details("id", "immutable_field")
    assert refusal(fake, operation, given) == expected
    made = {"account_id": given["account_id"], "fields": {"id": "x"}}
    assert refusal(fake, operation, made) == expected


@pytest.mark.parametrize(("place", "code"), [(0, 201), (4, 422)])
def test_pixel_needs_a_sales_objective_in_an_extended_campaign(fake, place, code):
    campaign = fake.client().beta.list_campaigns(account_id="account_b204").data[place]
    fields = {"ad_group": {"name": "Further", "pixel_id": "1"}}
    given = {**BETA, "campaign_id": campaign.id, "fields": fields}
    assert send(fake, VIDEO, given)[0] == code


def test_landing_url_must_use_https(fake):
    fields = {"landing_url": "http://corvane.example"}
    given = {**ALPHA, "creative_id": "creative_2f70", "fields": fields}
    expected = 422, "invalid_url", details("landing_url", "invalid_url")
    assert refusal(fake, "alpha.update_creative", given) == expected


def test_dynamic_ad_needs_a_free_dynamic_ad_group(fake):
    ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
    groups = {ad.extra["format"]: ad.extra["ad_group_id"] for ad in ads}

    def found(ad_group_id):
        given = {**GAMMA, "fields": {"ad_group_id": ad_group_id}}
        return refusal(fake, DCO, given)[:2]

    assert found("ad_group_0000") == (404, "ad_group_not_found")
    assert found(groups["IMAGE"]) == (422, "not_dynamic")
    assert found(groups["DYNAMIC"]) == (422, "ad_limit_reached")
    free = {"name": "Tents", "ad_group_id": "ad_group_7d20"}
    approve(fake, stage(fake, DCO, fields=free))
    assert found("ad_group_7d20") == (422, "ad_limit_reached")


def test_dynamic_ad_moves_only_to_a_free_dynamic_ad_group(fake):
    ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
    image, dynamic, *_ = [ad for ad in ads if ad.extra["format"] in ("IMAGE", "DYNAMIC")][1:]

    def found(ad_group_id):
        given = {**GAMMA, "ad_id": dynamic.id, "fields": {"ad_group_id": ad_group_id}}
        return refusal(fake, DCO, given)[:2]

    assert dynamic.extra["format"] == "DYNAMIC"
    assert found("ad_group_0000") == (404, "ad_group_not_found")
    assert found(image.extra["ad_group_id"]) == (422, "not_dynamic")
    assert found(dynamic.extra["ad_group_id"]) == (422, "no_change")
    given = {**GAMMA, "ad_id": image.id, "fields": {"ad_group_id": "ad_group_7d20"}}
    assert refusal(fake, DCO, given)[:2] == (422, "not_dynamic")
    moved = stage(fake, DCO, ad_id=dynamic.id, fields={"ad_group_id": "ad_group_7d20"})
    approve(fake, moved)
    listed = {ad.id: ad for ad in fake.client().gamma.list_ads(account_id="account_c3d8")}
    assert listed[dynamic.id].extra["ad_group_id"] == "ad_group_7d20"
    assert listed[dynamic.id].extra["campaign_id"] == ads[0].extra["campaign_id"]


def test_second_dynamic_ad_of_a_group_fails_to_apply(fake):
    fields = {"ad_group_id": "ad_group_7d20"}
    ads = fake.client().gamma.list_ads(account_id="account_c3d8")
    there = next(ad.id for ad in ads if ad.extra["format"] == "DYNAMIC")
    drafts = [stage(fake, DCO, **known, fields=fields) for known in ({}, {"ad_id": there}, {})]
    found = [approve(fake, draft).status for draft in drafts]
    assert found == ["applied", "apply_failed", "apply_failed"]


def test_renaming_a_campaign_to_an_existing_name_fails_to_apply(fake):
    names = [
        campaign["name"]
        for objective in fake.client().alpha.explain_objectives(account_id="account_a91f")
        for campaign in objective.extra["campaigns"]
        if campaign["id"] != "campaign_4c10"
    ]
    for name, status in ((names[0], "apply_failed"), ("Unheard of", "applied")):
        draft = stage(fake, "alpha.update_campaign_budget", **CAMPAIGN, fields={"name": name})
        assert approve(fake, draft).status == status


def test_match_type_that_makes_keywords_equal_is_refused(fake):
    texts = {"match_type": "EXACT"}
    stage_keyword = partial(stage, fake, "delta.update_keyword", keywords=["outdoor jacket"])
    stage_keyword(fields={"match_type": "BROAD", "negative": True})  # which is not the same
    approve(fake, stage_keyword(fields={"match_type": "PHRASE"}))
    given = {**DELTA, "keywords": ["outdoor jacket"], "fields": {"action": "UPDATE", **texts}}
    expected = 422, "keyword_duplicate", details("keywords", "keyword_duplicate")
    assert refusal(fake, "delta.update_keyword", given) == expected


def test_removing_the_only_signal_is_refused(fake):
    given = {"account_id": "account_d4c4"}
    found = refusal(fake, "delta.remove_auto_search_themes", given)
    assert found == (409, "cannot_remove_all_signals", [])


def test_removing_themes_that_do_not_exist_is_refused(fake):
    given = {"account_id": "account_d7f2"}
    found = refusal(fake, "delta.remove_auto_search_themes", given)
    assert found == (422, "nothing_to_remove", [])


def test_missing_or_wrong_token_is_refused():
    fake = FakeAdService(token="sesame")
    for headers in ({}, {"authorization": "Bearer other"}, {"authorization": "sesame"}):
        for operation in (READS[0], WRITES[0]):
            found = asked(fake, operation, valid(operation), headers=headers)
            assert found == (401, "unauthenticated", [])
    assert fake.client().beta.list_campaigns(account_id="account_b204").data
    assert "sesame" not in repr(fake.requests)


def test_refusals_raise_the_error_class_of_their_status(fake):
    client = fake.client()
    with pytest.raises(NotFound) as missing:
        client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_0000")
    assert missing.value.code == "campaign_not_found"
    assert missing.value.request_id.startswith("req_")
    with pytest.raises(PermissionDenied):
        client.beta.list_campaigns(account_id="account_f403")
    with pytest.raises(Unprocessable) as low:
        client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=1
        )
    assert low.value.details == details("daily_budget", "below_minimum", 20)
    locked = FakeAdService(token="sesame")
    stranger = AdClient(locked.base_url, transport=locked.transport)
    with pytest.raises(Unauthenticated):
        stranger.beta.list_campaigns(account_id="account_b204")


@pytest.mark.parametrize("depth", [101, 500, 900, 100_000])
def test_too_deeply_nested_body_is_refused(fake, depth):
    fields = (
        b'{"account_id": "account_b204", "fields": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    )
    assert refusal(fake, "beta.create_video_campaign", fields)[:2] == (400, "invalid_json")
    assert fake.drafts == ()


def test_lone_surrogate_is_refused(fake):
    half = rb'{"account_id": "account_b204", "fields": {"name": "\ud800"}}'
    assert refusal(fake, "beta.create_video_campaign", half)[:2] == (400, "invalid_json")
    query = {"account_id": "account_c3d8", "targeting": r'{"a": "\ud800"}', "cursor": "a"}
    assert refusal(fake, "gamma.search_targeting", query=query)[0] == 422
    assert fake.drafts == ()


def test_ids_in_messages_show_their_blanks():
    client = FakeAdService().client()
    with pytest.raises(NotFound, match="has no campaign ' campaign_  57a7 '"):
        client.beta.pause_campaign(account_id="account_b204", campaign_id=" campaign_  57a7 ")
    with pytest.raises(NotFound, match="no account 'account_b204 ' is connected"):
        client.beta.list_campaigns(account_id="account_b204 ")
