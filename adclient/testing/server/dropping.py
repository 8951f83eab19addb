"""Dropping a connection, for which ASGI itself has no word."""

import asyncio
from collections.abc import Callable
from typing import cast

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

_DROP = "adclient.drop"


class DroppableProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn; applications find in their state how to drop the connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to drop this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.app_state: dict[str, object] = {**self.app_state, _DROP: transport.close}


def drop(scope: Scope) -> None:
    """Close the connection of a request without an answer.

    Raises:
        RuntimeError: The server that runs this application knows no way to do it.
    """
    state = cast("dict[str, Callable[[], None]]", scope.get("state", {}))
    if _DROP not in state:
        raise RuntimeError("this server cannot drop a connection")
    state[_DROP]()
