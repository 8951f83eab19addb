"""The rehearsal of a plan on a fake: what collides, goes stale, or is over a limit."""

import warnings
from decimal import Decimal

import pytest

from adclient import ConfigurationError, Plan, PlanReport, Policy
from adclient.testing import FakeAdService, Profile

CAMPAIGN = {"account_id": "account_a91f", "campaign_id": "campaign_4c10"}
BUDGET = {"call": "alpha.update_campaign_budget", **CAMPAIGN}
PAUSE = {"call": "beta.pause_campaign", "account_id": "account_b204"}


def verdicts(report: PlanReport) -> list[tuple[str, str | None]]:
    return [(change.verdict, change.reason) for change in report.changes]


def test_changes_of_the_same_value_collide() -> None:
    keyword = {"call": "delta.update_keyword", "account_id": "account_d118"}
    plan = Plan.of(
        "w47",
        [
            {**BUDGET, "daily_budget": 120},
            {**PAUSE, "campaign_id": "campaign_57a7"},
            {**BUDGET, "fields": {"name": "Spring", "daily_budget": 130}},
            {**BUDGET, "fields": {"name": "Summer"}},  # that of change 3 would be rejected
            {**keyword, "keywords": ["boots"]},
            {**keyword, "keywords": ["skis"]},
            {**BUDGET, "daily_budget": 140},
        ],
    )
    policy = Policy(money={"daily_budget": 500}, fields=["name", "keywords"])
    report = FakeAdService().rehearse(plan, policy)
    assert [str(each) for each in report.money] == [
        "account_a91f: daily_budget 100 → 120 (sum of 1)"
    ]
    assert verdicts(report) == [
        ("allowed", None),
        ("allowed", None),
        ("stale", "change 1 changes the same"),
        ("allowed", None),
        ("allowed", None),
        ("allowed", None),
        ("stale", "change 1 changes the same"),
    ]
    assert (report.exit_code, report.ledger_head) == (4, None)
    assert report.changes[0].diff.before == 100
    assert {change.draft_id for change in report.changes} == {None}


def test_what_the_service_and_the_policy_would_refuse_is_named() -> None:
    plan = Plan.of(
        "w47",
        [
            {**BUDGET, "daily_budget": 120, "expect": 90},
            {**PAUSE, "campaign_id": "campaign_none"},
            {**PAUSE, "campaign_id": "campaign_57a7"},
            {**BUDGET, "daily_budget": 999},
            {**PAUSE, "campaign_id": "campaign_cb1a"},
        ],
    )
    policy = Policy(money={"daily_budget": 500}, fields=["status"], drafts_per_day=2)
    found = verdicts(FakeAdService().rehearse(plan, policy))
    assert [verdict for verdict, _ in found] == [
        *("stale", "not staged", "allowed", "refused", "refused")
    ]
    assert found[0][1] == "it was 100, and the plan expects 90"
    assert found[1][1].startswith("404 campaign_not_found")
    assert "daily_budget is 999" in found[3][1]
    assert "drafts_per_day allows 2" in found[4][1]


def test_draft_over_a_limit_is_named_without_a_warning() -> None:
    plan = Plan.of("w47", [{**BUDGET, "daily_budget": 150}, {**BUDGET, "daily_budget": 101}])
    policy = Policy(money={"daily_budget": 500}, change_at_most=Decimal(20))
    with warnings.catch_warnings(record=True, action="always") as warned:
        report = FakeAdService().rehearse(plan, policy)
    assert warned == []
    reason = "daily_budget: 100 → 150, and change_at_most allows 20 %"
    assert verdicts(report)[0] == ("over limit", reason)
    assert "an account whose change 1 is over the limit" in report.changes[1].reason
    # Outside of the rehearsal there is no draft.
    assert report.changes[0].missing == "edit the plan"


def test_fake_stays_as_it_is() -> None:
    fake = FakeAdService(token="secret", profile=Profile(two_reviewers=True, latency=1.0))
    plan = Plan.of("w47", [{**BUDGET, "daily_budget": 120}])
    first, again = fake.rehearse(plan), fake.rehearse(plan)
    assert first == again
    assert (first.exit_code, fake.requests, fake.drafts) == (0, (), ())
    assert (fake.clock.monotonic(), fake.dashboard.events) == (0.0, ())
    fake.change_live("account_a91f", "campaign_4c10", daily_budget=80)
    assert fake.rehearse(plan).changes[0].diff.before == 80
    with pytest.raises(ConfigurationError, match="policy must be a Policy"):
        fake.rehearse(plan, {"accounts": []})


def test_fake_that_is_like_a_service_knows_its_campaigns(tmp_path) -> None:
    path = tmp_path / "service.toml"
    path.write_text(
        """
        format = 1
        url = "https://ads.example.com"
        [listings."beta.list_campaigns"]
        account_id = "account_7"
        count = 2
        is_complete = true
        [listings."beta.list_campaigns".item]
        name = { types = ["string"] }
        status = { types = ["string"], values = ["ENABLED"] }
        """
    )
    fake = FakeAdService.like(path)
    page = fake.client().beta.list_campaigns(account_id="account_7")
    pause = {"call": "beta.pause_campaign", "account_id": "account_7"}
    plan = Plan.of("w47", [{**pause, "campaign_id": each} for each in (page.data[0].id, "other")])
    assert [verdict for verdict, _ in verdicts(fake.rehearse(plan))] == ["allowed", "not staged"]
