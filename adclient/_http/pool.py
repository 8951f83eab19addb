"""The connections of a sync client; each carries one request at a time, and is reused."""

import time
import warnings
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.backend import Backend
from adclient._http.connection import (
    FAULTS,
    KEEPALIVE_EXPIRY,
    ResponseStream,
    Target,
    outcome_of,
    proxy_parts,
)
from adclient._http.forks import leak, register_for_forks
from adclient._http.httpcore_alias import httpcore
from adclient._http.network import Network
from adclient._http.patched import is_patched
from adclient._http.send import Attempt, decoded_headers

if TYPE_CHECKING:
    from adclient._http.through_httpx import HTTPXAttempt

_NEVER_CLOSED = "an AdClient was never closed: end it with close(), or use `with`"


class ConnectionPool:
    """Sends requests over connections of its own, from any number of threads.

    Connections are reused last in, first out, so those that a burst has opened expire. Taking one
    takes constant time, and one that fails is closed without affecting another.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._target = Target(network)
        self.is_closed: bool = False
        # Without a lock: a deque appends and pops atomically.
        self._idle: deque[_Connection] = deque()
        register_for_forks(self)

    def reset_after_fork(self) -> None:
        """Start without connections, and leave those of the parent alone."""
        leak(self._idle)
        self._idle = deque()

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        patched = None
        if is_patched():
            from adclient._http.through_httpx import HTTPXAttempt  # imports httpx

            patched = HTTPXAttempt(request, deadline)
        attempt = patched or Attempt(request, deadline)
        try:
            connection = self._checkout()
            try:
                if patched is None:
                    connection.send(self._target.request(attempt), attempt)
                else:
                    connection.send_through_httpx(patched)
            except BaseException:  # even an interrupt leaves a request or response unfinished
                connection.backend.close()
                raise
        except FAULTS as error:
            return outcome_of(attempt, error)
        except Exception as error:
            return attempt.stopped(error)
        # The server closes it, or the body was not read to its end.
        if not connection.is_open:
            connection.backend.close()
            return attempt.response()
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        if self.is_closed:  # another thread closed the pool before this connection was in it
            self.close()
        return attempt.response()

    def close(self) -> None:
        """Close the connections; doing it again does nothing."""
        self.is_closed = True
        # Popped until that fails: another thread could take the last one after a test for it.
        with suppress(IndexError):
            while True:
                self._idle.pop().backend.close()

    def __del__(self) -> None:
        """Warn about a client that was never closed; closing in `__del__` could deadlock."""
        if self._idle and not self.is_closed:
            warnings.warn(_NEVER_CLOSED, ResourceWarning, source=self, stacklevel=2)

    def _checkout(self) -> "_Connection":
        expiry = time.monotonic() - KEEPALIVE_EXPIRY
        try:
            # The longest idle are on the left, since each is appended when it becomes idle.
            # If another thread takes that one first, a fresher one is closed, which does no harm.
            while self._idle[0].idle_since < expiry:
                self._idle.popleft().backend.close()
            while True:
                connection = self._idle.pop()
                # The server may have closed it, or sent unsolicited bytes.
                if connection.backend.is_reusable:
                    return connection
                connection.backend.close()
        except IndexError:  # empty, perhaps because another thread took the last one
            return _Connection(self._target, self._network.proxy)


class _Connection:
    """One connection, which is opened by its first request."""

    def __init__(self, target: Target, proxy: str | None) -> None:
        self.backend = Backend(proxy=proxy, last=target.last_place)
        self.idle_since: float  # set after each request
        # 696,000 instructions for a GET over loopback; through the pool itself, it takes 844,000.
        self._http = _pool(target, proxy, self.backend).create_connection(target.origin)

    def send(self, request: httpcore.Request, attempt: Attempt) -> None:
        """Send a request and read its response into the attempt."""
        self.backend.deadline = attempt.deadline
        response = self._http.handle_request(request)
        body = cast(ResponseStream, response.stream)
        try:
            if attempt.begin(response.status, decoded_headers(response.headers), is_framed=True):
                # `extend` appends chunk by chunk, so what came before an error is kept.
                attempt.chunks.extend(body)
            else:
                for chunk in body:
                    if attempt.feed(chunk):
                        break
            attempt.finish()
        finally:
            body.close()  # only this lets httpcore consider the connection idle

    def send_through_httpx(self, attempt: "HTTPXAttempt") -> None:
        """The same, seen by the tools that have patched httpx."""
        from adclient._http.library import send_and_read
        from adclient._http.through_httpx import send_over

        self.backend.deadline = attempt.deadline
        send_and_read(send_over(self._http), attempt)

    @property
    def is_open(self) -> bool:
        """True if it can carry another request. A tool may have left the response open."""
        return self._http.is_idle()


def _pool(target: Target, proxy: str | None, backend: Backend) -> httpcore.ConnectionPool:
    """A pool of httpcore, used only to create connections: the pools implement proxies."""
    context = target.tls_context
    if proxy is None:
        return httpcore.ConnectionPool(context, network_backend=backend)
    url, auth = proxy_parts(proxy)
    if proxy.startswith("socks"):
        return httpcore.SOCKSProxy(url, auth, context, network_backend=backend)
    return httpcore.HTTPProxy(
        url,
        auth,
        ssl_context=context,
        proxy_ssl_context=target.proxy_tls_context(proxy),
        network_backend=backend,
    )
