"""What every ledger in a database must do.

tests/tools imports these tests for SQLite, and tests/acceptance for PostgreSQL. Both have the
fixtures `where`, a place without a ledger; `wipe`, which makes it one again; `execute` and
`tamper`, which execute SQL, the second one without triggers; and `locked`, a block in which
somebody else writes.
"""

import pickle
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import attrs
import httpx
import pytest
from cases import each_case
from clients import sync_and_async, wait
from forking import run
from ledger_processes import check_race, kill_writers, race
from plans import FIRST, SECOND, THIRD, pause, plan_of, verdicts
from processes import received, started
from raw_server import RawServer, answer_to
from run_command import run_command
from waiting import stop_clock

import adclient.ledger.database
from adclient import CallTimeout, ConfigurationError, Diff, Draft, LedgerError
from adclient._tasks.clock import monotonic
from adclient.ledger import Entry, open_ledger
from adclient.ledger.database import _close_everywhere
from adclient.ledger.entry import WAIT_UNTIL
from adclient.policy import Policy, Refusal, Usage
from adclient.testing import FakeAdService

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
EAST, WEST = (timezone(timedelta(hours=hours)) for hours in (1, -1))
CAMPAIGN = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
FORMAT_1 = Path(__file__).with_name("ledger_0_2_0.sql").read_text("utf-8")
TABLE, COMMENT = "'adclient_ledger'::regclass", "COMMENT ON TABLE adclient_ledger IS"
REFUSAL = Refusal("drafts_per_day", "today has enough")


@attrs.define
class Clock:
    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def strength(pytestconfig) -> int:
    """How many times as long races and kills are: 1, or the number of seeds at night."""
    return pytestconfig.getoption("seeds")


@pytest.fixture
def open_it(where, clock):
    """Open the ledger of this test, as another process would."""

    def open_it():
        ledger = open_ledger(where)
        ledger._now = clock
        return ledger

    return open_it


@pytest.fixture
def ledger(open_it):
    return open_it()


def an_entry(number=1, **more) -> Entry:
    usual = {"entry_id": f"entry_{number}", "at": NOON, "deadline": NOON + timedelta(minutes=1)}
    usual |= {"operation": "beta.pause_campaign", "account_id": "a"}
    usual["arguments"] = {"account_id": "a", "campaign_id": "c"}
    return Entry(**{**usual, **more})


def admit(ledger, number=1, **more) -> Entry:
    return ledger.reserve(an_entry(number, **more), lambda usage: None)


def admit_at_once(open_it, **more) -> list[Entry]:
    """Admit entries by many ledgers at the same time."""
    start = threading.Barrier(8)

    def write(number: int) -> Entry:
        ledger = open_it()
        start.wait(10)
        return admit(ledger, number, **more)

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(write, range(8)))


def end(ledger, entry, state, **more) -> Entry:
    ended = attrs.evolve(entry, state=state, **more)
    ledger.end(ended)
    return ended


def stage(ledger, number=1, *, over_limit=None, **more) -> Entry:
    entry = admit(ledger, number, **more)
    return end(ledger, entry, "staged", draft_id=f"draft_{number}", over_limit=over_limit)


def asked(ledger, question=lambda usage: usage, account_id="a", **more):
    """Ask for the usage that the next write is checked with; it is refused, and changes nothing."""
    answers = []

    def check(usage: Usage) -> Refusal:
        answers.append(question(usage))
        return REFUSAL

    ledger.reserve(an_entry(random.random(), account_id=account_id, **more), check)
    return answers[0]


@pytest.fixture
def assert_refuses_a_write(caplog):
    """Check that a write is not sent, and return the error."""

    def assert_refuses_a_write(ledger, problem: str) -> LedgerError:
        fake = FakeAdService()
        client, refusal = fake.client(ledger=ledger), pytest.raises(LedgerError, match=problem)
        with client, refusal as refused:
            client.beta.pause_campaign(**CAMPAIGN)
        assert len(fake.requests) == 0
        assert ledger._shown in str(refused.value)
        assert "\n" not in str(refused.value)
        assert refused.value.__context__ is None
        assert caplog.text == ""  # one error, and no warning that the end cannot be recorded
        return refused.value

    return assert_refuses_a_write


def states(ledger) -> list[str]:
    return [entry.state for entry in ledger.entries()]


