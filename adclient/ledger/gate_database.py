"""Where a shared gate keeps its state: the common part of `gate_file.py` and `gate_postgres.py`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from adclient.errors import LedgerError

Row = Sequence[Any]
Values = Mapping[str, str | float]
Writes = tuple[Sequence[str], Values]

# Both databases read these statements; `:now` is the time of the database.
TABLES = (
    """
    CREATE TABLE IF NOT EXISTS adclient_gate (
        key TEXT PRIMARY KEY,
        paused_at DOUBLE PRECISION NOT NULL,
        paused_until DOUBLE PRECISION NOT NULL,
        next_at DOUBLE PRECISION NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS adclient_gate_call (
        key TEXT NOT NULL,
        call_id TEXT NOT NULL,
        is_sent INTEGER NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        until DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (key, call_id)
    )
    """,
)
# When a process begins, so that rows of keys that nobody uses any more do not pile up.
CLEAN = (
    "DELETE FROM adclient_gate WHERE paused_until <= :now AND next_at <= :now",
    "DELETE FROM adclient_gate_call WHERE until <= :now",
)
READ_PAUSE = "SELECT :now, paused_at, paused_until FROM adclient_gate WHERE key = :key"
READ = """
SELECT :now, coalesce(paused_at, 0), coalesce(paused_until, 0), coalesce(next_at, 0),
    ahead, under_way
FROM (
    SELECT count(*) FILTER (WHERE is_sent = 0 AND at < :arrived_at) AS ahead,
        count(*) FILTER (WHERE is_sent = 1 AND call_id <> :call_id) AS under_way
    FROM adclient_gate_call WHERE key = :key AND at <= :now AND until > :now
) AS calls LEFT JOIN adclient_gate ON adclient_gate.key = :key
"""
# A row from the future is of a clock that was set back.
CLEAR = """
DELETE FROM adclient_gate_call
WHERE key = :key AND (call_id = :call_id OR until <= :now OR at > :now)
"""
PLACE = "INSERT INTO adclient_gate_call VALUES (:key, :call_id, :is_sent, :at, :until)"
LEAVE = "DELETE FROM adclient_gate_call WHERE key = :key AND call_id = :call_id"
SET_NEXT = """
INSERT INTO adclient_gate VALUES (:key, 0, 0, :next_at)
ON CONFLICT (key) DO UPDATE SET next_at = excluded.next_at
"""
PAUSE = """
INSERT INTO adclient_gate VALUES (:key, :now, :now + :asked, 0) ON CONFLICT (key) DO UPDATE
SET paused_at = excluded.paused_at, paused_until = excluded.paused_until
WHERE adclient_gate.paused_until < excluded.paused_until
    OR adclient_gate.paused_at > excluded.paused_at
"""

# Connections of a parent process. To close one in a forked child could disturb the parent.
leaked_on_purpose: list[object] = []


class GateDatabase(ABC):
    """Keeps a connection open, which all threads of a process share.

    `DEADLINE` limits the time that it waits for other users of the database.
    """

    def __init__(self, shown: str, reason_of: Callable[[Exception], str | None]) -> None:
        self._shown = shown
        self.reason_of = reason_of

    def __str__(self) -> str:
        return self._shown

    @abstractmethod
    def execute(self, statements: Sequence[str], values: Values) -> Row | None:
        """Execute statements in order; the first row of the last one."""

    @abstractmethod
    def update(self, read: str, values: Values, decide: Callable[[Row], Writes]) -> None:
        """Read a row and write what `decide` returns, in one transaction; it may be repeated."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; the next use opens another one."""

    @contextmanager
    def errors_explained(self) -> Generator[None]:
        """Raise a `LedgerError` in place of an error of the database."""
        try:
            yield
        except Exception as error:
            reason = str(error) if isinstance(error, LedgerError) else self.reason_of(error)
            if reason is None:
                raise
            raise LedgerError(reason) from None
