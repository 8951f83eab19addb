"""Spans of OpenTelemetry, for programs that have its API installed."""

from collections.abc import Callable
from functools import cache

from adclient._core.events import Tracer


def tracer() -> Tracer | None:
    """What begins the span of a call; None if OpenTelemetry is not installed."""
    make = _maker()
    return None if make is None else make()


@cache
def _maker() -> Callable[[], Tracer] | None:
    try:
        from adclient._telemetry.spans import tracer as make
    except ImportError:
        return None
    return make
