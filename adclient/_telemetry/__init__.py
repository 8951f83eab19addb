"""Spans of OpenTelemetry, if its API is installed."""

from collections.abc import Callable
from functools import cache

from adclient._core.events import Tracer


def tracer() -> Tracer | None:
    """A function that starts the span of a call; None if OpenTelemetry is not installed."""
    make = _maker()
    return None if make is None else make()


@cache  # a failed import would slow down every new client
def _maker() -> Callable[[], Tracer] | None:
    try:
        from adclient._telemetry.spans import tracer as make
    except ImportError:
        return None
    return make
