"""An httpx transport for httpx2 clients, so that one test serves both libraries."""

from contextlib import contextmanager

import httpx
import httpx2


class Carrier(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Passes httpx2 requests to an httpx transport, and returns its whole responses."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def handle_request(self, request):
        request.read()
        with _translated_errors():
            response = self.inner.handle_request(_request(request))
            response.read()
        return _response(response)

    async def handle_async_request(self, request):
        await request.aread()
        with _translated_errors():
            response = await self.inner.handle_async_request(_request(request))
            await response.aread()
        return _response(response)


@contextmanager
def _translated_errors():
    try:
        yield
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error


def _request(request):
    url, headers, extensions = str(request.url), request.headers.raw, request.extensions
    stream = httpx.ByteStream(request.content)
    return httpx.Request(request.method, url, headers=headers, stream=stream, extensions=extensions)


def _response(response):
    status, headers = response.status_code, response.headers.raw
    return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(response.content))
