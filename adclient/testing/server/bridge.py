"""HTTP requests handed to the fake, and its answers sent; lost answers become lost connections.

A connection that was accepted cannot be refused any more: where a fault says *refused*, the
request is not seen by the fake, but the client sees a connection that was dropped after the
request. Under another ASGI server than that of `serving`, a drop shows as status 500.
"""

import anyio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from adclient._core.request import Request as ServiceRequest
from adclient._core.response import Failure, RawResponse
from adclient.testing._faults.dripping import DrippingReply
from adclient.testing._service import FakeAdService
from adclient.testing.server.dropping import drop
from adclient.testing.server.host import host_of

_PIECES = 50


class Bridge:
    """An ASGI application around a fake's `handle_untimed`; it waits by itself."""

    def __init__(self, fake: FakeAdService) -> None:
        self._fake = fake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Result one request."""
        request = Request(scope, receive)
        body = await request.body()
        outcome, latency = self._fake.handle_untimed(
            ServiceRequest(
                method=request.method,
                url=self._origin(scope) + _target(scope),
                headers=dict(request.headers),
                body=body or None,
            )
        )
        if latency:
            await _wait(latency, request)
        if isinstance(outcome, RawResponse):
            await _answer(outcome, request, send)
        else:
            await _lose(outcome, request)

    def _origin(self, scope: Scope) -> str:
        """The service as its client calls it, for the URLs in its answers."""
        host = host_of(scope)
        return f"{scope['scheme']}://{host}" if host else self._fake.base_url


def _target(scope: Scope) -> str:
    """The path and query as they came over the wire."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


async def _answer(reply: RawResponse, request: Request, send: Send) -> None:
    length = len(reply.body) if reply.broken is None else len(reply.body) + 1
    headers = {"content-length": str(length), **reply.headers}
    encoded = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
    if isinstance(reply, DrippingReply):
        await _drip(reply, request, send)
        return
    is_cut = reply.broken is not None
    await send({"type": "http.response.body", "body": reply.body, "more_body": is_cut})
    if reply.broken is not None:
        await _lose(reply.broken, request)


async def _wait(seconds: float, request: Request) -> None:
    """Wait, but no longer than the client does."""
    with anyio.move_on_after(seconds):
        await request.receive()  # which ends at once when the client is gone


async def _drip(reply: DrippingReply, request: Request, send: Send) -> None:
    """Send a body little by little."""
    size = max(1, len(reply.body) // _PIECES)
    pieces = [reply.body[start : start + size] for start in range(0, len(reply.body), size)]
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await _wait(reply.seconds / len(pieces), request)
    await send({"type": "http.response.body"})


async def _lose(failure: Failure, request: Request) -> None:
    """Never answer: wait for the client to give up, or close its connection."""
    # The body was read: what comes next is the end of the connection.
    try:
        if failure.timed_out:
            await request.receive()
    finally:
        drop(request.scope)
    await request.receive()
