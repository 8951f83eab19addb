"""The life of a draft: two steps of a human, expiry, conflicts, and the audit trail."""

from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import READS, VALID_WRITES, WRITES, approve, everything, send, stage

from adclient import Request
from adclient.testing import ApprovalRefused, FakeAdService, Profile


def pause(fake, campaign_id="campaign_57a7"):
    return stage(fake, "beta.pause_campaign", campaign_id=campaign_id)


def budget(fake, **fields):
    where = {"campaign_id": "campaign_4c10", "fields": fields}
    return stage(fake, "alpha.update_campaign_budget", **where)


def statuses(fake):
    return [draft.status for draft in fake.drafts]


def kinds(fake):
    return [event.kind for event in fake.dashboard.events]


# The two steps.


def test_steps_change_what_reads_return_and_are_in_the_trail(fake):
    board, draft, reads = fake.dashboard, pause(fake), fake.client().beta.list_campaigns
    armed = board.arm(draft.draft_id, reviewer="Ines")
    assert (armed.status, armed.reviewer, armed.armed_at) == ("armed", "Ines", fake.clock.now())
    disarmed = board.disarm(draft, reviewer="Tove")
    assert (disarmed.status, disarmed.armed_until) == ("pending_approval", None)
    with pytest.raises(ApprovalRefused, match="must be armed"):
        board.confirm(draft, reviewer="Ines")
    board.arm(draft, reviewer="Ines")
    assert reads(account_id="account_b204").data[0].status == "ENABLED"
    assert board.confirm(draft, reviewer="Tove").status == "applied"
    assert reads(account_id="account_b204").data[0].status == "PAUSED"
    assert draft.status == "pending_approval", "the response shows the status at creation"
    assert [(event.seq, event.kind, event.actor) for event in board.events] == [
        (1, "staged", "client"),
        (2, "armed", "Ines"),
        (3, "disarmed", "Tove"),
        (4, "armed", "Ines"),
        (5, "approved", "Tove"),
        (6, "applied", "service"),
    ]
    assert board.approve(pause(fake)).reviewer == "reviewer", "it takes both steps"
    assert kinds(fake)[6:] == ["staged", "armed", "approved", "applied"]
    rejected = board.reject(pause(fake, "campaign_cb1a"), reviewer="Ines", reason="Too early")
    assert (rejected.reason, fake.drafts[-1].reason) == ("Too early", "Too early")


# The others change what no read shows.
SHOWN = ("beta.create_video_campaign", "gamma.create_dco_ad", "beta.pause_campaign")
SHOWN += ("delta.remove_auto_search_themes", "delta.update_keyword", "alpha.update_campaign_budget")


@each_case("operation", *WRITES)
def test_every_write_can_be_applied(operation):
    fake, name = FakeAdService(), operation.full_name
    before = everything(fake, operation.namespace)
    draft = stage(fake, name, **VALID_WRITES[name])
    assert everything(fake, operation.namespace) == before
    assert approve(fake, draft).status == "applied"
    if name in SHOWN:
        assert everything(fake, operation.namespace) != before


def test_confirm_needs_arm_within_ten_minutes(fake):
    board, draft = fake.dashboard, pause(fake)
    board.arm(draft, reviewer="Ines")
    fake.clock.advance(601)
    for step, reason in [("confirm", "too long ago"), ("disarm", "is not armed")]:
        with pytest.raises(ApprovalRefused, match=reason):
            getattr(board, step)(draft, reviewer="Ines")
    assert statuses(fake) == ["pending_approval"]
    armed = board.arm(draft, reviewer="Ines")
    assert armed.armed_until == fake.clock.now() + timedelta(minutes=10)
    fake.clock.advance(600)
    assert board.confirm(draft, reviewer="Ines").status == "applied"


def test_two_reviewers_are_needed_if_the_profile_says_so():
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    draft = pause(fake)
    with pytest.raises(ApprovalRefused, match="two people are needed: one calls arm"):
        fake.dashboard.approve(draft)
    fake.dashboard.arm(draft, reviewer="Ines Roth")
    for same in ("Ines Roth", "ines  roth "):
        with pytest.raises(ApprovalRefused, match="armed by you: another person must confirm it"):
            fake.dashboard.confirm(draft, reviewer=same)
    assert kinds(fake) == ["staged", "armed"]
    assert fake.dashboard.confirm(draft, reviewer="Tove").status == "applied"


# Drafts that become stale.


def test_draft_is_stale_after_48_hours(fake):
    draft = pause(fake)
    fake.clock.advance(timedelta(hours=47, minutes=55))
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.clock.advance(timedelta(minutes=5))
    assert (statuses(fake), fake.dashboard.waiting) == (["stale"], 0)
    first, *_, last = fake.dashboard.events
    assert (last.kind, last.at - first.at) == ("stale", timedelta(hours=48))
    with pytest.raises(ApprovalRefused, match="is stale"):
        fake.dashboard.arm(draft.draft_id, reviewer="Ines")


AMOUNT, STRATEGY = {"bid": {"amount": 8}}, {"bid": {"strategy": "COST_CAP"}}


@each_case(
    ("first", "second", "is_stale"),
    ({"daily_budget": 120}, {"daily_budget": 130}, True),
    ({"daily_budget": 120}, {"name": "Renamed"}, False),
    (AMOUNT, STRATEGY, False),
    (AMOUNT, {"bid": {"amount": 7}}, True),
    (AMOUNT, {"bid": None}, True),
    ({"bid": None}, AMOUNT, True),
)
def test_draft_is_stale_if_its_live_value_has_changed(first, second, is_stale):
    fake, expected = FakeAdService(), "stale" if is_stale else "pending_approval"
    draft, _, _ = budget(fake, **first), budget(fake, **second), pause(fake)
    approve(fake, draft)
    assert statuses(fake) == ["applied", expected, "pending_approval"]
    # The same, where the change was made on the platform itself.
    fake = FakeAdService()
    draft = budget(fake, **first)
    fake.change_live("account_a91f", "campaign_4c10", **second)
    assert approve(fake, draft).status == ("stale" if is_stale else "applied")


def test_no_request_reaches_the_dashboard(fake):
    draft = pause(fake)
    for name in ("arm", "disarm", "confirm", "approve"):
        for operation in (WRITES[0], READS[0]):
            url = fake.base_url + operation.path.rpartition("/")[0]
            for method in ("POST", "PUT", "PATCH", "DELETE", "GET"):
                request = Request(method=method, url=f"{url}/{name}/{draft.draft_id}", body=b"{}")
                assert fake.handle(request).status == 404
    body = {"account_id": "account_b204", "campaign_id": "campaign_57a7", "status": "applied"}
    assert send(fake, "beta.pause_campaign", body)[0] == 422
    assert statuses(fake) == ["pending_approval"]
