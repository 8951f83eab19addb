"""An httpx transport for httpx2 clients, so that one test serves both libraries."""

from contextlib import contextmanager

import httpx
import httpx2


class Carrier(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Passes httpx2 requests to an httpx transport, and returns its responses."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def handle_request(self, request):
        request.read()
        with _translated_errors():
            return _response(self.inner.handle_request(_request(request)))

    async def handle_async_request(self, request):
        await request.aread()
        with _translated_errors():
            return _response(await self.inner.handle_async_request(_request(request)))


class _Stream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, inner) -> None:
        self.inner = inner

    def __iter__(self):
        with _translated_errors():
            yield from self.inner

    async def __aiter__(self):
        with _translated_errors():
            async for chunk in self.inner:
                yield chunk

    def close(self) -> None:
        with _translated_errors():
            self.inner.close()

    async def aclose(self) -> None:
        with _translated_errors():
            await self.inner.aclose()


@contextmanager
def _translated_errors():
    try:
        yield
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error


def _request(request):
    stream = httpx.ByteStream(request.content)
    headers, extensions = request.headers.raw, request.extensions
    return httpx.Request(
        request.method, str(request.url), headers=headers, stream=stream, extensions=extensions
    )


def _response(response):
    return httpx2.Response(
        response.status_code,
        headers=response.headers.raw,
        stream=_Stream(response.stream),
        extensions=response.extensions,
    )
