"""Plans that are staged: each change once, whatever happens."""

import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import httpx
import pytest
from clients import AT_ONCE, BASE_URL, Service, a_draft
from hypothesis import example, given
from hypothesis import strategies as st
from memory_ledger import MemoryLedger
from plans import FIRST, SECOND, THIRD, AuditedLedger, budget, pause, plan_of

from adclient import AdClient, AsyncAdClient, ConfigurationError, Entry, Policy
from adclient.plan import Interrupted
from adclient.policy import Usage
from adclient.testing import FakeAdService, Fault

MONEY = {"fields": ["status"], "money": {"daily_budget": 500}}


def verdicts(report) -> list[str]:
    return [change.verdict for change in report.changes]


def settled(ledger, number: int, **values) -> None:
    ledger.rows.append(attrs.evolve(ledger.entries()[number], settled_by="kim", **values))


def test_each_change_is_staged_once_and_a_second_run_sends_no_request(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    plan = plan_of(tmp_path, pause(), budget(), pause(SECOND))
    first = plan.stage(fake.client(ledger=ledger))
    assert verdicts(first) == ["staged"] * 3
    assert [change.draft_id for change in first.changes] == [d.draft_id for d in fake.drafts]
    assert (first.exit_code, first.ledger_head) == (0, "head6")
    again = plan.stage(fake.client(ledger=ledger))
    assert verdicts(again) == ["already staged"] * 3
    assert [c.draft_id for c in again.changes] == [c.draft_id for c in first.changes]
    assert [c.diff for c in again.changes] == [c.diff for c in first.changes]
    assert (again.exit_code, again.ledger_head) == (0, "head6")
    assert len(fake.requests) == 3


def test_plan_with_another_id_stages_its_changes_again(tmp_path) -> None:
    fake = FakeAdService()
    client = fake.client(ledger=AuditedLedger())
    plan_of(tmp_path, pause()).stage(client)
    report = plan_of(tmp_path, pause(), plan_id="w48").stage(client)
    assert (verdicts(report), report.notes, len(fake.drafts)) == (["staged"], (), 2)


def test_change_that_was_edited_is_staged_and_its_earlier_draft_is_named(tmp_path) -> None:
    fake = FakeAdService()
    client = fake.client(ledger=AuditedLedger())
    plan_of(tmp_path, budget("120"), pause()).stage(client)
    report = plan_of(tmp_path, pause(), budget("130", 'why = "More"')).stage(client)
    assert verdicts(report) == ["already staged", "staged"]
    [note] = report.notes
    assert note.startswith(
        f"draft {fake.drafts[0].draft_id} was staged by a change that was edited"
    )
    assert note in str(report)
    assert f"`{note}`" in report.markdown()
    assert (report.exit_code, len(fake.drafts)) == (0, 3)


def test_unknown_draft_of_an_edited_change_is_named_unless_there_is_none(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    client = fake.client(ledger=ledger)
    fake.faults.add(Fault.dropped(taken=True))
    plan_of(tmp_path, budget("120")).stage(client)
    edited = plan_of(tmp_path, budget("130"))
    [note] = edited.stage(client).notes
    assert note.startswith("perhaps a draft was staged by a change that was edited")
    settled(ledger, 0, state="staged", draft_id="draft_1")
    [note] = edited.stage(client).notes
    assert note.startswith("draft draft_1 was staged by a change that was edited")
    settled(ledger, 0, state="not staged", draft_id=None)
    assert edited.stage(client).notes == ()


def test_draft_over_a_limit_of_an_edited_change_is_named_until_it_is_settled(tmp_path) -> None:
    ledger = AuditedLedger()
    client = FakeAdService().client(ledger=ledger, policy=Policy(change_at_most=10, **MONEY))
    with pytest.warns(UserWarning, match="over your limit"):
        plan_of(tmp_path, budget("120")).stage(client)
    edited = plan_of(tmp_path, budget("105"))
    assert len(edited.stage(client).notes) == 1
    settled(ledger, 0)
    assert edited.stage(client).notes == ()


@pytest.mark.parametrize("expect", ['"ENABLED"', '"PAUSED"', "5", "false", '["ENABLED"]'])
def test_draft_that_found_another_value_than_expected_is_stale(tmp_path, expect) -> None:
    fake = FakeAdService()
    client = fake.client(ledger=AuditedLedger())
    is_expected = expect == '"ENABLED"'
    plan = plan_of(tmp_path, pause(more=f"expect = {expect}"))
    report = plan.stage(client)
    assert verdicts(report) == ["staged" if is_expected else "stale"]
    again = plan.stage(client)
    assert verdicts(again) == ["already staged" if is_expected else "stale"]
    assert again.exit_code == report.exit_code == (0 if is_expected else 4)
    if not is_expected:
        assert again.changes[0].reason.startswith("it was ENABLED, and the plan expects ")
    # The author may find that the draft is right: nothing is staged again.
    mended = plan_of(tmp_path, pause(more='expect = "ENABLED"')).stage(client)
    assert (verdicts(mended), len(fake.drafts)) == (["already staged"], 1)


@pytest.mark.parametrize(("expect", "verdict"), [("1.0", "staged"), ("true", "stale")])
def test_expected_value_is_compared_as_json(tmp_path, expect, verdict) -> None:
    fake = FakeAdService()
    fake.change_live("account_a91f", "campaign_4c10", daily_budget=1)
    report = plan_of(tmp_path, budget("120", f"expect = {expect}")).stage(
        fake.client(ledger=AuditedLedger())
    )
    assert verdicts(report) == [verdict]


def test_draft_over_a_limit_stays_so_until_it_is_settled(tmp_path, caplog) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    policy = Policy(change_at_most=10, **MONEY)
    client = fake.client(ledger=ledger, policy=policy)
    plan = plan_of(tmp_path, budget("120", "expect = 5"))
    with pytest.warns(UserWarning, match="over your limit"):
        report = plan.stage(client)
    assert (verdicts(report), report.exit_code) == (["over limit"], 4)
    assert report.changes[0].reason == "daily_budget: 100 → 120, and change_at_most allows 10 %"
    assert report.changes[0].missing == "reject in dashboard"
    ledger.is_broken_from = "end"  # nothing ends in a run that sends nothing
    assert plan.stage(client).changes == report.changes
    assert "could not record" not in caplog.text
    settled(ledger, 0)
    again = plan_of(tmp_path, budget("120")).stage(client)
    assert verdicts(again) == ["already staged"]
    assert again.changes[0].reason.endswith(", settled by kim")


def test_draft_that_cannot_be_judged_is_reported_as_over_the_limit(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("adclient._limits.rules.excess_of", lambda *_: 1 / 0)
    client = FakeAdService().client(ledger=AuditedLedger())
    with pytest.warns(UserWarning, match="could not be checked"):
        report = plan_of(tmp_path, pause()).stage(client)
    assert (verdicts(report), report.exit_code) == (["over limit"], 4)


def test_refused_and_failed_changes_hold_up_no_other_and_are_tried_again(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    fake.faults.add(Fault.status(422))
    strict = fake.client(ledger=ledger, policy=Policy(operations=["beta.*"]))
    plan = plan_of(tmp_path, pause(), budget(), pause(SECOND))
    report = plan.stage(strict)
    assert verdicts(report) == ["not staged", "refused", "staged"]
    assert report.changes[1].reason.startswith("alpha.update_campaign_budget is not one of")
    assert (report.exit_code, len(fake.requests)) == (3, 2)
    again = plan.stage(fake.client(ledger=ledger))
    assert verdicts(again) == ["staged", "staged", "already staged"]


def test_policy_that_needs_the_ledger_refuses_the_changes_beyond_its_limit(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    ledger.usage = Usage(drafts_today=1)
    plan = plan_of(tmp_path, pause())
    report = plan.stage(fake.client(ledger=ledger, policy=Policy(drafts_per_day=1)))
    assert (verdicts(report), fake.requests) == (["refused"], ())


def test_change_whose_outcome_is_unknown_is_never_repeated(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    client = fake.client(ledger=ledger)
    fake.faults.add(Fault.dropped(taken=True))
    plan = plan_of(tmp_path, pause(), pause(SECOND))
    report = plan.stage(client)
    assert (verdicts(report), report.exit_code) == (["unknown", "not tried"], 5)
    assert "ConnectionLost" in ledger.rows[1].reason
    assert verdicts(plan.stage(client)) == ["unknown", "staged"]
    assert verdicts(plan.stage(client)) == ["unknown", "already staged"]
    assert len(fake.requests) == 2
    settled(ledger, 0, state="staged", draft_id="draft_1")
    assert plan.stage(client).changes[0].draft_id == "draft_1"
    settled(ledger, 0, state="not staged", draft_id=None)
    assert verdicts(plan.stage(client)) == ["staged", "already staged"]


def test_draft_id_of_an_unreadable_response_is_reported(tmp_path) -> None:
    plan = plan_of(tmp_path, pause())
    transport = Service(a_draft(diff=None)).transport
    with AdClient(BASE_URL, transport=transport, ledger=AuditedLedger()) as client:
        for report in (plan.stage(client), plan.stage(client)):
            assert verdicts(report) == ["unknown"]
            assert report.changes[0].draft_id == "draft_7c2e"


def test_nothing_is_sent_if_the_ledger_cannot_record_it(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    ledger.is_broken_from = "reserve"
    report = plan_of(tmp_path, pause()).stage(fake.client(ledger=ledger))
    assert (verdicts(report), fake.requests) == (["not staged"], ())
    assert report.changes[0].reason == "the disk is full"


@pytest.mark.parametrize(
    ("fault", "verdict", "code"),
    [
        (Fault.dropped(taken=True), "unknown", 5),
        (Fault.in_body("wrong_shape"), "unknown", 5),
        (Fault.status(503), "unknown", 5),
        (Fault.status(401), "not staged", 1),
        (Fault.status(407), "not staged", 1),
        (Fault.refused(), "not staged", 1),
        (Fault.no_response(), "unknown", 5),
    ],
    ids=str,
)
def test_plan_stops_where_the_next_change_would_fail_as_well(
    tmp_path, fault, verdict, code
) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    client = fake.client(max_retries=0, ledger=ledger)
    plan = plan_of(tmp_path, pause(), pause(SECOND), budget(), pause(THIRD))
    fake.faults.add(fault, call=2)
    report = plan.stage(client)
    assert verdicts(report) == ["staged", verdict, "not tried", "not tried"]
    assert report.exit_code == code
    assert report.changes[2].reason == report.changes[3].reason == "the plan stopped at change 2"
    assert report.changes[2].missing == "stage it again"
    again = verdicts(plan.stage(client))
    assert again[2:] == ["staged", "staged"]
    assert again[1] == ("unknown" if verdict == "unknown" else "staged")


def test_plan_stops_if_the_ledger_cannot_record_a_change(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    ledger.is_broken_from = "reserve"
    report = plan_of(tmp_path, pause(), pause(SECOND)).stage(fake.client(ledger=ledger))
    assert (verdicts(report), fake.requests) == (["not staged", "not tried"], ())


class Unreadable(AuditedLedger):
    def entries(self):
        return 1 / 0


@pytest.mark.parametrize("ledger_class", [AuditedLedger, Unreadable, MemoryLedger])
@pytest.mark.parametrize(
    "moment",
    ["before it is reserved", "after it was reserved", "before it is sent", "after it was taken"],
)
def test_interrupted_plan_reports_what_was_staged(tmp_path, moment, ledger_class) -> None:
    class Interrupting(ledger_class):
        def reserve(self, entry, check):
            is_second = len(self.rows) == 2
            if is_second and moment == "before it is reserved":
                raise KeyboardInterrupt
            reserved = super().reserve(entry, check)
            if is_second and moment == "after it was reserved":
                raise KeyboardInterrupt
            return reserved

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if len(sent) == 2:
            if moment != "before it is sent":
                request.read()
            raise KeyboardInterrupt
        return a_draft()

    sent, ledger = [], Interrupting()
    plan = plan_of(tmp_path, pause(), pause(SECOND), pause(THIRD))
    client = AdClient(BASE_URL, transport=httpx.MockTransport(respond), ledger=ledger)
    with pytest.raises(Interrupted) as caught:
        plan.stage(client)
    is_known = ledger_class is AuditedLedger and "reserved" in moment
    expected = ["staged", "not tried" if is_known else "unknown", "not tried"]
    assert verdicts(caught.value.report) == expected
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.report.changes[2].reason == "the plan was interrupted"
    if ledger_class is Unreadable:
        assert caught.value.report.ledger_problem == "ZeroDivisionError"


def test_changes_that_were_staged_earlier_are_known_after_an_interrupt(tmp_path) -> None:
    ledger = AuditedLedger()
    client = FakeAdService().client(ledger=ledger)
    plan_of(tmp_path, pause(SECOND)).stage(client)

    def verify() -> str:
        del ledger.verify  # a second one works
        raise KeyboardInterrupt

    ledger.verify = verify
    with pytest.raises(Interrupted) as caught:
        plan_of(tmp_path, pause(), pause(SECOND)).stage(client)
    assert verdicts(caught.value.report) == ["not tried", "already staged"]


def test_interrupt_of_the_last_check_does_not_lose_the_report(tmp_path) -> None:
    class InterruptedLedger(AuditedLedger):
        def verify(self) -> str:
            checks.append(len(self.rows))
            if len(checks) == 2:
                raise KeyboardInterrupt
            return super().verify()

    checks, ledger = [], InterruptedLedger()
    with pytest.raises(Interrupted) as caught:
        plan_of(tmp_path, pause()).stage(FakeAdService().client(ledger=ledger))
    assert (verdicts(caught.value.report), len(checks)) == (["staged"], 3)


@pytest.mark.no_cover
def test_plan_may_have_ten_thousand_changes(tmp_path) -> None:
    class Full(AuditedLedger):
        def reserve(self, entry, check):
            return known[entry.change]

        def entries(self):
            return list(known.values())

    why = f'why = "{"it has spent its budget, " * 8}"'
    plan = plan_of(tmp_path, *(pause(f"campaign_{number}", why) for number in range(10_000)))
    common = {"operation": "beta.pause_campaign", "account_id": "a", "state": "staged"}
    known = {
        change.key: Entry(entry_id=change.key, change=change.key, draft_id="draft_1", **common)
        for change in plan.changes
    }
    began = time.process_time()
    report = plan.stage(FakeAdService().client(ledger=Full()))
    assert time.process_time() - began < 20  # a comparison of each with each takes a minute
    assert (len(report.changes), report.exit_code, report.notes) == (10_000, 0, ())
    assert len(report.markdown()) < 65_536


def test_damaged_ledger_stages_nothing(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    ledger.is_damaged = True
    report = plan_of(tmp_path, pause()).stage(fake.client(ledger=ledger))
    assert (verdicts(report), fake.requests) == (["not tried"], ())
    assert report.changes[0].reason == "row 3 was changed"
    assert (report.exit_code, report.ledger_head) == (5, None)
    assert report.to_dict()["ledger_problem"] == "row 3 was changed"
    assert "row 3 was changed" in report.markdown()


def test_ledger_needs_no_more_than_the_protocol(tmp_path) -> None:
    fake, ledger = FakeAdService(), MemoryLedger()
    report = plan_of(tmp_path, pause()).stage(fake.client(ledger=ledger))
    assert (verdicts(report), report.ledger_head) == (["staged"], None)


def test_client_without_a_ledger_is_refused(tmp_path) -> None:
    fake = FakeAdService()
    for client in (fake.client(), fake.client(policy=Policy())):
        with pytest.raises(ConfigurationError, match="a client with a ledger") as refused:
            plan_of(tmp_path, pause()).stage(client)
        assert (refused.value.argument, fake.requests) == ("ledger", ())


@pytest.mark.parametrize(
    "client", [AsyncAdClient(BASE_URL), None], ids=["AsyncAdClient", "NoneType"]
)
def test_plan_is_staged_by_a_sync_client_alone(tmp_path, client) -> None:
    with pytest.raises(ConfigurationError, match=f"AdClient, not {type(client).__name__}"):
        plan_of(tmp_path, pause()).stage(client)


def test_closed_client_is_refused_before_anything_is_recorded(tmp_path) -> None:
    ledger = AuditedLedger()
    client = FakeAdService().client(ledger=ledger)
    client.close()
    with pytest.raises(ConfigurationError, match="this client is closed"):
        plan_of(tmp_path, pause()).stage(client)
    assert ledger.rows == []


def test_client_is_as_before_once_the_plan_is_staged(tmp_path) -> None:
    fake, ledger = FakeAdService(), AuditedLedger()
    with fake.client(ledger=ledger) as client:
        plan_of(tmp_path, pause()).stage(client)
        client.beta.pause_campaign(account_id="account_b204", campaign_id=FIRST)
    assert [entry.change is None for entry in ledger.entries()] == [False, True]


def test_runs_at_the_same_time_stage_nothing_twice(tmp_path) -> None:
    fake, ledger, runs = FakeAdService(), AuditedLedger(), 8
    plan = plan_of(tmp_path, pause(), pause(SECOND), pause(THIRD))
    together, reports = threading.Barrier(runs), []

    def stage() -> None:
        together.wait()
        reports.append(plan.stage(fake.client(ledger=ledger)))

    threads = [threading.Thread(target=stage) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [verdict for report in reports for verdict in verdicts(report)]
    assert len(fake.requests) == found.count("staged") == 3
    assert set(found) <= {"staged", "already staged", "unknown"}
    assert verdicts(plan.stage(fake.client(ledger=ledger))) == ["already staged"] * 3


class Killed(BaseException):
    """The process ends here: what follows in it does not happen."""


class DeadlyService:
    """A fake service behind a network, and a ledger, which both can end the process."""

    def __init__(self) -> None:
        self.fake, self.ledger = FakeAdService(), AuditedLedger()
        self.fake.base_url = BASE_URL
        self.events: list[str] = []

    def send(self, request: httpx.Request) -> httpx.Response:
        event = self.events.pop() if self.events else "ok"
        if event == "refused":
            raise httpx.ConnectError("refused")
        if event == "422":
            return httpx.Response(422)
        if event == "interrupted before":
            raise KeyboardInterrupt
        response = self.fake.transport.handle_request(request)
        response.read()
        if event == "interrupted after":
            raise KeyboardInterrupt
        if event == "reset":
            raise httpx.ReadError("reset")
        if event == "503":
            return httpx.Response(503)
        if event == "killed":
            self.ledger.end = self._die
        return response

    def _die(self, entry) -> None:
        del self.ledger.end
        raise Killed

    def stage(self, folder: Path, campaigns: list[str]):
        transport = httpx.MockTransport(self.send)
        with AdClient(BASE_URL, transport=transport, ledger=self.ledger, retry=AT_ONCE) as client:
            return plan_of(folder, *map(pause, campaigns)).stage(client)


EVENTS = [
    *("ok", "refused", "422", "503", "reset"),
    *("interrupted before", "interrupted after", "killed"),
]
RUN = st.tuples(
    st.lists(st.sampled_from([FIRST, SECOND, THIRD]), min_size=1, unique=True),
    st.lists(st.sampled_from(EVENTS), max_size=6),
)


@given(runs=st.lists(RUN, max_size=5))
@example(runs=[([FIRST], ["killed"]), ([SECOND, FIRST], ["interrupted after"])])
def test_no_change_is_staged_twice_whatever_happens(runs) -> None:
    service = DeadlyService()
    with TemporaryDirectory() as folder:
        for campaigns, events in runs:
            service.events = events[::-1]
            try:
                service.stage(Path(folder), campaigns)
            except (KeyboardInterrupt, Killed):
                continue
        service.events = []
        report = service.stage(Path(folder), [FIRST, SECOND, THIRD])
    assert {change.verdict for change in report.changes} <= {"staged", "already staged", "unknown"}
    drafts = {draft.target: draft.draft_id for draft in service.fake.drafts}
    assert len(drafts) == len(service.fake.drafts), "a change was staged twice"
    for change in report.changes:
        if change.verdict != "unknown":
            assert drafts[change.target_id] == change.draft_id


def test_error_of_a_token_function_does_not_stop_the_other_changes(tmp_path) -> None:
    tokens = iter([RuntimeError("client_secret=hunter2"), "x"])

    def token() -> str:
        if isinstance(found := next(tokens), Exception):
            raise found
        return found

    service, ledger = Service(a_draft(), a_draft()), AuditedLedger()
    plan = plan_of(tmp_path, pause(), pause(SECOND))
    with AdClient(BASE_URL, transport=service.transport, ledger=ledger, token=token) as client:
        report = plan.stage(client)
    assert verdicts(report) == ["not staged", "staged"]
    assert report.changes[0].reason == "RuntimeError"
    with AdClient(BASE_URL, transport=service.transport, ledger=ledger) as client:
        assert verdicts(plan.stage(client)) == ["staged", "already staged"]


def test_report_survives_any_error_of_a_ledger_of_others(tmp_path) -> None:
    class Closed(AuditedLedger):
        def entries(self):
            raise RuntimeError("the database is gone")

    report = plan_of(tmp_path, pause()).stage(FakeAdService().client(ledger=Closed()))
    assert verdicts(report) == ["staged"]
    assert report.ledger_problem == "RuntimeError"
