"""A call that a tool sees by patching httpx is sent, and fails, as without the tool."""

import contextlib
import json
import re
from unittest import mock

import anyio
import httpcore
import httpx
import pytest
from clients import (
    CLIENT_KINDS,
    DRAFT,
    SYNC,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import (
    CERTIFICATE,
    LISTING,
    Connection,
    RawServer,
    answer_to,
    head,
    refusing_url,
    reply,
    serve_over_tls,
    serve_well,
)

import adclient._http.through_httpx  # noqa: F401  (here, so that coverage sees its import)
from adclient import AdClientError

pytestmark = pytest.mark.own

TIMEOUT = 0.3
SLACK = 5.0  # of a loaded machine; each fault here lasts longer


def place_of(client_kind):
    if client_kind is SYNC:
        return httpx.HTTPTransport, "handle_request"
    return httpx.AsyncHTTPTransport, "handle_async_request"


@contextlib.contextmanager
def patched(client_kind):
    """A tool that does nothing but go on."""
    cls, name = place_of(client_kind)
    with mock.patch.object(cls, name, autospec=True, side_effect=vars(cls)[name]) as spy:
        yield
    assert spy.called


async def failure_of(operation, client):
    """What a caller may learn of an error."""
    with pytest.raises(AdClientError) as caught:
        await wait(operation(client))
    error = caught.value
    return type(error), re.sub(r"[\d.]+ s\b", "… s", str(error)), error.outcome_unknown


ODD = {
    "account_id": "ä /?#%&+=[]'\"<>{}|\\^`~:@!$()*,;%41 \u2028",
    "campaign_id": "c",
    "date_range": "a\tb\r\n",
}


@pytest.mark.parametrize("prefix", ["", "/prefix/a%20b/~x'(1);!$&*,=:@", "/%7e%41%2f"])
@sync_and_async
async def test_patched_call_sends_the_same_bytes(client_kind, prefix) -> None:
    options = {"token": "t0ken", "headers": {"X-Custom": "a,  b"}}
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url + prefix, **options) as client:
            for way in (contextlib.nullcontext(), patched(client_kind)):
                with way:
                    await wait(client.beta.list_campaigns(**ODD))
                    await wait(write(client, account_id=ODD["account_id"]))
                    await wait(client.delta.remove_auto_search_themes(account_id="a"))
    assert server.requests[:3] == server.requests[3:]
    assert server.connections == 1


def statuses(*lines: str, status: int):
    def serve(connection: Connection) -> None:
        while connection.read():
            connection.send(reply(status, b"{}", *lines))

    return serve


def reset(connection: Connection) -> None:
    connection.read()
    connection.reset()


def cut_body(connection: Connection) -> None:
    connection.read()
    connection.send(head(201, 1000) + b'{"draft_id": "draft_1"')


def no_http(connection: Connection) -> None:
    connection.read()
    connection.send(b"220 mail.example.com ESMTP\r\n\r\n")


def no_body_yet(connection: Connection) -> None:
    connection.read()
    connection.send(head(200, 1000))
    connection.stay_silent()


FAULTS = {
    "401": statuses(status=401),
    "503": statuses(status=503),
    "redirect": statuses("Location: /elsewhere", status=307),
    "reset": reset,
    "cut body": cut_body,
    "no HTTP": no_http,
    "no body": no_body_yet,
    "silence": Connection.stay_silent,
}


@pytest.mark.parametrize("operation", [read, write])
@pytest.mark.parametrize("fault", FAULTS)
@sync_and_async
async def test_patched_call_raises_the_same_error(client_kind, fault, operation) -> None:
    with RawServer(FAULTS[fault]) as server:
        async with client_kind.open(server.url, timeout=TIMEOUT, max_retries=1) as client:
            plain = await failure_of(operation, client)
            with patched(client_kind):
                assert await failure_of(operation, client) == plain
    assert plain[2] is (operation is write and fault not in {"401", "redirect"})


@pytest.mark.parametrize("is_proxied", [False, True])
@pytest.mark.parametrize("operation", [read, write])
@sync_and_async
async def test_patched_call_raises_the_same_error_if_the_connection_is_refused(
    client_kind, operation, is_proxied
) -> None:
    proxy = refusing_url() if is_proxied else None
    async with client_kind.open(refusing_url(), proxy=proxy, max_retries=1) as client:
        plain = await failure_of(operation, client)
        with patched(client_kind):
            assert await failure_of(operation, client) == plain


