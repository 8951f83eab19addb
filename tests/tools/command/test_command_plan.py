"""`adclient plan`: reports, interrupts, and exit codes."""

import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from plans import SECOND, THIRD, budget, pause, write_plan
from raw_server import Connection, RawServer, answer_to
from run_command import Ran, run_command

from adclient import LedgerError
from adclient.ledger import Entry, SQLiteLedger
from adclient.plan import Plan, PlanReport

CHECK = ["plan", "check", "changes.toml", "--policy", "policy.toml"]
STAGE = ["plan", "stage", "--policy", "policy.toml"]
NEW = ["--ledger", "drafts.db", "--new-ledger", "--json"]


@pytest.fixture(autouse=True)
def _in_folder(files) -> None:
    write_plan(files / "changes.toml", pause())


def plan_files(*plans: str) -> list[str]:
    for name in plans:
        write_plan(Path(f"{name}.toml"), pause(), plan_id=name)
    return [f"{name}.toml" for name in plans]


def verdicts(ran: Ran) -> list[list[str]]:
    return [[change["verdict"] for change in report["changes"]] for report in ran.rows]


def test_plan_is_checked_without_a_request_and_staged_once(fake, files) -> None:
    write_plan(files / "changes.toml", pause(), budget("999"))
    ran = run_command(*CHECK)
    assert ran.code == 3
    assert "1 refused, 1 allowed" in ran.out
    assert "daily_budget is 999" in ran.out
    write_plan(files / "changes.toml", pause(), pause(SECOND))
    assert run_command(*CHECK).code == run_command(*CHECK[:3]).code == 0
    assert not fake.requests
    assert not Path("drafts.db").exists()
    ran = run_command(*STAGE, "changes.toml", *NEW)
    assert (ran.code, verdicts(ran)) == (0, [["staged", "staged"]])
    ids = [change["draft_id"] for change in ran.rows[0]["changes"]]
    assert ids == [draft.draft_id for draft in fake.drafts]
    ran = run_command(*STAGE, "changes.toml", "--ledger", "drafts.db", "--markdown")
    assert ran.code == 0
    assert ran.out.startswith("### `Plan w47: 2 already staged`\n")
    assert ran.out.count("**already staged**") == 2
    assert "in two steps\n" in ran.out
    assert len(fake.drafts) == 2


def test_several_plans_are_one_report_and_one_exit_code(fake) -> None:
    plans = [*plan_files("w1"), "w2.toml"]
    write_plan(Path("w2.toml"), budget("999"), pause(SECOND), plan_id="w2")
    ran = run_command("plan", "check", *plans, "--policy", "policy.toml", "--markdown")
    assert ran.code == 3
    assert ran.out.startswith("### `2 plans: 1 refused, 2 allowed`\n")
    ran = run_command(*STAGE, *plans, *NEW)
    assert ran.code == 3
    assert [(each["plan_id"], each["exit_code"]) for each in ran.rows] == [("w1", 0), ("w2", 3)]
    assert run_command(*STAGE, *plans, *NEW[:2]).code == 3
    assert len(fake.drafts) == 2
    # A change that another run is sending is better than a refused one.
    [change], now = Plan.read(*plan_files("w3")).changes, datetime.now(UTC)
    given = {"operation": "x", "account_id": "a", "change": change.key}
    entry = Entry(entry_id="x", at=now, deadline=now + timedelta(minutes=1), **given)
    SQLiteLedger("drafts.db").reserve(entry, lambda usage: None)
    for words, code in [(["w3.toml"], 7), (["w3.toml", "w2.toml"], 3)]:
        ran = run_command(*STAGE, *words, *NEW[:2], "--json")
        assert (ran.code, ran.rows[0]["exit_code"], verdicts(ran)[0]) == (code, 7, ["under way"])
    # Nothing is done if any file is wrong; each problem is a line.
    write_plan(Path("copy.toml"), pause(SECOND), plan_id="w1")
    write_plan(Path("bad.toml"), pause(SECOND), "x = 1\n[[change]]\ncall = 'beta'\n")
    ran = run_command(*STAGE, *plans, "copy.toml", "bad.toml", "missing.toml", *NEW)
    assert (ran.code, ran.out, len(fake.drafts)) == (2, "", 2)
    problems = [
        ("copy.toml", ": another file has the id w1 as well"),
        ("bad.toml", ", line 9, change 1: x is not a key"),
        ("bad.toml", ", line 10, change 2: expected call"),
        ("missing.toml", ""),
    ]
    for line, (name, problem) in zip(ran.err.splitlines(), problems, strict=True):
        assert line.startswith(f"adclient: {name}{problem}")


