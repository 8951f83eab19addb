"""Connections of aiohttp, for the async client.

httpx-aiohttp is not used, because it is not safe for writes: it reports a connection that broke
after the request was sent as one that was never made, and lets aiohttp send a DELETE again.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from os import PathLike
from typing import Any, Self, cast

import anyio

from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._extras import needs
from adclient._http.forks import leak, register_for_forks
from adclient._http.network import (
    checked_proxy,
    checked_verify,
    marked_if_permanent,
    tls_context,
)
from adclient._http.send import Attempt, decoded_headers, reason_of
from adclient.errors import ConfigurationError

with needs("aiohttp"):
    import aiohttp
    from yarl import URL

_KEEPALIVE_EXPIRY = 5.0

_Send = Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]]


class AiohttpTransport:
    """Connections of aiohttp for the async client, which serve more tasks on one core.

    Timeouts, retries and errors are the same as without it, and no draft is staged twice. It works
    on asyncio only, with HTTP/1.1, and ignores proxies of the environment. One transport serves any
    number of clients and event loops. Close it on each event loop that used it: with `aclose()`, or
    with an `async with` block.

    Args:
        proxy: The URL of an HTTP proxy; None for no proxy.
        verify: False for no TLS verification, the path of a CA bundle or of a directory of hashed
            certificates, or an `ssl.SSLContext`. True trusts the same certificates as
            `AsyncAdClient`.

    Raises:
        ConfigurationError: An argument cannot be used; the message names it.
        ModuleNotFoundError: aiohttp is missing; `pip install 'adclient[aiohttp]'`.

    Examples:
        >>> from adclient import AsyncAdClient
        >>> from adclient.aiohttp import AiohttpTransport
        >>> async with AiohttpTransport() as transport:
        ...     client = AsyncAdClient("https://ads.example.com", transport=transport)
    """

    __module__ = "adclient.aiohttp"  # its public name, which tracebacks show

    def __init__(
        self,
        *,
        proxy: str | None = None,
        verify: bool | str | PathLike[str] | ssl.SSLContext = True,
    ) -> None:
        if str(proxy).strip().lower().startswith("socks"):
            problem = "proxy: aiohttp does not support SOCKS proxies"
            raise ConfigurationError(problem, argument="proxy")
        self._proxy = None if proxy is None else checked_proxy("proxy", proxy)
        self._verify = checked_verify(verify)
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        register_for_forks(self)

    def reset_after_fork(self) -> None:
        """Drop the connections in a forked child, where it is called automatically.

        They are not closed: that would remove them from the selector that both processes share, and
        the parent would never see its responses.

        Examples:
            >>> from adclient.aiohttp import AiohttpTransport
            >>> AiohttpTransport().reset_after_fork()
        """
        leak(self._sessions)
        self._sessions = {}

    def __repr__(self) -> str:
        return "<AiohttpTransport>"

    async def _request(
        self, attempt: Attempt, body: AsyncIterator[bytes] | None
    ) -> aiohttp.ClientResponse:
        """Send a request, exactly once."""
        url = URL(attempt.request.url, encoded=True)  # yarl would change some escapes
        uses_tls = url.scheme == "https" or (self._proxy or "").startswith("https:")
        left = attempt.time_left
        return await self._session().request(
            attempt.request.method,
            url,
            headers=attempt.request.headers,
            data=body,
            allow_redirects=False,
            proxy=self._proxy,
            ssl=tls_context(self._verify) if uses_tls else True,
            # No total: the sender's cancel scope limits the whole attempt.
            timeout=aiohttp.ClientTimeout(sock_connect=left, sock_read=left),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next request opens others.

        Examples:
            >>> from adclient.aiohttp import AiohttpTransport
            >>> transport = AiohttpTransport()
            >>> await transport.aclose()
        """
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise ConfigurationError(
                "AiohttpTransport works on asyncio only; on trio, omit transport=",
                argument="transport",
            ) from None
        session = self._sessions.get(loop)
        if session is None:
            # The connections of a closed loop cannot be closed any more.
            for ended in [known for known in list(self._sessions) if known.is_closed()]:
                self._sessions.pop(ended, None)
            # `limit=0`: the client itself limits concurrency, first come, first served.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_EXPIRY)
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),  # no call depends on an earlier one
                auto_decompress=False,  # `Body` does it, and limits the result
                middlewares=[_once],
            )
        return session


class AiohttpSender:
    """Sends through a transport of the caller, who closes it."""

    def __init__(self, transport: AiohttpTransport) -> None:
        self._transport = transport
        self.is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        attempt = Attempt(request, deadline)
        try:
            with anyio.move_on_after(attempt.time_left):
                body = None if request.body is None else _body_of(attempt)
                try:
                    # The sender belongs to the transport; the method is private to users.
                    send = self._transport._request  # pyright: ignore[reportPrivateUsage]
                    response = await send(attempt, body)
                except BaseException as error:
                    # Tracebacks can show local variables, and aiohttp's contain the headers.
                    raise error.with_traceback(None) from None
                try:
                    headers = decoded_headers(response.raw_headers)
                    attempt.begin(response.status, headers)
                    async for chunk in response.content.iter_any():
                        if attempt.feed(chunk):
                            break
                    attempt.finish()
                finally:
                    # After a complete body, the connection is back in the pool already.
                    response.close()
                return attempt.response()
        except _BrokenError as broken:
            return _outcome_of(attempt, broken.error)
        except (aiohttp.ClientError, OSError, UnicodeError) as error:
            return _outcome_of(attempt, error)
        except Exception as error:
            return attempt.stopped(error)
        return attempt.failed("no response in time", sent=attempt.body_consumed, timed_out=True)

    async def aclose(self) -> None:
        """Close nothing: the caller owns the connections."""
        self.is_closed = True


class _BrokenError(Exception):
    """Carries an error past the retry logic of aiohttp."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


async def _once(request: aiohttp.ClientRequest, send: _Send) -> aiohttp.ClientResponse:
    """Hide a broken connection from aiohttp, which would send a GET or DELETE again."""
    try:
        return await send(request)
    except (aiohttp.ClientError, OSError) as error:
        raise _BrokenError(error) from error


async def _body_of(attempt: Attempt) -> AsyncIterator[bytes]:
    """The body of a request, which aiohttp reads once the connection is open."""
    attempt.body_consumed = True
    yield attempt.request.body or b""


def _outcome_of(attempt: Attempt, error: Exception) -> Outcome:
    """What was received before aiohttp failed."""
    sent = attempt.body_consumed or not isinstance(error, _NOT_SENT)
    if isinstance(error, TimeoutError):
        reason = "no response in time" if sent else "no connection in time"
        return attempt.failed(reason, sent=sent, timed_out=True)
    known = (reason for cls, reason in _REASONS if isinstance(error, cls))
    reason = next(known, None) or reason_of(error, ())
    if isinstance(error, _TLS_ERRORS):
        peer, url = cast(Any, error), URL(attempt.request.url)
        if (peer.host, peer.port) != (url.raw_host, url.port):
            reason = f"the proxy {peer.host}:{peer.port}: {reason}"
    return marked_if_permanent(attempt.failed(reason, sent=sent), error)


_TLS_ERRORS = aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError
_NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientProxyConnectionError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientProxyConnectionError, "the proxy refused the connection"),
    (aiohttp.ClientHttpProxyError, "the proxy refused the connection"),
    (aiohttp.ServerDisconnectedError, "Server disconnected without sending a response."),
    (aiohttp.ClientPayloadError, "the response was not valid HTTP"),
    (aiohttp.ClientResponseError, "the response was not valid HTTP"),
)
