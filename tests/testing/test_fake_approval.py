from datetime import timedelta

import pytest
from fake_helpers import READS, VALID_WRITES, WRITES, approve, everything, send, stage

from adclient import Request
from adclient.testing import ApprovalRefused, FakeAdService, Profile


@pytest.fixture
def fake():
    return FakeAdService()


def pause(fake, campaign_id="campaign_57a7"):
    return stage(fake, "beta.pause_campaign", campaign_id=campaign_id)


def budget(fake, daily_budget, campaign_id="campaign_4c10"):
    return stage(
        fake, "alpha.update_campaign_budget", campaign_id=campaign_id, daily_budget=daily_budget
    )


def statuses(fake):
    return [draft.status for draft in fake.drafts]


def kinds(fake):
    return [event.kind for event in fake.dashboard.events]


def test_arm_and_confirm_change_what_reads_return(fake):
    draft, client = pause(fake), fake.client()
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    assert client.beta.list_campaigns(account_id="account_b204").data[0].status == "ENABLED"
    fake.dashboard.confirm(draft.draft_id, reviewer="Ines")
    assert client.beta.list_campaigns(account_id="account_b204").data[0].status == "PAUSED"
    assert kinds(fake) == ["staged", "armed", "approved", "applied"]


def test_every_write_can_be_applied(fake):
    for operation in WRITES:
        draft = stage(fake, operation.full_name, **VALID_WRITES[operation.full_name])
        before = everything(fake, operation.namespace)
        assert approve(fake, draft).status == "applied"
        if operation.full_name in ("alpha.update_campaign_targeting", "alpha.update_creative"):
            continue  # no read shows these
        assert everything(fake, operation.namespace) != before


def test_next_draft_starts_from_the_applied_value(fake):
    approve(fake, budget(fake, 120))
    assert budget(fake, 130).diff.before == 120
    bid = stage(
        fake,
        "alpha.update_campaign_budget",
        campaign_id="campaign_4c10",
        fields={"bid": {"amount": 8}},
    )
    approve(fake, bid)
    again = stage(
        fake,
        "alpha.update_campaign_budget",
        campaign_id="campaign_4c10",
        fields={"bid": {"amount": 9, "strategy": "COST_CAP"}},
    )
    assert again.diff.before == {"bid": {"amount": 8, "strategy": "MANUAL"}}


def test_created_entities_are_listed_once_applied(fake):
    client = fake.client()
    fields = {"name": "Leaves", "ad": {"name": "Leaf 1"}}
    approve(fake, stage(fake, "gamma.create_image_campaign", fields=fields))
    approve(fake, stage(fake, "gamma.create_dco_ad", fields={"name": "Tents"}))
    approve(fake, stage(fake, "beta.create_video_campaign", fields={"name": "Autumn"}))
    ads = list(client.gamma.list_ads(account_id="account_c3d8"))
    assert [(ad.name, ad.extra["format"]) for ad in ads[126:]] == [
        ("Leaf 1", "IMAGE"),
        ("Tents", "DYNAMIC"),
    ]
    last = list(client.beta.list_campaigns(account_id="account_b204"))[-1]
    assert (last.name, last.status, last.extra["spend"]) == ("Autumn", "PAUSED", 0)
    found = client.beta.detect_creative_fatigue(account_id="account_b204")
    assert len(found.data) == 5


def test_waste_finding_disappears_with_its_cause(fake):
    def wasted():
        found = fake.client().delta.analyze_wasted_spend(account_id="account_d118")
        return {finding.extra["reason"] for finding in found}

    assert {"OFF_TARGET_SEARCH_THEMES", "KEYWORD_NO_CONVERSIONS"} <= wasted()
    approve(fake, stage(fake, "delta.remove_auto_search_themes"))
    assert "OFF_TARGET_SEARCH_THEMES" not in wasted()
    for keyword, action in (("outdoor jacket", "PAUSE"), ("cheap hiking boots", "REMOVE")):
        draft = stage(fake, "delta.update_keyword", keywords=[keyword], fields={"action": action})
        approve(fake, draft)
    assert not {"KEYWORD_NO_CONVERSIONS", "LOW_QUALITY_SCORE"} & wasted()


