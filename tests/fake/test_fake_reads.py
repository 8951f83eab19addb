"""The seed data: it agrees with itself, with its documentation, and with approved changes."""

from datetime import timedelta
from itertools import pairwise

import pytest
from cases import each_case
from fake_helpers import ACCOUNTS, READS, approve, everything, send, stage

from adclient.testing import FakeAdService
from adclient.testing._accounts.accounts import Accounts

BETA, GAMMA, DELTA = "account_b204", "account_c3d8", "account_d118"
HALDEN = [
    ("campaign_57a7", "SPR26 · Prospecting · Trail Shoe Launch", "ENABLED"),
    ("campaign_cb1a", "SPR26 · Retargeting · Cart 14d", "ENABLED"),
    ("campaign_1dce", "SPR26 · Creator · Hut-to-Hut Series", "ENABLED"),
    ("campaign_cb31", "EVG · Prospecting · Rain Shell", "ENABLED"),
    ("campaign_b151", "EVG · Traffic · Size Guide", "PAUSED"),
    ("campaign_88b3", "WIN25 · Clearance · Down Jackets", "PAUSED"),
    ("campaign_fc42", "TEST · Smart · New Buyers", "ENABLED"),
]


@pytest.fixture
def fake():
    return FakeAdService()


@pytest.fixture
def client(fake):
    return fake.client()


def campaigns(client, account_id=BETA, **filters):
    return list(client.beta.list_campaigns(account_id=account_id, **filters))


def spend(client, date_range):
    found = campaigns(client, date_range=date_range)
    return round(sum(campaign.extra["spend"] for campaign in found), 2)


def waste(client):
    return list(client.delta.analyze_wasted_spend(account_id=DELTA))


@each_case("operation", READS)
def test_envelope_has_exactly_the_keys_of_the_interface(fake, operation):
    query = {"account_id": ACCOUNTS[operation.namespace]}
    status, answer = send(fake, operation.full_name, query=query)
    assert (status, list(answer), list(answer["page"])) == (200, ["data", "page"], ["next"])
    assert answer["data"]
    for item in answer["data"]:
        assert all(isinstance(item[key], str) for key in ("id", "name", "status"))


def test_reads_follow_from_the_seed_and_not_from_earlier_reads():
    first, second = FakeAdService(), FakeAdService()
    campaigns(second.client(), date_range="LAST_7_DAYS")
    list(second.client().gamma.list_ads(account_id="account_c95a"))
    assert everything(first) == everything(second)
    a, b = (campaigns(FakeAdService(seed=seed).client()) for seed in ("a", "b"))
    assert (a[0].id, a[10].name) == (b[0].id, b[10].name)
    assert (a[0].extra["spend"], a[10].id) != (b[0].extra["spend"], b[10].id)


@each_case(
    ("account_id", "counts"),
    [
        ("account_a91f", {"campaign": 9, "creative": 24}),
        ("account_a5d2", {"campaign": 48, "creative": 0}),
        ("account_b204", {"campaign": 62, "creative": 62}),
        ("account_b7e0", {"campaign": 4, "creative": 4}),
        ("account_c3d8", {"campaign": 12, "ad": 126}),
        ("account_d118", {"campaign": 14, "keyword": 3, "asset_group": 2}),
        ("account_e000", {"campaign": 0, "ad": 0}),
    ],
)
def test_accounts_have_the_documented_entities(account_id, counts):
    account = Accounts("other", has_story=True).get(account_id)
    assert {kind: len(account.all(kind)) for kind in counts} == counts


def test_campaigns_have_documented_names_and_consistent_rates(client):
    found = campaigns(client)
    assert [(c.id, c.name, c.status) for c in found[:7]] == HALDEN
    assert len({c.id for c in found}) == 62
    assert campaigns(client, campaign_id="campaign_cb1a") == [found[1]]
    for campaign in found[:7]:
        extra = campaign.extra
        assert extra["ctr"] == round(extra["clicks"] / extra["impressions"], 4)
        assert extra["cpc"] == pytest.approx(extra["spend"] / extra["clicks"], abs=0.005)
        assert extra["cpa"] == pytest.approx(extra["spend"] / extra["conversions"], abs=0.005)
        assert 0 < extra["spend"] <= 1.2 * extra["daily_budget"] * 30
    for campaign in campaigns(client, "account_b7e0"):  # a currency without decimals
        assert isinstance(campaign.extra["spend"], int)
        assert isinstance(campaign.extra["cpc"], int)


def test_date_ranges_add_up_and_follow_the_clock(fake, client):
    today, yesterday = (spend(client, name) for name in ("TODAY", "YESTERDAY"))
    # On 2 March the month has two days: yesterday and today.
    assert spend(client, "THIS_MONTH") == pytest.approx(today + yesterday)
    spends = [spend(client, f"LAST_{n}_DAYS") for n in (7, 14, 30, 90)]
    assert all(shorter < longer for shorter, longer in pairwise(spends))
    assert spends[2] - spends[1] < spend(client, "LAST_MONTH") < spends[3]
    assert spend(client, None) == spends[2]
    fake.clock.advance(timedelta(days=1))
    assert spend(client, "YESTERDAY") == today != yesterday


def test_ads_are_of_every_kind(client):
    pages = list(client.gamma.list_ads(account_id=GAMMA).pages())
    assert [len(page.data) for page in pages] == [50, 50, 26]
    ads = [ad for page in pages for ad in page.data]
    assert len({ad.id for ad in ads}) == 126
    assert max(len(ad.name) for ad in ads) == 400
    assert any("🏔️" in ad.name for ad in ads)
    assert {ad.status for ad in ads} == {"ENABLED", "PAUSED", "REMOVED"}
    assert {ad.extra["format"] for ad in ads} == {"IMAGE", "CAROUSEL", "DYNAMIC"}
    assert client.gamma.list_ads(account_id="account_e000").data == ()