def test_damage_of_the_ledger_stops_all_plans(fake, monkeypatch) -> None:
    def verified(ledger: SQLiteLedger) -> str:
        if fake.drafts:
            raise LedgerError("row 7 is damaged")
        return verify(ledger)

    verify, words = SQLiteLedger.verify, [*STAGE, *plan_files("w1", "w2"), *NEW]
    monkeypatch.setattr(SQLiteLedger, "verify", verified)
    for code, verdict in ((0, "staged"), (5, "not tried")):
        ran = run_command(*words)
        assert (ran.code, verdicts(ran)) == (code, [[verdict], [verdict]])
    assert ran.rows[1]["changes"][0]["reason"] == "row 7 is damaged"


def test_ledger_with_a_misspelt_name_is_refused(fake, files) -> None:
    words = [*STAGE, "changes.toml"]
    (files / "empty.db").touch()
    for name in ("misspelt.db", "no/such.db", "empty.db"):
        ran = run_command(*words, "--ledger", name)
        assert ran.code == 2
        assert ran.err == f"adclient: --ledger: {name} does not exist; --new-ledger creates it\n"
    ran = run_command(*words, "--ledger", ":memory:")
    assert ran.code == 2
    assert "a ledger needs the path of a file that outlives the process" in ran.err
    assert (files / "empty.db").stat().st_size == 0
    assert not (files / "misspelt.db").exists()
    assert run_command(*words, *NEW, "--url", "ftp://ads.example.com").code == 2
    assert not (files / "drafts.db").exists()
    assert not fake.requests


def test_interrupt_before_the_first_plan_has_no_report(fake, monkeypatch) -> None:
    def interrupted(_: SQLiteLedger) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SQLiteLedger, "create", interrupted)
    ran = run_command(*STAGE, "changes.toml", *NEW[:3], "--markdown")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.startswith("adclient: plan w47 was not finished; stage it again\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_plan_is_named_and_the_next_run_continues(number, files, monkeypatch) -> None:
    plans = ["early.toml", "changes.toml", "later.toml"]
    for name in plans:
        write_plan(Path(name), pause(), pause(SECOND), pause(THIRD), plan_id=name[:-5])

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if len(server.requests) == 5:
                os.kill(os.getpid(), number)
                connection.stay_silent()
                return
            connection.send(answer_to(request))

    to_dict = PlanReport.to_dict

    def with_a_second_signal(report: PlanReport):
        if len(server.requests) == 5:
            os.kill(os.getpid(), signal.SIGTERM)  # as CI does while the report is printed
        return to_dict(report)

    monkeypatch.setattr(PlanReport, "to_dict", with_a_second_signal)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with RawServer(serve) as server:
            ran = run_command(*STAGE, *plans, *NEW, "--url", server.url)
            again = run_command(*STAGE, *plans, *NEW, "--url", server.url)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert ran.code == 130
    for name in ("changes", "later"):
        assert f"adclient: plan {name} was not finished; stage it again\n" in ran.err
    assert (ran.rows[0]["plan_id"], verdicts(ran)) == ("early", [["staged"] * 3])
    assert verdicts(again)[1] == ["already staged", "unknown", "staged"]
