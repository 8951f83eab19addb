"""The aiohttp transport; `--family=aiohttp` runs the other tests of this folder over it."""

import asyncio
import subprocess
import sys

import anyio
import httpx
import pytest
from cases import each_case
from clients import DRAFT
from raw_server import Connection, RawServer, answer_to, refusing_url, reply, serve_well

from adclient import (
    AsyncAdClient,
    CallTimeout,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    RetryPolicy,
    ServerError,
    TransportError,
)
from adclient._http import forks
from adclient.aiohttp import AiohttpTransport

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
ONCE = RetryPolicy(max_retries=0)


def test_requests_equal_those_of_the_default_connections() -> None:
    async def scenario(url: str, transport: AiohttpTransport | None) -> None:
        async with AsyncAdClient(url, transport=transport, token="t") as client:
            await client.beta.list_campaigns(**IDS, date_range="a b/ü")
            await client.beta.pause_campaign(**IDS)
            await client.delta.remove_auto_search_themes(account_id="a")
        if transport is not None:
            await transport.aclose()

    def parts(request: bytes) -> tuple[bytes, list[bytes], bytes]:
        head, _, body = request.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        return first, sorted(line.lower() for line in headers), body

    with RawServer(serve_well) as server:
        asyncio.run(scenario(server.url, None))
        own = [parts(request) for request in server.requests]
        server.requests.clear()
        asyncio.run(scenario(server.url, AiohttpTransport()))
        assert [parts(request) for request in server.requests] == own
    assert server.connections == 2


@pytest.mark.parametrize("call", ["read", "delete", "post"])
def test_nothing_is_resent_when_a_reused_connection_breaks(call) -> None:
    """aiohttp on its own resends a GET, and some DELETEs."""

    def serve(connection: Connection) -> None:
        request = connection.read()
        connection.send(answer_to(request))
        connection.read()

    async def scenario(url: str) -> None:
        async with AiohttpTransport() as transport:
            client = AsyncAdClient(url, transport=transport, retry=ONCE)
            calls = {
                "read": lambda: client.beta.list_campaigns(account_id="a").collect(),
                "delete": lambda: client.delta.remove_auto_search_themes(account_id="a"),
                "post": lambda: client.beta.pause_campaign(**IDS),
            }
            await calls[call]()
            with pytest.raises(ConnectionLost) as caught:
                await calls[call]()
            assert isinstance(caught.value, OutcomeUnknown) == (call != "read")

    with RawServer(serve) as server:
        asyncio.run(scenario(server.url))
    assert len(server.requests) == 2


FAULTS = {
    "drops": lambda connection: None,
    "resets": Connection.reset,
    "is silent": Connection.stay_silent,
    "answers no HTTP": lambda connection: connection.send(b"\0\1\2\3\r\n\r\n"),
    "cuts the head": lambda connection: connection.send(b"HTTP/1.1 201 Cre"),
    "cuts the body": lambda connection: connection.send(reply(201, b"{}" * 9)[:-5]),
}


@each_case("fault", FAULTS)
def test_write_is_sent_once_whatever_the_server_does(fault) -> None:
    def serve(connection: Connection) -> None:
        if connection.read():
            FAULTS[fault](connection)

    async def scenario(url: str) -> None:
        async with AiohttpTransport() as transport:
            client = AsyncAdClient(
                url, transport=transport, timeout=0.5 if "silent" in fault else 20
            )
            with pytest.raises(OutcomeUnknown):
                await client.beta.pause_campaign(**IDS)

    with RawServer(serve) as server:
        asyncio.run(scenario(server.url))
    assert len(server.requests) == 1


def test_error_body_is_read_up_to_its_limit() -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(reply(500, b"x" * 1_000_000))

    async def scenario(url: str) -> None:
        async with AiohttpTransport() as transport:
            client = AsyncAdClient(url, transport=transport, retry=ONCE)
            with pytest.raises(ServerError) as caught:
                await client.alpha.explain_objectives(account_id="a")
        assert caught.value.body == "x" * 2048

    with RawServer(serve) as server:
        asyncio.run(scenario(server.url))


def test_call_on_trio_is_refused() -> None:
    async def scenario() -> None:
        client = AsyncAdClient("http://127.0.0.1:9", transport=AiohttpTransport())
        with pytest.raises(ConfigurationError, match="asyncio only"):
            await client.beta.pause_campaign(**IDS)

    anyio.run(scenario, backend="trio")


def test_one_transport_serves_several_loops_and_clients() -> None:
    transport = AiohttpTransport()

    async def scenario(url: str) -> None:
        for _ in range(2):
            async with AsyncAdClient(url, transport=transport) as client:
                await client.beta.pause_campaign(**IDS)
        await transport.aclose()
        await transport.aclose()
        client = AsyncAdClient(url, transport=transport)
        await client.beta.pause_campaign(**IDS)
        await transport.aclose()

    with RawServer(serve_well) as server:
        asyncio.run(scenario(server.url))
        asyncio.run(scenario(server.url))
    assert (server.connections, len(server.requests)) == (4, 6)


def test_closed_loop_is_dropped() -> None:
    transport = AiohttpTransport()
    closed = asyncio.new_event_loop()
    closed.close()
    transport._sessions[closed] = None

    async def scenario(url: str) -> None:
        await AsyncAdClient(url, transport=transport).beta.pause_campaign(**IDS)
        assert list(transport._sessions) == [asyncio.get_running_loop()]
        await transport.aclose()

    with RawServer(serve_well) as server:
        asyncio.run(scenario(server.url))


