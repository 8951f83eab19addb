"""The types of `http_client=` and `transport=`, as protocols.

Clients and transports of httpx match, and those of httpx2, its successor. No type names an HTTP
library, so a change of library does not change this interface.
"""

from collections.abc import Callable
from typing import Never, Protocol


class Transport(Protocol):
    """A transport of httpx or httpx2 for the sync client, such as `httpx.HTTPTransport`."""

    def handle_request(self, request: Never) -> object:
        """Send one request."""


class AsyncTransport(Protocol):
    """A transport of httpx or httpx2 for the async client, such as `httpx.AsyncHTTPTransport`."""

    async def handle_async_request(self, request: Never) -> object:
        """Send one request."""


class UniversalTransport(Transport, AsyncTransport, Protocol):
    """A transport for both clients, such as that of `adclient.testing`."""


class HTTPClient(Protocol):
    """An HTTP client for the sync client: `httpx.Client` or `httpx2.Client`."""

    @property
    def is_closed(self) -> bool:
        """True after it was closed."""
        ...

    def send(self, request: Never, *, stream: bool = False) -> object:
        """Send one request."""

    def close(self) -> None:
        """Close the connections; adclient never closes a client that it was given."""


class AsyncHTTPClient(Protocol):
    """An HTTP client for the async client: `httpx.AsyncClient` or `httpx2.AsyncClient`."""

    @property
    def is_closed(self) -> bool:
        """True after it was closed."""
        ...

    async def send(self, request: Never, *, stream: bool = False) -> object:
        """Send one request."""

    async def aclose(self) -> None:
        """Close the connections; adclient never closes a client that it was given."""


finders: list[Callable[[str], UniversalTransport | None]] = []
"""Functions that know the transport of an address, or None: a fake announces itself so."""


def transport_at(base_url: str) -> UniversalTransport | None:
    """The transport that one of the `finders` knows for an address."""
    return next((found for find in finders if (found := find(base_url)) is not None), None)
