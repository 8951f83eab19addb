"""The databases of a shared gate: a file beside that of a ledger, or a table in PostgreSQL."""

import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adclient._tasks.clock import monotonic
from adclient.errors import LedgerError
from adclient.extend import Turn
from adclient.ledger.database import BUSY_SECONDS, LOCKED, IdleConnections, seconds_left
from adclient.ledger.entry import waiting_until
from adclient.ledger.sqlite import connect

BURST = Turn.LASTS  # seconds: what the rate allows in this time may be sent at once


class GateState(NamedTuple):
    """The row of a key, and the time of the database.

    What was written in the future is ignored: the clock was set back.
    """

    now: float
    paused_at: float = 0.0
    paused_until: float = 0.0
    reserved_at: float = 0.0
    turn_at: float = 0.0  # the last turn that was reserved

    @property
    def pause_left(self) -> float:
        """Seconds until the pause is over; 0 or less if there is none."""
        return self.paused_until - self.now if self.paused_at <= self.now else 0.0

    def next_turn(self, per_second: float) -> float:
        """The end of the next turn, which begins `BURST` seconds earlier.

        One that begins in the past is not over at once: its call has yet to get a slot.
        """
        earliest, is_first = self.now + BURST / 2, not 0 < self.reserved_at <= self.now
        return earliest if is_first else max(earliest, self.turn_at + 1 / per_second)


Decision = tuple[float | None, GateState | None]
"""What is answered, and the state to keep if it is another one."""
Decide = Callable[[GateState], Decision]
ReasonOf = Callable[[Exception], str | None]


_RETRY = 0.0005  # seconds; a transaction takes less
# Both databases read these statements; `:now` is the time of the database.
TABLE = """CREATE TABLE IF NOT EXISTS adclient_gate (
    key TEXT PRIMARY KEY,
    paused_at DOUBLE PRECISION NOT NULL, paused_until DOUBLE PRECISION NOT NULL,
    reserved_at DOUBLE PRECISION NOT NULL, turn_at DOUBLE PRECISION NOT NULL
)"""
# One row, even if the table has none.
READ = """SELECT :now, coalesce(max(paused_at), 0), coalesce(max(paused_until), 0),
    coalesce(max(reserved_at), 0), coalesce(max(turn_at), 0) FROM adclient_gate WHERE key = :key"""
WRITE = """INSERT INTO adclient_gate
VALUES (:key, :paused_at, :paused_until, :reserved_at, :turn_at) ON CONFLICT (key) DO UPDATE
SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
    reserved_at = excluded.reserved_at, turn_at = excluded.turn_at"""


