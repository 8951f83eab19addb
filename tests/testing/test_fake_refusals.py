"""What the fake refuses: the rules of the interface first, then a few of its own."""

import json
from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, VALID_WRITES, WRITES, approve, refusal, send, stage

from adclient import Request
from adclient._core.operations import OPERATIONS
from adclient.errors import ServerError
from adclient.testing import FakeAdService

ALPHA = {"account_id": "account_a91f"}
BETA = {"account_id": "account_b204"}
GAMMA = {"account_id": "account_c3d8"}
DELTA = {"account_id": "account_d118"}
CAMPAIGN = {**ALPHA, "campaign_id": "campaign_4c10"}
BUDGET = "alpha.update_campaign_budget"


@pytest.fixture
def fake():
    return FakeAdService()


def asked(fake, operation, given):
    """A refusal of a read or write that is sent as its kind is sent."""
    if not operation.is_write:
        return refusal(fake, operation.full_name, query=given)
    return refusal(fake, operation.full_name, given)


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


def details(field, reason, limit=None):
    return [{"field": field, "reason": reason} | ({} if limit is None else {"limit": limit})]


@each_case("operation", OPERATIONS)
def test_parameters_are_checked_against_the_interface(fake, operation):
    for parameter in operation.parameters:
        without = {k: v for k, v in valid(operation).items() if k != parameter.name}
        if parameter.required:
            expected = 422, "invalid_parameter", details(parameter.name, "required")
            assert asked(fake, operation, without) == expected
        if operation.is_write:
            status, code, [detail] = asked(fake, operation, {**without, parameter.name: True})
            assert (status, code) == (422, "invalid_parameter")
            assert detail["field"] == parameter.name
            assert detail["reason"].startswith("expected_")
    given = {**valid(operation), "unheard_of": "1"}
    expected = 422, "invalid_parameter", details("unheard_of", "unknown")
    assert asked(fake, operation, given) == expected
    assert fake.drafts == ()


SHUT = {
    "delta": ("account_5a5a", 403, "account_read_only"),
    "alpha": ("account_5a5b", 503, "drafting_paused"),
}


@each_case("operation", OPERATIONS)
def test_account_must_accept_the_operation(fake, operation):
    def found(account_id):
        return asked(fake, operation, {**valid(operation), "account_id": account_id})

    assert found("account_0000") == (404, "account_not_found", [])
    assert found("account_f403") == (403, "account_disconnected", [])
    other = "delta" if operation.namespace != "delta" else "alpha"
    expected = details("account_id", "platform_mismatch")
    assert found(ACCOUNTS[other]) == (422, "platform_mismatch", expected)
    if operation.namespace in SHUT:
        account_id, *expected = SHUT[operation.namespace]
        if operation.is_write:
            assert found(account_id) == (*expected, [])
        else:
            query = {"account_id": account_id}
            assert send(fake, operation.full_name, query=query)[0] == 200


def test_paused_drafting_has_a_retry_after(fake):
    with pytest.raises(ServerError) as caught:
        fake.client().alpha.update_creative(account_id="account_5a5b", fields={"a": 1})
    assert caught.value.retry_after == 900


def test_unknown_path_and_wrong_method_are_refused(fake):
    reply = fake.handle(Request(method="GET", url=f"{fake.base_url}/v1/elsewhere"))
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (404, "not_found")
    for operation in OPERATIONS:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {operation.method}:
            request = Request(method=method, url=fake.base_url + operation.path)
            reply = fake.handle(request)
            assert (reply.status, reply.headers["allow"]) == (405, operation.method)
    assert fake.requests[-1].operation is None


@each_case("body", [None, b"", b"[1]", b"{", b"NaN", b"\xff"])
def test_body_that_is_not_an_object_is_refused(body):
    fake = FakeAdService()
    assert refusal(fake, "beta.pause_campaign", body) == (400, "invalid_json", [])
    assert fake.requests[0].account_id is None


def test_parameters_in_the_wrong_place_are_refused(fake):
    for operation in WRITES:
        found = refusal(fake, operation.full_name, valid(operation), query=BETA)
        assert found == (400, "unexpected_query", [])
    found = refusal(fake, "beta.list_campaigns", BETA, query=BETA)
    assert found == (400, "unexpected_body", [])


