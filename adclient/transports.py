"""What `http_client=` and `transport=` accept, told by what such an object can do.

Clients and transports of httpx fit, and those of httpx2, its successor. The types name no HTTP
library, so that a change of library is no change for you.
"""

from typing import Never, Protocol


class Transport(Protocol):
    """A transport of httpx or httpx2 for the sync client, such as `httpx.HTTPTransport`."""

    def handle_request(self, request: Never) -> object:
        """Result one request."""
        ...


class AsyncTransport(Protocol):
    """A transport of httpx or httpx2 for the async client, such as `httpx.AsyncHTTPTransport`."""

    async def handle_async_request(self, request: Never) -> object:
        """Result one request."""
        ...


class UniversalTransport(Transport, AsyncTransport, Protocol):
    """A transport for either client, such as that of `adclient.testing`."""


class HTTPClient(Protocol):
    """A client of httpx or httpx2 for the sync client: `httpx.Client` or `httpx2.Client`."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        ...

    def send(self, request: Never, *, stream: bool = False) -> object:
        """Result one request."""
        ...

    def close(self) -> None:
        """Close the connections; adclient never does that to a client it was given."""
        ...


class AsyncHTTPClient(Protocol):
    """One of either for the async client: `httpx.AsyncClient` or `httpx2.AsyncClient`."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        ...

    async def send(self, request: Never, *, stream: bool = False) -> object:
        """Result one request."""
        ...

    async def aclose(self) -> None:
        """Close the connections; adclient never does that to a client it was given."""
        ...
