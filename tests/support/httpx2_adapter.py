"""An httpx transport for httpx2 clients, so that one test serves both libraries."""

import httpx
import httpx2


class Carrier(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Passes httpx2 requests to an httpx transport, and returns its responses."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def handle_request(self, request):
        request.read()
        with _translated_errors():
            return _answer(self.inner.handle_request(_question(request)))

    async def handle_async_request(self, request):
        await request.aread()
        with _translated_errors():
            return _answer(await self.inner.handle_async_request(_question(request)))


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


class _translated_errors:  # noqa: N801
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, traceback) -> None:
        if isinstance(error, httpx.HTTPError | httpx.StreamError | httpx.InvalidURL):
            raise getattr(httpx2, kind.__name__)(str(error)) from error


def _question(request):
    return httpx.Request(
        request.method,
        str(request.url),
        headers=request.headers.raw,
        stream=httpx.ByteStream(request.content),
        extensions=request.extensions,
    )


def _answer(response):
    return httpx2.Response(
        response.status_code,
        headers=response.headers.raw,
        stream=_Stream(response.stream),
        extensions=response.extensions,
    )
