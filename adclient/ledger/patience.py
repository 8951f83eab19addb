"""Bounds the wait of a ledger by the deadline of the call that it records."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Patience(NamedTuple):
    """The start and the deadline of a wait, in seconds of `time.monotonic()`."""

    asked: float
    deadline: float = math.inf

    @property
    def waited(self) -> float:
        """Seconds since the ledger was asked."""
        return time.monotonic() - self.asked

    @property
    def left(self) -> float:
        """Seconds until the deadline, 0 after it; may be infinite."""
        return max(0.0, self.deadline - time.monotonic())


# A context variable, because a user's ledger may wrap the one that waits.
_current: ContextVar[Patience | None] = ContextVar("adclient_patience", default=None)


@contextmanager
def patient(patience: Patience) -> Generator[None]:
    """Limit how long the ledgers that are used in this block wait."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def patience() -> Patience:
    """The patience of the current call; outside of a call, a new one without a deadline."""
    return _current.get() or Patience(time.monotonic())
