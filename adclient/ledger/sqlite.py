"""A ledger in a file."""

import os
import re
import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote

from adclient._core.redact import one_line
from adclient._display.notebook import short
from adclient.errors import ConfigurationError
from adclient.ledger.patience import Patience
from adclient.ledger.rows import SCHEMA, DatabaseConnection, Transaction
from adclient.ledger.sql import BUSY_SECONDS, LOCKED, MISSING, SQLLedger

_APPLICATION_ID = 0x41644C67  # "AdLg"
_FORMAT = 1
_MARKS = (f"PRAGMA application_id = {_APPLICATION_ID}", f"PRAGMA user_version = {_FORMAT}")
# The last one refuses `INSERT OR REPLACE`, which deletes a row without the trigger for that.
_APPEND_ONLY = tuple(
    f"""
    CREATE TRIGGER IF NOT EXISTS adclient_ledger_{event} BEFORE {event} ON adclient_ledger
    {condition} BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END
    """
    for event, condition in (
        ("update", ""),
        ("delete", ""),
        ("insert", "WHEN new.number <= (SELECT max(number) FROM adclient_ledger)"),
    )
)
_SMALLEST_PAGE = 512  # bytes
_REASONS = {
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database",
    sqlite3.SQLITE_CORRUPT: "the file is corrupt",
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened for writing, or its directory cannot",
}


class SQLiteLedger(SQLLedger):
    """A ledger in a file, which all threads and processes of one machine can share.

    The first write creates the file, an SQLite database in WAL mode that only its owner can read.
    Each row is on the disk before its request is sent. Rows are only added, and each contains a
    hash of the one before, which detects accidents (see `verify`). A ledger cannot approve a draft.

    Args:
        path: The file. Its directory must exist, and must not be on a network drive.
        now: A function that returns the current time, for tests; None for the clock of the machine.

    Raises:
        ConfigurationError: The path is empty, a URI of SQLite, or that of a database in memory.

    Examples:
        >>> from adclient import Policy, SQLiteLedger
        >>> from adclient.testing import FakeAdService
        >>> ledger = SQLiteLedger("drafts.db")
        >>> policy = Policy(drafts_per_day=20)
        >>> with FakeAdService().client(policy=policy, ledger=ledger) as client:
        ...     draft = client.beta.pause_campaign(
        ...         account_id="account_b204", campaign_id="campaign_57a7"
        ...     )
        >>> entry = ledger.entries(account_id="account_b204")[0]
        >>> entry.state, entry.draft_id == draft.draft_id
        ('staged', True)
    """

    __module__ = "adclient.ledger"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    _begin_writing = "BEGIN IMMEDIATE"

    def __init__(
        self, path: str | os.PathLike[str], *, now: Callable[[], datetime] | None = None
    ) -> None:
        text = os.fsdecode(path)
        # A database in memory or a URI of SQLite: as the name of a file, both are mistakes.
        if not text.strip() or "\0" in text or re.match("file:|:memory:", text, re.IGNORECASE):
            raise ConfigurationError(
                "a ledger needs the path of a file that outlives the process, not "
                f"{short(text)!r}; in a test, use one in a temporary directory",
                argument="path",
            )
        self._path = Path(text).absolute()
        self._identity: tuple[int, int] | None = None
        super().__init__(str(self._path), now)

    def _connect(self, *, may_create: bool) -> DatabaseConnection:
        if not self._path.parent.is_dir():
            raise self._error("its directory does not exist")
        uri = f"{self._path.as_uri()}?mode=rw"  # which creates no file: reading must not
        if self._path.exists():
            # SQLite takes a file shorter than a page for an empty one, and overwrites it.
            if 0 < self._path.stat().st_size < _SMALLEST_PAGE:
                raise self._error(_REASONS[sqlite3.SQLITE_NOTADB])
            connection = _open(uri)
        elif may_create:
            # SQLite creates a file with the mode of this one.
            with NamedTemporaryFile(dir=self._path.parent) as private:
                connection = _open(f"{uri}c&modeof={quote(os.fsencode(private.name))}")
        else:
            raise self._error(MISSING)
        try:
            self._prepare(connection, may_create=may_create)
            status = self._path.stat()
        except BaseException:
            connection.close()
            raise
        self._identity = (status.st_dev, status.st_ino)
        return connection

    def _prepare(self, connection: sqlite3.Connection, *, may_create: bool) -> None:
        # Damaged text must not raise: `verify` finds its row.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        # With NORMAL in WAL mode, a power failure could lose the last transactions.
        connection.execute("PRAGMA synchronous = FULL")
        [has_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not has_tables and _pragma(connection, "application_id") == 0:
            if not may_create:
                raise self._error(MISSING)
            connection.execute("PRAGMA journal_mode = WAL")  # not possible in a transaction
            # Another process may be first, so the statements have `IF NOT EXISTS`.
            connection.execute(self._begin_writing)
            for statement in (*SCHEMA, *_APPEND_ONLY, *_MARKS):
                connection.execute(statement)
            connection.execute("COMMIT")
        if _pragma(connection, "application_id") != _APPLICATION_ID:
            raise self._error("it is an SQLite database, but not a ledger")
        if (version := _pragma(connection, "user_version")) != _FORMAT:
            raise self._error(
                f"its format is {version}, and this version of adclient knows format {_FORMAT}"
            )

    def _begin(self, begin: str, waiting: Patience, *, may_create: bool) -> DatabaseConnection:
        # A file that has replaced the first one does not contain its drafts.
        if self._identity is not None:
            status = self._path.stat()
            if (status.st_dev, status.st_ino) != self._identity:
                raise self._error("it was replaced by another file while it was in use")
        # SQLite's own busy handler backs off, so a process that writes all the time starves others.
        # While another process sets up the same new file, it does not wait at all.
        deadline = time.monotonic() + self._longest_wait(waiting)
        while True:
            try:
                return self._begin_at_once(begin, may_create=may_create)
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.001)

    def _begin_at_once(self, begin: str, *, may_create: bool) -> DatabaseConnection:
        connection = self._link.open(partial(self._connect, may_create=may_create))
        # A read takes its lock after BEGIN, so SQLite waits for it.
        milliseconds = 0 if begin == self._begin_writing else 1000 * BUSY_SECONDS
        connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        connection.execute(begin)
        return connection

    def _exists(self) -> bool:
        try:
            return self._path.stat().st_size > 0
        except (FileNotFoundError, NotADirectoryError):
            return False

    def _damage(self, ledger: Transaction) -> str | None:
        # No hash covers the indexes, and a damaged one hides rows.
        [problem] = ledger.connection.execute("PRAGMA integrity_check(1)").fetchone()
        return None if problem == "ok" else f"the file is corrupt: {one_line(str(problem))}"

    def _reason(self, error: BaseException) -> str | None:
        if isinstance(error, OSError):
            return one_line(error.strerror or str(error))
        if isinstance(error, UnicodeDecodeError):  # of SQLite's message, which quotes the file
            return _REASONS[sqlite3.SQLITE_CORRUPT]
        if not isinstance(error, sqlite3.Error):
            return None
        return _REASONS.get(_code(error), one_line(str(error)))


def _code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF  # the primary code of an extended one


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: tuple[int] = connection.execute(f"PRAGMA {name}").fetchone()
    return value[0]


def _open(uri: str) -> sqlite3.Connection:
    # Autocommit, as `sqlite3` would begin transactions by itself. All threads use one connection,
    # which the lock of the link protects.
    return sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