@each_case(
    ("query", "field", "reason"),
    [
        ("account_id=account_c3d8&account_id=account_c3d8", "account_id", "repeated"),
        ("account_id=account_c3d8&targeting=%7B", "targeting", "not_json"),
        ("account_id=account_c3d8&targeting=1", "targeting", "expected_object"),
        ("account_id=account_c3d8&targeting[type]=X", "targeting[type]", "unknown"),
        ("account_id=", "account_id", "expected_text"),
    ],
)
def test_malformed_query_is_refused(fake, query, field, reason):
    found = refusal(fake, "gamma.search_targeting", query=query)
    assert found == (422, "invalid_parameter", details(field, reason))


@each_case(("operation", "given", "kind"), [
        (BUDGET, {**ALPHA, "campaign_id": "campaign_57a7"}, "campaign"),
        ("beta.pause_campaign", {**BETA, "campaign_id": "campaign_4c10"}, "campaign"),
        ("beta.create_video_campaign", {**BETA, "campaign_id": "x", "fields": {}}, "campaign"),
        ("alpha.update_creative", {**ALPHA, "creative_id": "campaign_4c10"}, "creative"),
        ("gamma.create_dco_ad", {**GAMMA, "ad_id": "x", "fields": {}}, "ad"),
        ("gamma.create_dco_ad", {**GAMMA, "fields": {"ad_group_id": "x"}}, "ad_group"),
        ("beta.list_campaigns", {**BETA, "campaign_id": "campaign_4c10"}, "campaign"),
        ("beta.detect_creative_fatigue", {**BETA, "creative_id": "creative_2f70"}, "creative"),
        ("delta.update_keyword", {**DELTA, "keywords": ["zither"], "fields": {"action": "PAUSE"}},
         "keyword"),
    ])  # fmt: skip
def test_entity_of_another_account_is_not_found(fake, operation, given, kind):
    found = next(o for o in OPERATIONS if o.full_name == operation)
    field = "keywords" if kind == "keyword" else f"{kind}_id"
    assert asked(fake, found, given) == (404, f"{kind}_not_found", details(field, "not_found"))


@pytest.mark.parametrize("operation", ["beta.list_campaigns", "gamma.list_ads"])
def test_unknown_date_range_is_refused(fake, operation):
    query = {"account_id": ACCOUNTS[operation[: operation.index(".")]], "date_range": "EVER"}
    expected = 422, "unknown_date_range", details("date_range", "unknown")
    assert refusal(fake, operation, query=query) == expected


JACKET = {**DELTA, "keywords": ["outdoor jacket"]}


@each_case(("operation", "given"), [
        ("alpha.update_campaign_targeting", CAMPAIGN),
        (BUDGET, {**CAMPAIGN, "daily_budget": 100.00}),
        (BUDGET, {**CAMPAIGN, "fields": {"bid": {"amount": 9.5}}}),
        ("alpha.update_creative", ALPHA),
        ("alpha.update_creative", {**ALPHA, "creative_id": "creative_2f70"}),
        ("beta.create_video_campaign", {**BETA, "campaign_id": "campaign_57a7", "fields": {}}),
        ("beta.pause_campaign", {**BETA, "campaign_id": "campaign_b151"}),
        ("delta.update_keyword", {**JACKET, "fields": {"action": "ENABLE"}}),
        ("delta.update_keyword", {**JACKET, "fields": {"action": "UPDATE"}}),
    ])  # fmt: skip
def test_write_without_a_change_is_refused(fake, operation, given):
    assert refusal(fake, operation, given) == (422, "no_change", [])
    assert fake.drafts == ()


@each_case(
    ("budget", "code", "limit"),
    [
        (0, "budget_invalid", None),
        ("100", "budget_invalid", None),
        (True, "budget_invalid", None),
        (19.99, "budget_below_minimum", 20),
        (50.005, "not_multiple_of_currency_unit", 2),
    ],
)
def test_invalid_budgets_are_refused(fake, budget, code, limit):
    expected = 422, code, details("daily_budget", code.removeprefix("budget_"), limit)
    if not isinstance(budget, str | bool):
        assert refusal(fake, BUDGET, {**CAMPAIGN, "daily_budget": budget}) == expected
    inside = {**CAMPAIGN, "fields": {"daily_budget": budget}}
    assert refusal(fake, BUDGET, inside) == expected
    made = {**BETA, "fields": {"name": "x", "daily_budget": budget}}
    assert refusal(fake, "beta.create_video_campaign", made) == expected


