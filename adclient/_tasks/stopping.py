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
        """Apply it to the current context, which is that of one thread or task."""
        _current.set(self)


_current: ContextVar[Stop | None] = ContextVar("adclient_stop", default=None)


def is_stopped() -> bool:
    """Check if the work of the current context was stopped."""
    stop = _current.get()
    return stop is not None and stop.is_set
