"""The life of a draft: two steps of a human, expiry, conflicts, and the audit trail."""

from datetime import timedelta

import pytest
from cases import each_case
from fake_helpers import READS, VALID_WRITES, WRITES, approve, everything, send, stage

from adclient import Request
from adclient.testing import ApprovalRefused, FakeAdService, Profile
from adclient.testing._approval.drafts import nth_id


@pytest.fixture
def fake():
    return FakeAdService()


def pause(fake, campaign_id="campaign_57a7"):
    return stage(fake, "beta.pause_campaign", campaign_id=campaign_id)


def budget(fake, daily_budget=None, **fields):
    given = {} if daily_budget is None else {"daily_budget": daily_budget}
    where = {"campaign_id": "campaign_4c10", **given, "fields": fields}
    return stage(fake, "alpha.update_campaign_budget", **where)


def keywords(fake, *texts, **fields):
    texts = list(texts) or ["outdoor jacket"]
    return stage(fake, "delta.update_keyword", keywords=texts, fields=fields)


def statuses(fake):
    return [draft.status for draft in fake.drafts]


def kinds(fake):
    return [event.kind for event in fake.dashboard.events]


# The two steps.


def test_arm_and_confirm_change_what_reads_return(fake):
    draft, client = pause(fake), fake.client()
    armed = fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    assert (armed.status, armed.reviewer, armed.armed_at) == ("armed", "Ines", fake.clock.now())
    assert client.beta.list_campaigns(account_id="account_b204").data[0].status == "ENABLED"
    fake.dashboard.confirm(draft.draft_id, reviewer="Tove")
    assert client.beta.list_campaigns(account_id="account_b204").data[0].status == "PAUSED"
    assert draft.status == "pending_approval", "the response shows the status at creation"
    events = fake.dashboard.events
    assert [(event.seq, event.kind, event.actor) for event in events] == [
        (1, "staged", "client"),
        (2, "armed", "Ines"),
        (3, "approved", "Tove"),
        (4, "applied", "service"),
    ]


# The others change what no read shows.
SHOWN = ("beta.create_video_campaign", "gamma.create_dco_ad", "beta.pause_campaign")
SHOWN += ("delta.remove_auto_search_themes", "delta.update_keyword", "alpha.update_campaign_budget")


@each_case("operation", WRITES)
def test_every_write_can_be_applied(operation):
    fake, name = FakeAdService(), operation.full_name
    before = everything(fake, operation.namespace)
    draft = stage(fake, name, **VALID_WRITES[name])
    assert everything(fake, operation.namespace) == before
    assert approve(fake, draft).status == "applied"
    if name in SHOWN:
        assert everything(fake, operation.namespace) != before


def test_created_entities_are_listed_once_applied(fake):
    approve(fake, stage(fake, "gamma.create_dco_ad", fields={"name": "Tents"}))
    approve(fake, stage(fake, "beta.create_video_campaign", fields={"name": "Autumn"}))
    *_, ad = fake.client().gamma.list_ads(account_id="account_c3d8")
    assert (ad.name, ad.status, ad.extra["spend"]) == ("Tents", "PAUSED", 0)
    *_, made = fake.client().beta.list_campaigns(account_id="account_b204")
    assert (made.name, made.status, made.extra["spend"]) == ("Autumn", "PAUSED", 0)
    extension = {"campaign_id": made.id, "fields": {"languages": ["en"]}}
    diff = stage(fake, "beta.create_video_campaign", **extension).diff
    assert (diff.field, diff.before, diff.after) == ("ad_groups", None, [{"languages": ["en"]}])


def test_next_draft_starts_from_the_applied_value(fake):
    approve(fake, budget(fake, 120))
    approve(fake, budget(fake, bid={"amount": 8}))
    again = budget(fake, 130, bid={"amount": 9, "strategy": "COST_CAP"})
    assert again.diff.before == {"daily_budget": 120, "bid": {"amount": 8, "strategy": "MANUAL"}}


