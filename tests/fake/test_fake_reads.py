"""The seed data: it agrees with itself, with its documentation, and with approved changes."""

from itertools import pairwise

import pytest

BETA = "account_b204"


@pytest.fixture
def client(fake):
    return fake.client()


def campaigns(client, account_id=BETA, **filters):
    return list(client.beta.list_campaigns(account_id=account_id, **filters))


def spend(client, date_range):
    found = campaigns(client, date_range=date_range)
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
