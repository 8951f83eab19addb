"""Middleware around the routes: protection of the approval page, and a clock that runs."""

import re
from time import monotonic

import attrs
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from adclient._http.network import is_loopback
from adclient.testing._clock import FakeClock

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


def host_of(scope: Scope) -> str:
    """The host and port that a request names; empty if they are missing or malformed."""
    host = Headers(scope=scope).get("host", "")
    return host if _HOST.fullmatch(host) else ""


@attrs.frozen
class Guard:
    """Refuses foreign hosts, and forms of other sites."""

    app: ASGIApp
    any_host: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        app, host = self.app, host_of(scope)
        origin = Headers(scope=scope).get("origin", "")
        # DNS rebinding: a foreign name that resolves to this machine would share our origin.
        if not self.any_host and not is_loopback(f"//{host}"):
            reason = "this page is only served under the names of this machine"
            app = PlainTextResponse(reason, status_code=403)
        elif scope["method"] == "POST" and origin.partition("://")[2] != host:
            reason = "only the approval page itself can make a step"
            app = PlainTextResponse(reason, status_code=403)
        await app(scope, receive, send)


@attrs.define
class RunningClock:
    """Advances the clock of a fake, before each request, by the real time that has passed."""

    app: ASGIApp
    clock: FakeClock
    _last: float = attrs.field(init=False, factory=monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Advance the clock, and pass the request on."""
        now = monotonic()
        self.clock.advance(now - self._last)
        self._last = now
        await self.app(scope, receive, send)
