"""The diff of each write against the live state."""

import pytest
from cases import each_case
from fake_helpers import approve, send, stage


def diff(fake, operation, **arguments):
    shown = stage(fake, operation, **arguments).diff
    return shown.field, shown.before, shown.after


MANUAL, CAP = {"amount": 9.5, "strategy": "MANUAL"}, {"amount": 8.0, "strategy": "COST_CAP"}
BOTH = {"daily_budget": 120, "fields": {"bid": {"amount": 8.0, "strategy": "MANUAL"}}}


@each_case(
    ("arguments", "field", "before", "after"),
    ({"fields": {"moon_phase": {"a": [None]}}}, "moon_phase", None, {"a": [None]}),
    ({"fields": {"audience_expansion": 1}}, "audience_expansion", True, 1),
    ({"fields": {"bid": {"amount": 8.0}}}, "bid.amount", 9.5, 8.0),
    ({"fields": {"bid": CAP}}, "campaign", {"bid": MANUAL}, {"bid": CAP}),
    (
        BOTH,
        "campaign",
        {"daily_budget": 100, "bid": {"amount": 9.5}},
        {"daily_budget": 120, "bid": {"amount": 8.0}},
    ),
)
def test_diff_holds_only_what_changes(fake, arguments, field, before, after):
    where = {"campaign_id": "campaign_4c10", **arguments}
    shown = diff(fake, "alpha.update_campaign_budget", **where)
    assert shown == (field, before, after)


def test_targeting_is_replaced_as_a_whole_and_decimals_are_kept(fake):
    wanted, where = {"x": [1]}, {"campaign_id": "campaign_4c10"}
    draft = stage(fake, "alpha.update_campaign_targeting", **where, targeting=wanted)
    assert (draft.diff.field, draft.diff.after) == ("targeting", wanted)
    assert draft.diff.before["exclude"] == {"or": {"employers": ["org:1035"]}}
    approve(fake, draft)
    again = diff(fake, "alpha.update_campaign_targeting", **where, targeting={"x": [True]})
    assert again == ("targeting", {"x": [1]}, {"x": [True]}), "true differs from one at any depth"
    body = b'{"account_id":"account_a91f","campaign_id":"campaign_4c10","fields":{"x":%s}}'
    digits = b"1234567890123456.789012345678901"
    send(fake, "alpha.update_campaign_budget", body % digits)
    assert str(fake.drafts[-1].diff.after).encode() == digits


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
