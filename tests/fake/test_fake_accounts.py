"""The accounts of the fake and of users: what reads return, and what drafts make of it."""

from itertools import pairwise

import pytest
from cases import each_case
from fake_helpers import approve, asked, refusal, send, stage

from adclient.testing import FakeAccount, FakeAdService

CAMPAIGNS, ADS, FATIGUE = "beta.list_campaigns", "gamma.list_ads", "beta.detect_creative_fatigue"
ITEM = {"labels": [], "id": "1", "cost_micros": 12.50, "name": None, "status": "ON", "a": {"b": 1}}
KEYWORDS = [{"text": "tent", "bid_micros": 7}, {"text": "tarp", "match_type": "EXACT"}]


def read(fake, operation, **query):
    status, answer = send(fake, operation, query={"account_id": "mine", **query})
    assert status == 200
    return answer["data"]


def mine(**items):
    return FakeAdService(accounts=[FakeAccount("mine", **items)])


def applied(fake, operation, **arguments):
    return approve(fake, stage(fake, operation, account_id="mine", **arguments)).diff.to_dict()


def test_rows_without_an_id_are_listed_by_a_client():
    client = mine(reads={FATIGUE: [{"value": 1}] * 100 + [{"id": "r"}]}).client()
    items = client.beta.detect_creative_fatigue(account_id="mine").collect()
    assert len({item.id for item in items}) == 101
    assert (items[0].name, items[0].extra, items[-1].id) == (None, {"value": 1}, "r")


def test_drafts_change_what_no_read_returns():
    groups = [{"name": "Boots", "search_themes": ["boots"]}, {"name": "Tents"}]
    creatives = [{"id": "c", "headline": "Old"}]
    fake = mine(keywords=KEYWORDS, creatives=creatives, asset_groups=groups)
    fields = {"headline": "New"}
    diff = applied(fake, "alpha.update_creative", creative_id="c", fields=fields)
    assert diff == {"field": "headline", "before": "Old", "after": "New"}
    diff = applied(fake, "delta.remove_auto_search_themes")
    before = [{"asset_group": "Boots", "texts": ["boots"]}]
    assert diff == {"field": "search_themes", "before": before, "after": []}

    def keywords(*texts, **fields):
        diff = applied(fake, "delta.update_keyword", keywords=list(texts), fields=fields)
        return diff["before"], diff["after"]

    assert keywords("TENT", "tent", "tarp", action="UPDATE", bid_micros=8) == (
        [{"text": "tent", "bid_micros": 7}, {**KEYWORDS[1], "bid_micros": None}],
        [{"text": "tent", "bid_micros": 8}, {**KEYWORDS[1], "bid_micros": 8}],
    )
    live = {**KEYWORDS[0], "bid_micros": 8, "status": "ENABLED"}
    assert keywords("tent", action="REMOVE") == ([live], [])
    assert keywords("tent", action="SELL")[1][0]["action"] == "SELL"
    assert keywords("tent", action="REMOVE")[0][0]["match_type"] == "BROAD"


def test_rows_about_creatives_can_be_asked_for_by_creative():
    rows = [{**ITEM, "id": "f1", "creative_id": "c1"}, {**ITEM, "id": "c2"}]
    fake = mine(reads={FATIGUE: rows}, creatives=[{"id": "c3"}])
    for creative_id, found in (("c1", [rows[0]]), ("c2", [rows[1]]), ("c3", [])):
        assert read(fake, FATIGUE, creative_id=creative_id) == found
    unknown = {"account_id": "mine", "creative_id": "c4"}
    assert refusal(asked(fake, FATIGUE, unknown)) == "404 creative_not_found creative_id"


def test_accounts_are_added_to_those_that_exist(fake):
    for number in range(9):
        fake.add_account(FakeAccount(f"mine_{number}", ads=[{"name": f"Ad {number}"}]))
    client = fake.client()
    names = [client.gamma.list_ads(account_id=f"mine_{n}").data[0].name for n in range(9)]
    assert names == [f"Ad {number}" for number in range(9)]
    assert client.gamma.list_ads(account_id="account_c3d8").data
    with pytest.raises(ValueError, match="account must be a FakeAccount, not str"):
        fake.add_account("mine")
    for taken in ("mine_0", "account_b204"):
        with pytest.raises(ValueError, match=f"already an account {taken}"):
            fake.add_account(FakeAccount(taken))
        unknown = asked(FakeAdService(accounts=[]), ADS, {"account_id": taken})
        assert refusal(unknown) == "404 account_not_found"


