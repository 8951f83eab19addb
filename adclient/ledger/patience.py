"""How long a ledger may wait: not longer than the call that it records."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Patience(NamedTuple):
    """Since when somebody waits for a ledger, and until when, in seconds of `time.monotonic()`."""

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


# A context variable, because ledgers of users may be around that which waits.
_current: ContextVar[Patience | None] = ContextVar("adclient_patience", default=None)


@contextmanager
def patient(patience: Patience) -> Generator[None]:
    """Have the ledgers that are used in this block wait no longer than this."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def patience() -> Patience:
    """How long to wait for what is asked of a ledger now."""
    return _current.get() or Patience(time.monotonic())
