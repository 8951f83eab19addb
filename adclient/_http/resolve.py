"""Chooses the sender of a client: its own connections, or what the caller passed."""

from collections.abc import Callable
from random import random
from typing import TYPE_CHECKING, cast

from adclient._core.auth import Credentials
from adclient._http.clock import SYSTEM_CLOCK, Clock
from adclient._http.in_process import AsyncInProcessSender, InProcess, InProcessSender, service_at
from adclient._http.network import Network, is_loopback
from adclient._http.send import AsyncSender, Sender
from adclient.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx


def resolve_transport(transport: object, http_client: object, base_url: str) -> object:
    """The caller's transport; else the fake, if the address is the fake's."""
    if transport is not None or http_client is not None:
        return transport
    return service_at(base_url)


def resolve_sender(transport: object, http_client: object, network: Network, _: int) -> Sender:
    """The sender of a sync client."""
    _check_one(transport, http_client)
    if isinstance(transport, InProcess):
        return InProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._http.pool import ConnectionPool  # deferred: each sender loads its library

        return ConnectionPool(network)
    from adclient._http.library import HTTPX, LibrarySender, detect_library, send_through

    if http_client is not None:
        library = detect_library(http_client)
        if library is None or not isinstance(http_client, library.client):
            raise _wrong_client(http_client, "AdClient", "Client")
        return LibrarySender(library, send_through(http_client), names_requests=True)
    if isinstance(transport, type) or not hasattr(transport, "handle_request"):
        raise _wrong_transport(transport, "AdClient", "a sync")
    send = cast("httpx.BaseTransport", transport).handle_request
    return LibrarySender(detect_library(transport) or HTTPX, send)


def resolve_async_sender(
    transport: object, http_client: object, network: Network, max_concurrency: int
) -> AsyncSender:
    """The sender of an async client."""
    _check_one(transport, http_client)
    if isinstance(transport, InProcess):
        return AsyncInProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._http.async_pool import AsyncConnectionPool

        return AsyncConnectionPool(network)
    from adclient._http.async_library import AsyncLibrarySender, async_send_through
    from adclient._http.library import HTTPX, detect_library

    if http_client is not None:
        library = detect_library(http_client)
        if library is None or not isinstance(http_client, library.async_client):
            raise _wrong_client(http_client, "AsyncAdClient", "AsyncClient")
        _check_trusted(http_client, "http_client")
        return AsyncLibrarySender(
            library, async_send_through(http_client), max_concurrency, names_requests=True
        )
    _check_trusted(transport, "transport")
    if isinstance(transport, type) or not hasattr(transport, "handle_async_request"):
        raise _wrong_transport(transport, "AsyncAdClient", "an async")
    send = cast("httpx.AsyncBaseTransport", transport).handle_async_request
    return AsyncLibrarySender(detect_library(transport) or HTTPX, send, max_concurrency)


def exposes_token(credentials: Credentials, transport: object, base_url: str) -> bool:
    """Check if the token leaves this machine without TLS, so that others can read it."""
    is_sent_in_clear = base_url.startswith("http:") and not is_loopback(base_url)
    return is_sent_in_clear and credentials.kind == "token" and not isinstance(transport, InProcess)


def resolve_clock(transport: object) -> tuple[Clock, Callable[[], float]]:
    """The clock and random source of a client; a service in this process has its own."""
    if isinstance(transport, InProcess):
        return transport.clock, transport.random
    return SYSTEM_CLOCK, random


def _check_one(transport: object, http_client: object) -> None:
    if transport is not None and http_client is not None:
        raise ConfigurationError("pass transport or http_client, not both", argument="http_client")


def _check_trusted(given: object, argument: str) -> None:
    # httpx has no public name for the transports of a client.
    inside = (getattr(given, "_transport", None), *getattr(given, "_mounts", {}).values())
    if any(type(one).__module__.startswith("httpx_aiohttp") for one in (given, *inside)):
        raise ConfigurationError(
            f"httpx-aiohttp may stage a draft twice: leave out {argument}=",
            argument=argument,
        )


def _wrong_client(given: object, client: str, name: str) -> TypeError:
    expected = f"an httpx.{name} or httpx2.{name}"
    return TypeError(f"http_client of {client} must be {expected}, not {_name_of(given)}")


def _wrong_transport(given: object, client: str, kind: str) -> TypeError:
    expected = f"{kind} transport of httpx or httpx2"
    return TypeError(f"transport of {client} must be {expected}, not {_name_of(given)}")


def _name_of(given: object) -> str:
    return f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
