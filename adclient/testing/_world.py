"""The world of the calls to a fake service, in which nobody waits."""

import attrs

from adclient._core.call import World
from adclient._http.clock import REAL_WORLD
from adclient.testing._clock import FakeClock


def _always_half() -> float:
    return 0.5


def world_of(clock: FakeClock) -> World:
    """A world that lives by a clock, and where chance takes the middle, so that waits are known."""
    return attrs.evolve(
        REAL_WORLD,
        now=clock.monotonic,
        sleep=clock.sleep,
        async_sleep=clock.async_sleep,
        chance=_always_half,
    )
