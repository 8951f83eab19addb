"""The rehearsal of a plan on a fake: what collides, goes stale, or is over a limit."""

import warnings
from decimal import Decimal

import pytest
from plans import verdicts

from adclient import ConfigurationError, Plan, Policy
from adclient.testing import FakeAdService, Profile

BUDGET = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f"}
BUDGET |= {"campaign_id": "campaign_4c10"}
PAUSE = {"call": "beta.pause_campaign", "account_id": "account_b204"}


def test_changes_of_the_same_value_collide() -> None:
    changes = [
        {**BUDGET, "daily_budget": 120},
        {**PAUSE, "campaign_id": "campaign_57a7"},
        {**BUDGET, "fields": {"name": "Spring", "daily_budget": 130}},
        {**BUDGET, "fields": {"name": "Summer"}},  # that of change 3 would be rejected
        {**BUDGET, "daily_budget": 140, "expect": 90},
        {**BUDGET, "daily_budget": 999},
        {**PAUSE, "campaign_id": "campaign_none"},
    ]
    policy = Policy(money={"daily_budget": 500}, fields=["name"])
    report = FakeAdService().rehearse(Plan.of("w47", changes), policy)
    assert list(map(str, report.money)) == ["account_a91f: daily_budget 100 → 120 (sum of 1)"]
    found = ["allowed", "allowed", "stale", "allowed", "stale", "refused", "not staged"]
    assert verdicts(report) == found
    reasons = [change.reason for change in report.changes]
    assert reasons[2] == "change 1 changes the same"
    assert reasons[4] == "it was 100, and the plan expects 90"
    assert "daily_budget is 999" in reasons[5]
    assert reasons[6].startswith("404 campaign_not_found")
    assert (report.exit_code, report.ledger_head) == (4, None)
    assert report.changes[0].diff.before == 100


def test_draft_over_a_limit_is_named_without_a_warning() -> None:
    plan = Plan.of("w47", [{**BUDGET, "daily_budget": 150}, {**BUDGET, "daily_budget": 101}])
    policy = Policy(money={"daily_budget": 500}, change_at_most=Decimal(20))
    with warnings.catch_warnings(record=True, action="always") as warned:
        first, second = FakeAdService().rehearse(plan, policy).changes
    assert warned == []
    assert first.verdict == "over limit"
    assert first.reason == "daily_budget: 100 → 150, and change_at_most allows 20 %"
    assert "an account whose change 1 is over the limit" in second.reason
    assert first.missing == "edit the plan"  # outside of the rehearsal there is no draft


def test_fake_stays_as_it_is() -> None:
    fake = FakeAdService(token="secret", profile=Profile(two_reviewers=True, latency=1.0))
    plan = Plan.of("w47", [{**BUDGET, "daily_budget": 120}])
    first, again = fake.rehearse(plan), fake.rehearse(plan)
    assert first == again
    assert (first.exit_code, fake.requests, fake.drafts) == (0, (), ())
    assert (fake.clock.monotonic(), fake.dashboard.events) == (0.0, ())
    with pytest.raises(ConfigurationError, match="policy must be a Policy"):
        fake.rehearse(plan, {"accounts": []})