def test_forked_child_leaves_the_parents_connections_open(monkeypatch) -> None:
    """Closing them in the child would remove them from a selector that both processes share."""
    transport = AiohttpTransport()

    async def scenario(url: str) -> None:
        client = AsyncAdClient(url, transport=transport)
        await client.beta.pause_campaign(**IDS)
        (inherited,) = transport._sessions.values()
        monkeypatch.setattr(forks, "_RESETTABLE", forks._RESETTABLE & {transport})
        forks.reset_all()
        await client.beta.pause_campaign(**IDS)
        assert not inherited.closed
        assert server.connections == 2
        await inherited.close()
        await transport.aclose()

    with RawServer(serve_well) as server:
        asyncio.run(scenario(server.url))


def test_proxy_is_used_for_http_and_https() -> None:
    def serve(connection: Connection) -> None:
        request = connection.read()
        refused = request.startswith(b"CONNECT")
        connection.send(reply(403, b"") if refused else answer_to(request))

    async def scenario(url: str) -> None:
        async with AiohttpTransport(proxy=url) as transport:
            client = AsyncAdClient("http://ads.example.com", transport=transport, retry=ONCE)
            assert (await client.beta.pause_campaign(**IDS)).draft_id == DRAFT["draft_id"]
            client = AsyncAdClient("https://ads.example.com", transport=transport, retry=ONCE)
            with pytest.raises(ConnectionFailed, match="proxy"):
                await client.beta.pause_campaign(**IDS)
        async with AiohttpTransport(proxy=refusing_url()) as transport:
            client = AsyncAdClient("http://ads.example.com", transport=transport, retry=ONCE)
            with pytest.raises(ConnectionFailed):
                await client.beta.pause_campaign(**IDS)

    with RawServer(serve) as proxy:
        asyncio.run(scenario(proxy.url))
    assert proxy.requests[0].startswith(b"POST http://ads.example.com/v1/beta-ads/pause")
    assert proxy.requests[1].startswith(b"CONNECT ads.example.com:443")


@each_case(
    "options",
    [
        {"proxy": "socks5://x:1"},
        {"proxy": "http://"},
        {"proxy": "http://h:99999"},
        {"proxy": 5},
        {"verify": "/nowhere.pem"},
        {"verify": 0},
    ],
)
def test_invalid_setting_is_named(options) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        AiohttpTransport(**options)


def test_connect_timeout_of_aiohttp_is_call_timeout(monkeypatch) -> None:
    """aiohttp itself gives up connecting a moment before the call times out."""

    async def scenario() -> None:
        async def never(*_: object, **__: object) -> None:
            raise aiohttp.ConnectionTimeoutError

        aiohttp = pytest.importorskip("aiohttp")
        monkeypatch.setattr(aiohttp.TCPConnector, "connect", never)
        async with AiohttpTransport() as transport:
            client = AsyncAdClient("http://127.0.0.1:9", transport=transport, retry=ONCE)
            with pytest.raises(CallTimeout, match="no connection in time") as caught:
                await client.beta.pause_campaign(**IDS)
            assert not caught.value.outcome_unknown

    asyncio.run(scenario())


def test_refused_connection_is_connection_failed() -> None:
    async def scenario() -> None:
        async with AiohttpTransport() as transport:
            client = AsyncAdClient(refusing_url(), transport=transport, retry=ONCE)
            with pytest.raises(ConnectionFailed, match="refused"):
                await client.beta.pause_campaign(**IDS)

    asyncio.run(scenario())


def test_repr_does_not_contain_the_proxy() -> None:
    assert repr(AiohttpTransport(proxy="http://user:secret@proxy")) == "<AiohttpTransport>"


def test_missing_aiohttp_names_the_extra_to_install() -> None:
    code = "import sys; sys.modules['aiohttp'] = None; import adclient.aiohttp"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "this needs aiohttp: pip install 'adclient[aiohttp]', or '.[aiohttp]' in a checkout"
        in done.stderr
    )


# httpx-aiohttp reports a connection that broke in use as one that was never established.


class Untrusted(httpx.AsyncBaseTransport):
    __module__ = "httpx_aiohttp.transport"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        aiohttp = pytest.importorskip("aiohttp")
        await request.aread()
        raise httpx.ConnectTimeout("") from aiohttp.ServerDisconnectedError()


class UntrustedClient(httpx.AsyncClient):
    __module__ = "httpx_aiohttp.client"


class Wrapper(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.handle_async_request = inner.handle_async_request


@pytest.mark.parametrize(
    "options",
    [
        {"transport": Untrusted()},
        {"http_client": UntrustedClient()},
        {"http_client": httpx.AsyncClient(transport=Untrusted())},
        {"http_client": httpx.AsyncClient(mounts={"https://": Untrusted()})},
    ],
)
def test_httpx_aiohttp_is_refused(options) -> None:
    with pytest.raises(ConfigurationError, match=r"adclient\.aiohttp\.AiohttpTransport"):
        AsyncAdClient("https://ads.example.com", **options)


def test_connect_error_of_a_wrapped_httpx_aiohttp_is_outcome_unknown() -> None:
    async def scenario() -> None:
        async with httpx.AsyncClient(transport=Wrapper(Untrusted())) as theirs:
            client = AsyncAdClient("https://ads.example.com", http_client=theirs)
            with pytest.raises(TransportError):
                await client.beta.list_campaigns(account_id="a")
            with pytest.raises(OutcomeUnknown) as caught:
                await client.beta.pause_campaign(**IDS)
            assert caught.value.attempts == 1

    asyncio.run(scenario())
