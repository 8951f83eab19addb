"""What the fake refuses: always, and with the rules of ad platforms."""

from cases import each_case
from fake_helpers import ACCOUNTS, PATHS, VALID_WRITES, approve, asked, refusal, send

from adclient import Conventions
from adclient._core.operations import OPERATIONS
from adclient.testing import FakeAccount, FakeAdService, Profile

TARGETING, BUDGET = "alpha.update_campaign_targeting", "alpha.update_campaign_budget"
CREATIVE, VIDEO, AD = "alpha.update_creative", "beta.create_video_campaign", "gamma.create_dco_ad"
KEYWORD, THEMES = "delta.update_keyword", "delta.remove_auto_search_themes"
PAUSE, LIST, SEARCH = "beta.pause_campaign", "beta.list_campaigns", "gamma.search_targeting"
LEADS, JACKET = {"campaign_id": "campaign_4c10"}, {"keywords": ["outdoor jacket"]}


def valid(operation):
    given = VALID_WRITES.get(operation.full_name, {})
    return {"account_id": ACCOUNTS[operation.namespace], **given}


@each_case("operation", *OPERATIONS)
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


@each_case("operation", *[PATHS[name] for name in (TARGETING, PAUSE, LIST, SEARCH, KEYWORD)])
def test_account_must_be_there_and_of_the_platform(fake, operation):
    other = ACCOUNTS["delta" if operation.namespace != "delta" else "alpha"]
    for account_id, expected in (
        ("account_0000", "404 account_not_found"),
        ("account_f403", "403 account_disconnected"),
        (other, "422 platform_mismatch account_id"),
    ):
        given = {**valid(operation), "account_id": account_id}
        assert refusal(asked(fake, operation.full_name, given)) == expected


def test_account_that_takes_no_drafts_can_be_read(fake):
    read_only, paused = {"account_id": "account_5a5a"}, {"account_id": "account_5a5b"}
    assert refusal(asked(fake, KEYWORD, {**JACKET, **read_only})) == "403 account_read_only"
    assert asked(fake, "delta.analyze_wasted_spend", read_only)[0] == 200
    assert refusal(asked(fake, CREATIVE, {"fields": {}, **paused})) == "503 drafting_paused"
    assert asked(fake, "alpha.explain_objectives", paused)[0] == 200


def test_malformed_request_is_refused(fake):
    assert refusal(send(fake, PAUSE, method="GET")) == "405 method_not_allowed"
    answer = asked(fake, PAUSE, valid(PATHS[PAUSE]), query={"account_id": "a"})
    assert refusal(answer) == "400 unexpected_query"
    assert refusal(asked(fake, LIST, {}, body={"account_id": "a"})) == "400 unexpected_body"
    for body in (None, b"", b"[1]", b"{", b"NaN", b"\xff"):
        assert refusal(send(fake, PAUSE, body)) == "400 invalid_json"
        assert fake.requests[-1].account_id is None
    body = b'{"account_id":"' + b"x" * 1024 * 1024 + b'"}'
    assert refusal(send(fake, PAUSE, body)).startswith("413 request_too_large")


@each_case(
    ("query", "field"),
    ("&account_id=account_c3d8", "account_id"),
    ("&targeting=%7B", "targeting"),
    ("&targeting[type]=X", "targeting[type]"),
)
def test_malformed_query_is_refused(fake, query, field):
    answer = send(fake, SEARCH, query=f"account_id=account_c3d8{query}")
    assert refusal(answer) == f"422 invalid_parameter {field}"
    assert refusal(send(fake, SEARCH, query="account_id=")) == "422 invalid_parameter account_id"
    deep = FakeAdService(conventions=Conventions(object_style="deep_object"))
    query = "account_id=account_c3d8&targeting[a]=1&targeting[a][b]=2"
    assert refusal(send(deep, SEARCH, query=query)) == "422 invalid_parameter targeting"


CAMPAIGN, CREATIVES = "404 campaign_not_found campaign_id", "404 creative_not_found creative_id"
KEYWORDS, IMMUTABLE = "404 keyword_not_found keywords", "422 immutable_field id"
ID = {"fields": {"id": "x"}}


