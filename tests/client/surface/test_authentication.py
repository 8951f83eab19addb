"""The headers that `token` and `auth` add to a request, and those that they may not add."""

import re

import httpx
import pytest
from clients import (
    BASE_URL,
    CLIENT_KINDS,
    SECRET,
    Service,
    a_draft,
    a_page,
    assert_names_the_argument,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)

from adclient import ConfigurationError, Request
from adclient.testing import FakeAdService


@sync_asyncio_trio
async def test_token_function_is_called_for_each_attempt(client_kind) -> None:
    service = Service(httpx.Response(503), a_page("a"))
    tokens = iter(["first", "second"])
    async with client_kind.open(transport=service.transport, token=lambda: next(tokens)) as client:
        await wait(read(client))
    sent = [request.headers["authorization"] for request in service.requests]
    assert sent == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        *(("token", token) for token in (None, "", f"{SECRET}\n", 7, f"Bearer {SECRET}")),
        *(("auth", headers) for headers in (None, SECRET, [("x-key", SECRET)])),
        *(("auth", headers) for headers in ({"x-key": f"{SECRET}\n"}, {"x-key": None})),
        *(("auth", {name: SECRET}) for name in ("bad name", "host", "content-length")),
    ],
)
@sync_and_async
async def test_invalid_result_of_token_or_auth_is_refused(client_kind, argument, given) -> None:
    service = Service()
    options = {argument: lambda *_: given}
    async with client_kind.open(transport=service.transport, **options) as client:
        with pytest.raises(ConfigurationError) as caught:
            await wait(write(client))
    assert_names_the_argument(caught.value, argument)
    assert service.requests == []


@sync_and_async
async def test_auth_receives_the_request_and_adds_headers(client_kind) -> None:
    seen = []

    def sign(request: Request) -> dict[str, str]:
        seen.append(request)
        body = request.body or b""
        return {"Authorization": "Custom abc", "X-Signature": f"{request.method} {len(body)}"}

    service = Service(httpx.Response(503), a_page("a"), a_draft())
    async with client_kind.open(transport=service.transport, auth=sign) as client:
        await wait(read(client))
        await wait(write(client))
    signatures = [request.headers["x-signature"] for request in service.requests]
    assert signatures == ["GET 0", "GET 0", "POST 36"]
    assert service.requests[2].headers["authorization"] == "Custom abc"
    assert [type(request) for request in seen] == [Request] * 3
    assert (seen[0].method, seen[0].body) == ("GET", None)
    assert seen[0].url == f"{BASE_URL}/v1/alpha-ads/explain-alpha-objectives?account_id=a"
    assert seen[2].body == b'{"account_id":"a","campaign_id":"c"}'
    assert seen[2].headers["content-type"] == "application/json"


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_async_token_and_auth_are_awaited(client_kind) -> None:
    async def token() -> str:
        return "awaited"

    async def sign(request: Request) -> dict[str, str]:
        return {"x-signature": request.method}

    service = Service(a_draft(), a_draft())

    async def scenario() -> None:
        async with client_kind.open(transport=service.transport, token=token) as client:
            await write(client)
        async with client_kind.open(transport=service.transport, auth=sign) as client:
            await write(client)

    client_kind.run(scenario)
    first, second = service.requests
    assert first.headers["authorization"] == "Bearer awaited"
    assert second.headers["x-signature"] == "POST"


@pytest.mark.parametrize("host", ["ads.example.com", "128.0.0.1", "[::2]", "localhost.example.com"])
@sync_and_async
async def test_token_over_plain_http_warns_once_for_each_client(client_kind, host) -> None:
    service, url = Service(a_draft(), a_draft()), f"http://{host}:8765"
    shown = f"^{re.escape(url)}: over plain http, others can read the token; use https$"
    with pytest.warns(UserWarning, match=shown) as warned:
        client = client_kind.client(url, token=SECRET, transport=service.transport)
    assert [warning.filename for warning in warned] == [__file__]
    await wait(write(client))  # warnings are errors here
    await wait(write(client.with_options(timeout=7)))
    with pytest.warns(UserWarning, match=shown):
        client_kind.client(url, token=lambda: SECRET)


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_safe_token_does_not_warn(client_kind) -> None:
    for host in ("localhost", "127.1.2.3", "[::1]"):
        client_kind.client(f"http://{host}:8765", token=SECRET)
    client_kind.client("https://ads.example.com", token=SECRET)
    client_kind.client("http://ads.example.com")
    fake = FakeAdService(token=SECRET)
    client_kind.client("http://ads.example.com", token=SECRET, transport=fake.transport)
