"""A ledger in a file."""

import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pytest
from cases import each_case
from ledger_tests import *  # noqa: F403
from ledger_tests import CAMPAIGN, admit, an_entry, stage, states
from plans import pause, plan_of

import adclient
from adclient import ConfigurationError, Entry, LedgerError, SQLiteLedger
from adclient.ledger import open_ledger
from adclient.testing import FakeAdService


@pytest.fixture
def where(tmp_path) -> str:
    return str(tmp_path / "drafts.db")


@pytest.fixture
def execute(where):
    """Execute SQL, as anybody with access can."""

    def execute(*statements: str) -> list[tuple]:
        with closing(sqlite3.connect(where)) as connection, connection:
            return [connection.execute(sql).fetchall() for sql in statements][-1]

    return execute


@pytest.fixture
def wipe(where):
    """Start again without a ledger."""

    def wipe() -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(where + suffix).unlink(missing_ok=True)

    return wipe


@pytest.fixture
def tamper(execute):
    """Execute SQL without the triggers."""

    def tamper(sql: str) -> None:
        names = ("update", "delete", "insert")
        execute(*(f"DROP TRIGGER IF EXISTS adclient_ledger_{name}" for name in names), sql)

    return tamper


@pytest.fixture
def locked(where, ledger):
    """A block in which somebody else writes."""
    admit(ledger, "of the past")

    @contextmanager
    def locked():
        with closing(sqlite3.connect(where)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield

    return locked


def test_write_gets_its_turn_beside_processes_that_write_all_the_time(where, ledger) -> None:
    admit(ledger, "of the past")
    has_begun, has_ended = threading.Event(), threading.Event()

    def write_all_the_time() -> None:
        with closing(sqlite3.connect(where, timeout=60)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            has_begun.set()
            time.sleep(0.38)  # SQLite itself looks after 0.43, 0.53, 0.63 seconds, and so on
            while not has_ended.wait(0.07):
                connection.rollback()
                time.sleep(0.03)
                connection.execute("BEGIN IMMEDIATE")

    other = threading.Thread(target=write_all_the_time)
    other.start()
    has_begun.wait()
    try:
        admit(ledger)
    finally:
        has_ended.set()
        other.join()
    assert len(ledger.entries()) == 2


# Errors of files. Each is raised before anything is sent, and names the path.


@pytest.fixture
def assert_refuses_a_write(caplog):
    def assert_refuses_a_write(ledger, problem: str) -> None:
        fake = FakeAdService()
        client = fake.client(ledger=ledger)
        with pytest.raises(LedgerError, match=problem) as refused:
            client.beta.pause_campaign(**CAMPAIGN)
        assert len(fake.requests) == 0
        assert ledger._shown in str(refused.value)
        assert "\n" not in str(refused.value)
        assert refused.value.__context__ is None
        assert caplog.text == ""  # one error, and no warning that the end cannot be recorded

    return assert_refuses_a_write


@contextmanager
def as_ordinary_user(path):
    """For root, who may do anything, as somebody else who owns the directory."""
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(path, 65534, 65534)
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.fixture
def directory():
    """A directory that every user can reach."""
    path = Path(tempfile.mkdtemp(dir="/tmp"))  # not below a private TMPDIR
    yield path
    path.chmod(0o700)
    shutil.rmtree(path)


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


def test_clock_is_that_of_the_machine(where) -> None:
    assert abs(admit(open_ledger(where)).at - datetime.now(UTC)) < timedelta(minutes=1)


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


def test_ledger_waits_for_another_process_that_sets_up_the_file(ledger, where, monkeypatch) -> None:
    with closing(sqlite3.connect(where, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waits: list[float] = []

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            other.execute("ROLLBACK")

        monkeypatch.setattr(adclient.ledger.sqlite.time, "sleep", sleep)
        admit(ledger)
    assert waits == [0.001]
    assert states(ledger) == ["admitted"]


def test_place_without_a_directory_or_of_one_is_refused(assert_refuses_a_write, tmp_path) -> None:
    ledger = open_ledger(tmp_path / "missing" / "drafts.db")
    assert_refuses_a_write(ledger, "its directory does not exist")
    assert not ledger.exists()
    problem = "it cannot be opened for writing|it is not an SQLite database"
    assert_refuses_a_write(open_ledger(tmp_path), problem)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("CREATE TABLE t (x)", "it is an SQLite database, but not a ledger"),
        ("PRAGMA application_id = 7", "it is an SQLite database, but not a ledger"),
        (
            "PRAGMA application_id = 1097092199; PRAGMA user_version = 2",
            "its format is 2, and this version of adclient knows format 1",
        ),
    ],
)
def test_database_of_something_else_is_refused(
    assert_refuses_a_write, ledger, execute, where, sql, problem
) -> None:
    execute(*sql.split("; "))
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


FOREIGN = {
    "one byte": b"x",
    "zeros": bytes(8192),
    "a header alone": b"SQLite format 3\0",
    "a header and noise": b"SQLite format 3\0" + random.Random(1).randbytes(9000),
}


@each_case("name", FOREIGN)
def test_foreign_file_is_a_ledger_error_in_every_use(
    assert_refuses_a_write, ledger, uses, where, name
) -> None:
    Path(where).write_bytes(FOREIGN[name])
    assert_refuses_a_write(ledger, "it is not an SQLite database")
    assert len(uses()) == 6
    assert Path(where).read_bytes() == FOREIGN[name]


def test_empty_file_is_no_ledger_until_something_is_written(where, ledger) -> None:
    Path(where).touch()
    with pytest.raises(LedgerError, match="does not exist"):
        ledger.entries()
    assert not ledger.exists()
    assert Path(where).stat().st_size == 0
    admit(ledger)
    assert ledger.exists()


UPDATE_LAST, WHERE_LAST = "UPDATE adclient_ledger SET", "WHERE number = 2"


@each_case(
    "sql",
    [
        "DROP TABLE adclient_ledger",
        "ALTER TABLE adclient_ledger ADD COLUMN more",
        "ALTER TABLE adclient_ledger DROP COLUMN recorded_at",
        f"{UPDATE_LAST} number = 'x', hash = 5, entry = x'ff', at = 7, day = x'01' {WHERE_LAST}",
        f"{UPDATE_LAST} number = 9223372036854775807, drafts_of_day = -1 {WHERE_LAST}",
        f"{UPDATE_LAST} drafts_of_day = 'many', day = date() {WHERE_LAST}",
        "DROP TABLE adclient_ledger; CREATE VIEW adclient_ledger AS SELECT 1 AS number",
    ],
)
def test_tampered_ledger_raises_nothing_but_ledger_errors(uses, where, sql) -> None:
    Path(where).unlink(missing_ok=True)
    stage(open_ledger(where))
    with closing(sqlite3.connect(where)) as connection:
        for event in ("update", "delete", "insert"):
            connection.execute(f"DROP TRIGGER adclient_ledger_{event}")
        connection.executescript(sql)
    assert uses()


def test_damaged_file_raises_nothing_but_ledger_errors(uses, where, ledger) -> None:
    for number in range(9):
        stage(ledger, number, change=f"plan:{number}")
    head = ledger.verify()
    whole, chance, errors = Path(where).read_bytes(), random.Random(5), []
    for _ in range(40):
        damaged = bytearray(whole)
        start = chance.randrange(len(whole))
        damaged[start : start + chance.choice([1, 4, 50, 4096])] = chance.randbytes(
            min(chance.choice([1, 50, 3000]), len(whole) - start)
        )
        # The schema, whose damage SQLite quotes in its messages.
        damaged[chance.randrange(4096)] = chance.randrange(256)
        Path(where).write_bytes(damaged)
        errors += uses()
        ledger = open_ledger(where)
        with suppress(LedgerError):
            ledger.verify(head=head)
            assert len([each for each in ledger.entries() if each.draft_id]) >= 9
    assert len(errors) > 130


def test_damaged_index_is_found_by_verify_and_stages_no_plan_again(
    ledger, execute, tmp_path, where
) -> None:
    fake, plan = FakeAdService(), plan_of(tmp_path, pause())
    with fake.client(ledger=ledger) as client:
        assert plan.stage(client).exit_code == 0
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


@each_case(
    "path",
    [
        *(":memory:", ":MEMORY:", Path(":memory:"), "file::memory:?cache=shared"),
        *("file:drafts.db?mode=memory", "File:drafts.db", "", " ", "a\0b"),
    ],
)
def test_path_of_no_file_is_refused_with_advice(path) -> None:
    for opened in (SQLiteLedger, open_ledger):
        with pytest.raises(ConfigurationError, match=r"outlives the process, not '.*a test"):
            opened(path)


@each_case("kind", ["file", "directory", "empty directory"])
def test_what_is_read_only_is_refused(assert_refuses_a_write, directory, kind) -> None:
    path = directory / f"{kind}.db"
    directory.chmod(0o700)
    with as_ordinary_user(directory):
        ledger = open_ledger(path)
        if kind != "empty directory":
            stage(ledger)
        if kind == "file":
            path.chmod(0o400)
        else:
            directory.chmod(0o500)
        problem = "Permission denied" if kind == "empty directory" else "it is read-only"
        assert_refuses_a_write(ledger, problem)


def test_full_disk_is_refused_until_there_is_space(assert_refuses_a_write, ledger) -> None:
    resource = pytest.importorskip("resource", exc_type=ImportError)
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
        (lambda path: os.truncate(path, 0), "it does not exist"),
    ],
    ids=["removed", "replaced", "emptied"],
)
def test_ledger_whose_file_was_replaced_is_refused(
    assert_refuses_a_write, ledger, where, replace, problem
) -> None:
    """Otherwise the rows would go to the removed file, or the caps would begin again."""
    stage(ledger)
    replace(where)
    for _ in range(2):
        assert_refuses_a_write(ledger, problem)
    assert not Path(where).exists() or Path(where).stat().st_size == 0


