"""What keeps the approval page to people at this machine and to itself."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adclient.testing.server.host import host_of

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def is_loopback(host: str) -> bool:
    """Whether a name or address stands for this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses foreign hosts and other sites' forms, and forbids all that the page does not need."""

    def __init__(self, app: ASGIApp, *, any_host: bool) -> None:
        self._app = app
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Result one request, or refuse it."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        reason = self._refusal(scope)
        app = self._app if reason is None else PlainTextResponse(reason, status_code=403)
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        host = host_of(scope)
        # A foreign name that leads to this machine would make a foreign page one of ours.
        if not self._any_host and not is_loopback(urlsplit(f"//{host}").hostname or ""):
            return "this page is open under the names of this machine only"
        origin = Headers(scope=scope).get("origin", "")
        if scope["method"] == "POST" and origin.partition("://")[2] != host:
            return "only the approval page itself can make a step"
        return None