def test_figures_are_those_of_the_date_range():
    figures = {"LAST_30_DAYS": {"c": {"clicks": 40}}, "JUNE": {"c": {"clicks": 9}, "a": {"x": 1}}}
    campaigns = [{"id": "c", "clicks": 0}, {"id": "d"}]
    fake = mine(campaigns=campaigns, ads=[{"id": "a"}], figures=figures)
    clicks = {None: 40, "LAST_30_DAYS": 40, "JUNE": 9, "EVER": 40}
    for date_range, expected in clicks.items():
        ranged = {} if date_range is None else {"date_range": date_range}
        first, second = read(fake, CAMPAIGNS, **ranged)
        assert (first["clicks"], second.keys()) == (expected, {"id", "name", "status"})
    assert [read(fake, ADS, date_range=name)[0].get("x") for name in ("JUNE", "EVER")] == [1, None]


@each_case(
    ("given", "message"),
    ({"platform": "Alpha"}, "platform must be one of 'alpha'"),
    ({"campaigns": [{"id": 5}]}, r"campaigns\[0\].id must be a text that no other campaign"),
    ({"ads": [5]}, "ads must be a list of JSON objects"),
    ({"reads": {CAMPAIGNS: []}}, f"reads: there is no read '{CAMPAIGNS}': "),
    ({"name": 5}, "name must be a str, not int"),
    ({"currency": ["USD"]}, "currency must be a text"),
    ({"reads": None}, "reads must be items by the names of reads"),
    ({"figures": {"TODAY": {"c": 5}}}, "figures must be JSON objects by date range and id"),
    ({"figures": {"TODAY": [5]}}, "figures must be JSON objects"),
    ({"figures": [5]}, "figures must be JSON objects"),
    ({"id": ""}, "id must be a text that is not empty"),
)
def test_invalid_accounts_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        FakeAdService(accounts=[FakeAccount(**{"id": "mine", **given})])


# The diff of each write against the live state.


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


# The seed data agrees with itself, and follows approved changes.


def spend(client, date_range):
    found = client.beta.list_campaigns(account_id="account_b204", date_range=date_range).collect()
    return round(sum(campaign.extra["spend"] for campaign in found), 2)


def test_each_date_range_has_figures_of_its_own(fake):
    client = fake.client()
    today, yesterday = (spend(client, name) for name in ("TODAY", "YESTERDAY"))
    # On 2 March the month has two days: yesterday and today.
    assert spend(client, "THIS_MONTH") == pytest.approx(today + yesterday)
    spends = [spend(client, f"LAST_{n}_DAYS") for n in (7, 14, 30, 90)]
    assert all(shorter < longer for shorter, longer in pairwise(spends))
    assert spends[2] - spends[1] < spend(client, "LAST_MONTH") < spends[3]
    assert spend(client, None) == spends[2]
    assert len({today, yesterday, spend(client, "LAST_MONTH"), *spends}) == 7


def test_findings_disappear_when_something_was_done_about_them(fake):
    client = fake.client()
    tired = client.beta.detect_creative_fatigue(account_id="account_b204").data
    waste = client.delta.analyze_wasted_spend(account_id="account_d118").data
    actions = {item.extra["suggested_action"] and item.id: item for item in [*tired, *waste]}
    for action in [item.extra["suggested_action"] for item in actions.values()]:
        if action is not None:
            approve(fake, stage(fake, action["operation"], **action["args"]))
    left = client.beta.detect_creative_fatigue(account_id="account_b204").collect()
    left += client.delta.analyze_wasted_spend(account_id="account_d118").collect()
    assert {item.id for item in left}.isdisjoint(actions)
    assert len(left) == len(tired) + len(waste) - len(actions) + 1
