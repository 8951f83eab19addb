"""Stops work in other threads and tasks whose results nobody waits for any more."""

from contextvars import ContextVar


class Stop:
    """A flag that the calls made in its context look at before each request.

    No `threading.Event`: setting that takes a lock, and so could deadlock in `__del__`.
    """

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False

    def applies_here(self) -> None:
        """Apply it to the current context, which is that of one thread or task.

        Those that apply already stay, as work of one iteration may contain another one.
        """
        _current.set((*_current.get(), self))


_current: ContextVar[tuple[Stop, ...]] = ContextVar("adclient_stops", default=())


def is_stopped() -> bool:
    """Check if the work of the current context was stopped."""
    return any(stop.is_set for stop in _current.get())


def is_reading_accounts() -> bool:
    """Check if a read of `over_accounts` runs here, or started this thread or task."""
    return bool(_current.get())
