"""What sends for a client that was given its own transport or HTTP client."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast

import httpx

from adclient.errors import ConfigurationError

Handler = Callable[[httpx.Request], httpx.Response]
AsyncHandler = Callable[[httpx.Request], Awaitable[httpx.Response]]


def handler_of(transport: object, http_client: object) -> Handler | None:
    """How a sync client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        if not isinstance(http_client, httpx.Client):
            raise _wrong_kind("http_client", http_client, "AdClient", "an httpx.Client")
        return partial(_send, http_client)
    if transport is None:
        return None
    if isinstance(transport, type) or not hasattr(transport, "handle_request"):
        raise _wrong_kind("transport", transport, "AdClient", "a sync transport of httpx")
    return cast("httpx.BaseTransport", transport).handle_request


def async_handler_of(transport: object, http_client: object) -> AsyncHandler | None:
    """How an async client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        if not isinstance(http_client, httpx.AsyncClient):
            raise _wrong_kind("http_client", http_client, "AsyncAdClient", "an httpx.AsyncClient")
        return partial(_async_send, http_client)
    if transport is None:
        return None
    if isinstance(transport, type) or not hasattr(transport, "handle_async_request"):
        raise _wrong_kind("transport", transport, "AsyncAdClient", "an async transport of httpx")
    return cast("httpx.AsyncBaseTransport", transport).handle_async_request


def _send(client: httpx.Client, request: httpx.Request) -> httpx.Response:
    _check_open(client.is_closed)
    try:
        return client.send(request, stream=True, follow_redirects=False)
    except httpx.HTTPStatusError as error:  # an event hook that raises for an error status
        return error.response


async def _async_send(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    _check_open(client.is_closed)
    try:
        return await client.send(request, stream=True, follow_redirects=False)
    except httpx.HTTPStatusError as error:  # an event hook that raises for an error status
        return error.response


def _check_open(is_closed: bool) -> None:
    if is_closed:
        raise ConfigurationError("http_client is closed", argument="http_client")


def _check_one(transport: object, http_client: object) -> None:
    if transport is not None and http_client is not None:
        raise ConfigurationError(
            "transport and http_client exclude each other", argument="http_client"
        )


def _wrong_kind(argument: str, given: object, client: str, expected: str) -> TypeError:
    name = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    return TypeError(f"{argument} of {client} must be {expected}, not {name}")