def test_pending_lists_open_drafts(fake):
    rejected, first, second = pause(fake), pause(fake), budget(fake, 120)
    fake.dashboard.reject(rejected.draft_id, reviewer="Ines")
    board = fake.dashboard
    assert [draft.draft_id for draft in board.pending()] == [first.draft_id, second.draft_id]
    assert [draft.draft_id for draft in board.pending(1)] == [first.draft_id]
    assert board.waiting == 2
    seen = board.pending()[1]
    assert (seen.operation, seen.target) == ("alpha.update_campaign_budget", "campaign_4c10")
    assert (seen.account_id, seen.currency) == ("account_a91f", "USD")
    assert seen.target_name == "DG · Finance leaders · Lead form"
    assert seen.diff == second.diff
    assert seen.expires_at - seen.created_at == timedelta(hours=48)


def test_confirm_needs_arm_within_ten_minutes(fake):
    board, draft = fake.dashboard, pause(fake)
    with pytest.raises(ApprovalRefused, match="must be armed"):
        board.confirm(draft, reviewer="Ines")
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


def test_disarmed_draft_needs_both_steps_again(fake):
    board, draft = fake.dashboard, pause(fake)
    board.arm(draft, reviewer="Ines")
    disarmed = board.disarm(draft, reviewer="Tove")
    assert (disarmed.status, disarmed.armed_until) == ("pending_approval", None)
    with pytest.raises(ApprovalRefused, match="must be armed"):
        board.confirm(draft, reviewer="Ines")
    assert approve(fake, draft).status == "applied"
    assert kinds(fake) == ["staged", "armed", "disarmed", "armed", "approved", "applied"]


@pytest.mark.parametrize("step", ["arm", "disarm", "confirm", "reject", "approve"])
def test_steps_on_unknown_or_closed_drafts_are_refused(fake, step):
    draft, make = pause(fake), getattr(fake.dashboard, step)
    with pytest.raises(ApprovalRefused, match="named"):
        make(draft.draft_id, reviewer=" ")
    with pytest.raises(ApprovalRefused, match="no draft draft_zzzz"):
        make("draft_zzzz", reviewer="Ines")
    approve(fake, draft)
    with pytest.raises(ApprovalRefused, match="is applied"):
        make(draft.draft_id, reviewer="Ines")


def test_reviewer_without_a_readable_name_is_refused(fake):
    with pytest.raises(ApprovalRefused, match="must be named"):
        fake.dashboard.arm(pause(fake), reviewer="\u200b")


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


def test_approve_takes_both_steps_of_a_draft_or_id(fake):
    assert fake.dashboard.approve(pause(fake)).reviewer == "reviewer"
    by_id = fake.dashboard.approve(budget(fake, 120).draft_id, reviewer="Ines")
    assert (by_id.status, by_id.reviewer) == ("applied", "Ines")
    assert kinds(fake) == ["staged", "armed", "approved", "applied"] * 2
    assert fake.dashboard.draft(by_id) == by_id


def test_a_rejected_draft_changes_nothing(fake):
    before, draft = everything(fake), pause(fake)
    assert fake.dashboard.reject(draft.draft_id, reviewer="Ines").status == "rejected"
    assert everything(fake) == before
    assert kinds(fake) == ["staged", "rejected"]


# Drafts that become stale.


@pytest.mark.parametrize("is_armed", [False, True])
def test_draft_is_stale_after_48_hours(fake, is_armed):
    draft = pause(fake)
    fake.clock.advance(timedelta(hours=47, minutes=55))
    if is_armed:
        fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    assert statuses(fake) == ["armed" if is_armed else "pending_approval"]
    fake.clock.advance(timedelta(minutes=5))
    assert (statuses(fake), fake.dashboard.waiting) == (["stale"], 0)
    first, *_, last = fake.dashboard.events
    assert (last.kind, last.at - first.at) == ("stale", timedelta(hours=48))
    with pytest.raises(ApprovalRefused, match="is stale"):
        fake.dashboard.arm(draft.draft_id, reviewer="Ines")


