from datetime import timedelta

from cases import each_case

from adclient.testing._accounts.accounts import Accounts
from adclient.testing._accounts.facts import Facts, Pace, days_between
from adclient.testing._accounts.ids import nth_id, unique_id
from adclient.testing._accounts.seed_delta import WASTE
from adclient.testing._accounts.state import Account
from adclient.testing._clock import START, FakeClock
from adclient.testing._reads import fatigue


@each_case(
    ("account_id", "counts"),
    [
        ("account_a91f", {"campaign": 9, "creative": 24}),
        ("account_a5d2", {"campaign": 48, "creative": 0}),
        ("account_b204", {"campaign": 62, "creative": 62}),
        ("account_b7e0", {"campaign": 4, "creative": 4}),
        ("account_c3d8", {"campaign": 12, "ad": 126}),
        ("account_d118", {"campaign": 14, "keyword": 410, "asset_group": 2}),
        ("account_e000", {"campaign": 0, "ad": 0}),
    ],
)
def test_what_the_accounts_hold(account_id, counts):
    account = Accounts("halden", FakeClock()).get(account_id)
    assert {kind: len(account.of(kind)) for kind in counts} == counts


def test_keywords_are_told_apart():
    keywords = Accounts("halden", FakeClock()).get("account_d118").of("keyword")
    assert len({(k.values["text"], k.values["match_type"]) for k in keywords}) == 410


def test_no_campaign_wastes_more_than_it_spends():
    account, facts = Accounts("halden", FakeClock()).get("account_d118"), Facts("halden")
    days = days_between(START.date().replace(month=1, day=31), START.date().replace(day=1))
    for campaign in account.of("campaign"):
        spent = facts.total(campaign.id, campaign.pace, days, 100)
        findings = [f for f in WASTE["account_d118"] if f.campaign == campaign.values["name"]]
        assert sum(finding.of_spend for finding in findings) < 1
        assert sum(finding.of_clicks for finding in findings) < 1
        assert sum(finding.of_conversions for finding in findings) < 1
        if any(finding.reason == "CAMPAIGN_ROAS_BELOW_1" for finding in findings):
            assert spent.roas < 1


def test_an_id_that_is_taken_grows():
    short = unique_id("draft", "x", ())
    longer = unique_id("draft", "x", (short,))
    assert len(short) == len("draft_0000")
    assert longer.startswith(short)
    assert len(longer) == len(short) + 1


def test_no_two_numbers_have_one_id():
    ids = [nth_id("draft", "halden", number) for number in range(100_000)]
    assert len(set(ids)) == len(ids)
    assert {len(found) for found in ids} == {len("draft_0000"), len("draft_00000")}
    assert nth_id("draft", "other", 0) != ids[0]


@each_case(
    ("days", "budget", "cpm", "is_known"),
    [
        (6, 1000, 8, False),
        (7, 1000, 8, True),
        (20, 20, 8, False),
        (20, 30, 8, True),
        (20, 50, 200, False),
        (20, 50, 50, True),
    ],
)
def test_a_finding_needs_days_spend_and_impressions(days, budget, cpm, is_known):
    account = Account(id="account_1", platform="beta", name="One")
    today = START.date()
    pace = Pace(daily_budget=budget, first_day=today - timedelta(days=days), cpm=cpm, ctr=0.05)
    campaign = account.add("campaign", {"name": "x", "status": "ENABLED"}, pace=pace)
    creative = account.add("creative", {"name": "y", "campaign_id": campaign.id})
    finding = fatigue.of_creative(account, creative, Facts("halden"), today)
    assert (finding is not None) == is_known
