"""The diff of each write against the live state."""

import pytest
from cases import each_case
from fake_helpers import VALID_WRITES, WRITES, approve, asked, send, stage

from adclient.testing import FakeAdService


@pytest.fixture
def fake():
    return FakeAdService()


def diff(fake, operation, **arguments):
    shown = stage(fake, operation, **arguments).diff
    return shown.field, shown.before, shown.after


@each_case("operation", WRITES)
def test_response_has_exactly_the_keys_of_the_interface(fake, operation):
    status, answer = asked(fake, operation.full_name, VALID_WRITES[operation.full_name])
    assert status == 201
    assert list(answer) == ["draft_id", "status", "diff", "requires"]
    assert list(answer["diff"]) == ["field", "before", "after"]
    assert answer["draft_id"].startswith("draft_")
    assert answer["status"] == "pending_approval"
    assert answer["requires"] == "human_two_step_approve"


BID = {"amount": 8.0, "strategy": "COST_CAP"}


@each_case(
    ("arguments", "expected"),
    [
        (
            {"fields": {"audience_expansion": False, "offsite_delivery": False}},
            ("audience_expansion", True, False),
        ),
        ({"fields": {"moon_phase": {"a": [None]}}}, ("moon_phase", None, {"a": [None]})),
        ({"fields": {"audience_expansion": 1}}, ("audience_expansion", True, 1)),
        ({"fields": {"bid": {"amount": 8.0}}}, ("bid.amount", 9.5, 8.0)),
        (
            {"fields": {"bid": BID}},
            ("campaign", {"bid": {"amount": 9.5, "strategy": "MANUAL"}}, {"bid": BID}),
        ),
        (
            {"daily_budget": 120, "fields": {"bid": {"amount": 8.0, "strategy": "MANUAL"}}},
            (
                "campaign",
                {"daily_budget": 100, "bid": {"amount": 9.5}},
                {"daily_budget": 120, "bid": {"amount": 8.0}},
            ),
        ),
    ],
)
def test_diff_holds_only_what_changes(fake, arguments, expected):
    where = {"campaign_id": "campaign_4c10", **arguments}
    assert diff(fake, "alpha.update_campaign_budget", **where) == expected


def test_targeting_is_replaced_as_a_whole(fake):
    wanted, where = {"x": [1]}, {"campaign_id": "campaign_4c10"}
    draft = stage(fake, "alpha.update_campaign_targeting", **where, targeting=wanted)
    assert draft.diff.field == "targeting"
    assert draft.diff.before["exclude"] == {"or": {"employers": ["org:1035"]}}
    assert draft.diff.after == wanted
    approve(fake, draft)
    again = diff(fake, "alpha.update_campaign_targeting", **where, targeting={"x": [True]})
    assert again == ("targeting", {"x": [1]}, {"x": [True]}), "true differs from one at any depth"


def test_decimals_are_kept(fake):
    body = b'{"account_id":"account_a91f","campaign_id":"campaign_4c10","fields":{"x":%s}}'
    digits = b"1234567890123456.789012345678901"
    send(fake, "alpha.update_campaign_budget", body % digits)
    assert str(fake.drafts[0].diff.after).encode() == digits


def test_creative_is_changed_or_created(fake):
    fields = {"headline": "Approvals in one click"}
    changed = diff(fake, "alpha.update_creative", creative_id="creative_2f70", fields=fields)
    assert changed == ("headline", "Automate approvals", "Approvals in one click")
    made = diff(fake, "alpha.update_creative", fields=fields)
    assert made == ("creative", None, {"name": "New creative", "status": "PAUSED", **fields})


@pytest.mark.parametrize("operation", ["beta.create_video_campaign", "gamma.create_image_campaign"])
def test_campaign_is_created_or_extended(fake, operation):
    fields = {"name": "Autumn", "objective": "SALES", "daily_budget": 150}
    made = diff(fake, operation, fields=fields)
    assert made == ("campaign", None, {**fields, "status": "PAUSED"})
    campaign_id = "campaign_57a7"
    if operation == "gamma.create_image_campaign":
        ads = fake.client().gamma.list_ads(account_id="account_c3d8")
        campaign_id = ads.data[0].extra["campaign_id"]
    fields = {"name": "x", "ad_group": {"name": "more"}, "ad": {"id": "v"}, "daily_budget": 500}
    field, before, after = diff(fake, operation, campaign_id=campaign_id, fields=fields)
    assert field == "ad_groups"
    assert after == [*before, {"name": "more", "ad": {"id": "v"}, "daily_budget": 500}]


