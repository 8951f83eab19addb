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
        STOPS.set((*STOPS.get(), self))


STOPS: ContextVar[tuple[Stop, ...]] = ContextVar("adclient_stops", default=())
"""Those of the current context: some, if a read of `over_accounts` runs or has started it."""