# Entries.


def test_write_of_a_client_is_recorded_with_its_draft(ledger) -> None:
    with FakeAdService().client(ledger=ledger, policy=Policy(drafts_per_day=5)) as client:
        draft = client.beta.pause_campaign(**CAMPAIGN)
    entries = ledger.entries()
    [entry] = entries
    assert (entry.state, entry.draft_id, entry.diff) == ("staged", draft.draft_id, draft.diff)
    assert (entry.operation, entry.arguments) == ("beta.pause_campaign", CAMPAIGN)
    assert ledger.unknown() == []
    assert entries.to_records()[0]["state"] == "staged"
    assert pickle.loads(pickle.dumps(entries)) == entries
    assert repr(entry) == f"<Entry beta.pause_campaign, account_b204, staged, {draft.draft_id}>"
    card = entry._repr_html_()
    for text in (draft.draft_id, ">campaign_id</th>", ">ENABLED</del> → <ins "):
        assert text in card
    failed = attrs.evolve(entry, state="unknown", diff=None, reason="lost")._repr_html_()
    assert "lost" in failed


def test_entry_is_read_as_it_was_recorded_by_another_connection(ledger, open_it) -> None:
    values = [1, 1.5, Decimal("0.1000000000000000000000001"), "ä\0\ud800\u2028", True]
    diff = Diff(field="fields", before=None, after={"a": values}, extra={"currency": "EUR"})
    admitted = admit(ledger, arguments={"fields": {"budget": Decimal("1e400")}}, change="plan/1")
    assert open_it().entries() == [admitted]
    more = {"draft_id": "d\0\ud800", "diff": diff, "reason": "„lost“", "over_limit": "x"}
    ended = attrs.evolve(admitted, state="unknown", deadline=None, **more)
    ledger.end(ended)
    assert open_it().entries() == [ended]
    assert open_it().verify() == ledger.verify()


def test_refused_write_is_recorded_and_does_not_count(ledger) -> None:
    refused = ledger.reserve(an_entry(), lambda usage: REFUSAL)
    assert (refused.state, refused.rule, refused.reason) == ("refused", *REFUSAL)
    already = an_entry(2, state="refused", rule="accounts", reason="no")
    assert ledger.reserve(already, check=None).rule == "accounts"
    end(ledger, refused, "staged", draft_id="draft_1")
    assert states(ledger) == ["refused", "refused"]
    assert asked(ledger).drafts_today == 0


def test_same_refused_write_is_counted_and_keeps_short_arguments(ledger) -> None:
    def refuse(number, size=8_000, rule="money", **more) -> Entry:
        entry = an_entry(number, **{"arguments": {"x": "x" * size}, **more})
        return ledger.reserve(entry, lambda usage: Refusal(rule, f"no {number}"))

    first, small = refuse(0), {"arguments": {}}
    others = {"actor": "kim"}, {"change": "w/1"}, {"rule": "x"}, {"account_id": "b"}
    assert {refuse(1, **other).refusals for other in (*others, {"operation": "x"}, small)} == {1}
    assert [refuse(number).refusals for number in range(2, 13)] == [*range(2, 13)]
    [again] = [entry for entry in ledger.entries() if entry.refusals > 1]
    assert again == attrs.evolve(first, refusals=12, reason="no 12")
    huge = [refuse(number, 800_000) for number in (1, 2)][-1]
    assert (huge.arguments, huge.refusals) == ({}, 2)
    assert huge.reason == "no 2 (its arguments are too long to be kept)"


def test_entries_are_selected_by_account_and_time(ledger, clock) -> None:
    local = datetime.now().astimezone().tzinfo
    for number, account_id in enumerate("aba"):
        clock.now = (NOON + timedelta(hours=number)).astimezone(local)
        admit(ledger, number, account_id=account_id)
    ledger.end(an_entry(2, state="staged"))
    later = NOON + timedelta(hours=1)
    [chosen] = ledger.entries(account_id="a", since=later)
    assert (chosen.entry_id, chosen.at) == ("entry_2", clock.now)
    assert len(ledger.entries(account_id="a")) == len(ledger.entries(since=later)) == 2
    assert ledger.entries(account_id="' OR 1 = 1 --") == []
    first, last = datetime.min.replace(tzinfo=EAST), datetime.max.replace(tzinfo=WEST)
    assert ledger.entries(since=first, until=last, limit=2**70) == ledger.entries()
    for account_id in ("\ud800", "\\ud800", "b\0", "ä", "Ä"):
        stage(ledger, account_id, account_id=account_id)
        assert [entry.account_id for entry in ledger.entries(account_id=account_id)] == [account_id]


