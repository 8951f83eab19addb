import json
from datetime import timedelta
from itertools import pairwise

import pytest
from fake_helpers import ACCOUNTS, READS, approve, everything, send

from adclient.testing import FakeAdService

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
def client():
    return FakeAdService().client()


def campaigns(client, account_id="account_b204", **filters):
    return list(client.beta.list_campaigns(account_id=account_id, **filters))


def spend(client, date_range, campaign_id=None):
    found = campaigns(client, campaign_id=campaign_id, date_range=date_range)
    return round(sum(campaign.extra["spend"] for campaign in found), 2)


def test_envelope_has_exactly_the_keys_of_the_interface():
    for operation in READS:
        query = {"account_id": ACCOUNTS[operation.namespace]}
        status, answer = send(FakeAdService(), operation.full_name, query=query)
        assert status == 200
        assert list(answer) == ["data", "page"]
        assert list(answer["page"]) == ["next"]
        assert answer["data"]
        for item in answer["data"]:
            assert all(isinstance(item[key], str) for key in ("id", "name", "status"))


def test_beta_account_has_62_campaigns(client):
    found = campaigns(client)
    assert [(c.id, c.name, c.status) for c in found[:7]] == HALDEN
    assert len(found) == len({c.id for c in found}) == 62


def test_rates_agree_with_their_counts(client):
    for campaign in campaigns(client)[:7]:
        extra = campaign.extra
        assert extra["ctr"] == round(extra["clicks"] / extra["impressions"], 4)
        assert extra["cpc"] == pytest.approx(extra["spend"] / extra["clicks"], abs=0.005)
        assert extra["cpa"] == pytest.approx(extra["spend"] / extra["conversions"], abs=0.005)
        assert 0 < extra["spend"] <= 1.2 * extra["daily_budget"] * 30


def test_date_ranges_add_up(client):
    today, yesterday = (spend(client, name) for name in ("TODAY", "YESTERDAY"))
    # On 2 March the month has two days: yesterday and today.
    assert spend(client, "THIS_MONTH") == pytest.approx(today + yesterday)
    spends = [spend(client, f"LAST_{n}_DAYS") for n in (7, 14, 30, 90)]
    assert all(shorter < longer for shorter, longer in pairwise(spends))
    whole = spend(client, "LAST_MONTH")
    assert spends[2] - spends[1] < whole
    assert spend(client, None) == spends[2]


def test_filtered_campaign_equals_its_row_in_the_list(client):
    [one] = campaigns(client, campaign_id="campaign_cb1a")
    assert one == campaigns(client)[1]


def test_a_currency_without_decimals_has_whole_amounts(client):
    found = campaigns(client, "account_b7e0")
    assert len(found) == 4
    for campaign in found:
        assert isinstance(campaign.extra["spend"], int)
        assert isinstance(campaign.extra["cpc"], int)


def test_date_ranges_follow_the_clock():
    fake = FakeAdService()
    before = spend(fake.client(), "YESTERDAY")
    today = spend(fake.client(), "TODAY")
    fake.clock.advance(timedelta(days=1))
    assert spend(fake.client(), "YESTERDAY") == today != before


def test_fatigue_findings_have_the_documented_scores(client):
    found = list(client.beta.detect_creative_fatigue(account_id="account_b204"))
    assert [(f.name.rpartition(" · ")[0], f.status) for f in found] == [
        ("EVG · Prospecting · Rain Shell", "FATIGUED"),
        ("SPR26 · Prospecting · Trail Shoe Launch", "AT_RISK"),
        ("SPR26 · Retargeting · Cart 14d", "AT_RISK"),
        ("SPR26 · Creator · Hut-to-Hut Series", "HEALTHY"),
        ("TEST · Smart · New Buyers", "HEALTHY"),
    ]
    assert [f.extra["days_live"] for f in found] == [96, 41, 60, 25, 9]


def test_fatigue_agrees_with_the_campaign_list(client):
    for finding in client.beta.detect_creative_fatigue(account_id="account_b204"):
        campaign_id = finding.extra["campaign_id"]
        [week] = campaigns(client, campaign_id=campaign_id, date_range="LAST_7_DAYS")
        assert finding.extra["spend_7d"] == week.extra["spend"]
        assert finding.extra["ctr_7d"] == week.extra["ctr"]
        assert finding.extra["hook_7d"] == week.extra["hook_rate"]


