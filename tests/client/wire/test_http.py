"""The clients over real sockets, with failures that only sockets have."""

import gzip
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from clients import (
    CLIENT_KINDS,
    DRAFT,
    read,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    write,
)
from raw_server import (
    LISTING,
    Connection,
    RawServer,
    answer_to,
    head,
    refusing_url,
    reply,
    serve_well,
)

import adclient._http.async_pool  # noqa: F401  (here, so that coverage sees its import)
from adclient import (
    AdClient,
    APIError,
    CallTimeout,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    Draft,
    NotFound,
    OutcomeUnknown,
    UnexpectedResponse,
)

LISTING_BYTES, DRAFT_BYTES = json.dumps(LISTING).encode(), json.dumps(DRAFT).encode()


@sync_asyncio_trio
async def test_post_get_and_delete_are_sent_exactly(client_kind) -> None:
    with RawServer(serve_well) as server:
        async with client_kind.open(f"{server.url}/prefix", token="t0ken") as client:
            assert isinstance(await wait(write(client)), Draft)
            assert len((await wait(read(client))).data) == 1
            await wait(client.delta.remove_auto_search_themes(account_id="a"))
    posted, got, deleted = server.requests
    host = server.url.removeprefix("http://").encode()
    assert posted.startswith(
        b"POST /prefix/v1/beta-ads/pause-beta-campaign HTTP/1.1\r\nhost: " + host
    )
    assert posted.endswith(b'\r\n\r\n{"account_id":"a","campaign_id":"c"}')
    assert b"\r\nauthorization: Bearer t0ken\r\n" in posted
    assert posted.lower().count(b"\r\nhost:") == posted.lower().count(b"\r\ncontent-length:") == 1
    assert got.startswith(b"GET /prefix/v1/alpha-ads/explain-alpha-objectives?account_id=a HTTP")
    assert got.endswith(b"\r\n\r\n")
    assert b"content-length" not in got.lower()
    assert b"transfer-encoding" not in got.lower()
    assert deleted.startswith(
        b"DELETE /prefix/v1/delta-ads/remove-delta-auto-search-themes HTTP/1.1\r\n"
    )
    assert deleted.endswith(b'\r\n\r\n{"account_id":"a"}')


@sync_asyncio_trio
async def test_connections_are_reused(client_kind) -> None:
    with RawServer(serve_well) as server:
        async with client_kind.open(server.url) as client:
            for _ in range(3):
                await wait(read(client))
                await wait(write(client.with_options(timeout=5)))
    assert (server.connections, len(server.requests)) == (1, 6)


@sync_asyncio_trio
async def test_connection_closed_while_idle_is_replaced(client_kind) -> None:
    closed = threading.Event()

    def serve(connection: Connection) -> None:
        request = connection.read()
        connection.send(answer_to(request))
        connection.close()
        closed.set()

    with RawServer(serve) as server:
        async with client_kind.open(server.url, max_retries=0) as client:
            await wait(write(client))
            assert closed.wait(10)
            await wait(write(client))
    assert (server.connections, len(server.requests)) == (2, 2)


# Connections that break.


@sync_asyncio_trio
async def test_truncated_body_is_connection_lost_or_outcome_unknown(client_kind) -> None:
    def serve(connection: Connection) -> None:
        if connection.read().startswith(b"GET"):
            connection.send(head(200, len(LISTING_BYTES)) + LISTING_BYTES[:40])
        else:
            connection.send(head(201, len(DRAFT_BYTES)) + DRAFT_BYTES[:40])

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            with pytest.raises(ConnectionLost) as lost:
                await wait(read(client))
            assert (lost.value.attempts, len(server.requests)) == (3, 3)
            assert not lost.value.outcome_unknown
            with pytest.raises(OutcomeUnknown) as unknown:
                await wait(write(client))
    assert isinstance(unknown.value, UnexpectedResponse)
    assert unknown.value.draft_id == "draft_7c2e"
    assert unknown.value.status == 201
    assert (unknown.value.attempts, len(server.requests)) == (1, 4)


@pytest.mark.parametrize("drop", [Connection.reset, lambda connection: None], ids=["reset", "end"])
@sync_asyncio_trio
async def test_write_is_not_retried_after_its_connection_broke(client_kind, drop) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        drop(connection)

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            with pytest.raises(OutcomeUnknown) as unknown:
                await wait(write(client))
            assert len(server.requests) == 1
            assert isinstance(unknown.value, ConnectionLost)
            with pytest.raises(ConnectionLost) as lost:
                await wait(read(client))
    assert (lost.value.attempts, len(server.requests)) == (3, 4)
    for error in (unknown.value, lost.value):
        assert "cannot be reached" not in str(error)


