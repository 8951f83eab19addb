"""What the fake refuses: the rules of the interface first, then a few of its own."""

from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, VALID_WRITES, WRITES, approve, asked, refusal, send, stage

from adclient import Request
from adclient._core.operations import OPERATIONS
from adclient.errors import ServerError
from adclient.testing import FakeAdService

TARGETING, BUDGET = "alpha.update_campaign_targeting", "alpha.update_campaign_budget"
CREATIVE, KEYWORD = "alpha.update_creative", "delta.update_keyword"
VIDEO, DCO_AD = "beta.create_video_campaign", "gamma.create_dco_ad"
PAUSE, LIST, SEARCH = "beta.pause_campaign", "beta.list_campaigns", "gamma.search_targeting"
LEADS = {"campaign_id": "campaign_4c10"}
JACKET = {"keywords": ["outdoor jacket"]}


@pytest.fixture
def fake():
    return FakeAdService()


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


@each_case("operation", OPERATIONS)
def test_parameters_are_checked_against_the_interface(fake, operation):
    name, given = operation.full_name, valid(operation)
    for parameter in operation.parameters:
        expected = f"422 invalid_parameter {parameter.name}"
        without = {k: v for k, v in given.items() if k != parameter.name}
        if parameter.required:
            sent = {"body" if operation.is_write else "query": without}
            assert refusal(send(fake, name, **sent)) == expected
        if operation.is_write:
            assert refusal(asked(fake, name, {**without, parameter.name: True})) == expected
    unknown = {**given, "unheard_of": "1"}
    assert refusal(asked(fake, name, unknown)) == "422 invalid_parameter unheard_of"
    assert fake.drafts == ()


@each_case("operation", OPERATIONS)
def test_account_must_accept_the_operation(fake, operation):
    def found(account_id):
        return asked(fake, operation.full_name, {**valid(operation), "account_id": account_id})

    assert refusal(found("account_0000")) == "404 account_not_found"
    assert refusal(found("account_f403")) == "403 account_disconnected"
    other = ACCOUNTS["delta" if operation.namespace != "delta" else "alpha"]
    assert refusal(found(other)) == "422 platform_mismatch account_id"
    for namespace, account_id, expected in (
        ("delta", "account_5a5a", "403 account_read_only"),
        ("alpha", "account_5a5b", "503 drafting_paused"),
    ):
        if operation.namespace == namespace and operation.is_write:
            assert refusal(found(account_id)) == expected
        elif operation.namespace == namespace:
            assert found(account_id)[0] == 200


def test_paused_drafting_has_a_retry_after(fake):
    with pytest.raises(ServerError) as caught:
        fake.client().alpha.update_creative(account_id="account_5a5b", fields={"a": 1})
    assert caught.value.retry_after == 900


def test_unknown_path_and_wrong_method_are_refused(fake):
    reply = fake.handle(Request(method="GET", url=f"{fake.base_url}/v1/elsewhere"))
    assert (reply.status, fake.requests[0].operation) == (404, None)
    for operation in OPERATIONS:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {operation.method}:
            reply = fake.handle(Request(method=method, url=fake.base_url + operation.path))
            assert (reply.status, reply.headers["allow"]) == (405, operation.method)


def test_parameters_in_the_wrong_place_are_refused(fake):
    for operation in WRITES:
        answer = asked(fake, operation.full_name, valid(operation), query={"account_id": "a"})
        assert refusal(answer) == "400 unexpected_query"
    assert refusal(asked(fake, LIST, {}, body={"account_id": "a"})) == "400 unexpected_body"


@each_case("body", [None, b"", b"[1]", b"{", b"NaN", b"\xff"])
def test_body_that_is_not_an_object_is_refused(fake, body):
    assert refusal(send(fake, PAUSE, body)) == "400 invalid_json"
    assert fake.requests[-1].account_id is None


def test_too_large_request_is_refused(fake):
    body = b'{"account_id":"' + b"x" * 1024 * 1024 + b'"}'
    assert refusal(send(fake, PAUSE, body)).startswith("413 request_too_large")


@each_case(
    ("query", "field"),
    [
        ("account_id=account_c3d8&account_id=account_c3d8", "account_id"),
        ("account_id=account_c3d8&targeting=%7B", "targeting"),
        ("account_id=account_c3d8&targeting=1", "targeting"),
        ("account_id=account_c3d8&targeting[type]=X", "targeting[type]"),
        ("account_id=", "account_id"),
    ],
)
def test_malformed_query_is_refused(fake, query, field):
    assert refusal(send(fake, SEARCH, query=query)) == f"422 invalid_parameter {field}"


