"""Accounts of users: their items, what drafts make of them, and what is refused."""

import pytest
from cases import each_case
from fake_helpers import READS, approve, asked, refusal, send, stage

from adclient.testing import FakeAccount, FakeAdService

LISTINGS = {"beta.list_campaigns": "campaigns", "gamma.list_ads": "ads"}
ITEM = {
    "labels": [],
    "id": "1",
    "cost_micros": 12.50,
    "name": None,
    "status": "LIVE",
    "a": {"b": 1},
}
KEYWORDS = [{"text": "tent", "bid_micros": 7}, {"text": "tarp", "match_type": "EXACT"}]


def read(fake, operation, **query):
    status, answer = send(fake, operation, query={"account_id": "mine", **query})
    assert status == 200
    return answer["data"]


def mine(**items):
    return FakeAdService(accounts=[FakeAccount("mine", **items)])


def applied(fake, operation, **arguments):
    return approve(fake, stage(fake, operation, account_id="mine", **arguments)).diff.to_dict()


@each_case("operation", READS)
def test_reads_return_the_given_items_and_no_others(operation):
    name = operation.full_name
    assert read(mine(), name) == []
    items = [ITEM, {**ITEM, "id": "2"}]
    given = {LISTINGS[name]: items} if name in LISTINGS else {"reads": {name: items}}
    found = read(mine(**given), name)
    assert found == items
    assert [list(item) for item in found] == [list(item) for item in items]


def test_missing_id_name_and_status_are_made_up_and_the_same_each_time():
    pages = [read(mine(campaigns=[{"x": 1}, {}]), "beta.list_campaigns") for _ in range(2)]
    assert pages[0] == pages[1]
    [first, second] = pages[0]
    assert first == {"id": first["id"], "name": "Campaign 1", "status": "ENABLED", "x": 1}
    assert first["id"].startswith("campaign_")
    assert second["id"] != first["id"]


def test_item_without_id_may_follow_one_whose_id_is_its_kind():
    fake = mine(ads=[{"id": "ad"}, {"name": "x"}])
    assert [item["name"] for item in read(fake, "gamma.list_ads")] == ["Ad 1", "x"]


@each_case("name", [each.full_name for each in READS if each.full_name not in LISTINGS])
def test_rows_without_an_id_are_listed_by_a_client(name):
    namespace, method = name.split(".")
    client = mine(reads={name: [{"value": 1}] * 600 + [{"id": "r"}]}).client()
    items = getattr(getattr(client, namespace), method)(account_id="mine").collect()
    assert len({item.id for item in items}) == 601
    assert (items[0].name, items[0].status, items[0].extra) == (None, None, {"value": 1})
    assert items[-1].id == "r"


def test_given_items_are_copied():
    items = [{"id": "1", "labels": ["a"]}]
    fake = mine(campaigns=items)
    items[0]["labels"].append("b")
    assert read(fake, "beta.list_campaigns")[0]["labels"] == ["a"]


def test_drafts_change_campaigns_and_ads():
    fake = mine(campaigns=[ITEM, {**ITEM, "id": "2"}], ads=[ITEM])
    diff = applied(fake, "alpha.update_campaign_budget", campaign_id="1", daily_budget=9)
    assert diff == {"field": "daily_budget", "before": None, "after": 9}
    applied(fake, "alpha.update_campaign_targeting", campaign_id="1", fields={"a": {"c": 2}})
    diff = applied(fake, "beta.pause_campaign", campaign_id="1")
    assert diff == {"field": "status", "before": "LIVE", "after": "PAUSED"}
    changed = {**ITEM, "a": {"b": 1, "c": 2}, "status": "PAUSED", "daily_budget": 9}
    fields = {"cost_micros": 3, "status": "NEW"}
    applied(fake, "beta.create_video_campaign", fields=fields)
    *found, made = read(fake, "beta.list_campaigns")
    assert found == [changed, {**ITEM, "id": "2"}]
    assert made == {"id": made["id"], "name": "New video campaign", **fields}
    assert read(fake, "beta.list_campaigns", campaign_id=made["id"]) == [made]
    applied(fake, "gamma.create_dco_ad", ad_id="1", fields={"name": "Tents"})
    assert read(fake, "gamma.list_ads") == [{**ITEM, "name": "Tents"}]


def test_drafts_change_what_no_read_returns():
    fake = mine(
        keywords=KEYWORDS,
        creatives=[{"id": "c", "headline": "Old"}],
        asset_groups=[{"name": "Boots", "search_themes": ["boots"]}, {"name": "Tents"}],
    )
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
    assert keywords("tent", action="REMOVE") == ([{**KEYWORDS[0], "bid_micros": 8, **LIVE}], [])
    assert keywords("tent", action="SELL")[1][0]["action"] == "SELL"
    assert keywords("tent", action="REMOVE")[0][0]["match_type"] == "BROAD"


