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
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakSet

from adclient._show.signatures import public_in
from adclient._tasks.clock import monotonic
from adclient._values.redact import one_line
from adclient._values.text import short
from adclient.errors import ConfigurationError
from adclient.ledger.database import LOCKED, MISSING, Mode, seconds_left
from adclient.ledger.sql import SQLLedger
from adclient.ledger.transaction import SCHEMA, DatabaseConnection, DatabaseError, Transaction

if TYPE_CHECKING:
    from adclient.gate.databases import GateDatabase

_APPLICATION_ID = 0x41644C67  # "AdLg"
_FORMAT = 2
_SET_FORMAT = f"PRAGMA user_version = {_FORMAT}"
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
# Another process may be first, so the statements have `IF NOT EXISTS`.
_CREATE = (
    "BEGIN IMMEDIATE",
    *SCHEMA,
    *_APPEND_ONLY,
    f"PRAGMA application_id = {_APPLICATION_ID}",
    _SET_FORMAT,
    "COMMIT",
)
_FIND = """
SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version
FROM pragma_application_id, pragma_user_version
"""
_KNOWS_EFFECTIVE_IDS = os.access in os.supports_effective_ids
_SMALLEST_PAGE = 512  # bytes
_REASONS = {
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database",
    sqlite3.SQLITE_CORRUPT: "the file is corrupt",
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_READONLY: "it is read-only; this user can read a copy of it",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "this user cannot open it, or cannot write to its directory",
}
_in_use: "WeakSet[Connection]" = WeakSet()  # an interrupt may drop one that is not closed