def test_file_that_is_replaced_while_a_write_waits_is_refused(
    assert_refuses_a_write, ledger, where, monkeypatch
) -> None:
    stage(ledger)
    begin = ledger._begin_at_once

    def begin_late(*arguments) -> None:
        begin(*arguments)
        os.rename(where, f"{where}.old")
        Path(where).touch()

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "_begin_at_once", begin_late)
        assert len(ledger.entries()) == 1
    assert_refuses_a_write(ledger, "replaced by another")


def test_child_that_was_forked_in_a_transaction_is_refused(ledger, where, monkeypatch) -> None:
    def check(_) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)  # as in a child that is forked now
            with pytest.raises(LedgerError, match="this process was forked while a thread"):
                open_ledger(where).entries()

    ledger.reserve(an_entry(), check)
    assert states(ledger) == ["admitted"]


# A ledger that an earlier version has written.


def test_ledger_of_0_1_0_is_read_verified_and_continued(ledger, where, execute, clock) -> None:
    """It has no actors and no reasons, and was written by that version with WAL."""
    with closing(sqlite3.connect(where)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(Path(__file__).with_name("ledger_0_1_0.sql").read_text("utf-8"))
    clock.now = datetime(2026, 11, 24, tzinfo=UTC)
    head = "c7427b41f9365068f2335d26b3f07c3fa80c889a9846a1b97cebb31d6de2e034"
    assert ledger.verify() == head
    states_before = ["staged", "staged", "refused", "unknown"]
    entries = ledger.entries()
    assert [entry.state for entry in entries] == states_before
    assert (entries[0].diff.after, entries[1].settled_by) == ("PAUSED", "kim")
    assert {(entry.actor, entry.why) for entry in entries} == {(None, None)}
    assert [entry.draft_id for entry in ledger.entries(plan_id="2026-w47")] == ["draft_35ea"]
    assert ledger.entries(actor="kim") == []
    ledger.settle(entries[3], draft_id="draft_7258", by="kim")
    with FakeAdService().client(ledger=ledger, actor="kim") as client:
        client.beta.pause_campaign(**CAMPAIGN)
    assert states(ledger) == ["staged", "staged", "refused", "staged", "staged"]
    assert [entry.actor for entry in ledger.entries(limit=2)] == [None, "kim"]
    assert ledger.verify(head=head) == execute("SELECT hash FROM adclient_ledger")[-1][0]


# Backups, as the page for teams describes them.


@pytest.mark.parametrize("way", ["backup", "VACUUM INTO"])
def test_backup_by_sqlite_is_a_ledger(ledger, where, tmp_path, way) -> None:
    stage(ledger, 1)
    head, path = ledger.verify(), str(tmp_path / "backup.db")
    with (
        closing(sqlite3.connect(where, isolation_level=None)) as writer,
        closing(sqlite3.connect(where)) as source,
        closing(sqlite3.connect(path)) as target,
    ):
        writer.execute("BEGIN IMMEDIATE")  # somebody else writes
        if way == "backup":
            source.backup(target)
        else:
            source.execute("VACUUM INTO ?", [path])
    backup = open_ledger(path)
    assert (backup.verify(), backup.entries()) == (head, ledger.entries())
    stage(ledger, 2)
    newer = ledger.verify()
    assert stage(backup, 3) == backup.entries()[-1]
    assert backup.verify(head=head) != head
    with pytest.raises(LedgerError, match="none of its 4 rows has the hash"):
        backup.verify(head=newer)


def test_copy_of_the_file_alone_lacks_what_is_in_the_wal(ledger, where, tmp_path) -> None:
    stage(ledger, 1)
    with closing(sqlite3.connect(where, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM adclient_ledger").fetchone()
        stage(ledger, 2)
        copy = shutil.copy(where, tmp_path / "copy.db")
    assert (states(ledger), states(open_ledger(copy))) == (["staged"] * 2, ["staged"])


# What needs no file.


def test_entry_that_is_no_json_is_refused(ledger) -> None:
    with pytest.raises(
        LedgerError,
        match=r"drafts\.db: the entry cannot be recorded: entry\.arguments\.x: expected a",
    ):
        admit(ledger, arguments={"x": float("nan")})


def test_ledgers_are_loaded_by_their_names(where) -> None:
    assert repr(open_ledger(where)) == f"<SQLiteLedger {where}>"
    assert adclient.ledger.SQLiteLedger is adclient.SQLiteLedger
    assert adclient.ledger.PostgresLedger is adclient.PostgresLedger
    assert not hasattr(adclient.ledger, "OracleLedger")


@each_case(
    "url",
    [
        "postgresql+psycopg://ads:hunter2@db/ads",
        "POSTGRESQL://ads:hunter2@db/ads",
        "sqlite:///drafts.db",
        "host=db user=ads password=hunter2",
        "user=ads password = hunter2",
    ],
)
def test_url_of_something_else_is_no_file(url) -> None:
    with pytest.raises(LedgerError, match="a file, or a URL that begins with postgresql://") as no:
        open_ledger(url)
    assert "hunter2" not in str(no.value)


def test_url_of_postgres_needs_its_driver(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'adclient\[postgres\]'"):
        open_ledger("postgresql://ads@db.example.com/ads")
