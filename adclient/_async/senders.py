"""What sends the requests of a client: its own connections, or what the caller passed."""

from functools import partial
from typing import Any, Protocol, cast

from anyio.lowlevel import checkpoint  # async only

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.limiter import AsyncCapacityLimiter  # async only
from adclient._http.network import (
    InProcess,
    Network,
    check_trusted,  # async only
    wrong,
)


class AsyncConnections(Protocol):
    """Sends the requests of a client, and closes what it has opened for them."""

    is_closed: bool

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        ...

    async def aclose(self) -> None:
        """Close the connections that were opened here."""


class AsyncInProcessSender:
    """Sends to a service in this process."""

    def __init__(self, called: InProcess) -> None:
        self._called = called
        self.is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        # As over a network: other tasks run, and this one can be cancelled.  # async only
        await checkpoint()  # async only
        return self._called.call_service(request, deadline)

    async def aclose(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


def resolve_connections(
    transport: object, http_client: object, network: Network, max_concurrency: int
) -> AsyncConnections:
    """What sends the requests of a client; each kind loads its library when it is needed."""
    if isinstance(transport, InProcess):
        return AsyncInProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._async.connections import AsyncConnectionPool

        return AsyncConnectionPool(network)
    from adclient._http.async_library import AsyncLibrarySender
    from adclient._http.library import library_of

    library = library_of(transport if http_client is None else http_client)
    send: Any
    if http_client is None:
        check_trusted(transport, "transport")  # async only
        if isinstance(transport, type) or not hasattr(transport, "handle_async_request"):
            expected = "an async transport of httpx or httpx2"
            raise wrong(transport, "transport of AsyncAdClient", expected)
        send = cast(Any, transport).handle_async_request
    else:
        if not isinstance(http_client, library.async_client):
            expected = "an httpx.AsyncClient or httpx2.AsyncClient"
            raise wrong(http_client, "http_client of AsyncAdClient", expected)
        check_trusted(http_client, "http_client")  # async only
        send = partial(http_client.send, stream=True, follow_redirects=False)
    return AsyncLibrarySender(
        library,
        send,
        cast(Any, http_client),
        AsyncCapacityLimiter(max_concurrency),  # async only
    )
