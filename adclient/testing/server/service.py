"""The sixteen operations over HTTP: their OpenAPI document, and requests passed to the fake.

Lost responses lose the connection. A connection that was accepted can no longer be refused: for a
fault that refuses it, the fake does not see the request, but the client sees a connection that was
dropped after the request. Under another ASGI server than that of `serving`, a dropped connection
becomes a status 500.
"""

import re
from collections.abc import Callable
from typing import Any, cast

import anyio
import anyio.to_thread
import attrs
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from adclient._values.json_values import JSON
from adclient._version import __version__
from adclient.extend import OPERATIONS, Failure, Operation, RawResponse, Request as ServiceRequest
from adclient.testing._fake import load
from adclient.testing._fake.requests import MAX_BODY
from adclient.testing._fake.responses import SlowBodyResponse
from adclient.testing._fake.service import FakeAdService

Object = dict[str, JSON]

_DATA = load("openapi.json")


def document() -> Object:
    """The document, for the default conventions; its errors are the fake's own."""
    fixed: dict[str, Any] = _DATA["document"]
    paths: Object = {o.path: {o.method.lower(): _described(o)} for o in OPERATIONS}
    return {**fixed, "info": {**fixed["info"], "version": __version__}, "paths": paths}


def _described(operation: Operation) -> Object:
    described: Object = {
        "operationId": operation.full_name,
        "summary": operation.about.removesuffix("."),
        "tags": [operation.namespace],
    }
    if operation.is_write:
        body: Object = {
            "type": "object",
            "properties": {p.name: _DATA["body"][p.type] for p in operation.parameters},
            "required": [p.name for p in operation.parameters if p.required],
            "additionalProperties": False,
        }
        described["requestBody"] = {"required": True, "content": _json(body)}
        return {**described, "responses": _DATA["write"]}
    query: list[JSON] = [
        {"name": p.name, "in": "query", "required": p.required, **_DATA["query"][p.type]}
        for p in operation.parameters
    ]
    item = {**_DATA["item"], "title": operation.result.__name__}
    parts: Object = {"data": {"type": "array", "items": item}, "page": _DATA["page"]}
    listing = _json({"type": "object", "properties": parts, "required": [*parts]})
    responses: Object = {"200": {"description": "OK", "content": listing}, **_DATA["read"]}
    return {**described, "parameters": [*query, _DATA["cursor"]], "responses": responses}


def _json(schema: JSON) -> Object:
    return {"application/json": {"schema": schema}}


DROP = "adclient.drop"
"""Where the state of a request holds the function that drops its connection."""
_PIECES = 50
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


def host_of(scope: Scope) -> str:
    """The host and port that a request names; empty if they are missing or malformed."""
    host = Headers(scope=scope).get("host", "")
    return host if _HOST.fullmatch(host) else ""


@attrs.frozen
class Bridge:
    """An ASGI application around a fake's `handle_untimed`, which waits in real time."""

    fake: FakeAdService

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request, body = Request(scope, receive), b""
        async for chunk in request.stream():
            if len(body) <= MAX_BODY:  # the fake refuses what is longer
                body += chunk
        # The URL as the client wrote it.
        host = host_of(scope)
        origin = f"{scope['scheme']}://{host}" if host else self.fake.base_url
        path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
        asked = ServiceRequest(
            method=request.method,
            url=f"{origin}{path}?{query}" if query else f"{origin}{path}",
            headers=dict(request.headers),
            body=body or None,
        )
        # In a thread, because a large request would hold up all others.
        outcome, latency = await anyio.to_thread.run_sync(self.fake.handle_untimed, asked)
        if latency:
            await _wait(latency, request)
        if isinstance(outcome, RawResponse):
            await _send_response(outcome, request, send)
        else:
            await _lose(outcome, request)


async def _send_response(response: RawResponse, request: Request, send: Send) -> None:
    body, is_cut = response.body, response.broken is not None
    headers = Headers({"content-length": str(len(body) + is_cut), **response.headers}).raw
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    if isinstance(response, SlowBodyResponse):
        size = max(1, len(body) // _PIECES)
        while body:
            piece, body = body[:size], body[size:]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await _wait(response.seconds * len(piece) / len(response.body), request)
    await send({"type": "http.response.body", "body": body, "more_body": is_cut})
    if response.broken is not None:
        await _lose(response.broken, request)


async def _wait(seconds: float, request: Request) -> None:
    """Wait, but no longer than the client does."""
    with anyio.move_on_after(seconds):
        await request.receive()  # returns when the client is gone


async def _lose(failure: Failure, request: Request) -> None:
    """Never respond: wait for the client to give up, or drop its connection."""
    # The body was read: what comes next is the end of the connection.
    try:
        if failure.timed_out:
            await request.receive()
    finally:
        state = cast("dict[str, Callable[[], None]]", request.scope.get("state", {}))
        state[DROP]()  # a KeyError under a server that has no such function
    await request.receive()