# Analyses.


def test_fatigue_has_the_documented_findings_that_agree_with_the_campaigns(fake, client):
    found = list(client.beta.detect_creative_fatigue(account_id=BETA))
    assert [(f.name.rpartition(" · ")[0], f.status, f.extra["days_live"]) for f in found] == [
        ("EVG · Prospecting · Rain Shell", "FATIGUED", 96),
        ("SPR26 · Prospecting · Trail Shoe Launch", "AT_RISK", 41),
        ("SPR26 · Retargeting · Cart 14d", "AT_RISK", 60),
        ("SPR26 · Creator · Hut-to-Hut Series", "HEALTHY", 25),
        ("TEST · Smart · New Buyers", "HEALTHY", 9),
    ]
    for finding in found:
        extra, one = finding.extra, {"campaign_id": finding.extra["campaign_id"]}
        [week] = campaigns(client, **one, date_range="LAST_7_DAYS")
        assert (extra["spend_7d"], extra["ctr_7d"]) == (week.extra["spend"], week.extra["ctr"])
        assert len(extra["series"]) == extra["days_live"]
    action, *others = [finding.extra["suggested_action"] for finding in found]
    assert (action["operation"], others) == ("beta.pause_campaign", [None] * 4)
    creative = {"account_id": BETA, "creative_id": found[0].extra["creative_id"]}
    assert client.beta.detect_creative_fatigue(**creative).data == (found[0],)
    approve(fake, client.beta.pause_campaign(**action["args"]))
    assert list(client.beta.detect_creative_fatigue(account_id=BETA)) == found[1:]


def test_waste_has_the_documented_figures_on_any_day_and_seed(fake, client):
    found = waste(client)
    wasted = [finding.extra["wasted_spend"] for finding in found]
    assert sum(wasted) == pytest.approx(6647.85, rel=0.01)
    assert wasted == sorted(wasted, reverse=True)
    assert [f.status for f in (*found[:2], found[-1])] == ["CRITICAL", "HIGH", "LOW"]
    first = found[0].extra
    assert (first["reason"], first["entity_id"]) == ("CAMPAIGN_ROAS_BELOW_1", first["campaign_id"])
    assert first["period"] == {"start": "2026-01-31", "end": "2026-03-01"}
    assert client.delta.analyze_wasted_spend(account_id="account_d7f2").data == ()
    fake.clock.advance(timedelta(days=7))
    for other in (waste(client), waste(FakeAdService(seed="other").client())):
        assert [finding.name for finding in other] == [finding.name for finding in found]
        assert {finding.extra["wasted_spend"] for finding in other}.isdisjoint(wasted)


def test_suggested_action_can_be_staged_and_ends_the_finding(fake, client):
    found = waste(client)
    suggested = [finding.extra["suggested_action"] for finding in found]
    assert sum(action is not None for action in suggested) == 6
    for action in filter(None, suggested):
        stage(fake, action["operation"], **action["args"])
    while fake.dashboard.pending():
        fake.dashboard.approve(fake.dashboard.pending()[0])
    left = waste(client)
    gone = {finding.extra["entity_type"] for finding in found if finding not in left}
    assert gone == {"keyword", "asset_group", "search_term", "campaign"}
    # The campaign itself is still there, but there is nothing left that would help.
    assert [finding.extra["suggested_action"] for finding in left] == [None] * len(left)


# Options, objectives and profiles.

HIKERS = ["Hiking", "Backpacking", "Trail running", "Mountain huts"]


@each_case(
    ("targeting", "names"),
    [
        ({"type": "INTEREST", "query": "hiking"}, HIKERS),
        ({"query": "HIKING"}, [*HIKERS, "Frequent hikers", "Hiking Trail Heights, Oregon"]),
        ({"type": "LANGUAGE"}, ["Languages", "Norwegian"]),
        ({"query": "zither"}, []),
    ],
)
def test_targeting_options_are_filtered_by_type_and_query(client, targeting, names):
    page = client.gamma.search_targeting(account_id=GAMMA, targeting=targeting)
    assert [option.name for option in page] == names


def test_targeting_without_query_returns_the_top_of_the_tree(client):
    search = client.gamma.search_targeting
    top = search(account_id=GAMMA).data
    assert len(top) == 6
    assert search(account_id=GAMMA, targeting={"unheard_of": [1]}).data == top
    assert search(account_id="account_e000").data == ()


def test_objectives_show_the_campaigns_that_use_them(client):
    found = {o.name: o.extra for o in client.alpha.explain_objectives(account_id="account_a91f")}
    assert len(found) == 7
    assert found["LEADS"]["required_fields"] == ["lead_form_id"]
    campaign = found["LEADS"]["campaigns"][0]
    assert (campaign["id"], campaign["daily_budget"]) == ("campaign_4c10", 100)


def test_business_profile_has_statuses_by_confidence(client):
    found = {f.name: f for f in client.delta.infer_business_profile(account_id=DELTA)}
    names = ("vertical", "size_band", "audience")
    statuses = ["CONFIRMED", "INFERRED", "LOW_CONFIDENCE"]
    assert [found[name].status for name in names] == statuses
    assert found["brand_terms"].extra["value"] == ["halden", "halden outdoor"]
    assert client.delta.infer_business_profile(account_id="account_5a5a").data == ()