@each_case(
    ("argument", "bad", "problem"),
    *((name, datetime(2026, 3, 2), "must have a time zone") for name in ("since", "until")),
    ("since", date(2026, 3, 2), "must be a datetime, not date"),
    *((name, 5, "must be a str, not int") for name in ("account_id", "plan_id", "actor")),
    ("state", "pending", "must be one of under way, staged,"),
    ("limit", 0, "must be a whole number, 1 or more"),
)
def test_wrong_filter_is_refused(ledger, argument, bad, problem) -> None:
    with pytest.raises(ConfigurationError, match=f"^{argument} {problem}") as refused:
        ledger.entries(**{argument: bad})
    assert refused.value.argument == argument


def test_entries_are_selected_by_all_that_is_given(ledger, clock) -> None:
    # Names that are the beginning of others, or that mean something in SQL or JSON.
    actors = ["kim", "Kim", "kim 2", 'a"b\\', "100 %_", "Jürgen 🌷", None]
    for number, actor in enumerate(actors):
        clock.now = NOON + timedelta(minutes=number)
        nested = {"actor": "kim", "x": '{"actor":"kim",'}
        stage(ledger, f"{number}", actor=actor, arguments=nested, change=f"w4{number % 2}:{number}")
    admit(ledger, "7", actor="kim", why="„Spend“ is\u2028low", change="w4")
    everything = ledger.entries()
    assert [entry.actor for entry in everything] == [*actors, "kim"]
    assert everything[-1].why == "„Spend“ is\u2028low"

    def found(**filters) -> str:
        return "".join(entry.entry_id[-1] for entry in ledger.entries(**filters))

    for number, actor in enumerate(actors[1:-1], 1):
        assert found(actor=actor) == str(number)
    assert (found(actor="kim"), found(actor="ki"), found(actor="\ud800\0")) == ("07", "", "")
    assert (found(plan_id="w40"), found(plan_id="w41"), found(plan_id="w4")) == ("0246", "135", "")
    assert found(plan_id="%") == found(plan_id="") == ""
    assert (found(state="staged"), found(state="under way")) == ("0123456", "7")
    noon = NOON + timedelta(minutes=2)
    assert (found(until=noon), found(since=noon, until=noon + timedelta(minutes=2))) == ("01", "23")
    assert (found(limit=2), found(limit=2, plan_id="w40")) == ("67", "46")
    assert found(limit=9) == "01234567"
    assert found(account_id="a", state="staged", plan_id="w40", actor="kim 2", since=noon) == "2"


def test_diff_that_is_nested_too_deeply_does_not_lose_its_draft(ledger) -> None:
    deep = [12345678901234567890123]
    for _ in range(250):
        deep = [deep]
    diff = Diff(field="x", before=None, after=deep)
    ledger.end(attrs.evolve(admit(ledger), state="staged", draft_id="draft_1", diff=diff))
    [entry] = ledger.entries()
    assert (entry.state, entry.draft_id, entry.diff) == ("staged", "draft_1", None)


# What a write is checked with.


def test_usage_counts_what_may_be_a_draft_of_this_day_in_utc(ledger, clock) -> None:
    def drafts(account_id: str = "a") -> tuple[int, int]:
        """Of all accounts, and of one."""
        both = asked(ledger, lambda usage: (usage.drafts_today, usage.drafts_of_account()))
        return both[0], asked(ledger, lambda usage: usage.drafts_of_account(), account_id)

    clock.now = datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)
    before_midnight = admit(ledger, 1)
    assert (drafts(), drafts("b")) == ((1, 1), (1, 0))
    clock.now += timedelta(microseconds=1)
    assert drafts() == (0, 0)
    end(ledger, before_midnight, "unknown")
    stage(ledger, 2)
    stage(ledger, 3, account_id="b")
    failed = admit(ledger, 4)
    end(ledger, admit(ledger, 5), "unknown")
    assert (drafts(), drafts("b"), drafts("c")) == ((4, 3), (4, 1), (4, 0))
    end(ledger, failed, "not staged")
    ledger.settle("entry_5", by="kim")
    assert drafts() == (2, 1)
    clock.now -= timedelta(microseconds=1)
    assert drafts() == (1, 1)
    ledger.settle("entry_1", by="kim")
    assert drafts() == (0, 0)


