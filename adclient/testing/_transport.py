"""The transport of a fake's clients, in whose calls nobody waits."""

from adclient._http.clock import Clock
from adclient._http.in_process import Service
from adclient._http.library import ServiceTransport
from adclient.testing._clock import FakeClock


def transport_of(service: Service, clock: FakeClock) -> ServiceTransport:
    """A transport to a service in this process.

    Its calls use the fake clock, and their random waits are the middle of their range.
    """
    return ServiceTransport(
        service, Clock(clock.monotonic, clock.sleep, clock.async_sleep), random=lambda: 0.5
    )
