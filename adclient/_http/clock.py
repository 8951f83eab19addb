"""The clock of a client: the system's, or that of a service in this process."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from adclient._core.request import Request

T = TypeVar("T")


class Clock(NamedTuple):
    """A monotonic clock in seconds, with its sleeps; a fake one is notified of each call."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    async_sleep: Callable[[float], Awaitable[None]]
    begin_call: Callable[[], None] | None = None


async def _async_sleep(seconds: float) -> None:
    import anyio  # deferred: the sync client does without it

    await anyio.sleep(seconds)


SYSTEM_CLOCK = Clock(time.monotonic, time.sleep, _async_sleep)


def in_time(_: float, fetch: Callable[[Request], T], request: Request) -> T | None:
    """Call a function; a sync call cannot be interrupted, so it has no timeout."""
    return fetch(request)


async def async_in_time(
    seconds: float, fetch: Callable[[Request], Awaitable[T]], request: Request
) -> T | None:
    """Call a function; None if it took longer."""
    import anyio

    with anyio.move_on_after(seconds):
        return await fetch(request)
    return None