class GateDatabase(ABC):
    """A database with the state of gates.

    `reads` begins a use that changes nothing, and `writes` one that may; both read the state.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]

    def __init__(
        self, shown: str, reason_of: ReasonOf, connect: Callable[[], Any], *, is_kept: bool = True
    ) -> None:
        self._shown, self._reason_of, self._connect = shown, reason_of, connect
        self._connections = IdleConnections(is_kept=is_kept)

    def __str__(self) -> str:
        return self._shown

    def use(self, key: str, decide: Decide, end: float, *, is_read: bool = False) -> float | None:
        """Answer and keep what `decide` makes of the state of a key, in one transaction.

        It may be repeated. `end` is when the time for that is over, by the monotonic clock.

        Raises:
            LedgerError: The database cannot be used.
        """
        last, may_repeat = min(end, monotonic() + BUSY_SECONDS), True
        with waiting_until(end):
            while True:
                try:
                    return self._use(key, decide, is_read)
                except Exception as error:
                    is_explained = isinstance(error, LedgerError)
                    reason = str(error) if is_explained else self._reason_of(error)
                    if reason is None:
                        raise
                    if monotonic() >= last or not (may_repeat or reason == LOCKED):
                        raise LedgerError(reason) from None
                    # The file may have been deleted meanwhile, or the connection closed.
                    may_repeat = may_repeat and reason == LOCKED
                time.sleep(_RETRY)

    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        """Try once, while no other thread uses the connection."""
        kept = self._kept()
        connection = kept or self._connect()
        with self._connections.using(connection):
            if kept is None:
                self._prepare(connection)
            first = self.reads if is_read else self.writes
            answer, state = decide(GateState(*self._execute(connection, *first, key=key)))
            if state is not None:
                self._execute(connection, WRITE, "COMMIT", key=key, **state._asdict())
            elif not is_read:
                self._execute(connection, "COMMIT")
            return answer

    def _kept(self) -> Any:
        """The connection of the last use, if it can still be used."""
        return self._connections.take()

    @abstractmethod
    def _prepare(self, connection: Any) -> None:
        """Create the table if it is missing, and set up a new connection."""

    @abstractmethod
    def _execute(self, connection: Any, *statements: str, **values: str | float) -> Any:
        """Execute statements; the first row of the last one that has any."""


_APPLICATION_ID = 0x41644774  # "AdGt"
_FIND = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
_CREATE = ("BEGIN IMMEDIATE", TABLE, f"PRAGMA application_id = {_APPLICATION_ID}", "COMMIT")
# SQLite in a child that is forked during a transaction assumes that it has the parent's locks.
_IN_USE = threading.RLock()
if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_IN_USE.acquire, after_in_parent=_IN_USE.release, after_in_child=_IN_USE.release
    )


class SQLiteGate(GateDatabase):
    """A file beside that of a ledger, which is cheap to write: it need not survive a power failure.

    It may be deleted between two uses, though a connection stays open.
    """

    reads: tuple[str, ...] = (READ,)
    writes: tuple[str, ...] = ("BEGIN IMMEDIATE", READ)

    def __init__(self, ledger: Path, reason_of: ReasonOf, now: Callable[[], datetime]) -> None:
        # All symbolic links to a ledger lead to the same gate.
        self._path = Path(f"{os.path.realpath(ledger)}-gate")
        self._now = now
        opened = partial(connect, self._path, may_create=True)
        # Windows deletes no file that is open.
        super().__init__(str(self._path), reason_of, opened, is_kept=os.name != "nt")

    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        with _IN_USE:
            return super()._use(key, decide, is_read)

    def _kept(self) -> Any:
        if connection := super()._kept():
            with suppress(OSError):
                if os.path.samestat(self._path.stat(), connection.file):
                    return connection
            connection.close()
        return None

    def _prepare(self, connection: Any) -> None:
        application_id, tables = connection.execute(_FIND).fetchone()
        if application_id != _APPLICATION_ID and (application_id or tables):
            raise LedgerError("it is an SQLite database, but not that of a gate")
        connection.execute("PRAGMA synchronous = OFF")
        for statement in () if application_id else _CREATE:
            connection.execute(statement)

    def _execute(self, connection: Any, *statements: str, **values: str | float) -> Any:
        row = None
        for statement in statements:
            now = {"now": self._now().timestamp()} if statement == READ else {}
            row = connection.execute(statement, values | now).fetchone() or row
        return row


_NOW = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_IS_MISSING = "SELECT to_regclass('adclient_gate') IS NULL"
# Its rows need not survive a crash, so a commit does not wait for the disk.
_CREATE_UNLOGGED = TABLE.replace("CREATE TABLE", "CREATE UNLOGGED TABLE")
# With READ COMMITTED, what is read after the wait for the lock is current.
_BEGIN = f"""BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = :milliseconds;
SET LOCAL idle_in_transaction_session_timeout = {2000 * BUSY_SECONDS}"""
_LOCK = f"SELECT pg_advisory_xact_lock({0x41644C68}, hashtext(:key))"


class PostgresGate(GateDatabase):
    """A table in PostgreSQL, whose clock counts; all threads of a process share a connection."""

    reads: tuple[str, ...] = (_BEGIN, READ, "COMMIT")
    writes: tuple[str, ...] = (_BEGIN, _LOCK, READ)

    def __init__(self, shown: str, reason_of: ReasonOf, connect: Callable[[], Any]) -> None:
        super().__init__(shown, reason_of, connect)
        self._lock, self._pid = threading.Lock(), os.getpid()

    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        if self._pid != os.getpid():  # another thread of the parent may hold its lock
            self._lock, self._pid = threading.Lock(), os.getpid()
        if not self._lock.acquire(timeout=seconds_left()):
            raise LedgerError("other threads use its connection")
        try:
            return super()._use(key, decide, is_read)
        finally:
            self._lock.release()

    def _prepare(self, connection: Any) -> None:
        from psycopg import ClientCursor

        # Its statements travel together, and need no preparation.
        connection.cursor_factory = ClientCursor
        if self._execute(connection, _IS_MISSING)[0]:
            self._execute(connection, _BEGIN, _LOCK, _CREATE_UNLOGGED, "COMMIT", key="")

    def _execute(self, connection: Any, *statements: str, **values: str | float) -> Any:
        milliseconds = max(1, round(1000 * seconds_left()))  # 0 would be no limit
        sql = re.sub(r":(\w+)", r"%(\1)s", ";".join(statements))  # in one round trip
        sql = sql.replace("%(now)s", _NOW)
        cursor = connection.execute(sql, {**values, "milliseconds": milliseconds})
        row = None
        while True:
            if cursor.description:
                row = cursor.fetchone()
            if not cursor.nextset():
                return row