def test_fatigue_series_has_every_day(client):
    for finding in client.beta.detect_creative_fatigue(account_id="account_b204"):
        series, campaign_id = finding.extra["series"], finding.extra["campaign_id"]
        [yesterday] = campaigns(client, campaign_id=campaign_id, date_range="YESTERDAY")
        assert len(series) == finding.extra["days_live"]
        assert series[-1]["date"] == "2026-03-01"
        assert series[-1]["ctr"] == yesterday.extra["ctr"]
        assert series[-1]["frequency"] > series[0]["frequency"] == 1


def test_fatigue_has_signals_days_left_and_action():
    fake = FakeAdService()
    client = fake.client()
    found = client.beta.detect_creative_fatigue(account_id="account_b204").data
    signals = [finding.extra["signals"] for finding in found]
    assert signals[:2] == [
        ["HOOK_DROP", "CTR_DROP", "HIGH_FREQUENCY"],
        ["CTR_DROP", "HIGH_FREQUENCY"],
    ]
    assert signals[-1] == []
    days_left = [finding.extra["est_days_left"] for finding in found]
    assert days_left[0] == 0 < days_left[1] < days_left[2]
    assert days_left[3:] == [None, None]
    action, *others = [finding.extra["suggested_action"] for finding in found]
    assert action["operation"] == "beta.pause_campaign"
    assert others == [None] * 4
    approve(fake, client.beta.pause_campaign(**action["args"]))
    assert client.beta.detect_creative_fatigue(account_id="account_b204").data == found[1:]


def test_paused_video_has_no_fatigue_finding():
    fake = FakeAdService()
    fake.change_live("account_b204", "campaign_57a7", status="PAUSED")
    fake.clock.advance(timedelta(days=8))
    fake.change_live("account_b204", "campaign_57a7", status="ENABLED")
    found = fake.client().beta.detect_creative_fatigue(account_id="account_b204")
    assert "campaign_57a7" not in {finding.extra["campaign_id"] for finding in found}


def test_metrics_do_not_depend_on_earlier_reads():
    # With this seed an ad of each account has the same id.
    accounts = ["account_c3d8", "account_c95a"]

    def listed(order):
        client = FakeAdService(seed="s50").client()
        return {account: list(client.gamma.list_ads(account_id=account)) for account in order}

    first = listed(accounts)
    ids = [{ad.id for ad in ads} for ads in first.values()]
    assert ids[0] & ids[1]
    assert listed(reversed(accounts)) == first


def test_a_rejected_ad_spends_nothing(client):
    ads = list(client.gamma.list_ads(account_id="account_c95a"))
    spent = {ad.extra["serving"]: ad.extra["spend"] for ad in ads}
    assert spent["REJECTED"] == 0 < spent["SERVING"]


def test_fatigue_of_one_creative(client):
    first, *_ = client.beta.detect_creative_fatigue(account_id="account_b204")
    wanted = first.extra["creative_id"]
    page = client.beta.detect_creative_fatigue(account_id="account_b204", creative_id=wanted)
    assert page.data == (first,)


def test_ads_fill_three_pages(client):
    pages = list(client.gamma.list_ads(account_id="account_c3d8").pages())
    assert [len(page.data) for page in pages] == [50, 50, 26]
    ads = [ad for page in pages for ad in page.data]
    assert len({ad.id for ad in ads}) == 126
    assert max(len(ad.name) for ad in ads) == 400
    assert sum(ad.status == "REMOVED" for ad in ads) == 1
    assert all((ad.extra["serving"] is None) is (ad.status != "ENABLED") for ad in ads)
    assert any("🏔️" in ad.name for ad in ads)
    assert {ad.extra["format"] for ad in ads} == {"IMAGE", "CAROUSEL", "DYNAMIC"}


def test_names_beyond_ascii_and_rejected_ads(client):
    ads = list(client.gamma.list_ads(account_id="account_c95a"))
    assert ads[0].name == "Crème de nuit · Été · v1"
    assert sum(ad.extra["serving"] == "REJECTED" for ad in ads) == 2


def test_an_empty_account_is_empty_everywhere(client):
    assert client.gamma.list_ads(account_id="account_e000").data == ()
    assert client.gamma.search_targeting(account_id="account_e000").data == ()


def options(client, targeting=None):
    page = client.gamma.search_targeting(account_id="account_c3d8", targeting=targeting)
    return [option.name for option in page]