def test_pending_lists_open_drafts(fake):
    first, second = pause(fake), budget(fake, 120)
    assert [draft.draft_id for draft in fake.dashboard.pending()] == [
        first.draft_id,
        second.draft_id,
    ]
    seen = fake.dashboard.pending()[1]
    assert seen.operation == "alpha.update_campaign_budget"
    assert (seen.account_id, seen.target) == ("account_a91f", "campaign_4c10")
    assert seen.diff == second.diff
    assert seen.expires_at - seen.created_at == timedelta(hours=48)
    armed = fake.dashboard.arm(first.draft_id, reviewer="Ines")
    assert (armed.status, armed.reviewer, armed.armed_at) == ("armed", "Ines", fake.clock.now())
    fake.dashboard.confirm(first.draft_id, reviewer="Tove")
    assert [draft.draft_id for draft in fake.dashboard.pending()] == [second.draft_id]
    assert fake.drafts[0].reviewer == "Tove"


def test_pending_with_limit_returns_the_oldest_drafts(fake):
    drafts = [stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7") for _ in range(3)]
    fake.dashboard.reject(drafts[0].draft_id, reviewer="Ines")
    assert fake.dashboard.waiting == 2
    assert [draft.draft_id for draft in fake.dashboard.pending(1)] == [drafts[1].draft_id]
    fake.clock.advance(49 * 3600)
    assert fake.dashboard.waiting == 0


def test_repr_of_a_draft_is_one_line(fake):
    draft = stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7")
    assert repr(fake.drafts[0]) == (
        f"<FakeDraft {draft.draft_id}, beta.pause_campaign, "
        "<Diff status: ENABLED → PAUSED>, pending_approval>"
    )


def test_confirming_without_arming_is_refused(fake):
    draft = pause(fake)
    with pytest.raises(ApprovalRefused, match="must be armed"):
        fake.dashboard.confirm(draft.draft_id, reviewer="Ines")
    assert statuses(fake) == ["pending_approval"]


def test_confirm_more_than_ten_minutes_after_arm_is_refused(fake):
    draft = pause(fake)
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.clock.advance(601)
    with pytest.raises(ApprovalRefused, match="too long ago"):
        fake.dashboard.confirm(draft.draft_id, reviewer="Ines")
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.clock.advance(600)
    assert fake.dashboard.confirm(draft.draft_id, reviewer="Ines").status == "applied"


@pytest.mark.parametrize("step", ["arm", "disarm", "confirm", "reject"])
def test_steps_on_unknown_or_closed_drafts_are_refused(fake, step):
    draft = pause(fake)
    make = getattr(fake.dashboard, step)
    with pytest.raises(ApprovalRefused, match="named"):
        make(draft.draft_id, reviewer=" ")
    with pytest.raises(ApprovalRefused, match="no draft draft_zzzz"):
        make("draft_zzzz", reviewer="Ines")
    approve(fake, draft)
    with pytest.raises(ApprovalRefused, match="is applied"):
        make(draft.draft_id, reviewer="Ines")


def test_disarmed_draft_needs_both_steps_again(fake):
    draft = pause(fake)
    with pytest.raises(ApprovalRefused, match="is not armed"):
        fake.dashboard.disarm(draft.draft_id, reviewer="Ines")
    armed = fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    assert armed.armed_until == fake.clock.now() + timedelta(minutes=10)
    disarmed = fake.dashboard.disarm(draft.draft_id, reviewer="Tove")
    assert (disarmed.status, disarmed.armed_until) == ("pending_approval", None)
    with pytest.raises(ApprovalRefused, match="must be armed"):
        fake.dashboard.confirm(draft.draft_id, reviewer="Ines")
    assert approve(fake, draft).status == "applied"
    assert kinds(fake) == ["staged", "armed", "disarmed", "armed", "approved", "applied"]


def test_draft_whose_first_step_expired_cannot_be_disarmed(fake):
    draft = pause(fake)
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.clock.advance(601)
    with pytest.raises(ApprovalRefused, match="is not armed"):
        fake.dashboard.disarm(draft.draft_id, reviewer="Ines")


def test_two_reviewers_are_needed_if_the_profile_says_so():
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    draft = pause(fake)
    fake.dashboard.arm(draft.draft_id, reviewer="Ines Roth")
    for same in ("Ines Roth", "ines  roth "):
        with pytest.raises(ApprovalRefused, match="armed by you: another person must confirm it"):
            fake.dashboard.confirm(draft.draft_id, reviewer=same)
    assert statuses(fake) == ["armed"]
    assert fake.dashboard.confirm(draft.draft_id, reviewer="Tove").status == "applied"


def test_approve_takes_both_steps(fake):
    assert fake.dashboard.approve(pause(fake)).status == "applied"
    by_id = fake.dashboard.approve(budget(fake, 120).draft_id, reviewer="Ines")
    assert (by_id.status, by_id.reviewer) == ("applied", "Ines")
    steps = ["staged", "armed", "approved", "applied"]
    assert kinds(fake) == [*steps, *steps]
    assert {event.actor for event in fake.dashboard.events[1:3]} == {"reviewer"}


def test_refused_approval_takes_no_step():
    fake = FakeAdService(profile=Profile(two_reviewers=True))
    draft = pause(fake)
    with pytest.raises(ApprovalRefused, match="two people are needed: one calls arm"):
        fake.dashboard.approve(draft)
    with pytest.raises(ApprovalRefused, match="a reviewer must be named"):
        fake.dashboard.approve(draft, reviewer="")
    with pytest.raises(ApprovalRefused, match="there is no draft draft_zzzz"):
        fake.dashboard.approve("draft_zzzz")
    assert kinds(fake) == ["staged"]


def test_each_step_accepts_a_draft_in_place_of_its_id(fake):
    board = fake.dashboard
    draft = pause(fake)
    assert board.draft(draft) == board.draft(draft.draft_id)
    assert board.arm(draft, reviewer="Ines").status == "armed"
    assert board.disarm(board.draft(draft), reviewer="Ines").status == "pending_approval"
    with pytest.raises(ApprovalRefused, match=f"^{draft.draft_id} must be armed"):
        board.confirm(draft, reviewer="Ines")
    applied = board.approve(draft)
    inverse = board.roll_back(applied, reviewer="Ines")
    assert inverse.reverts == draft.draft_id
    assert board.reject(inverse, reviewer="Ines").status == "rejected"


@pytest.mark.parametrize("step", ["draft", "arm", "confirm", "approve", "reject", "roll_back"])
def test_anything_else_in_place_of_an_id_is_refused_with_advice(fake, step):
    make, who = getattr(fake.dashboard, step), {} if step == "draft" else {"reviewer": "Ines"}
    with pytest.raises(TypeError, match=r"^expected a draft or its id, not int$"):
        make(5, **who)
    staging = fake.async_client().delta.remove_auto_search_themes(account_id="account_d118")
    with pytest.raises(TypeError, match=r"^expected a draft or its id, not \w+; await it first$"):
        make(staging, **who)
    staging.close()


def test_a_rejected_draft_changes_nothing(fake):
    before, draft = everything(fake), pause(fake)
    assert fake.dashboard.reject(draft.draft_id, reviewer="Ines").status == "rejected"
    assert everything(fake) == before
    with pytest.raises(ApprovalRefused, match="is rejected"):
        fake.dashboard.arm(draft.draft_id, reviewer="Ines")


def test_draft_is_stale_after_48_hours(fake):
    draft = pause(fake)
    fake.clock.advance(timedelta(hours=48, seconds=-1))
    assert statuses(fake) == ["pending_approval"]
    fake.clock.advance(1)
    assert statuses(fake) == ["stale"]
    assert kinds(fake) == ["staged", "stale"]
    with pytest.raises(ApprovalRefused, match="is stale"):
        fake.dashboard.arm(draft.draft_id, reviewer="Ines")


def test_applied_draft_makes_only_conflicting_drafts_stale(fake):
    rivals = budget(fake, 120), budget(fake, 130)
    other = stage(
        fake,
        "alpha.update_campaign_targeting",
        campaign_id="campaign_4c10",
        fields={"audience_expansion": False},
    )
    pause(fake)
    approve(fake, rivals[0])
    assert statuses(fake) == ["applied", "stale", "pending_approval", "pending_approval"]
    assert kinds(fake)[-2:] == ["applied", "stale"]
    assert approve(fake, other).status == "applied"


def test_expired_first_step_makes_a_draft_pending_again(fake):
    first, second = pause(fake), pause(fake, "campaign_cb1a")
    fake.dashboard.arm(first.draft_id, reviewer="Ines")
    fake.clock.advance(300)
    fake.dashboard.arm(second.draft_id, reviewer="Ines")
    assert statuses(fake) == ["armed", "armed"]
    fake.clock.advance(301)
    assert statuses(fake) == ["pending_approval", "armed"]
    assert kinds(fake).count("armed") == 2
    fake.dashboard.arm(first.draft_id, reviewer="Tove")
    fake.clock.advance(301)
    assert statuses(fake) == ["armed", "pending_approval"]


def test_armed_draft_is_stale_after_48_hours(fake):
    draft = pause(fake)
    fake.clock.advance(timedelta(hours=47, minutes=55))
    fake.dashboard.arm(draft.draft_id, reviewer="Ines")
    fake.clock.advance(300)
    with pytest.raises(ApprovalRefused, match="is stale"):
        fake.dashboard.confirm(draft.draft_id, reviewer="Ines")


def test_draft_is_stale_if_the_live_value_has_changed(fake):
    moved, other = budget(fake, 120), pause(fake)
    fake.change_live("account_a91f", "campaign_4c10", daily_budget=110)
    fake.change_live("account_b204", "campaign_57a7", daily_budget=500)
    assert approve(fake, moved).status == "stale"
    assert kinds(fake)[-2:] == ["approved", "stale"]
    assert budget(fake, 120).diff.before == 110
    assert approve(fake, other).status == "applied"


def test_draft_is_applied_if_another_key_of_the_object_has_changed(fake):
    fields = {"bid": {"amount": 8}}
    draft = stage(fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", fields=fields)
    fake.change_live("account_a91f", "campaign_4c10", bid={"strategy": "COST_CAP"})
    assert approve(fake, draft).status == "applied"


def bid(fake, value):
    fields, campaign_id = {"bid": value}, "campaign_4c10"
    return stage(fake, "alpha.update_campaign_budget", campaign_id=campaign_id, fields=fields)


def test_drafts_on_different_leaves_of_an_object_are_both_applied(fake):
    drafts = bid(fake, {"amount": 8}), bid(fake, {"strategy": "COST_CAP"})
    bid(fake, {"amount": 7})
    assert [approve(fake, draft).status for draft in drafts] == ["applied"] * 2
    assert statuses(fake) == ["applied", "applied", "stale"]
    again = bid(fake, {"amount": 9, "strategy": "MANUAL"})
    assert again.diff.before == {"bid": {"amount": 8, "strategy": "COST_CAP"}}


@pytest.mark.parametrize("is_part_first", [True, False])
def test_draft_on_an_object_conflicts_with_one_on_a_part_of_it(fake, is_part_first):
    part, whole = bid(fake, {"amount": 8}), bid(fake, None)
    first = part if is_part_first else whole
    approve(fake, first)
    assert sorted(statuses(fake)) == ["applied", "stale"]


def test_draft_is_stale_if_its_object_became_null(fake):
    draft = bid(fake, {"amount": 8})
    fake.change_live("account_a91f", "campaign_4c10", bid=None)
    assert approve(fake, draft).status == "stale"


def test_draft_that_removes_an_object_is_stale_if_the_object_has_grown(fake):
    draft = bid(fake, None)
    fake.change_live("account_a91f", "campaign_4c10", bid={"cap": 12})
    assert approve(fake, draft).status == "stale"


def test_draft_is_stale_if_its_target_was_removed(fake):
    fields = {"action": "UPDATE", "final_url": "https://halden.example"}
    update = stage(fake, "delta.update_keyword", keywords=["outdoor jacket"], fields=fields)
    removal = stage(
        fake, "delta.update_keyword", keywords=["outdoor jacket"], fields={"action": "REMOVE"}
    )
    approve(fake, removal)
    assert approve(fake, update).status == "stale"


def test_drafts_on_different_fields_are_both_applied(fake):
    first = stage(fake, "beta.pause_campaign", campaign_id="campaign_57a7")
    second = stage(fake, "beta.create_video_campaign", campaign_id="campaign_57a7", fields={"a": 1})
    assert [approve(fake, draft).status for draft in (first, second)] == ["applied"] * 2


def test_applied_diff_of_keywords_matches_the_live_data(fake):
    keywords = ["outdoor jacket", "cheap hiking boots"]
    bids, pause = (
        stage(fake, "delta.update_keyword", keywords=keywords, fields=fields)
        for fields in ({"action": "UPDATE", "cpc_bid": 2}, {"action": "PAUSE"})
    )
    assert [approve(fake, draft).status for draft in (pause, bids)] == ["applied"] * 2
    removal = stage(fake, "delta.update_keyword", keywords=keywords, fields={"action": "REMOVE"})
    for draft in (pause, bids):
        for shown, live in zip(draft.diff.after, removal.diff.before, strict=True):
            assert shown.items() <= live.items()


def test_second_removal_of_themes_is_stale(fake):
    drafts = [stage(fake, "delta.remove_auto_search_themes") for _ in range(2)]
    keywords = stage(fake, "delta.update_keyword", keywords=["outdoor gear"])
    approve(fake, drafts[0])
    assert statuses(fake) == ["applied", "stale", "pending_approval"]
    assert approve(fake, keywords).status == "applied"


def test_rollback_is_staged_as_a_draft(fake):
    first = budget(fake, 120)
    approve(fake, first)
    back = fake.dashboard.roll_back(first.draft_id, reviewer="Tove")
    assert (back.diff.before, back.diff.after) == (120, 100)
    assert (back.operation, back.reverts) == ("alpha.update_campaign_budget", first.draft_id)
    assert statuses(fake) == ["applied", "pending_approval"]
    assert approve(fake, back).status == "applied"
    assert statuses(fake) == ["rolled_back", "applied"]
    assert budget(fake, 130).diff.before == 100
    assert kinds(fake)[4:9] == ["staged", "armed", "approved", "applied", "rolled_back"]
    assert fake.dashboard.events[4].actor == "Tove"


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.full_name)
def test_every_write_and_its_rollback_can_be_rolled_back(fake, operation):
    before = everything(fake, operation.namespace)
    draft = stage(fake, operation.full_name, **VALID_WRITES[operation.full_name])
    approve(fake, draft)
    after = everything(fake, operation.namespace)
    back = fake.dashboard.roll_back(draft.draft_id, reviewer="Ines")
    assert approve(fake, back).status == "applied"
    assert everything(fake, operation.namespace) == before
    again = fake.dashboard.roll_back(back.draft_id, reviewer="Ines")
    assert approve(fake, again).status == "applied"
    makes = operation.full_name in ("gamma.create_image_campaign", "gamma.create_dco_ad")
    if not makes and operation.full_name != "beta.create_video_campaign":
        assert everything(fake, operation.namespace) == after


def ads(fake):
    return list(fake.client().gamma.list_ads(account_id="account_c3d8"))


def test_rollback_of_a_campaign_is_stale_while_it_has_later_ads(fake):
    before = [ad.id for ad in ads(fake)]
    fields = {"name": "Autumn", "ad": {"name": "Leaf"}}
    created = approve(fake, stage(fake, "gamma.create_image_campaign", fields=fields))
    campaign_id, fields = ads(fake)[-1].extra["campaign_id"], {"ad": {"name": "Twig"}}
    extension = stage(fake, "gamma.create_image_campaign", campaign_id=campaign_id, fields=fields)
    later = approve(fake, extension)
    back = fake.dashboard.roll_back(created.draft_id, reviewer="Ines")
    assert approve(fake, back).status == "stale"
    assert [ad.name for ad in ads(fake)[-2:]] == ["Leaf", "Twig"]
    for draft in (later, created):
        back = fake.dashboard.roll_back(draft.draft_id, reviewer="Ines")
        assert approve(fake, back).status == "applied"
    assert [ad.id for ad in ads(fake)] == before


def test_rollback_is_stale_after_another_change(fake):
    first = budget(fake, 120)
    approve(fake, first)
    back = fake.dashboard.roll_back(first.draft_id, reviewer="Ines")
    approve(fake, budget(fake, 140))
    assert fake.dashboard.draft(back.draft_id).status == "stale"


def test_changing_the_diff_of_a_draft_leaves_the_live_data_alone(fake):
    before = everything(fake)
    targeting = {"include": {"and": [{"or": {"locations": ["geo:1"]}}]}}
    where = {"campaign_id": "campaign_4c10"}
    stage(fake, "alpha.update_campaign_targeting", **where, targeting=targeting)
    diff = fake.drafts[0].diff
    diff.before["include"]["and"].clear()
    diff.after.clear()
    assert approve(fake, fake.drafts[0]).status == "applied"
    again = stage(fake, "alpha.update_campaign_targeting", **where, targeting={"a": 1})
    assert again.diff.before == targeting
    assert everything(fake) == before


def test_audit_trail_has_the_time_at_which_a_draft_expired(fake):
    pause(fake)
    fake.clock.advance(timedelta(days=5))
    end = fake.dashboard.events[-1]
    assert (end.kind, end.at - fake.dashboard.events[0].at) == ("stale", timedelta(hours=48))


def test_rollback_of_a_draft_that_is_not_applied_is_refused(fake):
    draft = pause(fake)
    with pytest.raises(ApprovalRefused, match="is pending_approval, not applied"):
        fake.dashboard.roll_back(draft.draft_id, reviewer="Ines")
    with pytest.raises(ApprovalRefused, match="named"):
        fake.dashboard.roll_back(draft.draft_id, reviewer="")
    with pytest.raises(ApprovalRefused, match="no draft"):
        fake.dashboard.roll_back("draft_zzzz", reviewer="Ines")


def test_open_rollback_can_be_applied_after_its_draft_was_dropped():
    fake = FakeAdService(history=1)
    first = budget(fake, 120)
    approve(fake, first)
    back = fake.dashboard.roll_back(first.draft_id, reviewer="Ines")
    approve(fake, pause(fake))
    with pytest.raises(ApprovalRefused, match="no draft"):
        fake.dashboard.draft(first.draft_id)
    assert approve(fake, back).status == "applied"
    assert budget(fake, 130).diff.before == 100


def test_drafts_that_break_a_rule_together_are_not_both_applied(fake):
    drafts = [
        stage(
            fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", fields={field: date}
        )
        for field, date in (("start_date", "2026-06-01"), ("end_date", "2026-05-01"))
    ]
    assert [approve(fake, draft).status for draft in drafts] == ["applied", "apply_failed"]
    assert kinds(fake)[-2:] == ["approved", "apply_failed"]
    later = {"end_date": "2026-06-02"}
    assert (
        approve(
            fake,
            stage(fake, "alpha.update_campaign_budget", campaign_id="campaign_4c10", fields=later),
        ).status
        == "applied"
    )


def test_new_campaign_whose_end_has_passed_fails_to_apply(fake):
    draft = stage(fake, "beta.create_video_campaign", fields={"end_date": "2026-03-02"})
    fake.clock.advance(timedelta(days=1))
    assert approve(fake, draft).status == "apply_failed"


def test_applied_draft_outlives_those_that_it_made_stale():
    fake = FakeAdService(history=2)
    drafts = [budget(fake, amount) for amount in (120, 130, 140, 150)]
    approve(fake, drafts[0])
    assert fake.dashboard.draft(drafts[0].draft_id).status == "applied"
    assert statuses(fake) == ["applied", "stale"]
    back = fake.dashboard.roll_back(drafts[0].draft_id, reviewer="Ines")
    assert approve(fake, back).status == "applied"


def test_second_campaign_with_the_same_name_fails_to_apply(fake):
    drafts = [
        stage(fake, "beta.create_video_campaign", fields={"name": "Autumn"}) for _ in range(2)
    ]
    assert [approve(fake, draft).status for draft in drafts] == ["applied", "apply_failed"]
    names = [c.name for c in fake.client().beta.list_campaigns(account_id="account_b204")]
    assert names.count("Autumn") == 1
    assert kinds(fake)[-2:] == ["approved", "apply_failed"]


def test_second_equal_keyword_fails_to_apply(fake):
    drafts = [stage(fake, "delta.update_keyword", keywords=["tarp"]) for _ in range(2)]
    assert [approve(fake, draft).status for draft in drafts] == ["applied", "apply_failed"]
    removal = stage(fake, "delta.update_keyword", keywords=["tarp"], fields={"action": "REMOVE"})
    assert len(removal.diff.before) == 1


def test_audit_trail_is_a_hash_chain(fake):
    approve(fake, pause(fake))
    events = fake.dashboard.events
    assert [event.seq for event in events] == [1, 2, 3, 4]
    assert [event.actor for event in events] == ["client", "Ines", "Ines", "service"]
    assert events[0].prev_hash == ""
    assert [event.prev_hash for event in events[1:]] == [event.hash for event in events[:-1]]
    assert len({event.hash for event in events}) == 4


def test_no_request_reaches_the_dashboard(fake):
    draft = pause(fake)
    for name in ("arm", "disarm", "confirm", "approve"):
        for operation in (WRITES[0], READS[0]):
            url = fake.base_url + operation.path.rpartition("/")[0]
            for method in ("POST", "PUT", "PATCH", "DELETE", "GET"):
                reply = fake.handle(
                    Request(method=method, url=f"{url}/{name}/{draft.draft_id}", body=b"{}")
                )
                assert reply.status == 404
    status, _ = send(
        fake,
        "beta.pause_campaign",
        {"account_id": "account_b204", "campaign_id": "campaign_57a7", "status": "applied"},
    )
    assert status == 422
    assert statuses(fake) == ["pending_approval"]


def test_response_shows_the_status_at_creation(fake):
    draft = pause(fake)
    approve(fake, draft)
    assert draft.status == "pending_approval"
    assert fake.drafts[0].status == "applied"


def test_draft_ids_are_unique(fake):
    ids = {budget(fake, 100 + number).draft_id for number in range(1, 250)}
    assert len(ids) == 249
    assert all(len(draft_id) == len("draft_0000") for draft_id in ids)