@each_case(
    ("operation", "given", "expected"),
    [
        # Entities of another account.
        (BUDGET, {"campaign_id": "campaign_57a7"}, "404 campaign_not_found campaign_id"),
        (PAUSE, LEADS, "404 campaign_not_found campaign_id"),
        (LIST, LEADS, "404 campaign_not_found campaign_id"),
        (VIDEO, {"campaign_id": "x", "fields": {}}, "404 campaign_not_found campaign_id"),
        (CREATIVE, {"creative_id": "campaign_4c10"}, "404 creative_not_found creative_id"),
        (DCO_AD, {"ad_id": "x", "fields": {}}, "404 ad_not_found ad_id"),
        (DCO_AD, {"fields": {"ad_group_id": "x"}}, "404 ad_group_not_found ad_group_id"),
        (
            "beta.detect_creative_fatigue",
            {"creative_id": "creative_2f70"},
            "404 creative_not_found creative_id",
        ),
        (
            KEYWORD,
            {"keywords": ["zither"], "fields": {"action": "PAUSE"}},
            "404 keyword_not_found keywords",
        ),
        # Writes without a change.
        (TARGETING, LEADS, "422 no_change"),
        (BUDGET, {**LEADS, "daily_budget": 100.00}, "422 no_change"),
        (BUDGET, {**LEADS, "fields": {"bid": {"amount": 9.5}}}, "422 no_change"),
        (CREATIVE, {}, "422 no_change"),
        (CREATIVE, {"creative_id": "creative_2f70"}, "422 no_change"),
        (VIDEO, {"campaign_id": "campaign_57a7", "fields": {}}, "422 no_change"),
        (PAUSE, {"campaign_id": "campaign_b151"}, "422 no_change"),
        (KEYWORD, {**JACKET, "fields": {"action": "ENABLE"}}, "422 no_change"),
        # Others.
        (BUDGET, {"campaign_id": "campaign_bdb1", "daily_budget": 50}, "409 campaign_ended"),
        (TARGETING, {**LEADS, "fields": {"id": "x"}}, "422 immutable_field id"),
        (CREATIVE, {"fields": {"id": "x"}}, "422 immutable_field id"),
        (DCO_AD, {"fields": {"assets": {"images": ["1"]}}}, "422 asset_count assets.images 10"),
        (
            DCO_AD,
            {"fields": {"assets": {"images": ["1"] * 11}}},
            "422 asset_count assets.images 10",
        ),
        (KEYWORD, {"keywords": []}, "422 keywords_empty keywords"),
        (KEYWORD, {"keywords": [" "]}, "422 keywords_empty keywords"),
        (KEYWORD, {"keywords": ["tarp", " Tarp"]}, "422 keyword_duplicate keywords"),
        (KEYWORD, {"keywords": ["Outdoor  jacket"]}, "422 keyword_duplicate keywords"),
        (KEYWORD, {**JACKET, "fields": {"action": "SELL"}}, "422 unknown_action action"),
        (
            "delta.remove_auto_search_themes",
            {"account_id": "account_d4c4"},
            "409 cannot_remove_all_signals",
        ),
        (
            "delta.remove_auto_search_themes",
            {"account_id": "account_d7f2"},
            "422 nothing_to_remove",
        ),
        (LIST, {"date_range": "EVER"}, "422 unknown_date_range date_range"),
        ("gamma.list_ads", {"date_range": "EVER"}, "422 unknown_date_range date_range"),
    ],
)
def test_arguments_that_the_service_cannot_act_on_are_refused(fake, operation, given, expected):
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()


@each_case(
    ("budget", "expected"),
    [
        (0, "422 budget_invalid daily_budget"),
        ("100", "422 budget_invalid daily_budget"),
        (True, "422 budget_invalid daily_budget"),
        (19.99, "422 budget_below_minimum daily_budget 20"),
        (50.005, "422 not_multiple_of_currency_unit daily_budget 2"),
    ],
)
def test_invalid_budgets_are_refused(fake, budget, expected):
    if not isinstance(budget, str | bool):
        assert refusal(asked(fake, BUDGET, {**LEADS, "daily_budget": budget})) == expected
    fields = {"daily_budget": budget}
    assert refusal(asked(fake, BUDGET, {**LEADS, "fields": fields})) == expected
    assert refusal(asked(fake, VIDEO, {"fields": fields})) == expected


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
    assert asked(fake, VIDEO, {"account_id": "account_b7e0", "fields": fields})[0] == status


def test_change_of_an_ended_campaign_is_refused(fake):
    approve(fake, stage(fake, BUDGET, **LEADS, fields={"end_date": "2026-03-03"}))
    given = {**LEADS, "daily_budget": 120}
    fake.clock.advance(timedelta(days=1))
    assert asked(fake, BUDGET, given)[0] == 201, "on its last day"
    fake.clock.advance(timedelta(days=1))
    assert refusal(asked(fake, BUDGET, given)) == "409 campaign_ended"


@each_case(
    ("operation", "given"),
    [
        (VIDEO, {"fields": {}}),
        (VIDEO, {"fields": {"unheard_of": 1, "ad_group": None}}),
        (TARGETING, {**LEADS, "targeting": {"include": 1}}),
        (DCO_AD, {"fields": {"ad_group_id": 5, "assets": None}}),
        (DCO_AD, {"fields": {"assets": {"images": ["1"] * 10, "a": 1}}}),
    ],
)
def test_other_fields_are_accepted(fake, operation, given):
    assert asked(fake, operation, given)[0] == 201
