"""What sends for a client that was given its own transport or HTTP client."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast

import attrs
import httpx

from adclient._http.family import HTTPX, Family, family_of
from adclient.errors import ConfigurationError

Send = Callable[[httpx.Request], httpx.Response]
AsyncSend = Callable[[httpx.Request], Awaitable[httpx.Response]]


@attrs.frozen
class Handler:
    """Sends for a sync client, in requests of one family.

    An HTTP client `names_requests`: each of its own faults says at which request it happened.
    """

    family: Family
    send: Send
    names_requests: bool = False


@attrs.frozen
class AsyncHandler:
    """The same for an async client."""

    family: Family
    send: AsyncSend
    names_requests: bool = False


def handler_of(transport: object, http_client: object) -> Handler | None:
    """How a sync client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        family = family_of(http_client)
        if family is None or not isinstance(http_client, family.client):
            raise _wrong_client(http_client, "AdClient", "Client")
        return Handler(family, partial(_send, family, http_client), names_requests=True)
    if transport is None:
        return None
    if isinstance(transport, type) or not hasattr(transport, "handle_request"):
        raise _wrong_transport(transport, "AdClient", "a sync")
    send = cast("httpx.BaseTransport", transport).handle_request
    return Handler(family_of(transport) or HTTPX, send)


def async_handler_of(transport: object, http_client: object) -> AsyncHandler | None:
    """How an async client sends through what it was given, if it was given anything."""
    _check_one(transport, http_client)
    if http_client is not None:
        family = family_of(http_client)
        if family is None or not isinstance(http_client, family.async_client):
            raise _wrong_client(http_client, "AsyncAdClient", "AsyncClient")
        _check_trusted(http_client, "http_client")
        send_async = partial(_async_send, family, http_client)
        return AsyncHandler(family, send_async, names_requests=True)
    if transport is None:
        return None
    _check_trusted(transport, "transport")
    if isinstance(transport, type) or not hasattr(transport, "handle_async_request"):
        raise _wrong_transport(transport, "AsyncAdClient", "an async")
    send = cast("httpx.AsyncBaseTransport", transport).handle_async_request
    return AsyncHandler(family_of(transport) or HTTPX, send)


def _send(family: Family, client: httpx.Client, request: httpx.Request) -> httpx.Response:
    _check_open(client.is_closed)
    try:
        return client.send(request, stream=True, follow_redirects=False)
    except family.status_error as error:  # an event hook that raises for an error status
        return error.response


async def _async_send(
    family: Family, client: httpx.AsyncClient, request: httpx.Request
) -> httpx.Response:
    _check_open(client.is_closed)
    try:
        return await client.send(request, stream=True, follow_redirects=False)
    except family.status_error as error:  # an event hook that raises for an error status
        return error.response


def _check_open(is_closed: bool) -> None:
    if is_closed:
        raise ConfigurationError("http_client is closed", argument="http_client")


def _check_one(transport: object, http_client: object) -> None:
    if transport is not None and http_client is not None:
        raise ConfigurationError(
            "transport and http_client exclude each other", argument="http_client"
        )


def _check_trusted(given: object, argument: str) -> None:
    # A client of httpx keeps its transports to itself.
    inside = (getattr(given, "_transport", None), *getattr(given, "_mounts", {}).values())
    if any(type(one).__module__.startswith("httpx_aiohttp") for one in (given, *inside)):
        raise ConfigurationError(
            "httpx-aiohttp may send a write twice; pass "
            "transport=adclient.aiohttp.AiohttpTransport() instead",
            argument=argument,
        )


def _wrong_client(given: object, client: str, name: str) -> TypeError:
    expected = f"an httpx.{name} or httpx2.{name}"
    return TypeError(f"http_client of {client} must be {expected}, not {_name_of(given)}")


def _wrong_transport(given: object, client: str, colour: str) -> TypeError:
    expected = f"{colour} transport of httpx or httpx2"
    return TypeError(f"transport of {client} must be {expected}, not {_name_of(given)}")


def _name_of(given: object) -> str:
    return f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
