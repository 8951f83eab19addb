"""Chooses what sends the requests of a client: its own connections, or what the caller passed.

A service in this process is called without HTTP: records go in and come out.
"""

from collections.abc import Callable
from functools import partial
from random import random
from typing import TYPE_CHECKING, cast

from anyio.lowlevel import checkpoint

from adclient._core.auth import Credentials, SecretHeader
from adclient._core.request import Request
from adclient._core.response import Outcome, RawResponse
from adclient._http.network import Network, is_loopback
from adclient._http.send import AsyncConnections, Attempt, Connections
from adclient._tasks.clock import SYSTEM_CLOCK, Clock
from adclient.errors import ConfigurationError
from adclient.options import warn_caller
from adclient.transports import transport_at

if TYPE_CHECKING:
    import httpx

Service = Callable[[Request, float | None], Outcome]


class InProcess:
    """A service in this process, and the clock and random source of the clients that call it.

    The service is a function of a request and the seconds that its client waits for a response.
    """

    def __init__(self, service: Service, clock: Clock, random: Callable[[], float]) -> None:
        self.service = service
        self.clock = clock
        self.random = random


class InProcessSender:
    """Sends the requests of a sync client to a service in this process."""

    def __init__(self, called: InProcess) -> None:
        self._called = called
        self.is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt = Attempt(request, deadline)
        outcome = self._called.service(request, deadline - self._called.clock.now())
        if isinstance(outcome, RawResponse):
            headers = {name.lower(): value for name, value in outcome.headers.items()}
            attempt.begin(outcome.status, headers)
            attempt.feed(outcome.body)
            if outcome.broken is None:
                attempt.finish()
                return attempt.response()
            outcome = outcome.broken
        reason = "no response in time" if outcome.timed_out else outcome.reason
        return attempt.failed(reason, sent=outcome.sent, timed_out=outcome.timed_out)

    def close(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


class AsyncInProcessSender:
    """The same for an async client."""

    def __init__(self, called: InProcess) -> None:
        self._send = InProcessSender(called).send
        self.is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        await checkpoint()  # as over a network: other tasks run, and this one can be cancelled
        return self._send(request, deadline)

    async def aclose(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


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
    from adclient._http.library import library_of
    from adclient._http.limiter import AsyncCapacityLimiter

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
