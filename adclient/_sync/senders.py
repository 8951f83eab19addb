# Generated from ../_async by tools/make_twin.py: change it there.
"""What sends the requests of a client: its own connections, or what the caller passed."""

from functools import partial
from typing import Any, Protocol, cast


from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.network import (
    InProcess,
    Network,
    wrong,
)


class Connections(Protocol):
    """Sends the requests of a client, and closes what it has opened for them."""

    is_closed: bool

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        ...

    def close(self) -> None:
        """Close the connections that were opened here."""


class InProcessSender:
    """Sends to a service in this process."""

    def __init__(self, called: InProcess) -> None:
        self._called = called
        self.is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        return self._called.call_service(request, deadline)

    def close(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


def resolve_connections(
    transport: object, http_client: object, network: Network, max_concurrency: int
) -> Connections:
    """What sends the requests of a client; each kind loads its library when it is needed."""
    if isinstance(transport, InProcess):
        return InProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._sync.connections import ConnectionPool

        return ConnectionPool(network)
    from adclient._http.library import LibrarySender
    from adclient._http.library import library_of

    library = library_of(transport if http_client is None else http_client)
    send: Any
    if http_client is None:
        if isinstance(transport, type) or not hasattr(transport, "handle_request"):
            expected = "a sync transport of httpx or httpx2"
            raise wrong(transport, "transport of AdClient", expected)
        send = cast(Any, transport).handle_request
    else:
        if not isinstance(http_client, library.client):
            expected = "an httpx.Client or httpx2.Client"
            raise wrong(http_client, "http_client of AdClient", expected)
        send = partial(http_client.send, stream=True, follow_redirects=False)
    return LibrarySender(
        library,
        send,
        cast(Any, http_client),
    )
