"""Plans that are staged: each change once, whatever happens."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, BASE_URL, Service, a_draft
from hypothesis import example, given, settings, strategies as st
from memory_ledger import MemoryLedger
from plans import FIRST, SECOND, THIRD, Team, budget, pause, plan_of, verdicts

from adclient import (
    AdClient,
    AsyncAdClient,
    ConfigurationError,
    LedgerError,
    Policy,
    SQLiteLedger,
)
from adclient.plan import Interrupted
from adclient.testing import FakeAdService, Fault

MONEY = {"fields": ["status"], "money": {"daily_budget": 500}}


@pytest.fixture
def team(tmp_path) -> Team:
    return Team(tmp_path)


def test_each_change_is_staged_once_and_a_second_run_sends_no_request(team) -> None:
    changes = pause(), budget(), pause(SECOND)
    first = team.stage(*changes)
    assert (verdicts(first), first.exit_code) == (["staged"] * 3, 0)
    assert [change.draft_id for change in first.changes] == [d.draft_id for d in team.fake.drafts]
    again = team.stage(*changes)
    assert (verdicts(again), again.exit_code) == (["already staged"] * 3, 0)
    assert [c.draft_id for c in again.changes] == [c.draft_id for c in first.changes]
    assert [c.diff for c in again.changes] == [c.diff for c in first.changes]
    assert first.ledger_head == again.ledger_head == team.ledger.verify()
    assert len(team.fake.requests) == 3
    other = team.stage(pause(), plan_id="w48")
    assert (verdicts(other), other.notes, len(team.fake.drafts)) == (["staged"], (), 4)


def test_entry_has_the_reason_of_its_change_as_one_short_line(team) -> None:
    several = r'why = """ a\n\tb\u3164 """'
    reasons = ["why = 'It is spent.'", several, "why = ' '", "", f"why = '{'x' * 300}'"]
    listing = team.fake.client().beta.list_campaigns(account_id="account_b204")
    campaigns = [campaign.id for campaign in listing]
    team.stage(*map(pause, campaigns, reasons), actor="kim")
    entries = team.ledger.entries()
    cut = "x" * 199 + "…"
    assert [entry.why for entry in entries] == ["It is spent.", "a b\\u3164", None, None, cut]
    assert {entry.actor for entry in entries} == {"kim"}


def test_change_that_was_edited_is_staged_and_its_earlier_draft_is_named(team) -> None:
    team.stage(budget("120"), pause())
    report = team.stage(pause(), budget("130", 'why = "More"'))
    assert (verdicts(report), report.exit_code) == (["already staged", "staged"], 0)
    [note] = report.notes
    assert note.startswith(
        f"draft {team.fake.drafts[0].draft_id} was staged by a change that was edited"
    )
    assert note in str(report)
    assert f"`{note}`" in report.markdown()


@each_case(("found", "notes"), [("draft_1", ["draft draft_1 was staged"]), (None, [])])
def test_unknown_draft_of_an_edited_change_is_named_until_there_is_none(found, notes) -> None:
    with TemporaryDirectory() as folder:
        team = Team(Path(folder))
        team.fake.faults.add(Fault.dropped(taken=True))
        team.stage(budget("120"))
        [note] = team.stage(budget("130")).notes
        assert note.startswith("perhaps a draft was staged by a change that was edited")
        team.settle(0, found)
        assert [note[:24] for note in team.stage(budget("130")).notes] == notes


@pytest.mark.parametrize("expect", ['"ENABLED"', '"PAUSED"', "false"])
def test_draft_that_found_another_value_than_expected_is_stale(team, expect) -> None:
    is_expected = expect == '"ENABLED"'
    change = pause(more=f"expect = {expect}")
    report, again = team.stage(change), team.stage(change)
    assert verdicts(report) == ["staged" if is_expected else "stale"]
    assert verdicts(again) == ["already staged" if is_expected else "stale"]
    assert again.exit_code == report.exit_code == (0 if is_expected else 4)
    if not is_expected:
        assert again.changes[0].reason.startswith("it was ENABLED, and the plan expects ")
    # The author may find that the draft is right: nothing is staged again.
    assert verdicts(team.stage(pause(more='expect = "ENABLED"'))) == ["already staged"]
    # Numbers are compared as JSON.
    team.fake.change_live("account_a91f", "campaign_4c10", daily_budget=1)
    assert verdicts(team.stage(budget("120", "expect = 1.0"))) == ["staged"]
    assert verdicts(team.stage(budget("130", "expect = true"))) == ["stale"]


def test_draft_over_a_limit_stays_so_until_it_is_settled(team) -> None:
    strict = {"policy": Policy(change_at_most=10, **MONEY)}
    with pytest.warns(UserWarning, match="over your limit"):
        report = team.stage(budget("120", "expect = 5"), **strict)
    assert (verdicts(report), report.exit_code) == (["over limit"], 4)
    assert report.changes[0].reason == "daily_budget: 100 → 120, and change_at_most allows 10 %"
    assert team.stage(budget("120", "expect = 5"), **strict).changes == report.changes
    assert len(team.stage(budget("105"), **strict).notes) == 1
    team.settle()
    again = team.stage(budget("120"), **strict)
    assert verdicts(again) == ["already staged"]
    assert again.changes[0].reason.endswith(", settled by kim")
    assert team.stage(budget("105"), **strict).notes == ()


def test_refused_and_failed_changes_hold_up_no_other_and_are_tried_again(team) -> None:
    team.fake.faults.add(Fault.status(422))
    changes = pause(), budget(), pause(SECOND)
    report = team.stage(*changes, policy=Policy(operations=["beta.*"], drafts_per_day=1))
    assert verdicts(report) == ["not staged", "refused", "staged"]
    assert report.changes[1].reason.startswith("alpha.update_campaign_budget is not one of")
    assert (report.exit_code, len(team.fake.requests)) == (3, 2)
    report = team.stage(*changes, policy=Policy(drafts_per_day=1))
    assert verdicts(report) == ["refused", "refused", "already staged"]
    assert verdicts(team.stage(*changes)) == ["staged", "staged", "already staged"]


def test_change_equal_to_that_of_another_plan_is_refused_for_a_time(team) -> None:
    policy = Policy(no_repeat_within="1d")
    assert verdicts(team.stage(pause(), policy=policy)) == ["staged"]
    assert verdicts(team.stage(pause(), policy=policy)) == ["already staged"]
    report = team.stage(pause(), pause(SECOND), policy=policy, plan_id="w48")
    assert verdicts(report) == ["refused", "staged"]
    draft_id = team.ledger.entries()[0].draft_id
    assert f"86400 seconds apart: draft {draft_id} of " in report.changes[0].reason


def test_change_whose_outcome_is_unknown_is_never_repeated(team) -> None:
    team.fake.faults.add(Fault.dropped(taken=True))
    changes = pause(), pause(SECOND)
    report = team.stage(*changes)
    assert (verdicts(report), report.exit_code) == (["unknown", "not tried"], 5)
    assert verdicts(team.stage(*changes)) == ["unknown", "staged"]
    assert "ConnectionLost" in team.stage(*changes).changes[0].reason
    assert len(team.fake.requests) == 2
    team.settle(0, None)
    assert verdicts(team.stage(*changes)) == ["staged", "already staged"]


def test_draft_id_of_an_unreadable_response_is_reported(team) -> None:
    transport = Service(a_draft(diff=None)).transport
    with AdClient(BASE_URL, transport=transport, ledger=team.ledger) as client:
        for report in (plan_of(team.folder, pause()).stage(client) for _ in range(2)):
            assert verdicts(report) == ["unknown"]
            assert report.changes[0].draft_id == "draft_7c2e"


@pytest.mark.parametrize(
    ("fault", "verdict", "code"),
    [
        (Fault.dropped(taken=True), "unknown", 5),
        (Fault.status(503), "unknown", 5),
        (Fault.status(401), "not staged", 1),
        (Fault.refused(), "not staged", 1),
        (Fault.no_response(), "unknown", 5),
    ],
    ids=str,
)
def test_plan_stops_where_the_next_change_would_fail_as_well(team, fault, verdict, code) -> None:
    changes = pause(), pause(SECOND), budget(), pause(THIRD)
    team.fake.faults.add(fault, call=2)
    report = team.stage(*changes, max_retries=0)
    assert verdicts(report) == ["staged", verdict, "not tried", "not tried"]
    assert report.exit_code == code
    assert report.changes[2].reason == report.changes[3].reason == "plan w47 stopped at change 2"
    again = verdicts(team.stage(*changes))
    assert again[1:] == ["unknown" if verdict == "unknown" else "staged", "staged", "staged"]


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
        client = AdClient(BASE_URL, transport=Service().transport, **options)
        report = plan_of(team.folder, *changes).stage(client)
        assert verdicts(report) == ["not staged", "not tried"]
        assert report.changes[0].reason == reason
    assert verdicts(team.stage(*changes)) == ["staged", "staged"]


class Unreadable(SQLiteLedger):
    """A ledger that breaks once the plan is staged."""

    def entries(self, **_):
        raise LedgerError("the disk is broken")


@pytest.mark.parametrize(
    ("moment", "ledger_class", "verdict"),
    [
        ("before it is reserved", SQLiteLedger, "not tried"),
        ("before it is reserved", MemoryLedger, "unknown"),
        ("before it is reserved", Unreadable, "unknown"),
        ("after it was reserved", SQLiteLedger, "not tried"),
        ("while it is sent", SQLiteLedger, "unknown"),
    ],
)
def test_interrupted_plan_reports_what_was_staged(team, moment, ledger_class, verdict) -> None:
    class Interrupting(ledger_class):
        def reserve(self, entry, check):
            if sent and moment == "before it is reserved":
                raise KeyboardInterrupt
            reserved = super().reserve(entry, check)
            if sent and moment == "after it was reserved":
                raise KeyboardInterrupt
            return reserved

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if len(sent) == 2:
            raise KeyboardInterrupt
        return a_draft()

    team.stage(pause(THIRD))
    sent = []
    path = [] if ledger_class is MemoryLedger else [team.folder / "drafts.db"]
    plan = plan_of(team.folder, pause(), pause(SECOND), budget(), pause(THIRD))
    client = AdClient(BASE_URL, transport=httpx.MockTransport(respond), ledger=Interrupting(*path))
    with pytest.raises(Interrupted) as caught:
        plan.stage(client)
    report, is_readable = caught.value.report, ledger_class is SQLiteLedger
    last = "already staged" if is_readable else "not tried"
    assert verdicts(report) == ["staged", verdict, "not tried", last]
    assert report.changes[2].reason == "the plan was interrupted"
    if ledger_class is Unreadable:
        assert (report.ledger_problem, report.exit_code) == ("the disk is broken", 5)


def test_interrupt_of_the_last_check_does_not_lose_the_report(team) -> None:
    class InterruptedLedger(SQLiteLedger):
        def verify(self, **_) -> str:
            checks.append(self)
            if len(checks) == 1:
                raise KeyboardInterrupt
            return super().verify()

    checks = []
    with pytest.raises(Interrupted) as caught:
        team.stage(pause(), ledger=InterruptedLedger(team.folder / "drafts.db"))
    assert (verdicts(caught.value.report), len(checks)) == (["staged"], 2)


def test_damaged_ledger_stages_nothing(team) -> None:
    (team.folder / "drafts.db").write_text("not a ledger")
    report = team.stage(pause())
    assert (verdicts(report), team.fake.requests) == (["not tried"], ())
    assert (report.exit_code, report.ledger_head) == (5, None)
    problem = report.changes[0].reason
    assert problem == report.ledger_problem
    assert problem in report.markdown()


@each_case(
    ("client", "problem"),
    [
        (FakeAdService().client(policy=Policy()), "a client with a ledger"),
        (AsyncAdClient(BASE_URL), "AdClient, not AsyncAdClient"),
        (None, "AdClient, not NoneType"),
    ],
)
def test_client_that_cannot_stage_is_refused(tmp_path, client, problem) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        plan_of(tmp_path, pause()).stage(client)


def test_closed_client_is_refused(tmp_path) -> None:
    client = FakeAdService().client(ledger=MemoryLedger())
    client.close()
    with pytest.raises(ConfigurationError, match="this client is closed"):
        plan_of(tmp_path, pause()).stage(client)


def test_client_is_as_before_once_the_plan_is_staged(team) -> None:
    ledger = MemoryLedger()  # which has no more than the protocol
    with team.fake.client(ledger=ledger) as client:
        report = plan_of(team.folder, pause()).stage(client)
        client.beta.pause_campaign(account_id="account_b204", campaign_id=FIRST)
    assert (verdicts(report), report.ledger_head) == (["staged"], None)
    assert [row.change is None for row in ledger.rows] == [False, False, True, True]


def test_runs_at_the_same_time_stage_nothing_twice(team) -> None:
    plan, ledger = plan_of(team.folder, pause(), pause(SECOND), pause(THIRD)), team.ledger
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: plan.stage(team.fake.client(ledger=ledger)), range(4)))
    found = [verdict for report in reports for verdict in verdicts(report)]
    assert len(team.fake.requests) == found.count("staged") == 3
    # A change that another run is staging is unknown, and what follows it is not tried.
    assert set(found) <= {"staged", "already staged", "unknown", "not tried"}


class Killed(BaseException):
    """The process ends here: what follows in it does not happen."""


class DeadlyLedger(SQLiteLedger):
    is_killing = False

    def end(self, entry) -> None:
        if self.is_killing:
            raise Killed
        super().end(entry)


def stage_among(events: list[str], team: Team, ledger: DeadlyLedger, campaigns: list[str]):
    """Stage a plan, over a network and with a ledger that can both end the process."""
    ledger.is_killing = False

    def send(request: httpx.Request) -> httpx.Response:
        event = events.pop() if events else "ok"
        if event == "refused":
            raise httpx.ConnectError("refused")
        if event == "422":
            return httpx.Response(422)
        if event == "interrupted before":
            raise KeyboardInterrupt
        response = team.fake.transport.handle_request(request)
        response.read()
        if event == "interrupted after":
            raise KeyboardInterrupt
        if event == "reset":
            raise httpx.ReadError("reset")
        ledger.is_killing = event == "killed"
        return httpx.Response(503) if event == "503" else response

    transport = httpx.MockTransport(send)
    plan = plan_of(team.folder, *map(pause, campaigns))
    with AdClient(BASE_URL, transport=transport, ledger=ledger, retry=AT_ONCE) as client:
        return plan.stage(client)


EVENTS = [
    *("ok", "refused", "422", "503", "reset"),
    *("interrupted before", "interrupted after", "killed"),
]
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
        team.fake.base_url = BASE_URL
        for campaigns, events in runs:
            with suppress(KeyboardInterrupt, Killed):
                stage_among(events[::-1], team, ledger, campaigns)
        ledger.is_killing = False
        report = stage_among([], team, ledger, [FIRST, SECOND, THIRD])
    assert set(verdicts(report)) <= {"staged", "already staged", "unknown"}
    drafts = {draft.target: draft.draft_id for draft in team.fake.drafts}
    assert len(drafts) == len(team.fake.drafts), "a change was staged twice"
    for change in report.changes:
        if change.verdict != "unknown":
            assert drafts[change.target_id] == change.draft_id
