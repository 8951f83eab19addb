"""Chooses what sends the requests of a client: its own connections, or what the caller passed."""

from collections.abc import Callable
from functools import partial
from random import random
from typing import TYPE_CHECKING, cast

from adclient._core.auth import Credentials, SecretHeader
from adclient._http.in_process import AsyncInProcessSender, InProcess, InProcessSender
from adclient._http.network import Network, is_loopback
from adclient._http.send import AsyncConnections, Connections
from adclient._tasks.clock import SYSTEM_CLOCK, Clock
from adclient.errors import ConfigurationError
from adclient.options import warn_caller
from adclient.transports import transport_at

if TYPE_CHECKING:
    import httpx


def resolve_transport(transport: object, http_client: object, base_url: str) -> object:
    """The caller's transport; else one that is known for the address."""
    if transport is not None and http_client is not None:
        raise ConfigurationError("pass transport or http_client, not both", argument="http_client")
    if transport is not None or http_client is not None:
        return transport
    return transport_at(base_url)


def resolve_connections(
    transport: object, http_client: object, network: Network, _: int
) -> Connections:
    """What sends the requests of a sync client."""
    if isinstance(transport, InProcess):
        return InProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._http.pool import ConnectionPool  # deferred: each sender loads its library

        return ConnectionPool(network)
    from adclient._http.library import LibrarySender, library_of

    library = library_of(transport if http_client is None else http_client)
    if http_client is not None:
        if not isinstance(http_client, library.client):
            raise _wrong(http_client, "http_client of AdClient", "an httpx.Client or httpx2.Client")
        through = partial(http_client.send, stream=True, follow_redirects=False)
        return LibrarySender(library, through, http_client)
    if isinstance(transport, type) or not hasattr(transport, "handle_request"):
        raise _wrong(transport, "transport of AdClient", "a sync transport of httpx or httpx2")
    return LibrarySender(library, cast("httpx.BaseTransport", transport).handle_request)


def resolve_async_connections(
    transport: object, http_client: object, network: Network, max_concurrency: int
) -> AsyncConnections:
    """What sends the requests of an async client."""
    if isinstance(transport, InProcess):
        return AsyncInProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._http.async_pool import AsyncConnectionPool

        return AsyncConnectionPool(network)
    from adclient._http.async_library import AsyncLibrarySender
    from adclient._http.async_limiter import AsyncCapacityLimiter
    from adclient._http.library import library_of

    library = library_of(transport if http_client is None else http_client)
    limiter = AsyncCapacityLimiter(max_concurrency)
    if http_client is not None:
        if not isinstance(http_client, library.async_client):
            expected = "an httpx.AsyncClient or httpx2.AsyncClient"
            raise _wrong(http_client, "http_client of AsyncAdClient", expected)
        _check_trusted(http_client, "http_client")
        through = partial(http_client.send, stream=True, follow_redirects=False)
        return AsyncLibrarySender(library, through, limiter, http_client)
    _check_trusted(transport, "transport")
    if isinstance(transport, type) or not hasattr(transport, "handle_async_request"):
        expected = "an async transport of httpx or httpx2"
        raise _wrong(transport, "transport of AsyncAdClient", expected)
    send = cast("httpx.AsyncBaseTransport", transport).handle_async_request
    return AsyncLibrarySender(library, send, limiter)


def warn_if_exposed(credentials: Credentials, transport: object, base_url: str) -> None:
    """Warn if the token leaves this machine without TLS."""
    is_sent_in_clear = base_url.startswith("http:") and not is_loopback(base_url)
    has_token = credentials.kind == "token" or isinstance(credentials.auth, SecretHeader)
    if is_sent_in_clear and has_token and not isinstance(transport, InProcess):
        warn_caller(f"{base_url}: over plain http, others can read the token; use https")


def resolve_clock(transport: object) -> tuple[Clock, Callable[[], float]]:
    """The clock and random source of a client; a service in this process has its own."""
    if isinstance(transport, InProcess):
        return transport.clock, transport.random
    return SYSTEM_CLOCK, random


def _check_trusted(given: object, argument: str) -> None:
    # httpx has no public name for the transports of a client.
    inside = (getattr(given, "_transport", None), *getattr(given, "_mounts", {}).values())
    if any(type(one).__module__.startswith("httpx_aiohttp") for one in (given, *inside)):
        raise ConfigurationError(
            f"httpx-aiohttp may stage a draft twice: leave out {argument}=", argument=argument
        )


def _wrong(given: object, what: str, expected: str) -> TypeError:
    name = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    name += "; pass its transport" * hasattr(given, "transport")
    return TypeError(f"{what} must be {expected}, not {name}")
