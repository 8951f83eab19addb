import pytest
from fake_helpers import VALID_WRITES, WRITES, approve, everything, send, stage

from adclient.testing import FakeAdService


@pytest.fixture
def fake():
    return FakeAdService()


def diff(fake, operation, **arguments):
    shown = stage(fake, operation, **arguments).diff
    return shown.field, shown.before, shown.after


def test_response_has_exactly_the_keys_of_the_interface(fake):
    for operation in WRITES:
        account_id = {"alpha": "a91f", "beta": "b204", "gamma": "c3d8", "delta": "d118"}
        body = {"account_id": f"account_{account_id[operation.namespace]}"}
        status, answer = send(fake, operation.full_name, body | VALID_WRITES[operation.full_name])
        assert status == 201
        assert list(answer) == ["draft_id", "status", "diff", "requires"]
        assert list(answer["diff"]) == ["field", "before", "after"]
        assert answer["draft_id"].startswith("draft_")
        assert answer["status"] == "pending_approval"
        assert answer["requires"] == "human_two_step_approve"


def test_no_write_changes_what_a_read_returns(fake):
    before = everything(fake)
    for operation in WRITES * 3:
        stage(fake, operation.full_name, **VALID_WRITES[operation.full_name])
    assert len(fake.drafts) == 3 * len(WRITES)
    assert everything(fake) == before


def test_targeting_is_replaced_as_a_whole(fake):
    wanted = {"include": {"and": [{"or": {"locations": ["geo:1"]}}]}}
    field, before, after = diff(
        fake, "alpha.update_campaign_targeting", campaign_id="campaign_4c10", targeting=wanted
    )
    assert field == "targeting"
    assert before["exclude"] == {"or": {"employers": ["org:1035"]}}
    assert after == wanted


def test_diff_of_one_field_has_its_name(fake):
    assert diff(
        fake,
        "alpha.update_campaign_targeting",
        campaign_id="campaign_4c10",
        fields={"audience_expansion": False, "offsite_delivery": False},
    ) == ("audience_expansion", True, False)


def test_diff_of_several_fields_has_the_kind_and_only_changed_keys(fake):
    assert diff(
        fake,
        "alpha.update_campaign_budget",
        campaign_id="campaign_4c10",
        daily_budget=120,
        fields={"bid": {"amount": 8.0, "strategy": "MANUAL"}},
    ) == (
        "campaign",
        {"daily_budget": 100, "bid": {"amount": 9.5}},
        {"daily_budget": 120, "bid": {"amount": 8.0}},
    )


def test_diff_of_a_nested_field_has_its_path(fake):
    assert diff(
        fake,
        "alpha.update_campaign_budget",
        campaign_id="campaign_4c10",
        fields={"bid": {"amount": 8.0}},
    ) == ("bid.amount", 9.5, 8.0)
    assert diff(
        fake,
        "alpha.update_campaign_budget",
        campaign_id="campaign_4c10",
        fields={"bid": {"amount": 8.0, "strategy": "COST_CAP"}},
    ) == (
        "campaign",
        {"bid": {"amount": 9.5, "strategy": "MANUAL"}},
        {"bid": {"amount": 8.0, "strategy": "COST_CAP"}},
    )


def test_unknown_field_is_staged(fake):
    assert diff(
        fake,
        "alpha.update_campaign_targeting",
        campaign_id="campaign_4c10",
        fields={"moon_phase": {"a": [None]}},
    ) == ("moon_phase", None, {"a": [None]})


def test_decimals_are_kept(fake):
    body = b'{"account_id":"account_a91f","campaign_id":"campaign_4c10","fields":{"x":%s}}'
    digits = b"1234567890123456.789012345678901"
    send(fake, "alpha.update_campaign_budget", body % digits)
    assert str(fake.drafts[0].diff.after).encode() == digits


def test_true_differs_from_one(fake):
    for value in (1, True):
        fields = {"audience_expansion": value}
        if value is True:
            status, _ = send(
                fake,
                "alpha.update_campaign_targeting",
                {"account_id": "account_a91f", "campaign_id": "campaign_4c10", "fields": fields},
            )
            assert status == 422
        else:
            shown = diff(
                fake,
                "alpha.update_campaign_targeting",
                campaign_id="campaign_4c10",
                fields=fields,
            )
            assert shown == ("audience_expansion", True, 1)


def test_creative_is_changed_or_created(fake):
    assert diff(
        fake,
        "alpha.update_creative",
        creative_id="creative_2f70",
        fields={"headline": "Approvals in one click"},
    ) == ("headline", "Automate approvals", "Approvals in one click")
    field, before, after = diff(
        fake, "alpha.update_creative", fields={"headline": "Approvals in one click"}
    )
    assert (field, before) == ("creative", None)
    assert after["headline"] == "Approvals in one click"


