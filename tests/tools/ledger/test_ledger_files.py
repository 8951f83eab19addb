"""The file of a ledger: its settings, and errors before anything is sent, which name the path."""

import gc
import os
import random
import resource
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from cases import each_case
from ledger_tests import CAMPAIGN, admit, an_entry, stage, states
from plans import pause, plan_of

from adclient import ConfigurationError, LedgerError
from adclient.ledger import Entry, SQLiteLedger, open_ledger
from adclient.ledger.database import _close_everywhere
from adclient.ledger.sqlite import connect
from adclient.testing import FakeAdService


def test_file_of_a_ledger_is_private(ledger, where) -> None:
    modes = {}

    def check(_) -> None:
        modes.update((f.suffix, f.stat().st_mode & 0o777) for f in Path(where).parent.iterdir())

    old = os.umask(0)
    try:
        ledger.reserve(an_entry(), check)
    finally:
        os.umask(old)
    assert modes == {".db": 0o600, ".db-wal": 0o600, ".db-shm": 0o600}


def test_replaced_row_is_refused(ledger, execute) -> None:
    """SQLite deletes what is replaced without the trigger for deletions."""
    stage(ledger)
    copy = "SELECT * FROM adclient_ledger WHERE number = 1"
    with pytest.raises(sqlite3.IntegrityError, match="a ledger is append-only"):
        execute(f"INSERT OR REPLACE INTO adclient_ledger {copy}")


def test_rows_are_written_to_the_disk(ledger) -> None:
    """A test cannot cut the power; these are the settings with which SQLite survives that."""
    stage(ledger)
    with ledger._transaction("read") as transaction:
        execute = transaction.connection.execute
        assert execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert execute("PRAGMA synchronous").fetchone() == (2,)


def test_path_may_be_relative_and_have_any_characters(tmp_path, monkeypatch) -> None:
    # Other systems refuse names that are not Unicode.
    name = "50%?#ä &modeof=x" + (os.fsdecode(b"\xff") if sys.platform == "linux" else "")
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger(Path(name))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    admit(ledger)
    assert (tmp_path / name).exists()


def test_place_without_a_directory_or_of_one_is_refused(assert_refuses_a_write, tmp_path) -> None:
    ledger = open_ledger(tmp_path / "missing" / "drafts.db")
    assert_refuses_a_write(ledger, "its directory does not exist")
    assert not ledger.exists()
    problem = "this user cannot open it|it is not an SQLite database"
    assert_refuses_a_write(open_ledger(tmp_path), problem)


def test_database_of_something_else_is_refused(
    assert_refuses_a_write, ledger, execute, where
) -> None:
    newer = ["PRAGMA application_id = 1097092199", "PRAGMA user_version = 3"]
    for problem, *sql in (
        ("it is an SQLite database, but not a ledger", "CREATE TABLE t (x)"),
        ("it is an SQLite database, but not a ledger", "PRAGMA application_id = 7"),
        ("its format is 3, and this version of adclient knows format 2", *newer),
    ):
        Path(where).unlink(missing_ok=True)
        execute(*sql)
        before = Path(where).read_bytes()
        assert_refuses_a_write(ledger, problem)
        assert Path(where).read_bytes() == before


@pytest.fixture
def uses(where):
    """Every use of a ledger, each of which opens it anew."""
    entry = Entry(entry_id="entry_1", operation="beta.pause_campaign", account_id="a")
    use = [
        lambda ledger: ledger.entries(),
        lambda ledger: ledger.unknown(),
        lambda ledger: ledger.verify(),
        lambda ledger: ledger.settle("entry_1", by="kim"),
        lambda ledger: ledger.reserve(attrs.evolve(entry, entry_id="new"), lambda usage: None),
        lambda ledger: ledger.end(attrs.evolve(entry, state="staged", draft_id="draft_1")),
        lambda ledger: ledger.exists(),
    ]

    def uses() -> list[str]:
        """The errors of the uses that fail."""
        found = []
        for each in use:
            try:
                each(open_ledger(where))
            except LedgerError as error:
                found.append(str(error))
        assert "\n" not in "".join(found)
        return found

    return uses


