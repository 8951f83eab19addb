"""The world around a call: the real one, or that of a service in this process."""

import random
import time
import uuid

import anyio

from adclient._core.exchange import World
from adclient._http.service import ServiceTransport


def _new_key() -> str:
    return str(uuid.uuid4())


REAL_WORLD = World(
    now=time.monotonic,
    sleep=time.sleep,
    async_sleep=anyio.sleep,
    chance=random.random,
    new_key=_new_key,
)


def world_of(transport: object) -> World:
    """The world in which a client's calls happen: its service's, if that is in this process."""
    return transport.world if isinstance(transport, ServiceTransport) else REAL_WORLD
