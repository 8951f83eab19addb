"""`adclient ledger`: the record of writes, and what a human found out about them."""

import csv
import io
from pathlib import Path

import attrs
import pytest
from cases import each_case
from plans import FIRST, SECOND, budget, pause, plan_of
from run_command import Ran, run_command

from adclient.ledger import Entry, SQLiteLedger
from adclient.policy import Policy
from adclient.testing import Fault

LEDGER = ["--ledger", "drafts.db"]
SHOW = ["ledger", "show", *LEDGER]
SETTLE = ["ledger", "settle", *LEDGER, "--by", "kim"]
UNKNOWN = ["ledger", "unknown", *LEDGER]
VERIFY = ["ledger", "verify", *LEDGER]


@pytest.fixture
def ledger(files) -> SQLiteLedger:
    return SQLiteLedger("drafts.db")


@pytest.fixture
def staged(fake, ledger) -> SQLiteLedger:
    """A ledger of a plan with two drafts and a refused change, and of one draft of kim's."""
    plan = plan_of(Path(), pause(), pause(SECOND), budget("999"))
    plan.stage(fake.client(ledger=ledger, policy=Policy.read("policy.toml")))
    fake.client(ledger=ledger, actor="kim").alpha.update_campaign_budget(
        account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
    )
    return ledger


@each_case(
    ("words", "states"),
    ([], ["staged", "staged", "refused", "staged"]),
    (["--state", "refused"], ["refused"]),
    (["--plan", "w47", "--limit", "2"], ["staged", "refused"]),
    (["--actor", "kim"], ["staged"]),
    (["--since", "2999-01-01T00:00:00+02:00"], []),
    (["--since", "2020-01-01", "-a", "account_b204"], ["staged", "staged"]),
)
def test_shown_entries_are_filtered(words, states, staged) -> None:
    ran = run_command(*SHOW, *words)
    assert (ran.code, [row["state"] for row in ran.rows]) == (0, states)
    assert all(row in [entry.to_dict() for entry in staged.entries()] for row in ran.rows)


def test_table_has_the_whole_change_below_each_entry(staged, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    head, *lines = run_command(*SHOW, "--table").out.splitlines()
    assert head.split()[:4] == ["entry_id", "state", "draft_id", "at"]
    assert max(map(len, (head, *lines[::2]))) <= 80
    assert f"{staged.entries()[3].at:%Y-%m-%d %H:%M}" in lines[6]
    ids = "alpha.update_campaign_budget · account_a91f, campaign_4c10"
    assert lines[1] == f"  beta.pause_campaign · account_b204, {FIRST} · status: ENABLED -> PAUSED"
    assert lines[5].startswith(f"  {ids} · daily_budget: 999 · daily_budget is 999, and money ")
    assert lines[7] == f"  {ids} · daily_budget: 100 -> 120"


def test_head_of_a_ledger_is_verified(staged) -> None:
    head = staged.verify()
    assert run_command(*VERIFY) == run_command(*VERIFY, "--head", head) == Ran(0, f"{head}\n", "")
    other = run_command(*VERIFY, "--head", head[::-1])
    assert other.code == 1
    assert "rows were removed, or it is another ledger" in other.err
    missing = run_command(*VERIFY[:2], "--ledger", "missing.db")
    assert (missing.code, missing.err[:21]) == (1, "adclient: the ledger ")


def test_outcomes_of_the_chosen_drafts_are_read(fake, staged) -> None:
    fake.dashboard.approve(fake.drafts[0].draft_id)
    first, *_ = staged.entries(state="staged")
    command = ["ledger", "outcomes", *LEDGER]
    words = [*command, "--plan", "w47"]
    live, waiting = run_command(*words).rows
    assert live == {**first.to_dict(), "state": "seen live", "text": "seen live", "seen": "PAUSED"}
    assert (waiting["state"], waiting["seen"]) == ("not seen", "ENABLED")
    rows = list(csv.DictReader(io.StringIO(run_command(*words, "--csv").out)))
    assert [row["text"] for row in rows] == ["seen live", "not seen yet"]
    assert [row["diff"] for row in rows] == ["status: ENABLED -> PAUSED"] * 2
    assert run_command(*command, "--actor", "nobody") == Ran(0, "", "")
    assert len(fake.drafts) == 3
    assert run_command(*command, "--state", "staged").code == 2


def test_human_settles_what_is_unknown(fake, ledger) -> None:
    fake.faults.add(Fault.dropped(taken=True))
    plan_of(Path(), pause()).stage(fake.client(ledger=ledger))
    _head, row, *_ = run_command(*UNKNOWN, "--table").out.splitlines()
    words = [*SETTLE, row.split()[0], "--draft", "draft_1"]
    settled = run_command(*words)
    assert settled.code == 0
    assert [(row["state"], row["settled_by"]) for row in settled.rows] == [("staged", "kim")]
    assert run_command(*UNKNOWN) == Ran(0, "", "")
    assert run_command(*words).code == 1


def test_many_entries_are_settled_at_once_or_not_at_all(ledger) -> None:
    drafts = {"a1": None, "a12": None, "a13": None, "b": "draft_1", "c": "draft_2"}
    for entry_id, draft_id in drafts.items():
        entry = Entry(entry_id=entry_id, operation="beta.pause_campaign", account_id="a")
        ended = attrs.evolve(ledger.reserve(entry, lambda usage: None), draft_id=draft_id)
        ledger.end(attrs.evolve(ended, state="unknown"))
    head = ledger.verify()
    for words, complaint in [
        (["a", "--not-staged"], "3 entries have an id that begins with a"),
        (["a1", "b", "--not-staged"], "b: its draft is draft_1"),
        (["b", "a1"], "a1: --draft or --not-staged is missing"),
        (["b", "c", "--draft", "draft_1"], "--draft is for one ENTRY"),
        (["a1", "--draft", ""], "--draft must be a text that is not empty"),
    ]:
        ran = run_command(*SETTLE, *words)
        assert ran.code == 2
        assert complaint in ran.err
    assert ledger.verify() == head
    # An id that begins others names its own entry.
    settled = run_command(*SETTLE, "a1", "a12", "--not-staged").rows
    settled += run_command(*SETTLE, "c", "b").rows
    found = [(row["entry_id"], row["state"], row.get("draft_id")) for row in settled]
    assert found[:2] == [("a1", "not staged", None), ("a12", "not staged", None)]
    assert found[2:] == [("c", "staged", "draft_2"), ("b", "staged", "draft_1")]
    assert [entry.entry_id for entry in ledger.unknown()] == ["a13"]


def test_draft_over_a_limit_is_not_settled_as_if_it_were_none(fake, ledger) -> None:
    Path("policy.toml").write_text("money = { daily_budget = 999 }\nchange_at_most = 20\n")
    plan_of(Path(), budget("999"))
    words = ["--policy", "policy.toml", *LEDGER, "--new-ledger"]
    ran = run_command("plan", "stage", "changes.toml", *words)
    assert ran.code == 4
    complaint = "alpha.update_campaign_budget: over your limit: reject draft_"
    assert ran.err.startswith(f"adclient: warning: {complaint}")
    (entry,) = ledger.entries()
    ran = run_command(*SETTLE, entry.entry_id, "--not-staged")
    assert ran.code == 2
    assert f"its draft is {entry.draft_id}" in ran.err
    assert run_command(*SETTLE, entry.entry_id, "--draft", entry.draft_id).code == 0
