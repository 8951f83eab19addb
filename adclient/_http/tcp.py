"""How a sync client connects to a host of several addresses: they share the time that there is.

The HTTP library gives all of it to each, so that one which swallows what is sent to it holds the
call for as long again as it may take.
"""

import socket
import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore
import httpx

_LEAST = 0.001


class DirectTransport(httpx.HTTPTransport):
    """A transport of one connection, without a proxy.

    httpx takes no network backend, so its pool is replaced by one that does.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(verify=context)
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, max_connections=1, network_backend=_SharedTime()
        )


class _SharedTime(httpcore.SyncBackend):
    """Tries the addresses of a host one after the other."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        assert timeout is not None, "each attempt has its time"
        deadline = time.monotonic() + timeout
        *others, last = _addresses(host, port)
        for tried, address in enumerate(others):
            share = (deadline - time.monotonic()) / (len(others) + 1 - tried)
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return super().connect_tcp(
                    address, port, max(_LEAST, share), local_address, socket_options
                )
        left = max(_LEAST, deadline - time.monotonic())
        return super().connect_tcp(last, port, left, local_address, socket_options)


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    # In words, an address of one link says which link that is.
    numeric = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
    return [socket.getnameinfo(place, numeric)[0] for *_, place in found]