@pytest.mark.parametrize(
    ("operation", "campaign_id"),
    [("beta.create_video_campaign", "campaign_57a7"), ("gamma.create_image_campaign", None)],
)
def test_campaign_is_created_or_extended(fake, operation, campaign_id):
    fields = {"name": "Autumn", "objective": "SALES", "daily_budget": 150}
    field, before, after = diff(fake, operation, fields=fields)
    assert (field, before) == ("campaign", None)
    assert after == {**fields, "status": "PAUSED"}
    if campaign_id is None:
        campaign_id = (
            fake.client().gamma.list_ads(account_id="account_c3d8").data[0].extra["campaign_id"]
        )
    field, before, after = diff(
        fake, operation, campaign_id=campaign_id, fields={"ad_group": {"name": "more"}}
    )
    assert field == "ad_groups"
    assert after == [*before, {"name": "more"}]


def test_extended_campaign_gets_an_ad_group_with_all_fields(fake):
    fields = {"ad_group": {"name": "more"}, "ad": {"video_id": "v"}, "daily_budget": 500}
    shown = diff(fake, "beta.create_video_campaign", campaign_id="campaign_57a7", fields=fields)
    assert shown[2][-1] == {"name": "more", "ad": {"video_id": "v"}, "daily_budget": 500}


def test_ad_group_of_an_extension_keeps_its_name(fake):
    ads = list(fake.client().gamma.list_ads(account_id="account_c3d8"))
    draft = stage(
        fake,
        "gamma.create_image_campaign",
        campaign_id=ads[0].extra["campaign_id"],
        fields={"name": "Autumn", "ad_group": {"name": "Wide"}, "ad": {"name": "Leaf"}},
    )
    assert draft.diff.after[-1] == {"name": "Wide", "ad": {"name": "Leaf"}}


def test_true_differs_from_one_at_any_depth(fake):
    where = {"campaign_id": "campaign_4c10"}
    for value in (1, True):
        draft = stage(fake, "alpha.update_campaign_targeting", **where, targeting={"x": [value]})
        assert draft.diff.after == {"x": [value]}
        approve(fake, draft)


@pytest.mark.parametrize("is_extended", [False, True])
def test_image_campaign_creates_its_ad_group_and_ad(fake, is_extended):
    def listed():
        return list(fake.client().gamma.list_ads(account_id="account_c3d8"))

    before = listed()
    known = {"campaign_id": before[3].extra["campaign_id"]} if is_extended else {}
    fields = {"name": "Autumn", "ad_group": {"name": "Wide"}, "ad": {"name": "Leaf"}}
    draft = stage(fake, "gamma.create_image_campaign", **known, fields=fields)
    assert listed() == before
    applied = approve(fake, draft)
    *rest, made = listed()
    assert rest == before
    assert (made.name, made.extra["format"]) == ("Leaf", "IMAGE")
    assert made.extra["ad_group_id"] not in {ad.extra["ad_group_id"] for ad in before}
    campaigns = {ad.extra["campaign_id"] for ad in before}
    assert (made.extra["campaign_id"] in campaigns) is is_extended
    back = fake.dashboard.roll_back(applied.draft_id, reviewer="Ines")
    assert approve(fake, back).status == "applied"
    assert listed() == before
    again = fake.dashboard.roll_back(back.draft_id, reviewer="Ines")
    assert approve(fake, again).status == "applied"
    *rest, made = listed()
    assert rest == before
    assert (made.name, made.extra["campaign_id"] in campaigns) == ("Leaf", is_extended)


def test_rollback_of_a_campaign_is_stale_if_its_ad_has_changed(fake):
    fields = {"name": "Autumn", "ad": {"name": "Leaf"}}
    applied = approve(fake, stage(fake, "gamma.create_image_campaign", fields=fields))
    made = list(fake.client().gamma.list_ads(account_id="account_c3d8"))[-1]
    back = fake.dashboard.roll_back(applied.draft_id, reviewer="Ines")
    fake.change_live("account_c3d8", made.id, name="Twig")
    assert approve(fake, back).status == "stale"


def test_created_campaign_can_be_extended_once_applied(fake):
    approve(fake, stage(fake, "beta.create_video_campaign", fields={"name": "Bare"}))
    made = list(fake.client().beta.list_campaigns(account_id="account_b204"))[-1]
    shown = diff(
        fake, "beta.create_video_campaign", campaign_id=made.id, fields={"languages": ["en"]}
    )
    assert shown == ("ad_groups", None, [{"languages": ["en"]}])


def test_dynamic_ad_is_created_or_changed(fake):
    assets = {"images": ["a", "b"], "titles": ["x", "y", "z"], "bodies": [], "extra": 1}
    field, before, after = diff(fake, "gamma.create_dco_ad", fields={"assets": assets})
    assert (field, before) == ("ad", None)
    assert after["format"] == "DYNAMIC"
    assert after["assets"] == assets
    assert after["combinations"] == 6
    ad = fake.client().gamma.list_ads(account_id="account_c3d8").data[0]
    changed = diff(fake, "gamma.create_dco_ad", ad_id=ad.id, fields={"assets": assets})
    assert changed[0] == "ad"
    assert changed[2] == {"assets": assets, "combinations": 6}
    assert diff(fake, "gamma.create_dco_ad", ad_id=ad.id, fields={"serving": "LEARNING"}) == (
        "serving",
        "SERVING",
        "LEARNING",
    )


