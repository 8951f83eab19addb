"""The state of a shared gate in PostgreSQL, whose clock counts."""

import os
import re
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from adclient.errors import LedgerError
from adclient.gate.database import READ, TABLE, WRITE, Decide, GateDatabase, State
from adclient.ledger.database import BUSY_SECONDS, seconds_left
from adclient.ledger.idle import IdleConnections

if TYPE_CHECKING:
    from adclient.ledger.postgres_connection import TimedConnection

_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_IS_MISSING = "SELECT to_regclass('adclient_gate') IS NULL"
# Its rows need not survive a crash, so a commit does not wait for the disk.
_CREATE = TABLE.replace("CREATE TABLE", "CREATE UNLOGGED TABLE")
# With READ COMMITTED, what is read after the wait for the lock is current.
_BEGIN = f"""BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = :milliseconds;
SET LOCAL idle_in_transaction_session_timeout = {2000 * BUSY_SECONDS}"""
_LOCK = f"SELECT pg_advisory_xact_lock({0x41644C68}, hashtext(:key))"


class PostgresGate(GateDatabase):
    """A table in PostgreSQL, and a connection that all threads of a process share."""

    def __init__(
        self,
        shown: str,
        connect: "Callable[[], TimedConnection]",
        reason_of: Callable[[Exception], str | None],
    ) -> None:
        super().__init__(shown, reason_of)
        self._connect = connect
        self._connections: IdleConnections[TimedConnection] = IdleConnections(is_kept=True)
        self._lock, self._pid = threading.Lock(), os.getpid()

    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        if self._pid != os.getpid():  # another thread of the parent may hold its lock
            self._lock, self._pid = threading.Lock(), os.getpid()
        if not self._lock.acquire(timeout=seconds_left()):
            raise LedgerError("other threads use its connection")
        try:
            connection = self._connections.take() or self._open()
            with self._connections.using(connection):
                first = (_BEGIN, READ, "COMMIT") if is_read else (_BEGIN, _LOCK, READ)
                answer, state = decide(State(*_execute(connection, *first, key=key)))
                if state is not None:
                    _execute(connection, WRITE, "COMMIT", key=key, **state._asdict())
                elif not is_read:
                    _execute(connection, "COMMIT")
                return answer
        finally:
            self._lock.release()

    def _open(self) -> "TimedConnection":
        from psycopg import ClientCursor

        connection = self._connect()
        # Its statements travel together, and need no preparation.
        connection.cursor_factory = ClientCursor
        if _execute(connection, _IS_MISSING)[0]:
            _execute(connection, _BEGIN, _LOCK, _CREATE, "COMMIT", key="")
        return connection


def _execute(connection: "TimedConnection", *statements: str, **values: str | float) -> Any:
    """Execute statements in one round trip; the first row of the last one that has any."""
    milliseconds = max(1, round(1000 * seconds_left()))  # 0 would be no limit
    sql = _translated(";".join(statements))
    cursor = connection.execute(sql, {**values, "milliseconds": milliseconds})
    row = None
    while True:
        if cursor.description:
            row = cursor.fetchone()
        if not cursor.nextset():
            return row


@cache
def _translated(sql: str) -> str:
    return re.sub(r":(\w+)", r"%(\1)s", sql).replace("%(now)s", _NOW)