def test_equal_write_is_found_while_it_is_or_may_be_a_draft(ledger, clock) -> None:
    def repeated(seconds: float = 60, **more) -> str | None:
        return asked(ledger, lambda usage: usage.repeated(seconds), **more)

    assert repeated() is None
    entry = admit(ledger, 1, change="plan/1")
    assert repeated() == "entry entry_1 of 2026-03-02 12:00 UTC is under way"
    end(ledger, entry, "unknown")
    assert repeated() == "entry entry_1 of 2026-03-02 12:00 UTC is unknown"
    ledger.settle(entry, draft_id="draft_1", by="kim")
    assert repeated(arguments={**an_entry().arguments, "fields": {}}) is not None
    assert repeated(change="plan/2") == "draft draft_1 of 2026-03-02 12:00 UTC is staged"
    for other in ({"account_id": "b"}, {"operation": "beta.enable"}, {"arguments": {}}):
        assert repeated(**other) is None
    clock.now += timedelta(seconds=60)
    assert repeated() is not None
    assert repeated(59.9) is None
    stage(ledger, 2)
    end(ledger, admit(ledger, 3), "not staged")
    assert repeated().startswith("draft draft_2 of 2026-03-02")
    clock.now += timedelta(days=3)
    assert repeated() is None
    assert repeated(4 * 86_400).startswith("draft draft_2")


def test_arguments_are_equal_by_value(ledger) -> None:
    arguments = {"account_id": "a", "fields": {"bid": 1, "on": True, "x": [Decimal("0.10")]}}
    stage(ledger, 1, arguments=arguments)
    for fields, is_equal in [
        ({"x": [0.1], "on": True, "bid": 1.0}, True),
        ({"x": [0.1], "on": 1, "bid": 1}, False),
        ({"x": [0.1], "on": True, "bid": "1"}, False),
        ({"x": [0.1], "on": True}, False),
        ({"x": [0.1, 0.1], "on": True, "bid": 1}, False),
    ]:
        same = {"account_id": "a", "fields": fields}
        found = asked(ledger, lambda usage: usage.repeated(60.0), arguments=same)
        assert (found is not None) is is_equal, fields


def test_draft_over_a_limit_blocks_its_account_until_it_is_settled(ledger) -> None:
    entry = stage(ledger, over_limit="100 -> 200")
    stage(ledger, 2, account_id="b")
    assert asked(ledger).over_limit == "draft_1"
    assert asked(ledger, account_id="b").over_limit is None
    with pytest.raises(LedgerError, match="the draft of entry entry_1 is draft_1"):
        ledger.settle(entry, draft_id="draft_2", by="kim")
    settled = ledger.settle(entry, by="kim")
    assert (settled.state, settled.draft_id, settled.settled_by) == ("staged", "draft_1", "kim")
    assert asked(ledger).over_limit is None
    with pytest.raises(LedgerError, match="is staged by kim: there is nothing to settle"):
        ledger.settle(entry, by="kim")


@pytest.mark.parametrize("event", [lambda: 1 / 0, lambda: signal.default_int_handler(2, None)])
def test_check_that_fails_records_nothing(ledger, event) -> None:
    with ledger.__kept_open__():
        admit(ledger, 1)
        with pytest.raises((ZeroDivisionError, KeyboardInterrupt)):
            ledger.reserve(an_entry(2), lambda usage: event())
        assert len(ledger.entries()) == 1
        with pytest.raises(LedgerError, match="arguments"):  # which no JSON can be
            admit(ledger, 2, arguments={1: "a", "1": "b"})
        admit(ledger, 2)


# Changes of a plan.


@pytest.mark.parametrize("state", ["under way", "staged", "unknown"])
def test_change_of_a_plan_is_reserved_once(ledger, state) -> None:
    first = admit(ledger, 1, change="plan/1")
    if state != "under way":
        first = end(ledger, first, state, deadline=None)
    assert admit(ledger, 2, change="plan/1") == first
    assert ledger.reserve(an_entry(3, change="plan/1", state="refused"), None) == first
    assert admit(ledger, 4, change="plan/2").entry_id == "entry_4"
    assert len(ledger.entries()) == 2


