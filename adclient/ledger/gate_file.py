"""The state of a shared gate in a file beside that of a ledger.

It is not in the ledger's own file. A connection that stays open there would endanger the ledger:
if the program opens and closes the file, such as to copy it, or forks, SQLite loses its locks, and
another process deletes rows. This file is locked during a transaction only, and can be lost.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from adclient.ledger.database import BUSY_SECONDS, LOCKED
from adclient.ledger.entry import DEADLINE
from adclient.ledger.gate_database import (
    CLEAN,
    TABLES,
    GateDatabase,
    Row,
    Values,
    Writes,
    leaked_on_purpose,
)

T = TypeVar("T")

_RETRY = 0.0005  # seconds; a transaction takes a tenth of that
# SQLite in a child that is forked during a transaction assumes that it has the parent's locks.
_IN_USE = threading.RLock()
if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_IN_USE.acquire, after_in_parent=_IN_USE.release, after_in_child=_IN_USE.release
    )


class GateFile(GateDatabase):
    """An SQLite database that is cheap to write, as it need not survive a power failure."""

    def __init__(
        self,
        ledger: Path,
        create_ledger: Callable[[], None],
        reason_of: Callable[[Exception], str | None],
        now: Callable[[], datetime],
    ) -> None:
        self._ledger = ledger
        self._path = ledger.with_name(f"{ledger.name}-gate")
        super().__init__(str(self._path), reason_of)
        self._create_ledger = create_ledger
        self._now = now
        self._connection: sqlite3.Connection | None = None
        self._inode = 0  # of the file of this connection
        self._pid = os.getpid()

    def __del__(self) -> None:
        self._forget_parents()
        if self._connection is not None:
            self._connection.close()

    def execute(self, statements: Sequence[str], values: Values) -> Row | None:
        """Execute statements in order, each a transaction; the first row of the last one."""

        def work(connection: sqlite3.Connection) -> Row | None:
            row: Row | None = None
            for statement in statements:
                row = connection.execute(statement, self._with_now(values)).fetchone()
            return row

        return self._perform(work)

    def update(self, read: str, values: Values, decide: Callable[[Row], Writes]) -> None:
        """Read a row and write what `decide` returns, in one transaction."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            at_now = self._with_now(values)  # after the wait for the lock
            statements, written = decide(connection.execute(read, at_now).fetchone())
            for statement in statements:
                connection.execute(statement, {**at_now, **written})
            connection.execute("COMMIT")

        self._perform(work)

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        with _IN_USE:
            self._forget_parents()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _perform(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work, again and again while another process has locked the file."""
        end = min(time.monotonic() + BUSY_SECONDS, DEADLINE.get())
        while True:
            try:
                with _IN_USE:
                    connection = self._connected()
                    try:
                        return work(connection)
                    finally:
                        connection.rollback()  # what was not committed
            except sqlite3.OperationalError as error:
                if self.reason_of(error) != LOCKED or time.monotonic() > end:
                    raise
            time.sleep(_RETRY)

    def _connected(self) -> sqlite3.Connection:
        """The connection to the file that has the name now: it may have been deleted."""
        self._forget_parents()
        if self._connection is not None:
            try:
                if os.stat(self._path).st_ino == self._inode:
                    return self._connection
            except FileNotFoundError:
                pass
            self._connection.close()
            self._connection = None
        self._create_ledger()  # which also checks the place
        uri = f"{self._path.as_uri()}?mode=rwc&modeof={quote(os.fsencode(self._ledger))}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = PERSIST")
            for statement in (*TABLES, *CLEAN):
                connection.execute(statement, self._with_now({}))
        except BaseException:
            connection.close()
            raise
        self._inode = os.stat(self._path).st_ino
        self._connection = connection
        return connection

    def _with_now(self, values: Values) -> Values:
        return {**values, "now": self._now().timestamp()}

    def _forget_parents(self) -> None:
        """Forget the connection of a parent process, without closing it."""
        if self._pid != os.getpid():
            leaked_on_purpose.append(self._connection)
            self._connection, self._pid = None, os.getpid()