def test_dynamic_ad_is_created_or_changed(fake):
    fields = {"assets": {"images": ["a"], "extra": 1}, "ad_group_id": "x"}
    made = diff(fake, "gamma.create_dco_ad", fields=fields)
    assert made == ("ad", None, {"name": "New dynamic ad", "status": "PAUSED", **fields})
    ad, *_ = fake.client().gamma.list_ads(account_id="account_c3d8")
    before = {"assets": None, "ad_group_id": ad.extra["ad_group_id"]}
    draft = stage(fake, "gamma.create_dco_ad", ad_id=ad.id, fields=fields)
    assert (draft.diff.field, draft.diff.before, draft.diff.after) == ("ad", before, fields)
    approve(fake, draft)
    ad, *_ = fake.client().gamma.list_ads(account_id="account_c3d8")
    assert ad.extra["ad_group_id"] == "x"


NAMED = {"text": "outdoor jacket", "match_type": "BROAD"}
JACKET = {**NAMED, "status": "ENABLED", "cpc_bid": 1.75, "negative": False}
EXACT = {**NAMED, "match_type": "EXACT", "status": "ENABLED", "cpc_bid": 2}
NEGATIVE = {**NAMED, "status": "ENABLED", "cpc_bid": None, "negative": True}
URL = "https://halden.example"


@each_case(
    ("fields", "before", "after"),
    [
        ({"match_type": "EXACT", "cpc_bid": 2}, [], [EXACT]),
        ({"negative": True}, [], [NEGATIVE]),
        (
            {"action": "UPDATE", "final_url": URL},
            [{**NAMED, "final_url": None}],
            [{**NAMED, "final_url": URL}],
        ),
        ({"action": "UPDATE", "match_type": "EXACT"}, [NAMED], [{**NAMED, "match_type": "EXACT"}]),
        (
            {"action": "PAUSE", "match_type": "BROAD", "cpc_bid": 9},
            [{**NAMED, "status": "ENABLED", "cpc_bid": 1.75}],
            [{**NAMED, "status": "PAUSED", "cpc_bid": 9}],
        ),
        ({"action": "REMOVE"}, [JACKET], []),
    ],
)
def test_diff_of_keywords_lists_them(fake, fields, before, after):
    shown = diff(fake, "delta.update_keyword", keywords=["outdoor jacket"], fields=fields)
    assert shown == ("keywords", before, after)


def test_several_keywords_are_found_in_any_letter_case(fake):
    keywords = ["Outdoor  JACKET", "cheap hiking boots"]
    fields = {"action": "UPDATE", "cpc_bid": 1.32}
    shown = diff(fake, "delta.update_keyword", keywords=keywords, fields=fields)
    # One of them has this bid already.
    assert shown == ("keywords", [{**NAMED, "cpc_bid": 1.75}], [{**NAMED, "cpc_bid": 1.32}])
    made = diff(fake, "delta.update_keyword", keywords=["alpine gloves", "glove liners"])
    assert [keyword["text"] for keyword in made[2]] == ["alpine gloves", "glove liners"]


def test_approved_keyword_changes_are_the_next_before(fake):
    keywords = {"keywords": ["outdoor jacket"]}
    for fields in ({"match_type": "EXACT"}, {"action": "PAUSE", "match_type": "BROAD"}):
        approve(fake, stage(fake, "delta.update_keyword", **keywords, fields=fields))
    paused = {**NAMED, "status": "PAUSED"}
    shown = diff(fake, "delta.update_keyword", **keywords, fields={"action": "ENABLE"})
    assert shown == ("keywords", [paused], [{**paused, "status": "ENABLED"}])
    fields = {"action": "REMOVE", "match_type": "BROAD"}
    removed = diff(fake, "delta.update_keyword", **keywords, fields=fields)
    assert removed == ("keywords", [{**JACKET, "status": "PAUSED"}], [])


def test_removed_themes_are_listed_in_the_diff(fake):
    field, before, after = diff(fake, "delta.remove_auto_search_themes")
    assert (field, after) == ("search_themes", [])
    assert [group["asset_group"] for group in before] == ["AUTO · Footwear", "AUTO · All Pages"]
    assert before[0]["texts"][0] == "outdoor gear"
    assert sum(len(group["texts"]) for group in before) == 23


def test_error_for_an_unknown_keyword_quotes_it_once():
    given = {"keywords": ["zither"], "fields": {"action": "PAUSE"}}
    _, answer = asked(FakeAdService(), "delta.update_keyword", given)
    assert answer["error"]["message"] == "this account has no keyword 'zither'"