@each_case(
    ("operation", "given", "expected"),
    # Entities of another account.
    (BUDGET, {"campaign_id": "campaign_57a7"}, CAMPAIGN),
    (LIST, LEADS, CAMPAIGN),
    (CREATIVE, {"creative_id": "campaign_4c10"}, CREATIVES),
    (AD, {"ad_id": "x", "fields": {}}, "404 ad_not_found ad_id"),
    ("beta.detect_creative_fatigue", {"creative_id": "creative_2f70"}, CREATIVES),
    # An id cannot be set or changed.
    (TARGETING, {**LEADS, **ID}, IMMUTABLE),
    (CREATIVE, ID, IMMUTABLE),
    (KEYWORD, {"keywords": ["zither"], "fields": {"action": "PAUSE"}}, KEYWORDS),
)
def test_arguments_that_the_service_cannot_act_on_are_refused(fake, operation, given, expected):
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()


# Refused with `Profile(business_rules=True)`, accepted without.

YEN, JUNE = {"account_id": "account_b7e0"}, {"account_id": "mine", "date_range": "JUNE"}


def strict(**options):
    return FakeAdService(profile=Profile(business_rules=True), **options)


ENDED, MINIMUM = "409 campaign_ended", "422 budget_below_minimum daily_budget 20"
UNIT, ASSETS = "422 not_multiple_of_currency_unit daily_budget", "422 asset_count assets.images 10"
TEN_IMAGES = {"fields": {"assets": {"images": ["1"] * 10}}}
ENABLED = {"text": "outdoor jacket", "match_type": "BROAD", "status": "ENABLED"}


@each_case(
    ("operation", "given", "field", "value"),
    (BUDGET, LEADS, "daily_budget", 100),
    (BUDGET, {**LEADS, "fields": {"bid": {"amount": 9.5}}}, "bid.amount", 9.5),
    (CREATIVE, {"creative_id": "creative_2f70"}, "creative", {}),
    (PAUSE, {"campaign_id": "campaign_b151"}, "status", "PAUSED"),
    (KEYWORD, {**JACKET, "fields": {"action": "ENABLE"}}, "keywords", [ENABLED]),
    (THEMES, {"account_id": "account_d7f2"}, "search_themes", []),
)
def test_write_without_a_change_is_refused_or_shown(operation, given, field, value):
    assert refusal(asked(strict(), operation, given)) == "422 no_change"
    fake = FakeAdService()
    diff = asked(fake, operation, given)[1]["diff"]
    assert (diff["field"], diff["before"], diff["after"]) == (field, value, value)
    assert approve(fake, fake.drafts[0]).status == "applied"


@each_case(
    ("operation", "given", "expected"),
    (BUDGET, {"campaign_id": "campaign_bdb1", "daily_budget": 50}, ENDED),
    (BUDGET, {**LEADS, "daily_budget": 19.99}, MINIMUM),
    (VIDEO, {"fields": {"daily_budget": 0}}, MINIMUM),
    (TARGETING, {**LEADS, "fields": {"daily_budget": 50.005}}, f"{UNIT} 2"),
    (VIDEO, {**YEN, "fields": {"daily_budget": 3000.5}}, f"{UNIT} 0"),
    (AD, {"fields": {"assets": {"images": ["1"]}}}, ASSETS),
    (KEYWORD, {"keywords": ["Outdoor  jacket"]}, "422 keyword_duplicate keywords"),
    (KEYWORD, {**JACKET, "fields": {"action": "SELL"}}, "422 unknown_action action"),
    (THEMES, {"account_id": "account_d4c4"}, "409 cannot_remove_all_signals"),
)
def test_change_that_ad_platforms_rule_out_is_refused(operation, given, expected):
    fake = strict()
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()
    assert asked(FakeAdService(), operation, given)[0] == 201


def test_unknown_date_range_is_refused_and_a_change_that_keeps_the_rules_is_not():
    for operation in (LIST, "gamma.list_ads"):
        assert asked(strict(), operation, {"date_range": "TODAY"})[0] == 200
        unknown = asked(strict(), operation, {"date_range": "EVER"})
        assert refusal(unknown) == "422 unknown_date_range date_range"
    own = FakeAccount("mine", figures={"JUNE": {}})
    assert asked(strict(accounts=[own]), "gamma.list_ads", JUNE)[0] == 200
    for name, kept in ((BUDGET, {**LEADS, "daily_budget": 20}), (AD, TEN_IMAGES)):
        assert asked(strict(), name, kept)[0] == 201
