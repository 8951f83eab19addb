"""The seed data: it agrees with itself, and follows approved changes."""

from itertools import pairwise

import pytest
from fake_helpers import approve, stage

BETA = "account_b204"


@pytest.fixture
def client(fake):
    return fake.client()


def spend(client, date_range):
    found = client.beta.list_campaigns(account_id=BETA, date_range=date_range).collect()
    return round(sum(campaign.extra["spend"] for campaign in found), 2)


def test_each_date_range_has_figures_of_its_own(client):
    today, yesterday = (spend(client, name) for name in ("TODAY", "YESTERDAY"))
    # On 2 March the month has two days: yesterday and today.
    assert spend(client, "THIS_MONTH") == pytest.approx(today + yesterday)
    spends = [spend(client, f"LAST_{n}_DAYS") for n in (7, 14, 30, 90)]
    assert all(shorter < longer for shorter, longer in pairwise(spends))
    assert spends[2] - spends[1] < spend(client, "LAST_MONTH") < spends[3]
    assert spend(client, None) == spends[2]
    assert len({today, yesterday, spend(client, "LAST_MONTH"), *spends}) == 7


def test_findings_disappear_when_something_was_done_about_them(fake, client):
    tired = client.beta.detect_creative_fatigue(account_id=BETA).data
    waste = client.delta.analyze_wasted_spend(account_id="account_d118").data
    actions = {item.extra["suggested_action"] and item.id: item for item in [*tired, *waste]}
    for action in [item.extra["suggested_action"] for item in actions.values()]:
        if action is not None:
            approve(fake, stage(fake, action["operation"], **action["args"]))
    left = client.beta.detect_creative_fatigue(account_id=BETA).collect()
    left += client.delta.analyze_wasted_spend(account_id="account_d118").collect()
    assert {item.id for item in left}.isdisjoint(actions)
    assert len(left) == len(tired) + len(waste) - len(actions) + 1
