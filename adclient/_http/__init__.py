"""The one package that knows the HTTP library: requests go out, bytes come back.

It decides nothing. It sends one request when told to, within the time given, and says what came
of it: a `Reply`, or a `Failure` with whether the service may have seen the request.
"""

from adclient._http.async_connections import AsyncConnections
from adclient._http.connections import Connections
from adclient._http.handlers import async_handler_of, handler_of
from adclient._http.network import Network, network_of
from adclient._http.service import ServiceTransport
from adclient._http.world import REAL_WORLD, async_within, within, world_of

__all__ = [
    "REAL_WORLD",
    "AsyncConnections",
    "Connections",
    "Network",
    "ServiceTransport",
    "async_handler_of",
    "async_within",
    "handler_of",
    "network_of",
    "within",
    "world_of",
]
