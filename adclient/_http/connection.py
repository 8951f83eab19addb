"""The common part of sync and async connections: the service's origin, requests, errors.

httpcore is the engine of httpx. `network_backend` gives its connections our sockets, which keep
the deadline of the call.
"""

import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Protocol
from urllib.parse import unquote, urlsplit

from adclient._core.response import Outcome
from adclient._http.addresses import LastPlace
from adclient._http.backend import ProxyConnectError
from adclient._http.httpcore_alias import httpcore
from adclient._http.network import (
    Network,
    marked_if_permanent,
    tls_context,
)
from adclient._http.send import Attempt, reason_of

# How long an unused connection is kept. Many servers close theirs after 5 seconds or more.
KEEPALIVE_EXPIRY = 5.0

TIMEOUTS = (httpcore.TimeoutException, TimeoutError)
CORE_FAULTS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)
# The errors of a failed attempt. A host that cannot be encoded is a UnicodeError.
FAULTS = (*CORE_FAULTS, OSError, UnicodeError)
# Their texts describe only what the peer sent, so errors may show them.
_REMOTE = (httpcore.RemoteProtocolError, httpcore.ProxyError)


class ResponseStream(Protocol):
    """The body of a response, as httpcore streams it."""

    def __iter__(self) -> Iterator[bytes]: ...
    def close(self) -> None:
        """End the response; its connection may carry the next one if the body is whole."""
        ...


class AsyncResponseStream(Protocol):
    """The same for async connections."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None:
        """End the response; its connection may carry the next one if the body is whole."""
        ...


class Target:
    """The service as httpcore's connections see it."""

    def __init__(self, network: Network) -> None:
        parts = urlsplit(network.base_url)
        self.is_tls = parts.scheme == "https"
        self._scheme, self._host = parts.scheme.encode(), (parts.hostname or "").encode()
        # A proxy receives the whole URL of a plain request, which omits the default port.
        self._port = None if parts.port == 80 and not self.is_tls else parts.port
        self._prefix_length = len(f"{parts.scheme}://{parts.netloc}")
        self._verify = network.verify
        self.origin = httpcore.URL(scheme=self._scheme, host=self._host, port=self._port).origin
        self.last_place = LastPlace()  # of the service, or of its proxy

    @property
    def tls_context(self) -> ssl.SSLContext | None:
        """The TLS context of the service."""
        return tls_context(self._verify) if self.is_tls else None

    def proxy_tls_context(self, proxy: str) -> ssl.SSLContext | None:
        """The TLS context of a proxy that is reached over TLS itself."""
        return tls_context(self._verify) if proxy.startswith("https:") else None

    def request(self, attempt: Attempt) -> httpcore.Request:
        """A request as httpcore sends it."""
        request = attempt.request
        path = request.url[self._prefix_length :].encode()
        url = httpcore.URL(scheme=self._scheme, host=self._host, port=self._port, target=path)
        made = httpcore.Request(request.method.encode(), url, content=attempt)
        # Set here, because the constructor would check each of them again.
        made.headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
        return made


def outcome_of(attempt: Attempt, error: Exception) -> Outcome:
    """The outcome of an attempt that failed with one of the `FAULTS`."""
    sent = attempt.body_consumed
    # A proxy or server may give up at the same moment; the deadline counts as the reason.
    if isinstance(error, TIMEOUTS) or attempt.is_late:
        return timed_out(attempt)
    reason = reason_of(error, _REMOTE)
    if isinstance(error, ProxyConnectError):
        reason = f"the proxy {error.proxy}: {reason}"
    elif isinstance(error, httpcore.ProxyError):
        reason = f"the proxy: {reason}"
    return marked_if_permanent(attempt.failed(reason, sent=sent), error)


def timed_out(attempt: Attempt) -> Outcome:
    """The outcome of an attempt that reached its deadline."""
    sent = attempt.body_consumed
    reason = "no response in time" if sent else "no connection in time"
    return attempt.failed(reason, sent=sent, timed_out=True)


def proxy_parts(proxy: str) -> tuple[httpcore.URL, tuple[bytes, bytes] | None]:
    """The URL of a proxy without its credentials, and the credentials."""
    # httpcore takes credentials separately, and would ignore those in a URL.
    parts = urlsplit(proxy)
    host = (parts.hostname or "").encode()
    url = httpcore.URL(scheme=parts.scheme.encode(), host=host, port=parts.port, target=b"/")
    if parts.username is None and parts.password is None:
        return url, None
    return url, (unquote(parts.username or "").encode(), unquote(parts.password or "").encode())
