"""The state of a shared gate in a database: the common part of both kinds."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from adclient._tasks.clock import monotonic
from adclient.errors import LedgerError
from adclient.extend import Turn
from adclient.ledger.database import BUSY_SECONDS, LOCKED
from adclient.ledger.entry import waiting_until

BURST = Turn.LASTS  # seconds: what the rate allows in this time may be sent at once
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


class State(NamedTuple):
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


Decision = tuple[float | None, State | None]
"""What is answered, and the state to keep if it is another one."""
Decide = Callable[[State], Decision]


class GateDatabase(ABC):
    """A database with the state of gates."""

    def __init__(self, shown: str, reason_of: Callable[[Exception], str | None]) -> None:
        self._shown = shown
        self._reason_of = reason_of

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

    @abstractmethod
    def _use(self, key: str, decide: Decide, is_read: bool) -> float | None:
        """Try once."""