def test_pause_changes_the_status(fake):
    shown = diff(fake, "beta.pause_campaign", campaign_id="campaign_57a7")
    assert shown == ("status", "ENABLED", "PAUSED")


JACKET = {
    "text": "outdoor jacket",
    "match_type": "BROAD",
    "status": "ENABLED",
    "cpc_bid": 1.75,
}
NAMED = {"text": "outdoor jacket", "match_type": "BROAD"}


def keyword(fake, fields=None, keywords=("outdoor jacket",)):
    return diff(fake, "delta.update_keyword", keywords=list(keywords), fields=fields)


def test_added_keywords_are_listed_in_the_diff(fake):
    shown = keyword(fake, keywords=["alpine gloves", "glove liners"])
    assert shown[:2] == ("keywords", [])
    assert [entry["text"] for entry in shown[2]] == ["alpine gloves", "glove liners"]
    exact = keyword(fake, {"match_type": "EXACT", "cpc_bid": 2})
    assert exact[2] == [{**JACKET, "match_type": "EXACT", "cpc_bid": 2}]


def test_diff_of_keywords_shows_only_what_is_set(fake):
    negative = keyword(fake, {"match_type": "EXACT", "negative": True})
    assert negative[2] == [{**JACKET, "match_type": "EXACT", "cpc_bid": None, "negative": True}]
    url = "https://halden.example"
    shown = keyword(fake, {"action": "UPDATE", "final_url": url})
    assert shown[1:] == ([{**NAMED, "final_url": None}], [{**NAMED, "final_url": url}])
    paused = keyword(fake, {"action": "PAUSE", "match_type": "BROAD", "cpc_bid": 9})
    assert paused[1:] == ([JACKET], [{**JACKET, "status": "PAUSED", "cpc_bid": 9}])
    removed = keyword(fake, {"action": "REMOVE"}, ["rental"])
    assert removed[1][0]["negative"] is True
    how = {"action": "PAUSE", "match_type": removed[1][0]["match_type"]}
    assert keyword(fake, how, ["rental"])[2][0]["status"] == "PAUSED"


def test_keyword_is_found_in_any_letter_case(fake):
    assert keyword(fake, {"action": "REMOVE"}, ["Outdoor  JACKET"]) == ("keywords", [JACKET], [])


def test_removed_keywords_are_listed_in_the_diff(fake):
    assert keyword(fake, {"action": "REMOVE"}) == ("keywords", [JACKET], [])
    chosen = keyword(fake, {"action": "REMOVE", "match_type": "BROAD"})
    assert chosen == ("keywords", [JACKET], [])


def test_keywords_are_paused_and_enabled(fake):
    enabled, paused = {**NAMED, "status": "ENABLED"}, {**NAMED, "status": "PAUSED"}
    draft = stage(
        fake, "delta.update_keyword", keywords=["outdoor jacket"], fields={"action": "PAUSE"}
    )
    assert (draft.diff.before, draft.diff.after) == ([enabled], [paused])
    approve(fake, draft)
    assert keyword(fake, {"action": "ENABLE"}) == ("keywords", [paused], [enabled])


def test_diff_of_one_keyword_bid_names_the_keyword(fake):
    shown = keyword(fake, {"action": "UPDATE", "cpc_bid": 1.1})
    assert shown == ("keywords", [{**NAMED, "cpc_bid": 1.75}], [{**NAMED, "cpc_bid": 1.1}])


def test_match_type_change_replaces_the_keyword(fake):
    draft = stage(
        fake,
        "delta.update_keyword",
        keywords=["outdoor jacket"],
        fields={"action": "UPDATE", "match_type": "EXACT"},
    )
    exact = {**JACKET, "match_type": "EXACT"}
    assert (draft.diff.before, draft.diff.after) == ([JACKET], [exact])
    approve(fake, draft)
    assert keyword(fake, {"action": "REMOVE"}) == ("keywords", [exact], [])


def test_diff_of_several_keywords_is_a_list(fake):
    shown = keyword(
        fake,
        {"action": "UPDATE", "cpc_bid": 1.32},
        ["outdoor jacket", "cheap hiking boots"],
    )
    # One of them has this bid already.
    assert shown == ("keywords", [{**NAMED, "cpc_bid": 1.75}], [{**NAMED, "cpc_bid": 1.32}])
    single = keyword(fake, {"action": "UPDATE", "final_url": "https://halden.example"})
    assert single[0] == "keywords"


def test_removed_themes_are_listed_in_the_diff(fake):
    field, before, after = diff(fake, "delta.remove_auto_search_themes")
    assert (field, after) == ("search_themes", [])
    assert [group["asset_group"] for group in before] == ["AUTO · Footwear", "AUTO · All Pages"]
    assert before[0]["texts"][0] == "outdoor gear"
    assert sum(len(group["texts"]) for group in before) == 23