def test_change_of_a_plan_is_reserved_again_if_nothing_was_staged(ledger) -> None:
    ledger.reserve(an_entry(1, change="plan/1"), lambda usage: REFUSAL)
    end(ledger, admit(ledger, 2, change="plan/1"), "not staged")
    ledger.settle(admit(ledger, 3, change="plan/1", deadline=None), by="kim")
    assert admit(ledger, 4, change="plan/1").entry_id == "entry_4"


def test_late_draft_of_a_settled_change_counts_after_a_later_one_failed(ledger) -> None:
    first = admit(ledger, 1, change="plan/1", deadline=None)
    ledger.settle(first, by="kim")
    second = admit(ledger, 2, change="plan/1")
    end(ledger, first, "staged", draft_id="draft_1")
    end(ledger, second, "not staged")
    assert admit(ledger, 3, change="plan/1").draft_id == "draft_1"


# A write that is under way.


def test_write_is_under_way_until_its_deadline_and_then_unknown(ledger, clock) -> None:
    then = NOON - timedelta(hours=2)  # the clock of its machine is slow
    entry = admit(ledger, 1, at=then, deadline=then + timedelta(seconds=35), change="plan/1")
    admit(ledger, 2, deadline=None)
    assert (entry.at, entry.deadline) == (NOON, NOON + timedelta(seconds=35))
    clock.now = entry.deadline - timedelta(microseconds=1)
    problem = "entry entry_1 is under way until 2026-03-02 12:00:35 UTC at the latest"
    with pytest.raises(LedgerError, match=problem):
        ledger.settle_all({"entry_2": None, "entry_1": None}, by="kim")
    assert [each.state for each in ledger.unknown() if each.is_unknown] == ["under way", "unknown"]
    assert ledger.entries(state="under way", limit=5) == [entry]
    for minutes, state in ((4, "under way"), (6, "unknown")):  # its clock was wrong by years
        clock.now = entry.at - timedelta(minutes=minutes)
        assert ledger.entries()[0].state == state
    clock.now = entry.deadline
    unknown = attrs.evolve(entry, state="unknown")
    assert admit(ledger, 3, change="plan/1") == ledger.entries(state="unknown")[0] == unknown
    assert [each.entry_id for each in ledger.entries(state="unknown", limit=1)] == ["entry_2"]
    assert ledger.entries(state="under way") == []
    ledger.settle(entry, by="kim")
    end(ledger, entry, "staged", draft_id="draft_1")  # later than its ledger was told
    assert sorted(states(ledger)) == ["staged", "unknown"]


def run_and_send(words: list[str], done) -> None:
    done.send(run_command(*words))


def test_change_of_another_run_is_under_way_and_unknown_if_that_dies(where, tmp_path) -> None:
    is_sent, may_answer = threading.Event(), threading.Event()

    def serve(connection) -> None:
        while request := connection.read():
            if SECOND.encode() not in request:
                is_sent.set()
                may_answer.wait(20)
            connection.send(answer_to(request))

    def stage_again(ledger) -> tuple[int, list[str]]:
        report = plan.stage(adclient.AdClient(server.url, ledger=ledger))
        return report.exit_code, verdicts(report)

    ledger, plan = open_ledger(where), plan_of(tmp_path, pause(FIRST), pause(SECOND))
    words = ["plan", "stage", f"{tmp_path}/changes.toml", "--ledger", where, "--new-ledger"]
    with RawServer(serve) as server:
        words += ["--json", "--url", server.url]
        with started(run_and_send, words) as (_, first):
            assert is_sent.wait(20)
            with started(run_and_send, words) as (_, second):
                ran = received(second)
            found = [(each["verdict"], each["missing"]) for each in ran.rows[0]["changes"]]
            assert found == [("under way", "stage again later"), ("staged", "approve in dashboard")]
            assert (ran.code, ran.rows[0]["exit_code"]) == (7, 7)
            assert ran.rows[0]["changes"][0]["reason"].startswith("another run has until 2")
            with pytest.raises(LedgerError, match="is under way until"):
                ledger.settle(ledger.unknown()[0], by="kim")
            may_answer.set()
            assert received(first).code == 0
        assert stage_again(ledger) == (0, ["already staged"] * 2)
        is_sent.clear(), may_answer.clear()
        plan = plan_of(tmp_path, pause(THIRD))
        with started(run_and_send, words) as (process, _):
            assert is_sent.wait(20)
            process.kill()
        assert stage_again(ledger) == (7, ["under way"])
        later = type(ledger)(where, now=lambda: datetime.now(UTC) + timedelta(minutes=2))
        assert stage_again(later) == (5, ["unknown"])
        may_answer.set()
    assert len(server.requests) == 3