def test_foreign_file_is_a_ledger_error_in_every_use(assert_refuses_a_write, uses, where) -> None:
    # SQLite would take one of a single byte for an empty file, and overwrite it.
    for foreign in (b"x", b"SQLite format 3\0" + random.Random(1).randbytes(9000)):
        Path(where).write_bytes(foreign)
        assert_refuses_a_write(open_ledger(where), "it is not an SQLite database")
        assert len(uses()) == 6
        assert Path(where).read_bytes() == foreign


def test_empty_file_is_no_ledger_until_something_is_written(where, ledger) -> None:
    Path(where).touch()
    with pytest.raises(LedgerError, match="does not exist"):
        ledger.entries()
    assert not ledger.exists()
    assert Path(where).stat().st_size == 0
    admit(ledger)
    assert ledger.exists()


def test_user_who_can_only_read_needs_a_copy() -> None:
    # Other temporary directories, such as that of pytest, may be closed to other users.
    with TemporaryDirectory(dir="/tmp" if os.path.isdir("/tmp") else None) as folder:
        path, me = Path(folder, "drafts.db"), os.geteuid()
        stage(ledger := open_ledger(path))
        os.chmod(folder, 0o555)
        path.chmod(0o444)
        os.seteuid(me or 65534)  # root could write
        try:
            for use in (ledger.verify, lambda: admit(ledger, 2)):
                with pytest.raises(LedgerError, match="read-only; this user can read a copy"):
                    use()
        finally:
            os.seteuid(me)
            os.chmod(folder, 0o755)
        assert states(ledger) == ["staged"]


UPDATE_LAST, WHERE_LAST = "UPDATE adclient_ledger SET", "WHERE number = 2"


@each_case(
    "sql",
    "DROP TABLE adclient_ledger",
    "ALTER TABLE adclient_ledger DROP COLUMN recorded_at",
    f"{UPDATE_LAST} number = 'x', hash = 5, entry = x'ff', at = 7, day = x'01' {WHERE_LAST}",
    f"{UPDATE_LAST} drafts_of_day = 'many', day = date() {WHERE_LAST}",
    "DROP TABLE adclient_ledger; CREATE VIEW adclient_ledger AS SELECT 1 AS number",
)
def test_tampered_ledger_raises_nothing_but_ledger_errors(uses, where, sql) -> None:
    Path(where).unlink(missing_ok=True)
    stage(open_ledger(where))
    with closing(sqlite3.connect(where)) as connection:
        for event in ("update", "delete", "insert"):
            connection.execute(f"DROP TRIGGER adclient_ledger_{event}")
        connection.executescript(sql)
    assert uses()


def test_damaged_file_raises_nothing_but_ledger_errors(uses, where, ledger, pytestconfig) -> None:
    rounds = 15 * pytestconfig.getoption("seeds")
    for number in range(9):
        stage(ledger, number, change=f"plan:{number}")
    head = ledger.verify()
    whole, chance, errors = Path(where).read_bytes(), random.Random(5), []
    for _ in range(rounds):
        damaged, start = bytearray(whole), chance.randrange(len(whole))
        size = min(chance.choice([1, 50, 3000]), len(whole) - start)
        damaged[start : start + chance.choice([1, 4, 50, 4096])] = chance.randbytes(size)
        # The schema, whose damage SQLite quotes in its messages.
        damaged[chance.randrange(4096)] = chance.randrange(256)
        Path(where).write_bytes(damaged)
        errors += uses()
        ledger = open_ledger(where)
        with suppress(LedgerError):
            ledger.verify(head=head)
            assert len([each for each in ledger.entries() if each.draft_id]) >= 9
    assert len(errors) > 3 * rounds


def test_message_of_sqlite_that_is_no_unicode_is_a_ledger_error(uses, where, ledger) -> None:
    stage(ledger)
    whole = Path(where).read_bytes()
    Path(where).write_bytes(whole.replace(b"ON adclient_ledger (", b"ON adclient_ledge\xff ("))
    errors = uses()
    assert len(errors) == 6
    assert all("the file is corrupt" in error for error in errors)


