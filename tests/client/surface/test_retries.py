"""Retries and rate limits of both engines; tests/client/core tests what is retried and when."""

import json
import ssl
from inspect import isclass

import clients
import httpx
import pytest
from clients import Service, read, sync_and_async, wait, write
from raw_server import LISTING, Connection, RawServer, reply

from adclient import CallTimeout, OutcomeUnknown, RetryPolicy, TransportError

HTTP_ERRORS = [
    *(c for c in vars(httpx).values() if isclass(c) and issubclass(c, httpx.RequestError)),
    *(httpx.InvalidURL, httpx.StreamError, ssl.SSLError, OSError, TimeoutError),
]


@sync_and_async
async def test_no_error_of_the_http_library_escapes(client_kind) -> None:
    service = Service(*(cls("") for cls in HTTP_ERRORS))
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        for _ in HTTP_ERRORS:
            with pytest.raises(TransportError):
                await wait(read(client))


@clients.sync_asyncio_trio
async def test_read_is_retried_after_an_attempt_that_hangs(client_kind) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            if len(server.requests) % 2:
                server.stopping.wait(10)
                return
            connection.send(reply(200, json.dumps(LISTING).encode()))

    limited = RetryPolicy(backoff_first=0, attempt_timeout=0.5)
    with RawServer(serve) as server:
        async with client_kind.open(server.url, timeout=8, retry=limited) as client:
            page = await wait(read(client))
            assert page.response.attempts == 2
            assert page.response.elapsed >= 0.5
            with pytest.raises(OutcomeUnknown) as unknown:
                await wait(write(client))
            assert isinstance(unknown.value, CallTimeout)
            assert unknown.value.attempts == 1
            assert "attempt_timeout" not in str(unknown.value)
