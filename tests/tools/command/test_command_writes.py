"""`adclient plan`, `adclient ledger` and `adclient mcp`: limits, records, and exit codes."""

import csv
import errno
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from cases import each_case
from raw_server import Connection, RawServer, answer_to

from adclient import Entry, LedgerError, SQLiteLedger
from adclient._command import main
from adclient.plan.report import VERDICTS
from adclient.testing import FakeAdService, Fault

PAUSE = 'call = "beta.pause_campaign"\naccount_id = "account_b204"\ncampaign_id = "{}"\n'
POLICY = 'accounts = ["account_a91f", "account_b204"]\nmoney = { daily_budget = 150 }\n'


@pytest.fixture
def fake() -> Iterator[FakeAdService]:
    with FakeAdService().as_environment() as service:
        yield service


def test_mcp_without_its_extra_names_it(fake, monkeypatch, capsys) -> None:
    monkeypatch.delitem(sys.modules, "adclient.mcp", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    assert main(["mcp", "--account", "account_b204"]) == 1
    advice = "this needs mcp_types: pip install 'adclient[mcp]', or '.[mcp]' in a checkout"
    assert capsys.readouterr().err == f"adclient: {advice}\n"


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def planned(folder: Path, *changes: str) -> None:
    texts = [change if "call" in change else PAUSE.format(change) for change in changes]
    (folder / "changes.toml").write_text('id = "w47"\n' + "[[change]]\n".join(["", *texts]))


CHECK = ["plan", "check", "changes.toml", "--policy", "policy.toml"]
STAGE_TO = ["plan", "stage", "changes.toml", "--policy", "policy.toml", "--ledger"]
STAGE = [*STAGE_TO, "drafts.db", "--new-ledger"]
WRITING = ["--policy", "policy.toml", "-a", "account_a91f", "--writes", "--ledger"]
SHOW = ["ledger", "show", "--ledger", "drafts.db"]
TOO_MUCH = (
    'call = "alpha.update_campaign_budget"\naccount_id = "account_a91f"\n'
    'campaign_id = "campaign_4c10"\ndaily_budget = 999\n'
)


def test_plan_is_checked_without_a_request_and_staged_once(fake, files, capsys) -> None:
    planned(files, "campaign_57a7", TOO_MUCH)
    assert main(CHECK) == 3
    told = capsys.readouterr().out
    assert "1 refused, 1 allowed" in told
    assert "daily_budget is 999" in told
    planned(files, "campaign_57a7", "campaign_cb1a")
    assert main(CHECK) == main(["plan", "check", "changes.toml"]) == 0
    capsys.readouterr()
    assert not fake.requests
    assert not (files / "drafts.db").exists()
    assert main([*STAGE, "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert [change["verdict"] for change in changes] == ["staged", "staged"]
    assert [change["draft_id"] for change in changes] == [draft.draft_id for draft in fake.drafts]
    assert main([*STAGE_TO, "drafts.db", "--markdown"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("### Plan `w47`\n")
    assert told.count("**already staged**") == 2
    assert told.endswith("in two steps\n")
    assert len(fake.drafts) == 2


def test_several_plans_are_one_report_and_one_exit_code(fake, files, capsys) -> None:
    def write(plan_id: str, *changes: str, name: str = "") -> str:
        planned(files, *changes)
        path = files / f"{name or plan_id}.toml"
        text = (files / "changes.toml").read_text().replace("w47", plan_id)
        path.write_text(text)
        return path.name

    plans = [write("w1", "campaign_57a7"), write("w2", TOO_MUCH, "campaign_cb1a")]
    assert main(["plan", "check", *plans, "--policy", "policy.toml", "--markdown"]) == 3
    told = capsys.readouterr().out
    assert told.startswith("### 2 plans\n\n1 refused, 2 allowed.\n")
    ledger = ["--policy", "policy.toml", "--ledger", "drafts.db"]
    assert main(["plan", "stage", *plans, *ledger, "--new-ledger", "--json"]) == 3
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [report["plan_id"] for report in reports] == ["w1", "w2"]
    assert [report["exit_code"] for report in reports] == [0, 3]
    assert main(["plan", "stage", *plans, *ledger]) == 3
    told = capsys.readouterr().out
    assert told.index("Plan w1: 1 already staged") < told.index("Plan w2: 1 refused, 1 already")
    assert len(fake.drafts) == 2
    # Nothing is done if any file is wrong; each problem is a line.
    plans += [write("w1", "campaign_cb1a", name="copy"), write("w:1"), "missing.toml"]
    assert main(["plan", "stage", *plans, *ledger]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    assert [line.split(":")[1].partition(",")[0].strip() for line in told.splitlines()] == [
        "copy.toml",
        "w:1.toml".partition(":")[0],
        "missing.toml",
    ]
    assert "another file has the id w1 as well" in told


def test_interrupt_before_the_first_plan_has_no_report(fake, files, monkeypatch, capsys) -> None:
    def interrupted(_: SQLiteLedger) -> None:
        raise KeyboardInterrupt

    planned(files, "campaign_57a7")
    monkeypatch.setattr(SQLiteLedger, "create", interrupted)
    assert main([*STAGE, "--markdown"]) == 130
    printed, told = capsys.readouterr()
    assert (printed, told.splitlines()[0]) == ("", "adclient: plan w47 was not tried")


def test_plan_that_stops_stops_those_behind_it(fake, files, monkeypatch, capsys) -> None:
    def changes() -> list[dict[str, object]]:
        lines = capsys.readouterr().out.splitlines()
        return [json.loads(line)["changes"][0] for line in lines]

    names = ["w1", "w2", "w3"]
    for name in names:
        planned(files, "campaign_57a7")
        text = (files / "changes.toml").read_text().replace("w47", name)
        (files / f"{name}.toml").write_text(text)
    words = ["plan", "stage", *(f"{name}.toml" for name in names), *STAGE[3:], "--json"]
    fake.faults.add(Fault.status(401), call=2)
    assert main(words) == 1
    reports = changes()
    assert [each["verdict"] for each in reports] == ["staged", "not staged", "not tried"]
    assert reports[2]["reason"] == "plan w2 stopped at change 1"
    assert len(fake.requests) == 2
    # So does damage that appears after a plan; the ledger is verified once between two plans.
    checks, verify = [], SQLiteLedger.verify

    def verified(ledger: SQLiteLedger) -> str:
        checks.append(ledger)
        if len(checks) == 3:
            raise LedgerError("row 7 is damaged")
        return verify(ledger)

    monkeypatch.setattr(SQLiteLedger, "verify", verified)
    assert main(words) == 5
    reports = changes()
    assert [each["verdict"] for each in reports] == ["already staged", "staged", "not tried"]
    assert reports[2]["reason"] == "row 7 is damaged"
    assert len(checks) == 4


@each_case("words", [STAGE_TO, ["mcp", *WRITING]])
def test_ledger_with_a_misspelt_name_is_refused(words, fake, files, capsys) -> None:
    pytest.importorskip("mcp")
    planned(files, "campaign_57a7")
    (files / "empty.db").touch()
    for name in ("misspelt.db", "no/such.db", "empty.db"):
        assert main([*words, name]) == 2
        assert f"/{name}> does not exist; --new-ledger creates it" in capsys.readouterr().err
    assert main([*words, ":memory:"]) == 2
    assert "a ledger needs the path of a file that outlives the process" in capsys.readouterr().err
    assert sorted(path.suffix for path in files.iterdir()) == [".db", ".toml", ".toml"]
    assert (files / "empty.db").stat().st_size == 0
    assert not fake.requests


@each_case("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_plan_prints_what_was_staged(number, files, capsys) -> None:
    (files / "drafts.db").unlink(missing_ok=True)
    planned(files, "campaign_57a7", "campaign_cb1a", "campaign_1dce")
    for name in ("early", "later"):
        text = (files / "changes.toml").read_text().replace("w47", name)
        (files / f"{name}.toml").write_text(text)

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if len(server.requests) == 5:
                os.kill(os.getpid(), number)
                connection.stay_silent()
                return
            connection.send(answer_to(request))

    verify = SQLiteLedger.verify

    def verify_with_a_second_signal(ledger: SQLiteLedger) -> str:
        if len(server.requests) == 5:
            os.kill(os.getpid(), signal.SIGTERM)  # as CI does while the report is made
        return verify(ledger)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with RawServer(serve) as server, pytest.MonkeyPatch.context() as patch:
            patch.setattr(SQLiteLedger, "verify", verify_with_a_second_signal)
            words = [*STAGE, "--url", server.url, "--json"]
            place = words.index("changes.toml")
            words[place : place + 1] = ["early.toml", "changes.toml", "later.toml"]
            assert main(words) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    printed, told = capsys.readouterr()
    assert told.count("adclient: plan later was not tried\n") == 1
    early, report = map(json.loads, printed.splitlines())
    assert (early["plan_id"], early["exit_code"]) == ("early", 0)
    assert [each["verdict"] for each in report["changes"]] == ["staged", "unknown", "not tried"]
    assert report["changes"][2]["reason"] == "the plan was interrupted"


def test_help_has_the_exit_code_of_each_verdict(capsys, monkeypatch) -> None:
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    told = capsys.readouterr().out.partition("exit codes")[2]
    codes = [int(line.split()[0]) for line in told.splitlines()[1:]]
    assert codes == sorted({0, 1, 2, 130, 141} | {code for code, _ in VERDICTS.values()})


@each_case(
    ("text", "complaints"),
    [
        ("x = 1", [": x is not a key"]),
        (
            f'id = "w"\n[[change]]\n{PAUSE}x = 1\n[[change]]\ncall = "beta"\n',
            [", change 1: x is", ", change 2: expected call"],
        ),
    ],
)
def test_each_problem_of_a_plan_is_a_line(text, complaints, files, capsys) -> None:
    (files / "changes.toml").write_text(text)
    assert main(["plan", "check", "changes.toml"]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    for line, complaint in zip(told.splitlines(), complaints, strict=True):
        assert line.startswith("adclient: changes.toml")
        assert complaint in line


def test_ledger_shows_what_was_staged(fake, files, capsys) -> None:
    planned(files, "campaign_57a7", "campaign_cb1a", TOO_MUCH)
    assert main(STAGE) == 3
    capsys.readouterr()
    assert main(SHOW) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert entries == [entry.to_dict() for entry in SQLiteLedger("drafts.db").entries()]
    assert [entry["state"] for entry in entries] == ["staged", "staged", "refused"]
    assert main([*SHOW, "--account", "account_a91f", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["reason"].startswith("daily_budget is 999")
    for since, count in (("2020-01-01", 3), ("2999-01-01T00:00:00+02:00", 0)):
        assert main([*SHOW, "--since", since]) == 0
        assert len(capsys.readouterr().out.splitlines()) == count
    assert main([*SHOW, "--table"]) == 0
    assert capsys.readouterr().out.startswith("entry_id      state    draft_id ")
    assert main(["ledger", "verify", "--ledger", "drafts.db"]) == 0
    head = capsys.readouterr().out.strip()
    assert head == SQLiteLedger("drafts.db").verify()
    verify = ["ledger", "verify", "--ledger", "drafts.db", "--head"]
    assert main([*verify, head]) == 0
    assert main([*verify, head[::-1]]) == 1
    assert "rows were removed, or it is another ledger" in capsys.readouterr().err
    assert main([*verify, "x"]) == 2


def test_shown_entries_are_filtered_and_have_a_diff_that_can_be_read(fake, files, capsys) -> None:
    planned(files, "campaign_57a7", "campaign_cb1a", TOO_MUCH)
    assert main(STAGE) == 3
    with fake.client(ledger=SQLiteLedger("drafts.db"), actor="kim") as client:
        client.alpha.update_campaign_budget(
            account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        )
    capsys.readouterr()
    for words, states in [
        ([], ["staged", "staged", "refused", "staged"]),
        (["--state", "refused"], ["refused"]),
        (["--plan", "w47"], ["staged", "staged", "refused"]),
        (["--plan", "w47", "--limit", "2"], ["staged", "refused"]),
        (["--actor", "kim"], ["staged"]),
        (["--until", "2020-01-01"], []),
        (["--since", "2020-01-01", "-a", "account_b204"], ["staged", "staged"]),
    ]:
        assert main([*SHOW, *words]) == 0
        entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [entry["state"] for entry in entries] == states
    assert main([*SHOW, "--actor", "kim", "--table"]) == 0
    assert "  daily_budget: 100 → 120  " in capsys.readouterr().out.splitlines()[1]
    assert main([*SHOW, "--actor", "kim", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["diff"], row["actor"]) == ("daily_budget: 100 → 120", "kim")
    assert main([*SHOW, "--actor", "kim", "--json"]) == 0
    diff = json.loads(capsys.readouterr().out)["diff"]
    assert diff == {"field": "daily_budget", "before": 100, "after": 120}


@each_case(
    ("variables", "actor"),
    [
        ({}, None),
        ({"GITLAB_USER_LOGIN": "jo"}, "jo"),
        ({"GITHUB_ACTOR": "octo[bot]", "GITLAB_USER_LOGIN": "jo"}, "octo[bot]"),
        ({"ADCLIENT_ACTOR": "kim", "GITHUB_ACTOR": "octo[bot]"}, "kim"),
    ],
)
def test_staged_plan_names_the_user_of_ci(variables, actor, fake, files, capsys) -> None:
    (files / "drafts.db").unlink(missing_ok=True)
    planned(files, "campaign_57a7")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GITHUB_ACTOR", "GITLAB_USER_LOGIN"):
            patch.delenv(name, raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        assert main(STAGE) == 0
    (entry,) = SQLiteLedger("drafts.db").entries()
    assert entry.actor == actor


def test_outcomes_of_the_chosen_drafts_are_read(fake, files, capsys) -> None:
    planned(files, "campaign_57a7", "campaign_cb1a", TOO_MUCH)
    main(STAGE)
    fake.dashboard.approve(fake.drafts[0].draft_id)
    first, _ = SQLiteLedger("drafts.db").entries(state="staged")
    capsys.readouterr()
    command = ["ledger", "outcomes", "--ledger", "drafts.db"]
    assert main(command) == 0
    live, waiting = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert live == {**first.to_dict(), "state": "seen live", "text": "seen live", "seen": "PAUSED"}
    assert (waiting["state"], waiting["seen"]) == ("not seen", "ENABLED")
    assert main([*command, "--limit", "1", "--table"]) == 0
    head, row = capsys.readouterr().out.splitlines()[:2]
    assert head.split()[:3] == ["entry_id", "state", "draft_id"]
    assert row.partition("  ")[2].startswith("not seen yet  draft_")
    assert main([*command, "--plan", "w47", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["text"] for row in rows] == ["seen live", "not seen yet"]
    assert [row["diff"] for row in rows] == ["status: ENABLED → PAUSED"] * 2
    assert main([*command, "--actor", "nobody"]) == 0
    assert capsys.readouterr().out == ""
    assert len(fake.drafts) == 2
    with pytest.raises(SystemExit):
        main([*command, "--state", "staged"])


UNKNOWN = ["ledger", "unknown", "--ledger", "drafts.db"]
SETTLE = ["ledger", "settle", "--ledger", "drafts.db", "--by", "kim"]


@each_case(
    ("found", "state"), [(["--draft", "draft_1"], "staged"), (["--not-staged"], "not staged")]
)
def test_human_settles_what_is_unknown(found, state, fake, files, capsys) -> None:
    (files / "drafts.db").unlink(missing_ok=True)
    fake.faults.add(Fault.dropped(taken=True))
    planned(files, "campaign_57a7", "campaign_cb1a")
    assert main(STAGE) == 5
    capsys.readouterr()
    assert main([*UNKNOWN, "--table"]) == 0
    _head, row, _note = capsys.readouterr().out.splitlines()
    start = row.split()[0]
    assert len(start) == 12
    assert main([*SETTLE, start, *found]) == 0
    settled = json.loads(capsys.readouterr().out)
    assert (settled["state"], settled["settled_by"]) == (state, "kim")
    assert main(UNKNOWN) == 0
    assert capsys.readouterr().out == ""
    assert main([*SETTLE, start, *found]) in (1, 2)
    assert main([*SETTLE, "", *found]) == 2
    assert "0 entries have an id that begins with ''" in capsys.readouterr().err


def test_id_that_begins_others_names_its_own_entry(files, capsys) -> None:
    ledger = SQLiteLedger("drafts.db")
    for entry_id in ("job-1", "job-10"):
        entry = Entry(entry_id=entry_id, operation="beta.pause_campaign", account_id="a")
        ledger.reserve(entry, lambda usage: None)
    assert main([*SETTLE, "job", "--not-staged"]) == 2
    assert "2 entries have an id that begins with 'job'" in capsys.readouterr().err
    assert main([*SETTLE, "job-1", "--not-staged"]) == 0
    assert [entry.entry_id for entry in ledger.unknown()] == ["job-10"]


def test_many_entries_are_settled_at_once_or_not_at_all(fake, files, capsys) -> None:
    ledger = SQLiteLedger("drafts.db")
    for entry_id, draft_id in {"a1": None, "a2": None, "b": "draft_1", "c": "draft_2"}.items():
        entry = Entry(entry_id=entry_id, operation="beta.pause_campaign", account_id="a")
        ended = attrs.evolve(ledger.reserve(entry, lambda usage: None), draft_id=draft_id)
        ledger.end(attrs.evolve(ended, state="unknown"))
    head = ledger.verify()
    for words, complaint in [
        (["a1", "a2", "x", "--not-staged"], "0 entries have an id that begins with 'x'"),
        (["a1", "b", "--not-staged"], "b: its draft is draft_1"),
        (["b", "a1"], "a1: --draft or --not-staged is missing"),
        (["b", "c", "--draft", "draft_1"], "--draft is for one ENTRY"),
        (["a1", "--draft", ""], "draft_id must be a text that is not empty"),
    ]:
        assert main([*SETTLE, *words]) == 2
        assert complaint in capsys.readouterr().err
    assert ledger.verify() == head
    assert main([*SETTLE, "a1", "a2", "--not-staged"]) == 0
    assert main([*SETTLE, "c", "b"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["entry_id"], row["state"], row.get("draft_id")) for row in rows] == [
        ("a1", "not staged", None),
        ("a2", "not staged", None),
        ("c", "staged", "draft_2"),
        ("b", "staged", "draft_1"),
    ]


def test_draft_over_a_limit_is_not_settled_as_if_it_were_none(fake, files, capsys) -> None:
    (files / "policy.toml").write_text("money = { daily_budget = 999 }\nchange_at_most = 20\n")
    planned(files, TOO_MUCH)
    assert main(STAGE) == 4
    assert "adclient: warning: alpha.update_campaign_budget: over your limit: reject draft_" in (
        capsys.readouterr().err
    )
    (entry,) = SQLiteLedger("drafts.db").entries()
    assert main([*SETTLE, entry.entry_id, "--not-staged"]) == 2
    assert f"its draft is {entry.draft_id}" in capsys.readouterr().err
    assert main([*SETTLE, entry.entry_id, "--draft", entry.draft_id]) == 0


@each_case(
    ("arguments", "code", "complaint"),
    [
        (["ledger"], 2, "required: ACTION"),
        (["ledger", "show"], 2, "--ledger is missing"),
        ([*SHOW, "--since", "yesterday"], 2, "'yesterday' is not a time such as 2026-03-01"),
        ([*SHOW, "--since", "0001-01-01T00:00+14:00"], 2, "is not a time such as 2026-03-01"),
        (["ledger", "show", "--ledger", "missing.db"], 1, "adclient: the ledger "),
        (["ledger", "verify", "--ledger", "policy.toml"], 1, "adclient: the ledger "),
        ([*SETTLE, "e", "--draft", "d", "--not-staged"], 2, "not allowed with argument --draft"),
        ([*SHOW, "--state", "pending"], 2, "invalid choice: 'pending'"),
        ([*SHOW, "--limit", "0"], 2, "adclient: limit must be a whole number, 1 or more"),
        (["ledger", "outcomes", "--ledger", "missing.db"], 1, "adclient: the ledger "),
        (["plan", "check", "missing.toml"], 2, "missing.toml"),
        (["mcp"], 2, "adclient: name the accounts in a policy, or one with --account"),
        (["mcp", "-a", "x", "--policy", "policy.toml"], 2, "account x is not one of the policy's"),
        (["mcp", "-a", "x", "--writes"], 2, "adclient: --writes needs --policy and --ledger"),
    ],
)
def test_wrong_command_line_is_refused(arguments, code, complaint, files, capsys) -> None:
    try:
        found = main(arguments)
    except SystemExit as refused:
        found = refused.code
    printed, told = capsys.readouterr()
    assert (found, printed) == (code, "")
    assert complaint in told


@pytest.fixture
def serve_instead(fake, monkeypatch):
    """Let `adclient mcp` do something else with its client and whether it has writes."""
    pytest.importorskip("mcp")

    def serve_instead(what) -> None:
        async def serve(client, *, writes) -> None:
            what(client, writes)

        monkeypatch.setattr("adclient.mcp.serve", serve)

    return serve_instead


@each_case(
    ("arguments", "accounts", "writes"),
    [
        (["-a", "account_b204"], ["account_b204"], False),
        (["--policy", "policy.toml"], ["account_a91f", "account_b204"], False),
        (["--policy", "policy.toml", "-a", "account_a91f"], ["account_a91f"], False),
        ([*WRITING, "d.db", "--new-ledger"], ["account_a91f"], True),
        ([*WRITING, "d.db"], ["account_a91f"], True),  # which the one before has created
    ],
)
def test_accounts_of_a_model_are_pinned(arguments, accounts, writes, files, serve_instead) -> None:
    served = []
    serve_instead(lambda client, writes: served.append((client._engine.guard, writes)))
    assert main(["mcp", *arguments]) == 0
    [(guard, has_writes)] = served
    assert (list(guard.policy.accounts), has_writes) == (accounts, writes)
    assert (guard.ledger is not None) is writes
    assert (guard.policy.money is not None) is ("--policy" in arguments)


def test_only_account_of_a_model_has_its_own_rules(files, serve_instead) -> None:
    own = "[account.account_a91f]\ndrafts_per_day = 2\nmoney = { daily_budget = 90 }\n"
    (files / "policy.toml").write_text(f"{POLICY}{own}[account.account_b204]\n")
    served = []
    serve_instead(lambda client, writes: served.append(client._engine.guard.policy))
    assert main(["mcp", *WRITING, "d.db", "--new-ledger"]) == 0
    [policy] = served
    assert (policy.accounts, policy.money["daily_budget"]) == (("account_a91f",), 90)
    assert [own.drafts_per_day for own in policy.account.values()] == [2]


@each_case(
    ("errors", "code"),
    [
        ([BrokenPipeError()], 141),
        ([OSError(errno.EINVAL, "Invalid argument")], 141),  # as Windows reports it
        ([BrokenPipeError(), LookupError()], 1),
    ],
)
def test_closed_output_is_141_whatever_task_notices_it(errors, code, serve_instead) -> None:
    def fail(*_: object) -> None:
        raise ExceptionGroup("tasks", errors)

    serve_instead(fail)
    assert main(["mcp", "--account", "a"]) == code


@each_case("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_interrupts_are_handled_as_before_once_the_server_has_ended(handler, serve_instead) -> None:
    seen = []
    serve_instead(lambda *_: seen.append(signal.getsignal(signal.SIGINT)))
    before = signal.signal(signal.SIGINT, handler)
    try:
        assert main(["mcp", "--account", "a"]) == 0
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIG_IGN if handler is signal.SIG_IGN else signal.SIG_DFL]