def test_damaged_index_is_found_and_stages_no_plan_again(ledger, execute, tmp_path, where) -> None:
    fake, plan = FakeAdService(), plan_of(tmp_path, pause())
    with fake.client(ledger=ledger) as client:
        assert plan.stage(client).exit_code == 0
        ledger.close()  # which moves the rows of the -wal file
        ledger.verify()  # on a connection that is kept, and has read all of it
        roots = dict(execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'index'"))
        with Path(where).open("r+b") as file:  # a page of an index that leads nowhere
            file.seek((roots["adclient_ledger_change"] - 1) * 4096)
            file.write(b"\x0a\0\0\0\0\x10" + bytes(4090))
        assert ledger.entries()[0].state == "staged"
        with pytest.raises(LedgerError, match=r"the file is corrupt: .*index adclient_ledger_chan"):
            ledger.verify()
        report = plan.stage(client)
    assert [change.verdict for change in report.changes] == ["not tried"]
    assert (report.exit_code, len(fake.requests)) == (5, 1)
    assert "the file is corrupt" in report.ledger_problem


@each_case("path", *(":MEMORY:", Path(":memory:"), "file:drafts.db?mode=memory", "", " ", "a\0b"))
def test_path_of_no_file_is_refused_with_advice(path) -> None:
    for opened in (SQLiteLedger, open_ledger):
        with pytest.raises(ConfigurationError, match=r"outlives the process, not '.*a test"):
            opened(path)


def test_full_disk_is_refused_until_there_is_space(assert_refuses_a_write, ledger) -> None:
    stage(ledger)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, old[1]))
    try:
        assert_refuses_a_write(ledger, "disk")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    stage(ledger, 2)
    assert states(ledger) == ["staged", "staged"]
    ledger.verify()


@pytest.mark.parametrize(
    ("replace", "problem"),
    [
        (os.unlink, "No such file"),
        (lambda path: (os.rename(path, path + ".old"), Path(path).touch()), "replaced by another"),
        (lambda path: os.truncate(path, 0), "replaced by another"),
    ],
    ids=["removed", "replaced", "emptied"],
)
def test_ledger_whose_file_was_replaced_is_refused(
    assert_refuses_a_write, ledger, where, replace, problem
) -> None:
    """Otherwise the rows would go to the removed file, or the caps would begin again."""
    stage(ledger)
    with FakeAdService().client(ledger=ledger) as client:
        client.beta.pause_campaign(**CAMPAIGN)
        replace(where)
        for _ in range(2):
            assert_refuses_a_write(ledger, problem)
        assert not Path(where).exists() or Path(where).stat().st_size == 0


def test_rows_survive_others_that_change_files_between_two_writes(ledger, where) -> None:
    stage(ledger)
    older = Path(where).read_bytes()
    with FakeAdService().client(ledger=ledger) as client:
        client.beta.pause_campaign(**CAMPAIGN)
        os.unlink(f"{where}-wal")
        client.beta.pause_campaign(**CAMPAIGN)
        assert states(open_ledger(where)) == ["staged"] * 3
        Path(where).write_bytes(older)
        client.beta.pause_campaign(**CAMPAIGN)
    ledger.verify()
    assert states(ledger) == ["staged"] * 4


def test_child_that_was_forked_in_a_transaction_is_refused(ledger, where, monkeypatch) -> None:
    def check(_) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)  # as in a child that is forked now
            with pytest.raises(LedgerError, match="this process was forked while a thread"):
                open_ledger(where).entries()

    _close_everywhere()  # what the garbage collector may otherwise find in the "child"
    ledger.reserve(an_entry(), check)
    _close_everywhere()
    monkeypatch.setattr(os, "getpid", lambda: -1)  # and as in one that is forked later
    assert states(open_ledger(where)) == ["unknown"]


@pytest.mark.filterwarnings(
    "ignore:unclosed database", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_connection_dropped_by_an_interrupt_is_not_in_use(ledger, where, monkeypatch) -> None:
    stage(ledger)
    _close_everywhere()
    connect(Path(where), may_create=False)  # which an interrupt may drop before it is kept
    gc.collect()
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a child that is forked later
    assert states(open_ledger(where)) == ["staged"]


def test_text_that_is_no_unicode_is_a_bad_row(ledger, tamper) -> None:
    stage(ledger)
    tamper("UPDATE adclient_ledger SET entry = CAST(x'ff' AS TEXT) WHERE number = 2")
    with pytest.raises(LedgerError, match="row 2 was changed"):
        ledger.verify()
