"""Serving a fake over HTTP on this machine."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread
from typing import cast

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from adclient._command.connection import address_of, listen
from adclient.testing._fake.service import FakeAdService
from adclient.testing.server.app import create_app
from adclient.testing.server.service import DROP


class _DroppableProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn; the state of each request can drop its connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to drop this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.app_state: dict[str, object] = {**self.app_state, DROP: transport.close}


@contextmanager
def serving(fake: FakeAdService, *, host: str = "127.0.0.1", port: int = 0) -> Generator[str]:
    """Serve a fake over HTTP, in a thread of its own, inside a `with` block.

    Args:
        fake: The service.
        host: The address to listen on.
        port: The port; 0 is any free one.

    Yields:
        The URL of the service, for `AdClient` or any other tool.

    Raises:
        OSError: The server cannot listen on the address.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.server import serving
        >>> with serving(FakeAdService()) as url, AdClient(url) as client:
        ...     client.beta.list_campaigns(account_id="account_b204").data[0].id
        'campaign_57a7'
    """
    with listen(host, port) as listening:
        server = server_of(create_app(fake))
        thread = Thread(target=server.run, args=([listening],), name="adclient-fake", daemon=True)
        thread.start()
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()


def server_of(app: Starlette) -> uvicorn.Server:
    """A server for an application, which can drop its connections."""
    config = uvicorn.Config(
        app,
        http=_DroppableProtocol,
        ws="none",
        lifespan="off",
        log_level="critical",
        server_header=False,
        date_header=False,  # the service sends its own
        # A connection that a fault keeps waiting must not keep the server.
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
