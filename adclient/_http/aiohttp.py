"""A transport of httpx over aiohttp.

httpx-aiohttp is not used, because it cannot be trusted with writes: it says of a connection that
broke after the request had left that it was never made, and lets aiohttp send a DELETE again.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import cast

import httpx

from adclient._extras import needs
from adclient._http.forks import forget_after_fork
from adclient._http.network import check_proxy, checked_verify, tls_context
from adclient.errors import ConfigurationError

with needs("aiohttp"):
    import aiohttp
    from multidict import CIMultiDict
    from yarl import URL

_LONGEST_IDLE = 5.0
_OF_PARENTS: list[dict[asyncio.AbstractEventLoop, aiohttp.ClientSession]] = []

_Send = Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]]
_Trace = Callable[[str, Mapping[str, object]], Awaitable[None]]


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Connections of aiohttp for the async client, which serve more tasks on one core.

    Everything else about a call is as without it: its time, its retries, its errors, and that no
    draft is staged twice. It works on asyncio alone, speaks HTTP/1.1, and takes no proxy from the
    environment. One transport serves any number of clients and event loops. It is yours to close,
    on each event loop that used it: with `aclose()`, or by an `async with` block.

    Args:
        proxy: The URL of an HTTP proxy.
        verify: False for no TLS verification, a path to a CA bundle, or an `ssl.SSLContext`.

    Raises:
        ConfigurationError: An argument cannot be used; the text names it.
        ModuleNotFoundError: aiohttp is missing; `pip install 'adclient[aiohttp]'`.

    Example:
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
        if str(proxy).lower().startswith("socks"):
            raise ConfigurationError("proxy: aiohttp takes no SOCKS proxy", argument="proxy")
        if proxy is not None:
            check_proxy("proxy", proxy)
        self._proxy = proxy
        self._verify = checked_verify(verify)
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        forget_after_fork(self)

    def forget(self) -> None:
        """Start without connections, and keep those of a parent process.

        Their end would take them out of the selector that both processes share, and the parent
        would wait for its answers in vain.
        """
        _OF_PARENTS.append(self._sessions)
        self._sessions = {}

    def __repr__(self) -> str:
        return "<AiohttpTransport>"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, exactly once."""
        session = self._session()
        # Whoever asks for reports wants to know from when on he may cancel: always.
        if "trace" in request.extensions:
            trace = cast(_Trace, request.extensions["trace"])
            await trace("http11.receive_response_headers.started", {})
        timeouts: dict[str, float | None] = request.extensions.get("timeout", {})
        with _faults_of_httpx():
            response = await session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=CIMultiDict(request.headers.multi_items()),
                data=_body_of(request),
                allow_redirects=False,
                proxy=self._proxy,
                ssl=tls_context(self._verify) if request.url.scheme == "https" else True,
                timeout=aiohttp.ClientTimeout(
                    sock_connect=timeouts.get("connect"), sock_read=timeouts.get("read")
                ),
            )
        return httpx.Response(
            response.status, headers=list(response.raw_headers), stream=_Body(response)
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop; it may be used again after this."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise ConfigurationError(
                "AiohttpTransport works on asyncio alone; leave transport= out on trio",
                argument="transport",
            ) from None
        session = self._sessions.get(loop)
        if session is None:
            for ended in [known for known in list(self._sessions) if known.is_closed()]:
                self._sessions.pop(ended, None)
            # The client says how many requests may be under way, and who is next.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_LONGEST_IDLE)
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                middlewares=[_once],
            )
        return session


class _Body(httpx.AsyncByteStream):
    """The body of an answer."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _faults_of_httpx():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        # The connection of a body that was read to its end is back in the pool already.
        self._response.close()


def _body_of(request: httpx.Request) -> AsyncIterator[bytes] | None:
    """The body of a request, which aiohttp begins to read when the connection stands."""
    has_body = request.headers.get("content-length", "0") != "0"
    return aiter(cast(httpx.AsyncByteStream, request.stream)) if has_body else None


async def _once(request: aiohttp.ClientRequest, send: _Send) -> aiohttp.ClientResponse:
    """Hide from aiohttp that a connection broke, for it would send a GET or DELETE again."""
    with _faults_of_httpx():
        return await send(request)


_NEVER_MADE = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.InvalidURL,
)


@contextmanager
def _faults_of_httpx() -> Generator[None, None, None]:
    try:
        yield
    except (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError) as error:
        raise httpx.ProxyError("the proxy refused the connection") from error
    except _NEVER_MADE as error:
        raise httpx.ConnectError("") from error
    except aiohttp.ConnectionTimeoutError as error:
        raise httpx.ConnectTimeout("") from error
    except TimeoutError as error:
        raise httpx.ReadTimeout("") from error
    except aiohttp.ServerDisconnectedError as error:
        raise httpx.RemoteProtocolError("Server disconnected without an answer") from error
    except aiohttp.ClientOSError as error:
        raise httpx.ReadError("") from error
    except aiohttp.ClientError as error:
        raise httpx.RemoteProtocolError("") from error