# Ends, and settling.


def test_entry_is_admitted_and_ended_once(ledger) -> None:
    entry = stage(ledger)
    end(ledger, entry, "not staged")
    ledger.end(an_entry(2, state="staged"))
    assert states(ledger) == ["staged"]
    with pytest.raises(LedgerError, match="already has an entry entry_1"):
        admit(ledger)


def a_draft(draft_id: str) -> Draft:
    diff = Diff(field="status", before="ENABLED", after="PAUSED")
    return Draft(draft_id=draft_id, status="pending_approval", diff=diff, requires="a human")


def test_what_a_human_settled_stays_unless_its_draft_arrives(ledger) -> None:
    entry = admit(ledger)  # which is under way, and its draft is in the dashboard
    settled = ledger.settle(entry, draft_id=a_draft("draft_7"), by="kim")
    assert (settled.state, settled.draft_id, settled.deadline) == ("staged", "draft_7", None)
    for state in ("unknown", "not staged"):
        end(ledger, entry, state)
    assert ledger.entries() == [settled]
    staged = end(ledger, entry, "staged", draft_id="draft_1", over_limit="x", deadline=None)
    end(ledger, entry, "staged", draft_id="draft_2")
    assert ledger.entries() == [staged]
    assert asked(ledger)[:2] == (1, "draft_1")


def test_many_entries_are_settled_together_or_not_at_all(ledger) -> None:
    for number in range(3):
        end(ledger, admit(ledger, number), "unknown", draft_id="draft_from_the_response")
    over = stage(ledger, 3, over_limit="100 -> 200")
    head, drafts = ledger.verify(), {"entry_0": "draft_7", "entry_1": None, "entry_3": None}
    for wrong in ({"entry_9": None}, {"entry_3": "draft_9"}):
        with pytest.raises(LedgerError, match=r"it has no entry entry_9|draft of entry entry_3 is"):
            ledger.settle_all({**drafts, **wrong}, by="kim")
    with pytest.raises(ConfigurationError, match="drafts must be a mapping"):
        ledger.settle_all(list(drafts), by="kim")
    assert ledger.verify() == head
    settled = ledger.settle_all(drafts, by="kim")
    assert [entry.draft_id for entry in settled] == ["draft_7", None, over.draft_id]
    assert [entry.state for entry in settled] == ["staged", "not staged", "staged"]
    assert {entry.settled_by for entry in settled} == {"kim"}
    assert [entry.entry_id for entry in ledger.unknown()] == ["entry_2"]
    assert asked(ledger).drafts_today == 3
    assert ledger.settle_all({}, by="kim") == []


def test_nothing_else_can_be_settled(ledger) -> None:
    refused = ledger.reserve(an_entry(1), lambda usage: REFUSAL)
    staged = stage(ledger, 2)
    for entry, problem in [("0", "no entry 0"), (refused, "is refused:"), (staged, "is staged:")]:
        with pytest.raises(LedgerError, match=problem):
            ledger.settle(entry, by="kim")
    for argument, bad, problem in [
        ("by", " ", "a text that is not empty"),
        ("draft_id", "", "a text that is not empty"),
        ("entry", a_draft("draft_1"), "a str, not Draft"),
        ("entry", "", "a text that is not empty"),
    ]:
        with pytest.raises(ConfigurationError, match=f"^{argument} must be {problem}$") as refused:
            ledger.settle(**{"entry": "entry_2", "by": "kim", argument: bad})
        assert refused.value.argument == argument
    assert states(ledger) == ["refused", "staged"]


# The chain.