@sync_and_async
async def test_refused_connection_is_retried_for_reads_and_writes(client_kind) -> None:
    async with client_kind.open(refusing_url()) as client:
        for call in (write, read):
            with pytest.raises(ConnectionFailed, match=r"refused.*Nothing was sent") as caught:
                await wait(call(client))
            assert caught.value.attempts == 3
            assert not caught.value.outcome_unknown


@contextmanager
def refusing(monkeypatch) -> Iterator[str]:
    yield refusing_url()


@contextmanager
def unknown(monkeypatch) -> Iterator[str]:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    yield "http://ads.something.invalid:8080"


@contextmanager
def untrusted(monkeypatch) -> Iterator[str]:
    with RawServer(Connection.start_tls) as server:
        yield server.url.replace("http", "https")


UNREACHABLE = [
    (refusing, "[Rr]efused"),
    (unknown, "Name or service not known"),
    (untrusted, "CERTIFICATE_VERIFY_FAILED"),
]


@pytest.fixture(params=UNREACHABLE, ids=lambda param: param[0].__name__)
def unreachable(request, monkeypatch) -> Iterator[tuple[str, str]]:
    """An unreachable URL, and a pattern of the expected message."""
    start, reason = request.param
    with start(monkeypatch) as url:
        yield url, f"{re.escape(url.partition('//')[2])} cannot be reached: .*{reason}"


@sync_and_async
async def test_connection_error_names_the_host_and_the_reason(client_kind, unreachable) -> None:
    url, words = unreachable
    async with client_kind.open(url, max_retries=0) as client:
        with pytest.raises(ConnectionFailed, match=words):
            await wait(read(client))


@pytest.mark.parametrize("fault", ["cut", "reset", "silent", "refused status", "no JSON"])
@sync_asyncio_trio
async def test_failed_calls_lose_no_connection(client_kind, fault) -> None:
    good = threading.Event()

    def serve(connection: Connection) -> None:
        while request := connection.read():
            if good.is_set():
                connection.send(answer_to(request))
            elif fault == "cut":
                connection.send(answer_to(request)[:-3])
                return
            elif fault == "reset":
                connection.reset()
                return
            elif fault == "silent":
                connection.wait_for_the_end()
            elif fault == "refused status":
                connection.send(reply(404, b"no"))
            else:
                connection.send(reply(200, b"<html>"))

    with RawServer(serve) as server:
        async with client_kind.open(server.url, max_concurrency=1, max_retries=0) as client:
            hasty = client.with_options(timeout=0.01 if fault == "silent" else 5)
            for _ in range(10):
                with pytest.raises((ConnectionLost, CallTimeout, APIError, UnexpectedResponse)):
                    await wait(read(hasty))
            good.set()
            assert len((await wait(read(client))).data) == 1


# Responses.


@sync_asyncio_trio
async def test_compressed_body_is_decoded(client_kind) -> None:
    def serve(connection: Connection) -> None:
        while connection.read():
            body = gzip.compress(LISTING_BYTES)
            connection.send(reply(200, body, "Content-Encoding: gzip"))

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            page = await wait(read(client))
    assert page.to_dict() == LISTING
    assert b"\r\naccept-encoding: gzip\r\n" in server.requests[0].lower()


