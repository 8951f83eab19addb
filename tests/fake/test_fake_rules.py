"""The rules of ad platforms: refused with `Profile(business_rules=True)`, accepted without."""

from cases import each_case
from fake_helpers import approve, asked, refusal

from adclient.testing import FakeAccount, FakeAdService, Profile

BUDGET, TARGETING = "alpha.update_campaign_budget", "alpha.update_campaign_targeting"
CREATIVE, VIDEO, AD = "alpha.update_creative", "beta.create_video_campaign", "gamma.create_dco_ad"
KEYWORD, THEMES = "delta.update_keyword", "delta.remove_auto_search_themes"
LEADS, JACKET = {"campaign_id": "campaign_4c10"}, {"keywords": ["outdoor jacket"]}
YEN, JUNE = {"account_id": "account_b7e0"}, {"account_id": "mine", "date_range": "JUNE"}


def strict(**options):
    return FakeAdService(profile=Profile(business_rules=True), **options)


ENDED, MINIMUM = "409 campaign_ended", "422 budget_below_minimum daily_budget 20"
UNIT, ASSETS = "422 not_multiple_of_currency_unit daily_budget", "422 asset_count assets.images 10"
ENABLED = {"text": "outdoor jacket", "match_type": "BROAD", "status": "ENABLED"}


@each_case(
    ("operation", "given", "field", "value"),
    (BUDGET, LEADS, "daily_budget", 100),
    (BUDGET, {**LEADS, "fields": {"bid": {"amount": 9.5}}}, "bid.amount", 9.5),
    (CREATIVE, {"creative_id": "creative_2f70"}, "creative", {}),
    ("beta.pause_campaign", {"campaign_id": "campaign_b151"}, "status", "PAUSED"),
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


def test_unknown_date_range_is_refused():
    for operation in ("beta.list_campaigns", "gamma.list_ads"):
        assert asked(strict(), operation, {"date_range": "TODAY"})[0] == 200
        unknown = asked(strict(), operation, {"date_range": "EVER"})
        assert refusal(unknown) == "422 unknown_date_range date_range"
    own = FakeAccount("mine", figures={"JUNE": {}})
    assert asked(strict(accounts=[own]), "gamma.list_ads", JUNE)[0] == 200


def test_change_that_keeps_the_rules_is_accepted():
    assert asked(strict(), BUDGET, {**LEADS, "daily_budget": 20})[0] == 201
    assert asked(strict(), AD, {"fields": {"assets": {"images": ["1"] * 10}}})[0] == 201
