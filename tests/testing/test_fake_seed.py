from datetime import timedelta

from cases import each_case

from adclient.testing._accounts.accounts import Accounts, load
from adclient.testing._accounts.metrics import Delivery, days_between
from adclient.testing._accounts.state import Account, unique_id
from adclient.testing._approval.drafts import nth_id
from adclient.testing._clock import START, FakeClock
from adclient.testing._reads.findings import fatigue


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
def test_accounts_have_the_documented_entities(account_id, counts):
    account = Accounts("halden", FakeClock()).get(account_id)
    assert {kind: len(account.all(kind)) for kind in counts} == counts


@each_case("account_id", ["account_b204", "account_c3d8", "account_c95a"])
def test_entities_belong_to_entities_of_their_account(account_id):
    load.cache_clear()
    account = Accounts("other", FakeClock()).get(account_id)
    children = [*account.all("ad_group"), *account.all("ad"), *account.all("creative")]
    assert children
    for child in children:
        assert account.find("campaign", child.values["campaign_id"]) is not None
        if child.kind == "ad":
            assert account.find("ad_group", child.values["ad_group_id"]) is not None


@each_case("name", ["objectives", "accounts/account_b204", "../accounts", "account_b204.json", ""])
def test_no_other_data_file_is_an_account(name):
    assert Accounts("halden", FakeClock()).get(name) is None


def test_seeded_keywords_are_unique():
    keywords = Accounts("halden", FakeClock()).get("account_d118").all("keyword")
    assert len({(k.values["text"], k.values["match_type"]) for k in keywords}) == 410


def test_waste_shares_of_a_campaign_stay_below_its_spend():
    account = Accounts("halden", FakeClock()).get("account_d118")
    days = days_between(START.date().replace(month=1, day=31), START.date().replace(day=1))
    for campaign in account.all("campaign"):
        spent = account.metrics(campaign, days)
        shares = [share for share in account.waste if share.campaign_id == campaign.id]
        assert sum(share.spend_share for share in shares) < 1
        assert sum(share.clicks_share for share in shares) < 1
        assert sum(share.conversions_share for share in shares) < 1
        if any(share.reason == "CAMPAIGN_ROAS_BELOW_1" for share in shares):
            assert spent.roas < 1


def test_id_in_use_gets_another_digit():
    short = unique_id("draft", "x", ())
    longer = unique_id("draft", "x", (short,))
    assert len(short) == len("draft_0000")
    assert longer.startswith(short)
    assert len(longer) == len(short) + 1


def test_nth_ids_are_unique():
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
def test_fatigue_finding_needs_days_spend_and_impressions(days, budget, cpm, is_known):
    account = Account(id="account_1", platform="beta", name="One", seed="halden", clock=FakeClock())
    today = START.date()
    delivery = Delivery(
        daily_budget=budget, first_day=today - timedelta(days=days), cpm=cpm, ctr=0.05
    )
    campaign = account.add("campaign", {"name": "x", "status": "ENABLED"}, delivery=delivery)
    creative = account.add("creative", {"name": "y", "campaign_id": campaign.id})
    finding = fatigue(account, creative, today)
    assert (finding is not None) == is_known