@each_case(
    ("fields", "status"),
    [
        ({"daily_budget": 3000.5}, 422),
        ({"daily_budget": 2499}, 422),
        ({"daily_budget": 2500.0}, 201),
        ({"lifetime_budget": 17_499}, 422),
        ({"lifetime_budget": 17_500, "daily_budget": None}, 201),
    ],
)
def test_budgets_follow_the_currency(fake, fields, status):
    given = {"account_id": "account_b7e0", "fields": fields}
    assert send(fake, "beta.create_video_campaign", given)[0] == status


def test_campaign_can_be_changed_until_its_last_day(fake):
    end = {"campaign_id": "campaign_4c10", "fields": {"end_date": "2026-03-03"}}
    approve(fake, stage(fake, BUDGET, **end))
    given = {**CAMPAIGN, "daily_budget": 120}
    fake.clock.advance(timedelta(days=1))
    assert send(fake, BUDGET, given)[0] == 201
    fake.clock.advance(timedelta(days=1))
    assert refusal(fake, BUDGET, given) == (409, "campaign_ended", [])


def test_change_of_an_ended_campaign_is_refused(fake):
    objectives = fake.client().alpha.explain_objectives(account_id="account_a91f")
    visits = next(o for o in objectives if o.name == "WEBSITE_VISITS")
    given = {**ALPHA, "campaign_id": visits.extra["campaigns"][0]["id"], "daily_budget": 50}
    assert refusal(fake, BUDGET, given) == (409, "campaign_ended", [])


@each_case(
    ("operation", "given"),
    [
        ("alpha.update_campaign_targeting", {**CAMPAIGN, "fields": {"id": "x"}}),
        ("alpha.update_creative", {**ALPHA, "fields": {"id": "x"}}),
        ("gamma.create_dco_ad", {**GAMMA, "fields": {"id": "x"}}),
    ],
)
def test_ids_are_immutable(fake, operation, given):
    expected = 422, "immutable_field", details("id", "immutable_field")
    assert refusal(fake, operation, given) == expected


@each_case("images", [1, 11])
def test_number_of_images_is_refused(fake, images):
    given = {**GAMMA, "fields": {"assets": {"images": ["1"] * images}}}
    expected = 422, "asset_count", details("assets.images", "asset_count", 10)
    assert refusal(fake, "gamma.create_dco_ad", given) == expected


@each_case(
    ("operation", "given"),
    [
        ("beta.create_video_campaign", {**BETA, "fields": {}}),
        ("beta.create_video_campaign", {**BETA, "fields": {"unheard_of": 1, "ad_group": None}}),
        ("alpha.update_campaign_targeting", {**CAMPAIGN, "targeting": {"include": 1}}),
        ("gamma.create_dco_ad", {**GAMMA, "fields": {"ad_group_id": 5, "assets": None}}),
        ("gamma.create_dco_ad", {**GAMMA, "fields": {"assets": {"images": ["1"] * 10, "a": 1}}}),
    ],
)
def test_other_fields_are_accepted(fake, operation, given):
    assert send(fake, operation, given)[0] == 201


@each_case(
    ("keywords", "fields", "code"),
    [
        ([], {}, "keywords_empty"),
        ([" "], {}, "keywords_empty"),
        (["tarp", " Tarp"], {}, "keyword_duplicate"),
        (["Outdoor  jacket"], {}, "keyword_duplicate"),
        (["tarp"], {"action": "SELL"}, "unknown_action"),
    ],
)
def test_invalid_keywords_are_refused(fake, keywords, fields, code):
    given = {**DELTA, "keywords": keywords, "fields": fields}
    assert refusal(fake, "delta.update_keyword", given)[:2] == (422, code)


@each_case(
    ("account_id", "expected"),
    [
        ("account_d4c4", (409, "cannot_remove_all_signals", [])),
        ("account_d7f2", (422, "nothing_to_remove", [])),
    ],
)
def test_themes_that_cannot_be_removed_are_refused(fake, account_id, expected):
    given = {"account_id": account_id}
    assert refusal(fake, "delta.remove_auto_search_themes", given) == expected


def test_too_large_request_is_refused(fake):
    body = b'{"account_id":"' + b"x" * 1024 * 1024 + b'"}'
    assert refusal(fake, "delta.remove_auto_search_themes", body)[:2] == (413, "request_too_large")