def test_targeting_options_are_filtered_by_type_and_query(client):
    hikers = ["Hiking", "Backpacking", "Trail running", "Mountain huts"]
    assert options(client, {"type": "INTEREST", "query": "hiking"}) == hikers
    assert options(client, {"query": "HIKING"}) == [
        *hikers,
        "Frequent hikers",
        "Hiking Trail Heights, Oregon",
    ]
    assert options(client, {"type": "LANGUAGE"}) == ["Languages", "Norwegian"]
    assert options(client, {"query": "zither"}) == []


def test_targeting_without_query_returns_the_top_of_the_tree(client):
    top = options(client)
    assert len(top) == 6
    assert top == options(client, {}) == options(client, {"unheard_of": [1]})


def test_objectives_show_the_campaigns_that_use_them(client):
    found = {o.name: o.extra for o in client.alpha.explain_objectives(account_id="account_a91f")}
    assert len(found) == 7
    assert found["LEADS"]["required_fields"] == ["lead_form_id"]
    assert found["LEADS"]["campaigns"][0] == {
        "id": "campaign_4c10",
        "name": "DG · Finance leaders · Lead form",
        "status": "ENABLED",
        "daily_budget": 100,
        "lifetime_budget": None,
        "end_date": None,
    }


def test_waste_findings_have_the_documented_figures(client):
    found = list(client.delta.analyze_wasted_spend(account_id="account_d118"))
    wasted = [finding.extra["wasted_spend"] for finding in found]
    assert sum(wasted) == pytest.approx(6647.85, rel=0.01)
    assert wasted == sorted(wasted, reverse=True)
    assert [f.status for f in found[:2]] == ["CRITICAL", "HIGH"]
    assert found[-1].status == "LOW"
    for finding in found:
        assert (finding.extra["roas"] == 0) == (finding.extra["conversions"] == 0)
    assert 0 < found[0].extra["roas"] < 1  # it says so: CAMPAIGN_ROAS_BELOW_1
    assert found[0].extra["entity_id"] == found[0].extra["campaign_id"]
    assert found[1].extra["entity_id"].startswith("keyword_")
    assert all(f.extra["campaign_id"].startswith("campaign_") for f in found)
    assert found[0].extra["period"] == {"start": "2026-01-31", "end": "2026-03-01"}


def test_suggested_action_can_be_staged_and_ends_the_finding():
    fake = FakeAdService()
    client = fake.client()
    found = client.delta.analyze_wasted_spend(account_id="account_d118").data
    suggested = {finding.id: finding.extra["suggested_action"] for finding in found}
    assert sum(action is not None for action in suggested.values()) == 6
    for action in filter(None, suggested.values()):
        platform, _, method = action["operation"].partition(".")
        getattr(getattr(client, platform), method)(**action["args"])
    while fake.dashboard.pending():
        draft_id = fake.dashboard.pending()[0].draft_id
        fake.dashboard.arm(draft_id, reviewer="kim")
        fake.dashboard.confirm(draft_id, reviewer="kim")
    left = client.delta.analyze_wasted_spend(account_id="account_d118").data
    gone = {finding.extra["entity_type"] for finding in found if finding not in left}
    assert gone == {"keyword", "asset_group", "search_term", "campaign"}
    # The campaign itself is still there, but there is nothing left that would help.
    assert [finding.extra["suggested_action"] for finding in left] == [None] * len(left)


def test_excluding_a_search_term_ignores_letter_case():
    fake = FakeAdService()
    client = fake.client()
    fields = {"action": "ADD", "match_type": "EXACT", "negative": True}
    draft = client.delta.update_keyword(
        account_id="account_d118", keywords=["Free  Hiking Maps PDF"], fields=fields
    )
    approve(fake, draft)
    left = client.delta.analyze_wasted_spend(account_id="account_d118").data
    assert "free hiking maps pdf" not in {finding.name for finding in left}


def test_waste_is_a_share_of_the_daily_metrics():
    def wasted(fake):
        return fake.client().delta.analyze_wasted_spend(account_id="account_d118").data

    fake = FakeAdService()
    first = wasted(fake)
    fake.clock.advance(timedelta(days=7))
    for other in (wasted(fake), wasted(FakeAdService(seed="other"))):
        assert [finding.name for finding in other] == [finding.name for finding in first]
        pairs = zip(first, other, strict=True)
        assert all(a.extra["wasted_spend"] != b.extra["wasted_spend"] for a, b in pairs)
        (spend,) = {round(f.extra["wasted_spend"] / f.extra["share"], -3) for f in other[:3]}
        assert 22_000 <= spend <= 24_000


