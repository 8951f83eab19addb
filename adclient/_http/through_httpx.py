"""Sends over our own connections, but through httpx, so that tools that patch it see the request.

The request passes a client of httpx, its transport and the transport's pool, which are made for
this one request and keep nothing: no cookies, no settings of the environment. Below them lies the
connection that carries the request otherwise as well, with its deadline, TLS and proxy. So a
connection is kept for the next request, which matters where a monitor patches httpx for good.
"""

import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import httpx

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.httpcore_alias import httpcore
from adclient._http.library import HTTPLibrary, LibraryAttempt
from adclient._http.pool import CORE_FAULTS, Connection, outcome_of
from adclient._http.send import Attempt

# A transport requires a context, and loading certificates for one is slow. This one trusts no
# certificate and is never used: the connection has its own.
_UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

# Like httpx's own requests, these have a body that can be read sync and async: tools use either.
_HTTPX = HTTPLibrary(httpx)
_HTTPX.sync_stream = _HTTPX.async_stream = cast(Any, _HTTPX.both_streams)

_AsyncConnection = Connection[Any, httpcore.AsyncConnectionInterface]


class HTTPXAttempt(LibraryAttempt):
    """One request on its way through httpx, over one of our connections."""

    def __init__(self, request: Request, deadline: float) -> None:
        super().__init__(request, deadline, _HTTPX, None)
        self.names_requests = True

    def stopped(self, error: Exception) -> Outcome:
        """The outcome after httpx, or a tool in it, has raised an error."""
        if not isinstance(error, self.library.faults):
            return super().stopped(error)
        below = error.__cause__
        if not isinstance(below, CORE_FAULTS):
            return self.outcome_of(error)
        if isinstance(error, self.library.not_sent):
            self.body_consumed = False  # a tool has read it before there was a connection
        return outcome_of(self, below)

    def send_over(self, connection: httpcore.ConnectionInterface, _: Attempt, /) -> None:
        """Send the request over a connection, and read its response."""
        self.send_through(_through(httpx.Client, httpx.HTTPTransport, connection))

    async def async_send_over(self, connection: _AsyncConnection, _: Attempt, /) -> None:
        """The same over an async connection."""
        from adclient._http.async_library import ShieldedSend  # deferred: it loads anyio

        send = _through(httpx.AsyncClient, httpx.AsyncHTTPTransport, connection.http)
        await ShieldedSend(send, self).perform()


def _through(client: Any, transport: Any, connection: object) -> Callable[[httpx.Request], Any]:
    """What sends through a client and a transport of httpx, with one of our connections below.

    httpx takes neither a pool nor the network backend in which our deadlines live, so a method of
    the pool that the transport has made is replaced.
    """

    def create_connection(_: object) -> object:
        return connection

    below = transport(verify=_UNUSED)
    below._pool.create_connection = create_connection
    # As a stream, because only our own reading bounds the body in time and size.
    send = client(transport=below, trust_env=False).send
    return partial(send, stream=True, follow_redirects=False)