@sync_and_async
async def test_body_read_by_a_tool_does_not_count_as_sent(client_kind) -> None:
    """As respx, and as vcrpy, which reads the requests of both clients without `await`."""
    cls, name = place_of(client_kind)
    handle = vars(cls)[name]

    def tool(transport, request):
        assert json.loads(request.read())["campaign_id"] == "c"
        return handle(transport, request)

    async with client_kind.open(refusing_url(), max_retries=1) as client:
        plain = await failure_of(write, client)
        with mock.patch.object(cls, name, tool):
            assert await failure_of(write, client) == plain
        assert plain[2] is False


@pytest.mark.parametrize("client_kind", CLIENT_KINDS[1:], ids=str)
def test_cancelled_patched_call_closes_its_connection(client_kind) -> None:
    def serve(connection: Connection) -> None:
        request = connection.read()
        if b"account_id=silent" in request:
            connection.wait_for_the_end()
            server.closed_by_client = True
        else:
            connection.send(answer_to(request))

    async def scenario(client_kind) -> None:
        async with client_kind.open(server.url) as client:
            with patched(client_kind):
                with anyio.move_on_after(TIMEOUT) as scope:
                    await read(client, account_id="silent")
                assert scope.cancelled_caught
                assert (await read(client)).to_dict() == LISTING

    with RawServer(serve) as server:
        client_kind.run(scenario, client_kind=client_kind)
    assert server.closed_by_client


# What httpx could add of its own.


@sync_and_async
async def test_bytes_beyond_a_response_are_not_read_as_the_next_response(client_kind) -> None:
    def serve(connection: Connection) -> None:
        request = connection.read()
        connection.send(answer_to(request) + reply(200, b"forged"))
        connection.wait_for_the_end()

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            with patched(client_kind):
                for _ in range(2):
                    assert (await wait(read(client))).to_dict() == LISTING
    assert server.connections == 2


@sync_and_async
async def test_response_left_open_by_a_tool_blocks_no_later_call(client_kind) -> None:
    def sync_tool(pool, request):
        response = handle(pool, request)
        return httpcore.Response(response.status, headers=response.headers, content=response.read())

    async def async_tool(pool, request):
        response = await handle(pool, request)
        body = await response.aread()
        return httpcore.Response(response.status, headers=response.headers, content=body)

    cls, name, tool = httpcore.AsyncConnectionPool, "handle_async_request", async_tool
    if client_kind is SYNC:
        cls, name, tool = httpcore.ConnectionPool, "handle_request", sync_tool
    handle = vars(cls)[name]
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            with mock.patch.object(cls, name, tool):
                await wait(read(client))
                await wait(write(client))
            await wait(read(client))
    assert (server.connections, len(server.requests)) == (3, 3)


# The proxy and TLS are those of the client.


@sync_and_async
async def test_patched_call_uses_the_proxy_of_the_client(client_kind) -> None:
    with RawServer(serve_well) as proxy:
        url = proxy.url.replace("//", "//user:pass@")
        async with client_kind.open("http://ads.example.com", proxy=url) as client:
            for way in (contextlib.nullcontext(), patched(client_kind)):
                with way:
                    await wait(write(client))
    first, second = proxy.requests
    assert first == second
    assert first.startswith(b"POST http://ads.example.com/v1/")
    assert proxy.connections == 1


def refuse(connection: Connection) -> None:
    connection.read()
    connection.send(reply(403, b""))


@pytest.mark.parametrize("serve", [refuse, Connection.stay_silent])
@sync_and_async
async def test_patched_call_raises_the_same_error_of_a_tunnel(client_kind, serve) -> None:
    with RawServer(serve) as proxy:
        options = {"proxy": proxy.url, "timeout": TIMEOUT, "max_retries": 1}
        async with client_kind.open("https://ads.example.com", **options) as client:
            plain = await failure_of(write, client)
            with patched(client_kind):
                assert await failure_of(write, client) == plain
            assert plain[2] is False


@sync_asyncio_trio
async def test_patched_call_verifies_certificates_as_the_client_does(client_kind) -> None:
    with RawServer(serve_over_tls) as server:
        url = server.url.replace("http", "https")
        async with client_kind.open(url, verify=CERTIFICATE) as client:
            await wait(read(client))
            with patched(client_kind):
                assert (await wait(write(client))).draft_id == DRAFT["draft_id"]
        assert server.connections == 1
        async with client_kind.open(url, max_retries=0) as client:
            plain = await failure_of(write, client)
            with patched(client_kind):
                assert await failure_of(write, client) == plain
    assert len(server.requests) == 2
    assert "CERTIFICATE_VERIFY_FAILED" in plain[1]
