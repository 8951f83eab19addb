"""The one package that knows the HTTP library: requests go out, bytes come back.

It decides nothing. It sends one request when told to, within the time given, and says what came
of it: a `Reply`, or a `Failure` with whether the service may have seen the request.
"""

import time
from collections.abc import Awaitable, Callable

import anyio

from adclient._core.request import Request
from adclient._http.connections import AsyncConnections, Connections
from adclient._http.handlers import async_handler_of, handler_of
from adclient._http.network import Network, network_of
from adclient._http.service import ServiceTransport

__all__ = [
    "AsyncConnections",
    "Connections",
    "Network",
    "ServiceTransport",
    "async_handler_of",
    "async_sleep",
    "async_within",
    "handler_of",
    "network_of",
    "sleep",
    "within",
]

sleep = time.sleep
async_sleep = anyio.sleep


def within(_: float, sign: Callable[[Request], Request], request: Request) -> Request | None:
    """Call a function; a sync one cannot be left before it returns."""
    return sign(request)


async def async_within(
    seconds: float, sign: Callable[[Request], Awaitable[Request]], request: Request
) -> Request | None:
    """Call a function; None if it took longer."""
    with anyio.move_on_after(seconds):
        return await sign(request)
    return None