@sync_asyncio_trio
async def test_chunked_body_is_read(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in (LISTING_BYTES[:10], LISTING_BYTES[10:]):
            connection.send(b"%x\r\n%b\r\n" % (len(part), part))
        connection.send(b"0\r\n\r\n")

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            assert (await wait(read(client))).to_dict() == LISTING


# Proxies.


@pytest.mark.own
@sync_and_async
async def test_socks_proxy_is_used(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.receive()  # which methods of authentication the client knows
        connection.send(b"\x05\x00")  # none is needed
        connection.receive()  # where to connect to
        connection.send(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")  # done
        serve_well(connection)

    with RawServer(serve) as server:
        for scheme in ("socks5", "SOCKS5"):
            proxy = server.url.replace("http", scheme)
            async with client_kind.open("http://ads.example.com", proxy=proxy) as client:
                assert len((await wait(read(client))).data) == 1
    assert server.requests[0].startswith(b"GET /v1/alpha-ads/explain")


@pytest.mark.own
@sync_and_async
async def test_proxy_of_another_scheme_is_not_used(client_kind, monkeypatch) -> None:
    monkeypatch.setenv("ftp_proxy", "http://127.0.0.1:9")
    async with client_kind.open("http://ads.example.com") as client:
        assert client._engine.sender._network.proxy is None


@pytest.mark.own
@sync_and_async
async def test_header_that_is_not_utf8_is_read_as_latin1(client_kind) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 404 -\r\nX-Request-Id: caf\xe9\r\nContent-Length: 0\r\n\r\n")

    with RawServer(serve) as server:
        async with client_kind.open(server.url) as client:
            with pytest.raises(NotFound) as caught:
                await wait(read(client))
    assert caught.value.request_id == "caf\xe9"


@pytest.mark.own
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
@sync_asyncio_trio
async def test_https_proxy_of_the_environment_is_tunnelled_through(
    client_kind, monkeypatch, variable
) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(reply(403, b""))

    with RawServer(serve) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        async with client_kind.open("https://ads.example.com", max_retries=0) as client:
            with pytest.raises(ConnectionFailed):
                await wait(write(client))
    assert proxy.requests[0].startswith(b"CONNECT ads.example.com:443 HTTP/1.1\r\n")


@pytest.mark.own
@sync_asyncio_trio
async def test_proxy_argument_overrides_the_environment(client_kind, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", refusing_url())
    with RawServer(serve_well) as proxy:
        async with client_kind.open("http://ads.example.com", proxy=proxy.url) as client:
            await wait(write(client))
    assert len(proxy.requests) == 1


@pytest.mark.own
@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://ads.example.com:80", b"POST http://ads.example.com/v1/"),
        ("http://ads.example.com:443", b"POST http://ads.example.com:443/v1/"),
        ("https://ads.example.com:80", b"CONNECT ads.example.com:80 "),
    ],
)
def test_proxy_receives_a_port_that_is_not_the_default(url, target) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(reply(403, b""))

    with (
        RawServer(serve) as proxy,
        AdClient(url, proxy=proxy.url, max_retries=0) as client,
        pytest.raises((APIError, ConnectionFailed), match="403"),
    ):
        write(client)
    assert proxy.requests[0].startswith(target)


@pytest.mark.own
@sync_asyncio_trio
async def test_loopback_bypasses_the_proxy(client_kind, monkeypatch) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(variable, refusing_url())
    with RawServer(serve_well) as server:
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            async with client_kind.open(url) as client:
                await wait(write(client))
    assert len(server.requests) == 2


@pytest.mark.own
@pytest.mark.parametrize(
    ("url", "excepted"),
    [
        ("http://ads.example.com:8080", "ads.example.com:8080"),
        ("https://ads.example.com", "ads.example.com:443"),
        ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("http://[2001:db8::1]", "[2001:db8::1]"),
        ("http://[2001:db8::1]", "2001:db8::1"),
        ("http://ads.example.com", "example.com"),
    ],
)
@sync_asyncio_trio
async def test_no_proxy_names_a_domain_or_a_host_also_with_its_port(
    client_kind, url, excepted, monkeypatch
) -> None:
    for variable in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, "http://proxy.example.com:3128")
    for expected in ("http://proxy.example.com:3128", None):
        async with client_kind.open(url) as client:
            assert client._engine.sender._network.proxy == expected
        monkeypatch.setenv("no_proxy", f"other.example.com,{excepted}")


@pytest.mark.parametrize(
    ("variable", "value", "base_url"),
    [
        ("HTTPS_PROXY", "http://user:s3cret@[::1", "https://ads.example.com"),
        ("HTTP_PROXY", "ftp://user:s3cret@proxy.example.com", "http://ads.example.com"),
        ("ALL_PROXY", "http://user:s3cret@proxy:port", "https://ads.example.com"),
    ],
)
@pytest.mark.parametrize("client_kind", CLIENT_KINDS[:2], ids=str)
def test_invalid_proxy_variable_is_named_without_its_password(
    client_kind, monkeypatch, variable, value, base_url
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as caught:
        client_kind.client(base_url)
    assert variable.lower() in str(caught.value).lower()
    assert "s3cret" not in str(caught.value)