@each_case(
    ("staged", "change", "status"),
    [
        ({"daily_budget": 120}, {"daily_budget": 110}, "stale"),
        ({"daily_budget": 120}, {"name": "Renamed"}, "applied"),
        ({"bid": {"amount": 8}}, {"bid": {"strategy": "COST_CAP"}}, "applied"),
        ({"bid": {"amount": 8}}, {"bid": None}, "stale"),
        ({"bid": None}, {"bid": {"cap": 12}}, "stale"),
    ],
)
def test_draft_is_stale_if_its_live_value_has_changed(staged, change, status):
    fake = FakeAdService()
    draft = budget(fake, **staged)
    fake.change_live("account_a91f", "campaign_4c10", **change)
    assert approve(fake, draft).status == status
    assert kinds(fake) == ["staged", "armed", "approved", status]


@each_case(
    ("first", "second", "status"),
    [
        ({"daily_budget": 120}, {"daily_budget": 130}, "stale"),
        ({"daily_budget": 120}, {"audience_expansion": False}, "pending_approval"),
        ({"bid": {"amount": 8}}, {"bid": {"strategy": "COST_CAP"}}, "pending_approval"),
        ({"bid": {"amount": 8}}, {"bid": {"amount": 7}}, "stale"),
        ({"bid": {"amount": 8}}, {"bid": None}, "stale"),
        ({"bid": None}, {"bid": {"amount": 8}}, "stale"),
    ],
)
def test_applied_draft_makes_only_conflicting_drafts_stale(first, second, status):
    fake = FakeAdService()
    drafts = budget(fake, **first), budget(fake, **second)
    pause(fake)
    approve(fake, drafts[0])
    assert statuses(fake) == ["applied", status, "pending_approval"]
    assert kinds(fake)[-1] == ("stale" if status == "stale" else "applied")
    if status != "stale":
        assert approve(fake, drafts[1]).status == "applied"


def test_drafts_of_other_accounts_never_conflict():
    # With this seed an ad of each account has the same id.
    fake = FakeAdService(seed="s50")
    ads = [
        {ad.id for ad in fake.client().gamma.list_ads(account_id=account_id)}
        for account_id in ("account_c3d8", "account_c95a")
    ]
    ad_id = min(ads[0] & ads[1])
    for account_id in ("account_c3d8", "account_c95a"):
        change = {"account_id": account_id, "ad_id": ad_id, "fields": {"name": "New"}}
        draft = stage(fake, "gamma.create_dco_ad", **change)
    approve(fake, draft)
    assert statuses(fake) == ["pending_approval", "applied"]


def test_draft_is_stale_if_its_target_was_removed(fake):
    update = keywords(fake, action="UPDATE", final_url="https://halden.example")
    approve(fake, keywords(fake, action="REMOVE"))
    assert fake.dashboard.draft(update).status == "stale"


def test_second_removal_of_themes_is_stale(fake):
    drafts = [stage(fake, "delta.remove_auto_search_themes") for _ in range(2)]
    added = keywords(fake, "outdoor gear")
    approve(fake, drafts[0])
    assert statuses(fake) == ["applied", "stale", "pending_approval"]
    assert approve(fake, added).status == "applied"


def test_changing_the_diff_of_a_draft_leaves_the_live_data_alone(fake):
    before, where = everything(fake), {"campaign_id": "campaign_4c10"}
    targeting = {"include": {"and": [{"or": {"locations": ["geo:1"]}}]}}
    stage(fake, "alpha.update_campaign_targeting", **where, targeting=targeting)
    diff = fake.drafts[0].diff
    diff.before["include"]["and"].clear()
    diff.after.clear()
    assert approve(fake, fake.drafts[0]).status == "applied"
    again = stage(fake, "alpha.update_campaign_targeting", **where, targeting={"a": 1})
    assert again.diff.before == targeting
    assert everything(fake) == before


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


def test_draft_ids_are_unique():
    ids = {nth_id("draft", "halden", number) for number in range(70_000)}
    assert len(ids) == 70_000
    assert {len(found) for found in ids} == {len("draft_0000"), len("draft_00000")}
    assert nth_id("draft", "other", 0) != nth_id("draft", "halden", 0)
