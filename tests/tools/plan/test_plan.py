"""Plans that are staged: each change once, whatever happens."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, BASE_URL, Service
from hypothesis import example, given, settings, strategies as st
from memory_ledger import MemoryLedger
from plans import FIRST, SECOND, THIRD, Team, budget, pause, plan_of, verdicts

from adclient import AsyncAdClient, ConfigurationError, LedgerError
from adclient.ledger import Entry, SQLiteLedger
from adclient.policy import Policy
from adclient.testing import Fault


@pytest.fixture
def team(tmp_path) -> Team:
    return Team(tmp_path)


def test_each_change_is_staged_once_and_a_second_run_sends_no_request(team) -> None:
    changes = pause(more='why = "It is spent"'), budget(), pause(SECOND)
    policy = Policy(no_repeat_within="1d")
    first, again = (team.stage(*changes, policy=policy) for _ in range(2))
    assert (verdicts(first), first.exit_code) == (["staged"] * 3, 0)
    assert [change.draft_id for change in first.changes] == [d.draft_id for d in team.fake.drafts]
    assert (verdicts(again), again.exit_code) == (["already staged"] * 3, 0)
    assert [(c.draft_id, c.diff) for c in again.changes] == [
        (c.draft_id, c.diff) for c in first.changes
    ]
    assert first.ledger_head == again.ledger_head == team.ledger.verify()
    assert len(team.fake.requests) == 3
    assert [entry.why for entry in team.ledger.entries()] == ["It is spent", None, None]
    # An equal change of another plan is another change.
    other = team.stage(pause(), pause(THIRD), plan_id="w48", policy=policy)
    assert (verdicts(other), other.notes) == (["refused", "staged"], ())
    assert f"86400 seconds apart: draft {first.changes[0].draft_id} of " in other.changes[0].reason
    assert verdicts(team.stage(pause(), plan_id="w48")) == ["staged"]


@pytest.mark.parametrize(("found", "notes"), [("draft_1", ["draft draft_1 was"]), (None, [])])
def test_unknown_draft_of_an_edited_change_is_named_until_there_is_none(team, found, notes) -> None:
    team.fake.faults.add(Fault.dropped(taken=True))
    team.stage(budget("120"))
    [note] = team.stage(budget("130")).notes
    assert note.startswith("perhaps a draft was staged by a change that was edited")
    team.settle(0, found)
    assert [note[:17] for note in team.stage(budget("130")).notes] == notes


def test_draft_that_found_another_value_than_expected_is_stale(team) -> None:
    change = pause(more='expect = "PAUSED"')
    reports = team.stage(change), team.stage(change)
    for report in reports:
        assert (verdicts(report), report.exit_code) == (["stale"], 4)
    assert reports[1].changes[0].reason.startswith("it was ENABLED, and the plan expects ")
    # The author may find that the draft is right: nothing is staged again.
    enabled = [pause(campaign, 'expect = "ENABLED"') for campaign in (FIRST, THIRD)]
    report = team.stage(*enabled)
    assert (verdicts(report), report.exit_code) == (["already staged", "staged"], 0)
    # Numbers are compared as JSON.
    team.fake.change_live("account_a91f", "campaign_4c10", daily_budget=1)
    for change, verdict in (("expect = 1.0", "staged"), ("expect = true", "stale")):
        assert verdicts(team.stage(budget("120", change), plan_id=verdict)) == [verdict]


@pytest.mark.parametrize(
    ("status", "verdict", "code"), [(503, "unknown", 5), (401, "not staged", 1)]
)
def test_plan_stops_where_the_next_change_would_fail_as_well(team, status, verdict, code) -> None:
    changes = pause(), pause(SECOND), budget()
    team.fake.faults.add(Fault.status(status), call=2)
    report = team.stage(*changes, max_retries=0)
    assert verdicts(report) == ["staged", verdict, "not tried"]
    assert report.exit_code == code
    assert report.changes[2].reason == "plan w47 stopped at change 2"
    again = verdicts(team.stage(*changes))
    assert again[1:] == ["unknown" if verdict == "unknown" else "staged", "staged"]
    if verdict == "unknown":  # until a human has looked
        team.settle(1, None)
        assert verdicts(team.stage(*changes)) == ["already staged", "staged", "already staged"]


def test_plan_stops_if_the_ledger_or_the_token_fails(team) -> None:
    class Full(SQLiteLedger):
        def reserve(self, entry, check):
            raise LedgerError("the disk is full")

    def token() -> str:
        raise RuntimeError("client_secret=hunter2")

    changes = pause(), pause(SECOND)
    for options, reason in [
        ({"ledger": Full(team.folder / "drafts.db")}, "the disk is full"),
        ({"ledger": team.ledger, "token": token}, "RuntimeError"),
    ]:
        report = team.stage(*changes, transport=Service().transport, **options)
        assert verdicts(report) == ["not staged", "not tried"]
        assert report.changes[0].reason == reason
    assert verdicts(team.stage(*changes)) == ["staged", "staged"]


def test_ledger_that_breaks_after_the_plan_does_not_lose_its_report(team) -> None:
    class Unreadable(SQLiteLedger):
        def entries(self, **_):
            raise LedgerError("the disk is broken")

    report = team.stage(pause(), ledger=Unreadable(team.folder / "drafts.db"))
    assert (verdicts(report), report.exit_code) == (["staged"], 5)
    assert report.ledger_problem == "the disk is broken"


def test_client_that_cannot_stage_is_refused(team) -> None:
    plan = plan_of(team.folder, pause())
    with pytest.raises(ConfigurationError, match="a client with a ledger"):
        plan.stage(team.fake.client(policy=Policy()))
    with pytest.raises(ConfigurationError, match="AdClient, not AsyncAdClient"):
        plan.stage(AsyncAdClient(BASE_URL))


@each_case(("seconds", "verdict"), (None, "unknown"), (-1, "unknown"), (60, "under way"))
def test_entry_in_a_users_ledger_is_under_way_until_its_deadline(team, seconds, verdict) -> None:
    [change] = plan_of(team.folder, pause()).changes
    deadline = None if seconds is None else datetime.now(UTC) + timedelta(seconds=seconds)
    given = {"operation": "x", "account_id": "a", "change": change.key}
    ledger = MemoryLedger()
    ledger.rows.append(Entry(entry_id="x", deadline=deadline, **given))
    assert verdicts(team.stage(pause(), ledger=ledger)) == [verdict]


class Killed(BaseException):
    """The process ends here: what follows in it does not happen."""


class DeadlyLedger(SQLiteLedger):
    is_killing = False

    def end(self, entry) -> None:
        if self.is_killing:
            raise Killed
        super().end(entry)


BEFORE = {"refused": httpx.ConnectError("refused"), "interrupted before": KeyboardInterrupt()}
AFTER = {"reset": httpx.ReadError("reset"), "interrupted after": KeyboardInterrupt()}
EVENTS = ["ok", "422", "503", "killed", *BEFORE, *AFTER]


def stage_among(events: list[str], team: Team, ledger: DeadlyLedger, campaigns: list[str]):
    """Stage a plan, over a network and with a ledger that can both end the process."""
    ledger.is_killing = False

    def send(request: httpx.Request) -> httpx.Response:
        event = events.pop() if events else "ok"
        if event in BEFORE:
            raise BEFORE[event]
        if event == "422":
            return httpx.Response(422)
        response = team.fake.transport.handle_request(request)
        response.read()
        if event in AFTER:
            raise AFTER[event]
        ledger.is_killing = event == "killed"
        return httpx.Response(503) if event == "503" else response

    options = {"ledger": ledger, "retry": AT_ONCE, "transport": httpx.MockTransport(send)}
    return team.stage(*map(pause, campaigns), **options)


RUN = st.tuples(
    st.lists(st.sampled_from([FIRST, SECOND, THIRD]), min_size=1, unique=True),
    st.lists(st.sampled_from(EVENTS), max_size=6),
)


@settings(max_examples=settings.default.max_examples // 3)
@given(runs=st.lists(RUN, max_size=5))
@example(runs=[([FIRST], ["killed"]), ([SECOND, FIRST], ["interrupted after"])])
def test_no_change_is_staged_twice_whatever_happens(runs) -> None:
    with TemporaryDirectory() as folder:
        team, ledger = Team(Path(folder)), DeadlyLedger(Path(folder) / "drafts.db")
        for campaigns, events in runs:
            with suppress(KeyboardInterrupt, Killed):
                stage_among(events[::-1], team, ledger, campaigns)
        report = stage_among([], team, ledger, [FIRST, SECOND, THIRD])
    assert set(verdicts(report)) <= {"staged", "already staged", "unknown", "under way"}
    drafts = {draft.target: draft.draft_id for draft in team.fake.drafts}
    assert len(drafts) == len(team.fake.drafts), "a change was staged twice"
    for change in report.changes:
        if change.verdict not in ("unknown", "under way"):
            assert drafts[change.target_id] == change.draft_id
