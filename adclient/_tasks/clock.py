"""The clock of a client, and what ends by it or by a flag: waits, blocking work, and calls."""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import NamedTuple, TypeVar

T = TypeVar("T")
L = TypeVar("L")
Undo = Callable[[], object]

# All deadlines are by this clock, which tests that freeze time leave alone: sockets and databases
# wait in real time. freezegun replaces `time.monotonic` where a module names it, but not for all.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)


def wall_time() -> float:
    """The time of day, in seconds since 1970; frozen where the dates of tokens are."""
    return time.time()


class Clock(NamedTuple):
    """A monotonic clock in seconds, with its sleeps; a fake one is notified of each call.

    `wall_time` is the time of day, in seconds since 1970, which goes on while a machine sleeps.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]
    async_sleep: Callable[[float], Awaitable[None]]
    begin_call: Callable[[], None] | None = None
    wall_time: Callable[[], float] = wall_time


async def _async_sleep(seconds: float) -> None:
    import anyio  # deferred: the class of a client is imported without it

    await anyio.sleep(seconds)


SYSTEM_CLOCK = Clock(monotonic, time.sleep, _async_sleep)


def in_time(_: float, fetch: Callable[[], T]) -> T | None:
    """Call a function; a sync call cannot be interrupted, so it has no timeout."""
    return fetch()


async def async_in_time(seconds: float, fetch: Callable[[], Awaitable[T]]) -> T | None:
    """Call a function; None if it took longer."""
    import anyio

    with anyio.move_on_after(seconds):
        return await fetch()
    return None


# Blocking work, such as that of a record: async code does it in a thread.

LONGEST_END = 30.0  # seconds to wait until the end of a call, or a pause, is recorded

REPORTING = 0.1  # seconds, at most, that are left to report that blocking work has failed


def countdown(seconds: float) -> Callable[[], float]:
    """A function that returns how many of so many seconds are left."""
    end = monotonic() + seconds
    return lambda: end - monotonic()


def run_blocking(
    work: Callable[[], T],
    seconds: float,  # noqa: ARG001 (the async one has it)
    late: L,  # noqa: ARG001
    undo: Undo | None = None,
    thread: str = "",  # noqa: ARG001
) -> T | L:
    """Do the work, which has no timeout of its own; `undo` is called after an interrupt."""
    try:
        return work()
    except BaseException as error:
        # After Ctrl-C, the work may have been done all the same.
        if undo is not None and not isinstance(error, Exception):
            undo()
        raise


async def async_run_blocking(
    work: Callable[[], T],
    seconds: float,
    late: L,
    undo: Undo | None = None,
    thread: str = "adclient-blocking",
) -> T | L:
    """Do the work in the thread of that name, one after the other in each event loop.

    If the time is over, or the caller is cancelled, work that has begun continues, and `undo` is
    called after it has succeeded. Work that has not begun is dropped; without `undo`, it still
    runs.

    Returns:
        What the work returned, or `late` if it was not done in time.
    """
    import anyio

    from adclient._tasks.background import run_in_thread

    with anyio.move_on_after(seconds):
        return await run_in_thread(work, undo, thread)
    return late


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
