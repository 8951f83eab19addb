"""The connections of a sync client: each carries one request at a time, and is kept for more."""

import time
import warnings
from collections import deque
from contextlib import suppress
from typing import cast

import httpcore

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http import patched
from adclient._http.backend import Backend
from adclient._http.connection import FAULTS, KEEPALIVE_EXPIRY, Body, Target, failed, proxy_parts
from adclient._http.forks import leak, register_for_forks
from adclient._http.network import Network
from adclient._http.send import Attempt, decoded_headers

_NEVER_CLOSED = "an AdClient was never closed: end it with close(), or use `with`"


class ConnectionPool:
    """Sends requests over connections of its own, from any number of threads.

    Connections are reused last in, first out, so those that a burst has opened expire. Taking one
    costs the same however many there are, and one that fails is closed without touching another.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._target = Target(network)
        self.is_closed: bool = False
        self._idle: deque[_Connection] = deque()
        register_for_forks(self)

    def reset_after_fork(self) -> None:
        """Start without connections, and leave those of the parent alone."""
        leak(self._idle)
        self._idle = deque()

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request; come back with its response or failure by the deadline."""
        if patched.is_patched():
            raise NotImplementedError
        attempt = Attempt(request, deadline)
        try:
            connection = self._checkout()
            try:
                connection.send(self._target.request(attempt), attempt)
            except BaseException:
                connection.backend.close()
                raise
        except FAULTS as error:
            return failed(attempt, error)
        except Exception as error:
            return attempt.stopped(error)
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        if self.is_closed:
            self.close()
        return attempt.response()

    def close(self) -> None:
        """Close the connections; doing it again does nothing."""
        self.is_closed = True
        with suppress(IndexError):
            while True:
                self._idle.pop().backend.close()

    def __del__(self) -> None:
        """Warn about a client that was never closed; closing in `__del__` could deadlock."""
        if self._idle and not self.is_closed:
            warnings.warn(_NEVER_CLOSED, ResourceWarning, source=self, stacklevel=2)

    def _checkout(self) -> "_Connection":
        expiry = time.monotonic() - KEEPALIVE_EXPIRY
        while self._idle and (oldest := self._idle[0]).idle_since < expiry:
            oldest.backend.close()
            self._idle.remove(oldest)
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was quicker
                break
            # The server may have closed it, or have sent something that nobody asked for.
            if connection.backend.is_reusable:
                return connection
            connection.backend.close()
        return _Connection(self._target, self._network.proxy)


class _Connection:
    """One connection, which is opened by its first request."""

    def __init__(self, target: Target, proxy: str | None) -> None:
        self.backend = Backend()
        self.idle_since = 0.0
        self._http = _open(target, proxy, self.backend)

    def send(self, request: httpcore.Request, attempt: Attempt) -> None:
        """Send a request and read its response into the attempt."""
        self.backend.deadline = attempt.deadline
        response = self._http.handle_request(request)
        body = cast(Body, response.stream)
        try:
            if attempt.begin(response.status, decoded_headers(response.headers), is_framed=True):
                # It extends the list chunk by chunk: what came before an error is kept.
                attempt.chunks.extend(body)
            else:
                for chunk in body:
                    if attempt.feed(chunk):
                        break
            attempt.finish()
        finally:
            body.close()


def _open(target: Target, proxy: str | None, backend: Backend) -> httpcore.ConnectionInterface:
    if proxy is None:
        return httpcore.HTTPConnection(
            target.origin, ssl_context=target.tls_context, network_backend=backend
        )
    url, auth = proxy_parts(proxy)
    through = httpcore.SOCKSProxy if proxy.startswith("socks") else httpcore.HTTPProxy
    pool = through(url, proxy_auth=auth, ssl_context=target.tls_context, network_backend=backend)
    return pool.create_connection(target.origin)
