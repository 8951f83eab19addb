"""The transport of a fake's clients, in whose calls nobody waits."""

import attrs

from adclient._core.call import World
from adclient._http.clock import REAL_WORLD
from adclient._http.in_process import Service, ServiceTransport
from adclient.testing._clock import FakeClock


def transport_of(service: Service, clock: FakeClock) -> ServiceTransport:
    """A transport to a service in this process.

    Its calls live by a fake clock, and their random waits are the middle of their range.
    """
    world: World = attrs.evolve(
        REAL_WORLD,
        now=clock.monotonic,
        sleep=clock.sleep,
        async_sleep=clock.async_sleep,
        chance=lambda: 0.5,
    )
    return ServiceTransport(service, world)