def test_renamed_or_idle_campaign_has_no_waste():
    fake = FakeAdService()
    client = fake.client()
    campaign = client.delta.analyze_wasted_spend(account_id="account_d118").data[0]
    fake.change_live("account_d118", campaign.extra["campaign_id"], name="Renamed")
    findings = client.delta.analyze_wasted_spend(account_id="account_d118").data
    assert campaign.name not in {finding.name for finding in findings}
    for campaign_id in {finding.extra["campaign_id"] for finding in findings}:
        fake.change_live("account_d118", campaign_id, status="PAUSED")
    fake.clock.advance(timedelta(days=31))
    assert client.delta.analyze_wasted_spend(account_id="account_d118").data == ()


def test_paused_campaign_spends_nothing_until_enabled():
    fake = FakeAdService()
    client = fake.client()

    def spent(date_range):
        return spend(client, date_range, "campaign_57a7")

    paused = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
    assert approve(fake, paused).status == "applied"
    today = spent("TODAY")
    assert today > 0
    fake.clock.advance(timedelta(days=1))
    assert (spent("YESTERDAY"), spent("TODAY")) == (today, 0)
    back = fake.dashboard.roll_back(paused.draft_id, reviewer="Ines")
    assert approve(fake, back).status == "applied"
    fake.clock.advance(timedelta(days=1))
    assert spent("YESTERDAY") == 0
    assert spent("TODAY") > 0


@pytest.mark.parametrize("account_id", ["account_b204", "account_c3d8"])
def test_items_paused_in_the_seed_spend_nothing(client, account_id):
    read = client.beta.list_campaigns if account_id == "account_b204" else client.gamma.list_ads
    found = list(read(account_id=account_id, date_range="LAST_7_DAYS"))
    idle = [item.extra["spend"] for item in found if item.status != "ENABLED"]
    assert idle
    assert set(idle) == {0}


def test_clean_account_has_no_waste(client):
    assert client.delta.analyze_wasted_spend(account_id="account_d7f2").data == ()


def test_business_profile_has_statuses_by_confidence(client):
    found = {f.name: f for f in client.delta.infer_business_profile(account_id="account_d118")}
    assert found["vertical"].status == "CONFIRMED"
    assert found["size_band"].status == "INFERRED"
    assert found["audience"].status == "LOW_CONFIDENCE"
    assert found["brand_terms"].extra["value"] == ["halden", "halden outdoor"]
    clean = client.delta.infer_business_profile(account_id="account_d7f2")
    assert clean.data[0].extra["value"] == "Workflow software"
    assert client.delta.infer_business_profile(account_id="account_5a5a").data == ()


@pytest.mark.parametrize(
    ("account_id", "operation"),
    [("account_5a5a", "delta.analyze_wasted_spend"), ("account_5a5b", "alpha.explain_objectives")],
)
def test_read_only_and_paused_accounts_can_be_read(account_id, operation):
    assert send(FakeAdService(), operation, query={"account_id": account_id})[0] == 200


def test_same_seed_gives_the_same_bytes():
    assert everything(FakeAdService()) == everything(FakeAdService())


def test_order_of_reads_does_not_matter():
    first, second = FakeAdService(), FakeAdService()
    campaigns(second.client(), date_range="LAST_7_DAYS")
    list(second.client().gamma.list_ads(account_id="account_c95a"))
    assert everything(first) == everything(second)


def test_another_seed_gives_other_metrics_and_ids():
    first, second = (campaigns(FakeAdService(seed=seed).client()) for seed in ("a", "b"))
    assert first[0].id == second[0].id
    assert first[0].extra["spend"] != second[0].extra["spend"]
    assert first[10].id != second[10].id
    assert json.dumps(first[10].name) == json.dumps(second[10].name)


@pytest.mark.parametrize(
    ("reason", "key"),
    [
        ("CAMPAIGN_ROAS_BELOW_1", "campaign_id"),
        ("KEYWORD_NO_CONVERSIONS", "campaign_id"),
        ("OFF_TARGET_SEARCH_THEMES", "entity_id"),
    ],
)
def test_finding_of_waste_survives_a_new_name(reason, key):
    fake = FakeAdService()

    def findings():
        return list(fake.client().delta.analyze_wasted_spend(account_id="account_d118"))

    before = findings()
    entity_id = next(f.extra[key] for f in before if f.extra["reason"] == reason)
    fake.change_live("account_d118", entity_id, name="New name")
    after = findings()
    assert [finding.id for finding in after] == [finding.id for finding in before]
    assert [finding.extra for finding in after] == [finding.extra for finding in before]
    for finding in after:
        assert (finding.name == "New name") is (finding.extra["entity_id"] == entity_id)
