"""Snapshots and copies of a fake, and live changes."""

import copy
import os
from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import approve, call, everything, send, stage

from adclient import Conventions
from adclient.testing import FakeAccount, FakeAdService, Fault, Profile

PAUSE = {"campaign_id": "campaign_57a7"}


def used():
    """A fake in which something of everything has happened."""
    conventions = Conventions(idempotency_header="idempotency-key")
    fake = FakeAdService(conventions=conventions, profile=Profile(continuation_life=60))
    fake.add_account(FakeAccount("mine", campaigns=[{"id": "1"}]))
    approve(fake, call(fake, "sync"))
    fake.dashboard.arm(stage(fake, "delta.remove_auto_search_themes"), reviewer="Ines")
    fake.faults.add(Fault.status(503), operation="gamma.list_ads", call=2)
    fake.faults.at_random(Fault.status(429), share=0.5, operation="alpha.explain_objectives")
    fake.clock.advance(90)
    return fake


def change(fake):
    """Go on with a fake: everything in it changes."""
    fake.add_account(FakeAccount("later"))
    fake.change_live("mine", "1", name="Renamed")
    approve(fake, fake.dashboard.pending()[0])
    stage(fake, "beta.pause_campaign", **PAUSE)
    call(fake, "sync", "gamma.list_ads", retry=None)
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


def test_restore_returns_to_a_snapshot_any_number_of_times():
    fake = used()
    client, saved = fake.client(), fake.snapshot()
    before, pages = state(fake), everything(fake.snapshot(), "beta")
    for _ in range(2):
        change(fake)
        assert all(now != then for now, then in zip(state(fake), before, strict=True) if then)
        fake.restore(saved)
        assert state(fake) == before
        assert everything(fake.snapshot(), "beta") == pages
        draft = client.beta.pause_campaign(account_id="account_b204", **PAUSE)
        assert (fake.drafts[-1].draft_id, len(fake.drafts)) == (draft.draft_id, 3)


@pytest.mark.parametrize("copied", [FakeAdService.snapshot, copy.copy, copy.deepcopy])
def test_copy_is_independent_and_goes_on_in_the_same_way(copied):
    fake = used()
    twin, before = copied(fake), state(fake)
    assert state(twin) == before
    change(twin)
    assert state(fake) == before
    change(fake)
    assert state(fake) == state(twin)
    # Its dashboard, transport and clock are its own.
    draft = twin.client().beta.pause_campaign(account_id="account_b204", **PAUSE)
    assert fake.dashboard.waiting == twin.dashboard.waiting - 1
    assert approve(twin, draft).status == "applied"


def test_faults_keys_and_continuations_are_those_of_the_snapshot():
    fake = used()
    saved = fake.snapshot()
    outcomes = []
    for _ in range(2):
        client = fake.client(max_retries=0)
        page = client.gamma.list_ads(account_id="account_c3d8")
        statuses = []
        for _ in range(8):
            try:
                client.alpha.explain_objectives(account_id="account_a91f")
            except Exception as error:
                statuses.append(repr(type(error)))
            else:
                statuses.append("ok")
        outcomes.append((statuses, page.next))
        fake.restore(saved)
        more = client.gamma.list_ads(account_id="account_c3d8")
        assert more.next == page.next
        fake.restore(saved)
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes[0][0])) == 2


def test_changes_of_what_a_fake_returned_leave_its_snapshot_alone():
    fake = FakeAdService()
    targeting = {"include": ["geo:1"]}
    where = {"campaign_id": "campaign_4c10", "targeting": targeting}
    stage(fake, "alpha.update_campaign_targeting", **where)
    saved = fake.snapshot()
    fake.drafts[0].diff.after.clear()
    fake.requests[0].json.clear()
    fake.restore(saved)
    assert fake.drafts[0].diff.after == fake.requests[0].json["targeting"] == targeting


def test_clock_of_a_restored_fake_starts_from_the_snapshot():
    fake = FakeAdService()
    saved = fake.snapshot()
    fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
    call(fake, "sync", "gamma.list_ads", retry=None)
    assert fake.clock.monotonic() == 20.5
    fake.restore(saved)
    fake.clock.sleep(1)
    assert (fake.clock.monotonic(), fake.clock.sleeps) == (1, (1,))


