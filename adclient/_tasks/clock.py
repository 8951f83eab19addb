"""The clock of a client: the system's, or that of a service in this process."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, TypeVar

T = TypeVar("T")

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
    import anyio  # deferred: the sync client does without it

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
