"""Where a client takes its time from: the system, or a service that lives in this process."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from adclient._core.request import Request

T = TypeVar("T")


class Clock(NamedTuple):
    """The time in seconds from some fixed moment on, and how to wait."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    async_sleep: Callable[[float], Awaitable[None]]


async def _async_sleep(seconds: float) -> None:
    import anyio  # which the sync client does without

    await anyio.sleep(seconds)


SYSTEM_CLOCK = Clock(time.monotonic, time.sleep, _async_sleep)


def in_time(_: float, fetch: Callable[[Request], T], request: Request) -> T | None:
    """Call a function; a sync one cannot be left before it returns."""
    return fetch(request)


async def async_in_time(
    seconds: float, fetch: Callable[[Request], Awaitable[T]], request: Request
) -> T | None:
    """Call a function; None if it took longer."""
    import anyio

    with anyio.move_on_after(seconds):
        return await fetch(request)
    return None
