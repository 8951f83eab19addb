"""The world around a call: the real one, or that of a service in this process."""

import random
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

from adclient._core.call import World
from adclient._core.request import Request
from adclient._http.in_process import ServiceTransport

G = TypeVar("G")


def _new_key() -> str:
    return str(uuid.uuid4())


async def _async_sleep(seconds: float) -> None:
    import anyio  # which the sync client does without

    await anyio.sleep(seconds)


REAL_WORLD = World(
    now=time.monotonic,
    sleep=time.sleep,
    async_sleep=_async_sleep,
    chance=random.random,
    new_key=_new_key,
)


def world_of(transport: object) -> World:
    """The world in which a client's calls happen: its service's, if that is in this process."""
    return transport.world if isinstance(transport, ServiceTransport) else REAL_WORLD


def within(_: float, grant: Callable[[Request], G], request: Request) -> G | None:
    """Call a function; a sync one cannot be left before it returns."""
    return grant(request)


async def async_within(
    seconds: float, grant: Callable[[Request], Awaitable[G]], request: Request
) -> G | None:
    """Call a function; None if it took longer."""
    import anyio

    with anyio.move_on_after(seconds):
        return await grant(request)
    return None
