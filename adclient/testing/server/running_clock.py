"""A fake's clock that goes on by itself."""

from time import monotonic

from starlette.types import ASGIApp, Receive, Scope, Send

from adclient.testing._clock import FakeClock


class RunningClock:
    """Turns the clock of a fake, before each request, by the real time that has passed."""

    def __init__(self, app: ASGIApp, clock: FakeClock) -> None:
        self._app = app
        self._clock = clock
        self._last = monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Turn the clock, and pass the request on."""
        now = monotonic()
        self._clock.advance(now - self._last)
        self._last = now
        await self._app(scope, receive, send)