def test_rows_cannot_be_changed_or_deleted(ledger, execute) -> None:
    stage(ledger)
    head = ledger.verify()
    execute("ALTER TABLE adclient_ledger ADD COLUMN note TEXT")  # which is no damage
    for sql in ("UPDATE adclient_ledger SET state = 'not staged'", "DELETE FROM adclient_ledger"):
        with pytest.raises(Exception, match="a ledger is append-only"):
            execute(sql)
    assert ledger.verify() == head
    stage(ledger, 2)
    ledger.verify(head=head)


def test_verify_returns_the_last_hash_and_finds_earlier_ones(ledger, open_it, wipe) -> None:
    ledger.create()
    assert ledger.exists()
    heads = [ledger.verify()]
    for number in range(3):
        stage(ledger, number)
        heads.append(ledger.verify())
    assert len(set(heads)) == 4
    assert {len(head) for head in heads} == {64}
    for head in heads:
        assert ledger.verify(head=head.upper()) == heads[-1]
    for head in ("", "x" * 64, heads[1][1:], heads[1] + "\n"):
        with pytest.raises(ConfigurationError, match="head must be 64 hexadecimal digits"):
            ledger.verify(head=head)
    # An older copy of the ledger, to which others were added since.
    wipe()
    older = open_it()
    for number in (0, 7, 8, 9):
        stage(older, number)
    assert older.verify(head=heads[1]) == older.verify()
    for head in heads[2:]:
        with pytest.raises(LedgerError, match=f"none of its 8 rows has the hash {head[:12]}…"):
            older.verify(head=head)


SETTINGS = ["drafts_of_day = 7", "entry = replace(entry, 'pause', 'Pause')", "hash = 'x'"]
SETTINGS += ["number = 90 + number"]
CHANGES = [f"UPDATE adclient_ledger SET {setting}" for setting in SETTINGS]


@pytest.mark.parametrize("change", [*CHANGES, "DELETE FROM adclient_ledger"])
def test_verify_names_the_first_bad_row(ledger, tamper, change) -> None:
    stage(ledger, 1)
    stage(ledger, 2)
    for number in (3, 1):
        tamper(f"{change} WHERE number = {number}")
        with pytest.raises(LedgerError, match=f"row {number} was changed, or is missing"):
            ledger.verify()


def test_damaged_entry_is_an_error_that_names_the_ledger(ledger, tamper) -> None:
    admit(ledger)
    newer = '{"entry_id":"1","at":"2026-03-02","operation":"x","account_id":"a","new":1}'
    for text in ("{", "[]", '{"at": 1}', '{"entry_id": "1"}', '{"at": "now"}', newer):
        tamper(f"UPDATE adclient_ledger SET entry = '{text}'")
        with pytest.raises(LedgerError, match=r"is damaged, .* or of a newer adclient") as refused:
            ledger.entries()
        assert ledger._shown in str(refused.value)


def test_ledger_of_format_1_is_read_and_updated(ledger, open_it, execute, where, clock) -> None:
    """0.2.0 has written it; its second write was under way when its process was killed."""
    is_file = not where.startswith("postgresql")
    version = "PRAGMA user_version" if is_file else f"SELECT obj_description({TABLE})"
    older = "PRAGMA user_version = 1" if is_file else f"{COMMENT} 'adclient ledger, format 1'"
    ledger.create()
    execute(*(row for row in FORMAT_1.splitlines() if row.startswith("INSERT")), older)
    clock.now = datetime(2026, 11, 27, tzinfo=UTC)
    head = "a5e141933debe6d79159578516f32f612e524b5a5fdae43f5d9e8278ca8a42b6"
    assert states(ledger) == ["staged", "unknown", "unknown", "refused"]
    lost = ledger.entries(state="unknown")[0]
    assert (ledger.verify(), str(execute(version)[0][0])[-1]) == (head, "1")
    assert admit_at_once(open_it, change=lost.change) == [lost] * 8
    assert str(execute(version)[0][0])[-1] == "2"
    ledger.settle(lost, by="kim")
    assert admit(ledger, change=lost.change) == ledger.entries()[-1]
    assert ledger.verify(head=head) != head


# Many users.


def test_processes_and_threads_share_daily_caps_and_equal_writes(where, ledger, strength) -> None:
    race(where, processes=3, threads=2, attempts=20 * strength)
    check_race(ledger, attempts=120 * strength)