def test_holding_the_clock_is_no_part_of_a_snapshot():
    fake = FakeAdService()
    with fake.clock.held():
        saved = fake.snapshot()
        saved.clock.sleep(1)
    fake.restore(saved)
    fake.clock.sleep(2)
    assert fake.clock.sleeps == (1, 2)


def test_snapshots_share_requests_closed_drafts_and_events():
    fake = used()
    saved = fake.snapshot()
    for each in (lambda f: f.requests, lambda f: f.dashboard.events, lambda f: f.drafts[:1]):
        assert [id(record) for record in each(saved)] == [id(record) for record in each(fake)]
    assert fake.drafts[0].status == "applied"
    assert saved.drafts[1] == fake.drafts[1]
    assert saved.drafts[1] is not fake.drafts[1], "it is open"


def test_only_a_fake_can_be_restored():
    with pytest.raises(ValueError, match="expected a snapshot of a fake, not int"):
        FakeAdService().restore(5)


def test_service_file_is_that_of_the_snapshot(tmp_path):
    path = tmp_path / "service.toml"
    path.write_text('format = 1\nurl = "https://ads.example.com"\n', "utf-8")
    fake, plain = FakeAdService.like(path), FakeAdService()
    saved = fake.snapshot()
    for state, expected in ((plain, ""), (saved, str(path))):
        fake.restore(state)
        with fake.as_environment():
            assert os.environ["ADCLIENT_SERVICE"] == expected


def test_edits_of_a_draft_are_copies():
    fake = FakeAdService(accounts=[FakeAccount("account_a91f", campaigns=[{"id": "1", "a": [1]}])])
    where = {"campaign_id": "1", "fields": {"a": [2]}}
    stage(fake, "alpha.update_campaign_budget", **where)
    [draft], saved = fake.drafts, fake.snapshot()
    [edit] = draft.edits
    edit.before["a"].append(0)
    assert approve(saved, draft).status == "applied"
    edit.before["a"].remove(0)
    approve(fake, draft)
    edit.after["a"].append(0)
    for each in (fake, saved):
        assert stage(each, "alpha.update_campaign_budget", **where).diff.before == [2]


# Live changes.


def test_change_live_bypasses_drafts_and_copies_its_values():
    fake = FakeAdService()
    groups = [{"name": "a"}]
    fake.change_live("account_b204", "campaign_57a7", name="Renamed", ad_groups=groups)
    groups.append({"name": "b"})
    page = fake.client().beta.list_campaigns(account_id="account_b204")
    assert page.data[0].name == "Renamed"
    extended = stage(fake, "beta.create_video_campaign", **PAUSE, fields={"name": "c"})
    assert extended.diff.before == [{"name": "a"}]


@each_case(
    ("account_id", "entity_id", "values", "message"),
    [
        ("account_b204", "campaign_0", {"name": "x"}, "no campaign_0 in an account account_b204"),
        ("account_0", "campaign_57a7", {"name": "x"}, "no campaign_57a7 in an account account_0"),
        ("account_b204", "campaign_57a7", {"dayly_budget": 5}, "no 'dayly_budget'.* daily_budget$"),
        ("account_b204", "campaign_57a7", {"spend": 5}, "has no 'spend', but ad_groups, daily_bud"),
        ("account_b204", "campaign_57a7", {"id": "x"}, "has no 'id'"),
        ("mine", "1", {"name": "x"}, "there is no single 1 in an account mine"),
        ("account_b204", "campaign_57a7", {"name": object()}, r"name: expected a JSON value"),
        ("account_b204", "campaign_57a7", {"name": float("nan")}, r"name: expected a finite"),
    ],
)
def test_change_live_of_what_is_not_there_is_refused(account_id, entity_id, values, message):
    fake = FakeAdService()
    fake.add_account(FakeAccount("mine", campaigns=[{"id": "1"}], ads=[{"id": "1"}]))
    with pytest.raises(ValueError, match=message):
        fake.change_live(account_id, entity_id, **values)