LIVE = {"status": "ENABLED"}


def test_rows_about_creatives_can_be_asked_for_by_creative():
    name = "beta.detect_creative_fatigue"
    rows = [{**ITEM, "id": "f1", "creative_id": "c1"}, {**ITEM, "id": "c2"}]
    fake = mine(reads={name: rows}, creatives=[{"id": "c3"}])
    assert [read(fake, name, creative_id=f"c{n}") for n in (1, 2, 3)] == [[rows[0]], [rows[1]], []]
    unknown = {"account_id": "mine", "creative_id": "c4"}
    assert refusal(asked(fake, name, unknown)) == "404 creative_not_found creative_id"


def test_account_of_one_platform_refuses_the_others():
    fake = mine(platform="gamma", access="read_only", currency="XTS", name="Mine")
    assert read(fake, "gamma.list_ads") == []
    others = {"account_id": "mine"}
    expected = "422 platform_mismatch account_id"
    assert refusal(asked(fake, "beta.list_campaigns", others)) == expected
    create = {**others, "fields": {}}
    assert refusal(asked(fake, "gamma.create_dco_ad", create)) == "403 account_read_only"


def test_draft_shows_name_and_currency_of_its_account():
    fake = mine(currency="XTS", campaigns=[{"id": "1", "name": "Spring"}])
    stage(fake, "beta.pause_campaign", account_id="mine", campaign_id="1")
    [draft] = fake.drafts
    assert (draft.account_name, draft.currency, draft.target_name) == ("mine", "XTS", "Spring")


def test_accounts_are_added_to_those_that_exist():
    fake = FakeAdService()
    for number in range(300):
        fake.add_account(FakeAccount(f"mine_{number}", ads=[{"name": f"Ad {number}"}]))
    client = fake.client()
    names = [client.gamma.list_ads(account_id=f"mine_{n}").data[0].name for n in range(300)]
    assert names == [f"Ad {number}" for number in range(300)]
    assert client.gamma.list_ads(account_id="account_c3d8").data
    for taken in ("mine_0", "account_b204"):
        with pytest.raises(ValueError, match=f"already an account {taken}"):
            fake.add_account(FakeAccount(taken))
    for unknown in ("account_b204", "mine_0"):
        given = {"account_id": unknown}
        assert refusal(asked(FakeAdService(accounts=[]), "gamma.list_ads", given)) == (
            "404 account_not_found"
        )


@each_case(
    ("given", "message"),
    [
        ({"platform": "Alpha"}, "platform must be one of 'alpha'"),
        ({"access": "closed"}, "access must be one of 'open'"),
        ({"campaigns": [{"id": 5}]}, r"campaigns\[0\].id must be a text that no other campaign"),
        ({"ads": [{"id": ""}]}, r"ads\[0\].id must be"),
        ({"ads": [{"id": "a"}, {"id": "a"}]}, r"ads\[1\].id must be"),
        ({"keywords": [{"bid": float("nan")}]}, r"account.keywords\[0\].bid: expected a finite"),
        ({"creatives": [{"a": object()}]}, r"creatives\[0\].a: expected a JSON value, got object"),
        ({"ads": [5]}, "ads must be a list of JSON objects"),
        ({"ads": {"id": "a"}}, "ads must be a list of JSON objects"),
        ({"reads": {"beta.list_campaigns": []}}, "reads: 'beta.list_campaigns' is not one of"),
        ({"reads": None}, "reads must be items by the names of reads"),
        ({"campaigns": ({} for _ in "ab")}, "account.campaigns: expected a JSON value, got gen"),
        ({"name": 5}, "name must be a str, not int"),
        ({"currency": ["USD"]}, "currency must be a text"),
    ],
)
def test_invalid_accounts_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        mine(**given)


@each_case("account_id", [None, "", 5, ["a"]])
def test_account_without_a_text_as_id_is_refused(account_id):
    with pytest.raises(ValueError, match="id must be a text that is not empty"):
        FakeAccount(account_id)


@each_case("given", ["mine", None])
def test_anything_but_an_account_is_refused(given):
    expected = f"account must be a FakeAccount, not {type(given).__name__}"
    with pytest.raises(ValueError, match=expected):
        FakeAdService(accounts=[given])
    with pytest.raises(ValueError, match=expected):
        FakeAdService().add_account(given)