def test_killed_writers_lose_no_draft(where, strength) -> None:
    kill_writers(where, kills=4 * strength, seed=random.randrange(1000))


def test_ledger_may_be_created_by_many_at_the_same_time(open_it) -> None:
    assert len(admit_at_once(open_it)) == len(open_it().entries()) == 8


# The connection that clients keep open.


@sync_and_async
async def test_connection_is_kept_until_the_last_client_is_closed_or_the_process_forks(
    client_kind, ledger, monkeypatch
) -> None:
    connect, opened = ledger._connect, []
    monkeypatch.setattr(ledger, "_connect", lambda mode: opened.append(connect(mode)) or opened[-1])
    options = {"ledger": ledger, "transport": FakeAdService().transport}
    async with client_kind.open("https://ads.example.com", **options) as client:
        async with client_kind.open("https://ads.example.com", **options) as other:
            await wait(other.beta.pause_campaign(**CAMPAIGN))
        assert len(opened) == 1
        ledger.reserve(an_entry(), lambda _: ledger.verify() and None)  # one use within another
        ledger.entries()
        assert (len(opened), len(ledger._connections._idle)) == (2, 1)
        _close_everywhere()  # as before a fork
        await wait(client.beta.pause_campaign(**CAMPAIGN))
        assert len(opened) == 3
    for connection in opened:
        with pytest.raises(Exception, match="closed"):
            connection.execute("SELECT 1")


def test_client_that_is_never_closed_works_after_a_fork_and_leaves_one_file(where, ledger) -> None:
    run(
        """
sys.path.append(sys.argv[2])
from multiprocessing import get_context
from ledger_tests import CAMPAIGN
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService

client = FakeAdService().client(ledger=open_ledger(url))
def write():
    client.beta.pause_campaign(**CAMPAIGN)
write()
worker = get_context("fork").Process(target=write)
worker.start() or worker.join()
write()
""",
        where,
        str(Path(__file__).parent),
    )
    assert "://" in where or [*Path(where).parent.iterdir()] == [Path(where)]
    assert states(ledger) == ["staged"] * 3
    ledger.verify()


# Errors.


@pytest.mark.parametrize(("busy", "timeout"), [(0.2, 60), (60, 0.3)], ids=["busy", "timeout"])
@sync_and_async
async def test_write_is_not_sent_while_another_process_holds_the_ledger_also_in_frozen_time(
    client_kind, ledger, locked, monkeypatch, busy, timeout
) -> None:
    fake = FakeAdService()
    # Not the clock of the fake, which stands still while a thread waits.
    transport = httpx.MockTransport(fake.transport.handle_request)
    options = {"transport": transport, "ledger": ledger, "timeout": timeout}
    async with client_kind.open("https://ads.example.com", **options) as client:
        with locked():
            monkeypatch.setattr(adclient.ledger.database, "BUSY_SECONDS", busy)
            stop_clock(monkeypatch)
            began = monotonic()
            # An async call can end before its thread does.
            problem = r"has locked it" if busy < timeout else "has locked it|the record of"
            with pytest.raises((LedgerError, CallTimeout), match=problem):
                await wait(client.beta.pause_campaign(**CAMPAIGN))
            assert 0.2 <= monotonic() - began < 10
        assert len(fake.requests) == 0
        monkeypatch.undo()
        assert [entry.entry_id for entry in ledger.entries()] == ["entry_of the past"]
        await wait(client.with_options(timeout=30).beta.pause_campaign(**CAMPAIGN))
    assert states(ledger) == ["under way", "staged"]


def test_reservation_that_comes_too_late_is_not_recorded(ledger) -> None:
    def admit_late() -> None:
        WAIT_UNTIL.set(monotonic())
        admit(ledger)

    with pytest.raises(LedgerError, match=r"time of the call is over|respond in time"):
        copy_context().run(admit_late)
    admit(ledger)
    assert states(ledger) == ["under way"]


def test_ledger_that_does_not_exist_is_not_created_by_reading(ledger) -> None:
    uses = [ledger.entries, ledger.unknown, ledger.verify]
    for use in [*uses, lambda: ledger.settle("entry_1", by="kim")]:
        with pytest.raises(LedgerError, match="does not exist; the first write of a client"):
            use()
        assert not ledger.exists()