@public_in("adclient.ledger")
class SQLiteLedger(SQLLedger):
    """A ledger in a file, which all threads and processes of one machine can share.

    The first write creates the file, an SQLite database in WAL mode. Only its owner can read it; on
    Windows, everybody who can read its folder.
    Each row is on the disk before its request is sent. Rows are only added, and each contains a
    hash of the one before, which detects accidents (see `verify`). A ledger cannot approve a draft.
    Clients keep it open: close them before you copy, move or delete the file.

    Args:
        path: The file. Its directory must exist, and must not be on a network drive.
        now: A function that returns the current time, for tests; None for the clock of the machine.

    Raises:
        ConfigurationError: The path is empty, a URI of SQLite, or that of a database in memory.

    Examples:
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.policy import Policy
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
        self._wal = Path(f"{self._path}-wal")
        self._file: os.stat_result | None = None  # the file that was found to be a ledger
        super().__init__(str(self._path), now)

    def __gate__(self) -> "GateDatabase":
        from adclient.gate.databases import SQLiteGate

        return SQLiteGate(self._path, self._reason, self._now)

    def _exists(self) -> bool:
        return self._path.exists() and self._path.stat().st_size > 0

    def _opened(self, mode: Mode) -> tuple[DatabaseConnection, datetime]:
        # SQLite in a child assumes that it has the locks of its parent, and would lose rows.
        if any(each.pid != os.getpid() for each in [*_in_use]):
            raise DatabaseError(
                "this process was forked while a thread of its parent used a ledger; start "
                "processes with `forkserver` or `spawn`"
            )
        # Another thread may note a later state of the file meanwhile.
        if (known := self._file) is not None:
            file = self._still(known)
            # Somebody else has changed it: a kept connection may have read what is gone.
            if file.st_mtime_ns != known.st_mtime_ns or not self._wal.exists():
                self._connections.close()
                self._file = self._still(known)
        elif not self._path.exists():
            if mode != "create":
                raise DatabaseError(MISSING)
            if not self._path.parent.is_dir():
                raise DatabaseError("its directory does not exist")
        can_write = partial(os.access, self._path, os.W_OK, effective_ids=_KNOWS_EFFECTIVE_IDS)
        if self._path.exists() and not can_write():  # SQLite also writes to read
            raise DatabaseError(_REASONS[sqlite3.SQLITE_READONLY])
        return super()._opened(mode)

    def _still(self, known: os.stat_result) -> os.stat_result:
        """The state of the file, which must be the one that is known, and not shorter."""
        file = self._path.stat()
        # Another file does not contain the drafts of the first one.
        if not os.path.samestat(file, known) or file.st_size < known.st_size:
            raise DatabaseError("it was replaced by another file while it was in use")
        return file

    def _connect(self, mode: Mode) -> DatabaseConnection:
        return connect(self._path, may_create=mode == "create" and self._file is None)

    def _check_and_begin(self, connection: DatabaseConnection, mode: Mode) -> None:
        # SQLite's own busy handler backs off, so a process that writes all the time starves others.
        # While another process sets up the same new file, it does not wait at all.
        deadline = monotonic() + seconds_left()
        while True:
            try:
                self._try_to_begin(connection, mode)
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise
            else:
                if self._file is None:
                    self._file = self._path.stat()
                return
            time.sleep(0.001)

    def _try_to_begin(self, connection: DatabaseConnection, mode: Mode) -> None:
        may_create = mode == "create" and self._file is None  # before another thread creates it
        # With NORMAL in WAL mode, a power failure could lose the last transactions.
        connection.execute("PRAGMA synchronous = FULL")
        tables, application_id, version = connection.execute(_FIND).fetchone()
        if not tables and not application_id:
            if not may_create:
                raise DatabaseError(MISSING)
            connection.execute("PRAGMA journal_mode = WAL")  # not possible in a transaction
            for statement in _CREATE:
                connection.execute(statement)
        elif application_id != _APPLICATION_ID:
            raise DatabaseError("it is an SQLite database, but not a ledger")
        elif not 1 <= version <= _FORMAT:
            raise DatabaseError(
                f"its format is {version}, and this version of adclient knows format {_FORMAT}"
            )
        if mode != "read":
            connection.execute("BEGIN IMMEDIATE")
            if tables and version != _FORMAT:
                connection.execute(_SET_FORMAT)

    def _damage(self, transaction: Transaction) -> str | None:
        # No hash covers the indexes, and a damaged one hides rows.
        [problem] = transaction.connection.execute("PRAGMA integrity_check(1)").fetchone()
        return None if problem == "ok" else f"the file is corrupt: {one_line(str(problem))}"

    def _reason(self, error: Exception) -> str | None:
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


class Connection(sqlite3.Connection):
    """A connection that threads may use one after the other, and that is counted while open."""

    file: os.stat_result  # before it was opened, as it may be replaced at any time

    def __init__(self, uri: str) -> None:
        # Autocommit, as `sqlite3` would begin transactions by itself.
        super().__init__(uri, timeout=0, isolation_level=None, check_same_thread=False, uri=True)
        # Damaged text must not raise: `verify` finds its row.
        self.text_factory: Callable[[bytes], str] = partial(str, encoding="utf-8", errors="replace")
        self.pid: int = os.getpid()
        _in_use.add(self)

    def close(self) -> None:
        """Close it."""
        super().close()
        _in_use.discard(self)


def connect(path: Path, *, may_create: bool) -> Connection:
    """Open a database, which is private if it has to be created."""
    uri = path.as_uri()
    if may_create and not path.exists():
        # SQLite creates a file with the mode of this one; closing a file of ours would drop locks.
        with NamedTemporaryFile(dir=path.parent) as private:
            Connection(f"{uri}?mode=rwc&modeof={quote(os.fsencode(private.name))}").close()
    # SQLite takes a file shorter than a page for an empty one, and overwrites it.
    file = path.stat()
    if 0 < file.st_size < _SMALLEST_PAGE:
        raise DatabaseError(_REASONS[sqlite3.SQLITE_NOTADB])
    connection = Connection(f"{uri}?mode=rw")  # which creates no file: reading must not
    connection.file = file
    return connection
