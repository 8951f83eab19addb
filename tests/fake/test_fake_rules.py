"""The rules of ad platforms: refused with `Profile(business_rules=True)`, accepted without."""

from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import approve, asked, refusal, stage

from adclient.testing import FakeAccount, FakeAdService, Profile

BUDGET, TARGETING = "alpha.update_campaign_budget", "alpha.update_campaign_targeting"
CREATIVE, VIDEO, AD = "alpha.update_creative", "beta.create_video_campaign", "gamma.create_dco_ad"
KEYWORD, THEMES = "delta.update_keyword", "delta.remove_auto_search_themes"
LEADS, JACKET = {"campaign_id": "campaign_4c10"}, {"keywords": ["outdoor jacket"]}


def strict(**options):
    return FakeAdService(profile=Profile(business_rules=True), **options)


@each_case(
    ("operation", "given", "expected", "shown"),
    [
        # Writes without a change show the values that they would set.
        (BUDGET, LEADS, "422 no_change", ("daily_budget", 100)),
        (BUDGET, {**LEADS, "daily_budget": 100.00}, "422 no_change", ("daily_budget", 100)),
        (
            BUDGET,
            {**LEADS, "fields": {"bid": {"amount": 9.5}}},
            "422 no_change",
            ("bid.amount", 9.5),
        ),
        (CREATIVE, {"creative_id": "creative_2f70"}, "422 no_change", ("creative", {})),
        (
            "beta.pause_campaign",
            {"campaign_id": "campaign_b151"},
            "422 no_change",
            ("status", "PAUSED"),
        ),
        (
            KEYWORD,
            {**JACKET, "fields": {"action": "ENABLE"}},
            "422 no_change",
            ("keywords", [{"text": "outdoor jacket", "match_type": "BROAD", "status": "ENABLED"}]),
        ),
        (KEYWORD, {"keywords": []}, "422 no_change", ("keywords", [])),
        (THEMES, {"account_id": "account_d7f2"}, "422 no_change", ("search_themes", [])),
    ],
)
def test_write_without_a_change_is_refused_or_shown(operation, given, expected, shown):
    assert refusal(asked(strict(), operation, given)) == expected
    fake = FakeAdService()
    diff = asked(fake, operation, given)[1]["diff"]
    assert (diff["field"], diff["before"], diff["after"]) == (shown[0], shown[1], shown[1])
    assert approve(fake, fake.drafts[0]).status == "applied"


@each_case(
    ("operation", "given", "expected"),
    [
        (
            BUDGET,
            {"campaign_id": "campaign_bdb1", "daily_budget": 50},
            "409 campaign_ended",
        ),
        (BUDGET, {**LEADS, "daily_budget": 19.99}, "422 budget_below_minimum daily_budget 20"),
        (VIDEO, {"fields": {"daily_budget": 0}}, "422 budget_below_minimum daily_budget 20"),
        (
            TARGETING,
            {**LEADS, "fields": {"daily_budget": 50.005}},
            "422 not_multiple_of_currency_unit daily_budget 2",
        ),
        (
            VIDEO,
            {"account_id": "account_b7e0", "fields": {"daily_budget": 3000.5}},
            "422 not_multiple_of_currency_unit daily_budget 0",
        ),
        (AD, {"fields": {"assets": {"images": ["1"]}}}, "422 asset_count assets.images 10"),
        (AD, {"fields": {"assets": {"images": ["1"] * 11}}}, "422 asset_count assets.images 10"),
        (KEYWORD, {"keywords": ["Outdoor  jacket"]}, "422 keyword_duplicate keywords"),
        (KEYWORD, {**JACKET, "fields": {"action": "SELL"}}, "422 unknown_action action"),
        (THEMES, {"account_id": "account_d4c4"}, "409 cannot_remove_all_signals"),
    ],
)
def test_change_that_ad_platforms_rule_out_is_refused(operation, given, expected):
    fake = strict()
    assert refusal(asked(fake, operation, given)) == expected
    assert fake.drafts == ()
    assert asked(FakeAdService(), operation, given)[0] == 201


@each_case(
    ("operation", "given"),
    [
        (BUDGET, {**LEADS, "daily_budget": 120}),
        (VIDEO, {"account_id": "account_b7e0", "fields": {"daily_budget": 2500.0}}),
        (VIDEO, {"fields": {"daily_budget": "100"}}),
        (AD, {"fields": {"assets": {"images": ["1"] * 10}}}),
        (KEYWORD, {"keywords": ["outdoor jacket"], "fields": {"match_type": "EXACT"}}),
        (THEMES, {}),
        (CREATIVE, {"fields": {"headline": "New"}}),
    ],
)
def test_change_that_keeps_the_rules_is_accepted(operation, given):
    assert asked(strict(), operation, given)[0] == 201


def test_currency_without_a_known_minimum_has_none():
    account = FakeAccount("a", currency="CHF", campaigns=[{"id": "c"}])
    fake = strict(accounts=[account])
    given = {"account_id": "a", "campaign_id": "c", "daily_budget": 0.05}
    assert asked(fake, BUDGET, given)[0] == 201


def test_change_of_an_ended_campaign_is_refused():
    fake, given = strict(), {**LEADS, "daily_budget": 120}
    approve(fake, stage(fake, BUDGET, **LEADS, fields={"end_date": "2026-03-03"}))
    fake.clock.advance(timedelta(days=1))
    assert asked(fake, BUDGET, given)[0] == 201, "on its last day"
    fake.clock.advance(timedelta(days=1))
    assert refusal(asked(fake, BUDGET, given)) == "409 campaign_ended"


@pytest.mark.parametrize("operation", ["beta.list_campaigns", "gamma.list_ads"])
def test_unknown_date_range_is_refused_or_ignored(operation):
    given = {"date_range": "EVER"}
    assert refusal(asked(strict(), operation, given)) == "422 unknown_date_range date_range"
    assert asked(strict(), operation, {"date_range": "TODAY"})[0] == 200
    fake = FakeAdService()
    plain, ever, today = (
        asked(fake, operation, {"date_range": name} if name else {})[1]["data"]
        for name in (None, "EVER", "TODAY")
    )
    assert ever == plain != today
