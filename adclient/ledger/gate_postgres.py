"""The state of a shared gate in PostgreSQL, whose clock counts."""

import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from adclient.errors import LedgerError
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

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_IS_READY = "SELECT to_regclass('adclient_gate_call') IS NOT NULL"
# With READ COMMITTED, what is read after the wait for the lock is current.
_BEGIN = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = :milliseconds;
SET LOCAL idle_in_transaction_session_timeout = {2000 * BUSY_SECONDS}
"""
# Keys with equal numbers only wait for each other.
_LOCK = f"SELECT pg_advisory_xact_lock({0x41644C68}, :number)"


class PostgresGate(GateDatabase):
    """Tables that need not survive a crash, so a commit does not wait for the disk."""

    def __init__(
        self,
        shown: str,
        connect: "Callable[[], Connection[Any]]",
        reason_of: Callable[[Exception], str | None],
    ) -> None:
        super().__init__(shown, reason_of)
        self._connect = connect
        self._connection: Connection[Any] | None = None
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def __del__(self) -> None:
        self._forget_parents()
        self._drop()

    def execute(self, statements: Sequence[str], values: Values) -> Row | None:
        """Execute statements in one round trip, which is one transaction."""
        all_of_them = [_BEGIN, *statements, "COMMIT"]
        return self._perform(lambda connection: _executed(connection, all_of_them, values))

    def update(self, read: str, values: Values, decide: Callable[[Row], Writes]) -> None:
        """Read a row and write what `decide` returns, in one transaction of two round trips."""

        def work(connection: "Connection[Any]") -> None:
            number = zlib.crc32(str(values["key"]).encode()) - 2**31
            row = _executed(connection, [_BEGIN, _LOCK, read], {**values, "number": number})
            assert row is not None
            statements, written = decide(row)
            _executed(connection, [*statements, "COMMIT"], {**values, **written})

        self._perform(work)

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        self._forget_parents()
        with self._lock:
            self._drop()

    def _perform(self, work: "Callable[[Connection[Any]], T]") -> T:
        """Do the work, on a new connection if the server has closed the one that was kept."""
        from psycopg import OperationalError

        self._forget_parents()
        with self._lock:
            if time.monotonic() > DEADLINE.get():
                raise LedgerError(LOCKED)
            while True:
                is_kept = self._connection is not None
                try:
                    return work(self._connected())
                except BaseException as error:
                    is_lost = self._connection is not None and self._connection.broken
                    self._drop()  # it may be in a transaction
                    if not (is_kept and is_lost and isinstance(error, OperationalError)):
                        raise

    def _connected(self) -> "Connection[Any]":
        from psycopg import ClientCursor

        if self._connection is None:
            self._connection = self._connect()
            # Its statements travel together, and need no preparation.
            self._connection.cursor_factory = ClientCursor
            row = _executed(self._connection, [_IS_READY], {})
            tables = () if row is not None and row[0] else TABLES
            unlogged = [sql.replace("CREATE TABLE", "CREATE UNLOGGED TABLE") for sql in tables]
            statements = [_BEGIN, _LOCK, *unlogged, *CLEAN, "COMMIT"]
            _executed(self._connection, statements, {"number": 0})
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _forget_parents(self) -> None:
        """Forget the connection of a parent process, without closing it, and its lock."""
        if self._pid != os.getpid():
            leaked_on_purpose.append(self._connection)
            self._connection, self._lock, self._pid = None, threading.Lock(), os.getpid()


def _executed(
    connection: "Connection[Any]", statements: Sequence[str], values: Values
) -> Row | None:
    """Execute statements in one round trip; the first row of the last one that can have any."""
    left = min(BUSY_SECONDS, DEADLINE.get() - time.monotonic())
    milliseconds = max(1, round(1000 * left))  # 0 would be no limit
    sql = _translated(";".join(statements))
    cursor = connection.execute(sql, {**values, "milliseconds": milliseconds})
    row: Row | None = None
    while True:
        if cursor.description:
            row = cursor.fetchone()
        if not cursor.nextset():
            return row


@cache
def _translated(sql: str) -> bytes:
    return re.sub(r":(\w+)", r"%(\1)s", sql).replace("%(now)s", _NOW).encode()
