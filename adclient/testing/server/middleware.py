"""What surrounds the routes: protection of the approval page, and a clock that runs."""

import ipaddress
import re
from time import monotonic
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adclient.testing._clock import FakeClock

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def host_of(scope: Scope) -> str:
    """The host and port that a request names; empty if they are missing or malformed."""
    host = Headers(scope=scope).get("host", "")
    return host if _HOST.fullmatch(host) else ""


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses foreign hosts and forms of other sites, and adds security headers."""

    def __init__(self, app: ASGIApp, *, any_host: bool) -> None:
        self._app = app
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        reason = self._refusal(scope)
        app = self._app if reason is None else PlainTextResponse(reason, status_code=403)
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        host = host_of(scope)
        # DNS rebinding: a foreign name that resolves to this machine would share our origin.
        if not self._any_host and not is_loopback(urlsplit(f"//{host}").hostname or ""):
            return "this page is only served under the names of this machine"
        origin = Headers(scope=scope).get("origin", "")
        if scope["method"] == "POST" and origin.partition("://")[2] != host:
            return "only the approval page itself can make a step"
        return None


class RunningClock:
    """Advances the clock of a fake, before each request, by the real time that has passed."""

    def __init__(self, app: ASGIApp, clock: FakeClock) -> None:
        self._app = app
        self._clock = clock
        self._last = monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Advance the clock, and pass the request on."""
        now = monotonic()
        self._clock.advance(now - self._last)
        self._last = now
        await self._app(scope, receive, send)
