"""Snapshots and copies of a fake, and live changes."""

import copy
from datetime import timedelta
from functools import partial
from operator import is_
from threading import Lock

import pytest
from cases import each_case
from fake_helpers import approve, asked, call, everything, refusal, send, stage

from adclient import Conventions
from adclient.testing import FakeAccount, FakeAdService, Fault, Profile

PAUSE = {"campaign_id": "campaign_57a7"}
READS = {"delta.infer_business_profile": [{"id": "p1", "value": 5}]}


def used():
    """A fake in which something of everything has happened."""
    conventions = Conventions(idempotency_header="idempotency-key")
    fake = FakeAdService(conventions=conventions, profile=Profile(continuation_life=60))
    fake.add_account(FakeAccount("mine", campaigns=[{"id": "1"}]))
    approve(fake, call(fake))
    fake.dashboard.arm(stage(fake, "delta.remove_auto_search_themes"), reviewer="Ines")
    fake.faults.add(Fault.status(503), operation="gamma.list_ads", call=2)
    fake.faults.at_random(Fault.status(429), share=0.5, operation="alpha.explain_objectives")
    fake.faults.add(Fault.refused(), where=partial(is_, Lock()))  # no copy of that
    fake.clock.advance(90)
    return fake


def change(fake):
    """Go on with a fake: everything in it changes."""
    fake.add_account(FakeAccount("later"))
    fake.change_live("mine", "1", name="Renamed")
    approve(fake, fake.dashboard.pending()[0])
    stage(fake, "beta.pause_campaign", **PAUSE)
    call(fake, "gamma.list_ads", retry=None)
    fake.faults.clear()
    fake.clock.advance(timedelta(days=3))
    fake.base_url += "/elsewhere"


def listed(fake, account_id):
    """The answer to a listing, which the fake does not notice."""
    return send(fake.snapshot(), "beta.list_campaigns", query={"account_id": account_id})


def state(fake):
    """What can be seen of a fake."""
    return [
        fake.drafts,
        fake.dashboard.events,
        [(request.operation, request.status) for request in fake.requests],
        fake.faults.unmet,
        fake.clock.now(),
        fake.clock.sleeps,
        fake.base_url,
        repr(fake),
        *(listed(fake, account_id) for account_id in ("mine", "later")),
    ]


@each_case("copied", FakeAdService.snapshot, copy.deepcopy)
def test_restore_returns_to_a_snapshot_any_number_of_times(copied):
    fake = used()
    client, saved = fake.client(), copied(fake)
    before, pages = state(fake), everything(fake.snapshot(), "beta")
    for _ in range(2):
        change(fake)
        assert all(now != then for now, then in zip(state(fake), before, strict=True) if then)
        fake.restore(saved)
        assert state(fake) == before
        assert everything(fake.snapshot(), "beta") == pages
        draft = client.beta.pause_campaign(account_id="account_b204", **PAUSE)
        assert (fake.drafts[-1].draft_id, len(fake.drafts)) == (draft.draft_id, 3)
    with pytest.raises(ValueError, match="expected a snapshot of a fake, not int"):
        fake.restore(5)


# Live changes.


def test_live_state_can_be_seen_and_given_to_another_fake():
    fake = FakeAdService(accounts=[FakeAccount("mine", currency="JPY", reads=READS)])
    item_id = fake.add_item("mine", "campaign", name="Late", kind="VIDEO")
    assert fake.add_item("mine", "keyword", id="k1", text="tent") == "k1"
    approve(fake, fake.client().beta.pause_campaign(account_id="mine", campaign_id=item_id))
    account = fake.account("mine")
    values = {"id": item_id, "status": "PAUSED", "name": "Late", "kind": "VIDEO"}
    assert (account.campaigns, account.keywords[0]["text"]) == ([values], "tent")
    assert account.reads["delta.infer_business_profile"] == READS["delta.infer_business_profile"]
    account.campaigns[0]["name"] = "Changed"
    assert fake.account("mine").campaigns == [values]
    fake.remove_account("mine")
    fake.add_account(account)
    assert fake.account("mine") == account
    copied = FakeAdService(accounts=[FakeAdService().account("account_b204")])
    campaign = copied.client().beta.list_campaigns(account_id="account_b204").data[0]
    assert campaign.extra["spend"] == 12883.42


def test_drafts_of_an_account_that_was_removed_are_not_applied(fake):
    draft = stage(fake, "beta.pause_campaign", **PAUSE)
    fake.remove_account("account_b204")
    unknown = asked(fake, "beta.list_campaigns", {})
    assert refusal(unknown) == "404 account_not_found"
    assert approve(fake, draft).status == "stale"
    for method, *more in ((fake.account,), (fake.remove_account,), (fake.add_item, "ad")):
        with pytest.raises(ValueError, match="there is no account account_b204"):
            method("account_b204", *more)
    with pytest.raises(ValueError, match="kind must be one of 'campaign'"):
        fake.add_item("account_b7e0", "campaigns")


@each_case(
    ("account_id", "entity_id", "values", "message"),
    ("account_b204", "campaign_0", {"name": "x"}, "no campaign_0 in account_b204"),
    (
        "account_b204",
        "campaign_57a7",
        {"dayly_budget": 5},
        "no field .*'dayly.*: .* 'daily_budget'",
    ),
    ("mine", "1", {"name": "x"}, "there is no single 1 in mine"),
    ("account_b204", "campaign_57a7", {"name": object()}, r"name: expected a JSON value"),
)
def test_change_live_of_what_is_not_there_is_refused(account_id, entity_id, values, message):
    fake = FakeAdService()
    fake.add_account(FakeAccount("mine", campaigns=[{"id": "1"}], ads=[{"id": "1"}]))
    with pytest.raises(ValueError, match=message):
        fake.change_live(account_id, entity_id, **values)


def test_reprs_are_short(fake):
    call(fake)
    fake.faults.add(Fault.refused())
    shown = "<Faults, 1 to come> <FakeClock 2026-03-02 09:00:00 UTC> <Dashboard, 1 waiting>"
    assert f"{fake.faults!r} {fake.clock!r} {fake.dashboard!r}" == shown
    assert repr(fake.drafts[0]).endswith("ENABLED -> PAUSED>, pending_approval>")


def test_history_keeps_only_the_latest():
    fake = FakeAdService(history=3)
    drafts = [call(fake).draft_id for _ in range(6)]
    for each in drafts[:5]:
        fake.dashboard.reject(each, reviewer="Ines")
    assert len(fake.requests) == 3
    assert [kept.status for kept in fake.drafts] == ["rejected"] * 3 + ["pending_approval"]
    assert [event.seq for event in fake.dashboard.events] == [9, 10, 11]
    assert repr(fake).endswith("6 requests, 6 drafts>")
