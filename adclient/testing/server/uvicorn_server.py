"""The server that can drop its connections, as faults do."""

import asyncio
from typing import cast

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from adclient.testing.server.service import DROP


class _DroppableProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn; the state of each request can drop its connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to drop this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.app_state: dict[str, object] = {**self.app_state, DROP: transport.close}


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
