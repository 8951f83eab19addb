"""Hostile responses: a clear library error, bounded memory, and no request to another host."""

import functools
import gzip
import json
import tracemalloc

import httpx
import pytest
from cases import each_case
from clients import ASYNC, DRAFT, SYNC, sync_and_async, sync_asyncio_trio, wait
from raw_server import LISTING, Connection, RawServer, head, reply, serve_well

from adclient import (
    AdClientError,
    APIError,
    ConnectionLost,
    OutcomeUnknown,
    ServerError,
    UnexpectedResponse,
)
from adclient._core.request import Request
from adclient._http import async_library
from adclient._http.send import Attempt

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
MIB = 1024 * 1024


def both_decoders(scenario):
    """Run with each JSON decoder once: one in the sync client, one in the async client."""

    @pytest.mark.parametrize(
        ("client_kind", "decoder"),
        [(SYNC, "orjson"), (ASYNC, "json")],
        ids=str,
        indirect=["decoder"],
    )
    @pytest.mark.usefixtures("decoder")
    @functools.wraps(scenario)
    def test(client_kind, **arguments):
        client_kind.run(scenario, client_kind=client_kind, **arguments)

    return test


def serving(answer: bytes, times: int = 1):
    """Respond to every request with the same bytes, `times` times in a row."""

    def serve(connection: Connection) -> None:
        while connection.read():
            for _ in range(times):
                connection.send(answer)

    return serve


async def error_of(client_kind, server: RawServer, *, write: bool = False) -> AdClientError:
    async with client_kind.open(server.url, max_retries=0, token="t0ken") as client:
        call = client.beta.pause_campaign if write else client.beta.list_campaigns
        with pytest.raises(AdClientError) as caught:
            await wait(call(**IDS))
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) <= 500
    assert caught.value.outcome_unknown is (write and not 400 <= (caught.value.status or 0) < 500)
    return caught.value


def coded(data: bytes, coding: str) -> bytes:
    return reply(200, data, f"Content-Encoding: {coding}")


@functools.cache
def zeros() -> bytes:
    """Compress many megabytes to a few kilobytes."""
    return gzip.compress(bytes(80 * MIB), 1)


BOMBS = {
    "gzip": (lambda: coded(zeros(), "gzip"), "larger than 64 MiB"),
    "twice": (lambda: coded(gzip.compress(zeros()), "gzip, gzip"), "was not requested"),
    "once, but twice packed": (lambda: coded(gzip.compress(zeros()), "gzip"), "not UTF-8"),
    "another coding": (lambda: coded(b"x", "br"), "was not requested"),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("bomb", BOMBS)
@both_decoders
async def test_compression_bomb_is_refused_with_bounded_memory(client_kind, bomb) -> None:
    answer, said = BOMBS[bomb]
    with RawServer(serving(answer())) as server:
        tracemalloc.start()
        try:
            error = await error_of(client_kind, server)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(error, UnexpectedResponse)
    assert said in str(error)
    assert peak < (2 * 64 * MIB if "64 MiB" in said else 10 * MIB)


@pytest.mark.no_cover
@sync_asyncio_trio
async def test_huge_html_error_body_is_read_with_bounded_memory(client_kind) -> None:
    part = b"<p>no</p>" * 100_000

    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(head(404, 100 * MIB) + b"<title>Bad luck</title>")
        for _ in range(100 * MIB // len(part)):
            connection.send(part)

    with RawServer(serve) as server:
        tracemalloc.start()
        try:
            error = await error_of(client_kind, server)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(error, APIError)
    assert (error.status, error.message) == (404, "Bad luck")
    assert peak < 10 * MIB


FRAMINGS = {
    "chunked": "Transfer-Encoding: chunked",
    "chunked, and a length that does not count": "Content-Length: 9\r\nTransfer-Encoding: Chunked",
    "a length": f"Content-Length: {1000 * MIB}",
    "until the end": "Connection: close",
}


@pytest.mark.no_cover
@each_case("framing", FRAMINGS)
@sync_and_async
async def test_endless_body_is_refused_with_bounded_memory(client_kind, framing) -> None:
    lines = FRAMINGS[framing]
    before, after = (b"100000\r\n", b"\r\n") if "chunked" in lines.lower() else (b"", b"")

    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(f"HTTP/1.1 200 OK\r\n{lines}\r\n\r\n".encode())
        while not connection.is_over:
            connection.send(before + bytes(MIB) + after)

    with RawServer(serve) as server:
        tracemalloc.start()
        try:
            error = await error_of(client_kind, server)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert "larger than 64 MiB" in str(error)
    assert peak < 2 * 64 * MIB


def test_long_body_is_not_kept_as_chunks_which_may_be_single_bytes() -> None:
    for length, is_kept_so in ((MIB, True), (MIB + 1, False)):
        attempt = Attempt(Request(method="GET", url="http://ads.example.com"), deadline=0)
        headers = {"content-length": str(length)}
        assert attempt.begin(200, headers, is_framed=True) is is_kept_so


@sync_asyncio_trio
async def test_endless_head_is_connection_lost(client_kind) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: 1\r\n" % n for n in range(30_000))
    with RawServer(serving(answer)) as server:
        assert isinstance(await error_of(client_kind, server), ConnectionLost)


def listing(text: str) -> bytes:
    """A listing with one item, whose name is this JSON."""
    return b'{"data":[{"id":"x","name":%b,"status":"S"}],"page":{"next":null}}' % text.encode()


ODD = {
    "deep": (listing("[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "deep objects": (listing('{"a":' * 100_000 + "1" + "}" * 100_000), "nested too deeply"),
    "NaN": (listing("NaN"), "NaN is not a JSON value"),
    "infinity": (listing("-Infinity"), "-Infinity is not a JSON value"),
    "a number as a name": (listing("1e400"), r"$.data[0].name: expected text, got a number"),
    "5,000 digits": (listing("9" * 5000), "not JSON"),
    "an endless exponent": (listing("1e" + "9" * 400), "not JSON"),
    "no UTF-8": (listing('"x"').replace(b"x", b"\xff"), "not UTF-8 text at byte 16"),
    "UTF-16": (json.dumps(LISTING).encode("utf-16"), "not UTF-8"),
    "a list": (b"[]", "$: expected an object, got an array"),
    "null": (b"null", "$: expected an object, got null"),
    "nothing": (b"", "not JSON"),
    "half": (json.dumps(LISTING).encode()[:-9], "not JSON"),
    "HTML": (b"<html><title>Sign in</title>", "Sign in"),
    "two documents": (json.dumps(LISTING).encode() * 2, "not JSON"),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("odd", ODD)
@both_decoders
async def test_invalid_body_is_unexpected_response(client_kind, odd, write) -> None:
    body, said = ODD[odd]
    if write:
        body = body.replace(b'"data":[', b'"diff":[')
    with RawServer(serving(reply(200, body, "X-Request-Id: req_1"))) as server:
        error = await error_of(client_kind, server, write=write)
    assert isinstance(error, UnexpectedResponse)
    assert isinstance(error, OutcomeUnknown) is write
    assert (error.status, error.request_id) == (200, "req_1")
    if not (write and said.startswith("$.data")):
        assert said in str(error)


@sync_asyncio_trio
async def test_response_without_content_is_unexpected_response(client_kind) -> None:
    with RawServer(serving(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        for write in (False, True):
            error = await error_of(client_kind, server, write=write)
            assert isinstance(error, UnexpectedResponse)
            assert error.status == 204


@pytest.mark.parametrize("name", ["draft_id", "diff", "after"])
@both_decoders
async def test_draft_with_duplicate_key_is_outcome_unknown(client_kind, name) -> None:
    body = json.dumps(DRAFT).replace(f'"{name}":', f'"{name}": "draft_other", "{name}":')
    with RawServer(serving(reply(201, body.encode()))) as server:
        error = await error_of(client_kind, server, write=True)
    assert isinstance(error, OutcomeUnknown)
    assert "an object has the same name twice" in str(error)


@sync_and_async
async def test_draft_id_of_an_error_is_not_that_of_another_draft(client_kind) -> None:
    old = b'"supersedes": {"draft_id": "draft_OLD"}'
    for body, draft_id in (
        (b'{%b, "draft_id": "draft_NEW", "status": "pending_approval"}', "draft_NEW"),  # no diff
        (b'{"draft_id": "draft_NEW", "status": "pend', "draft_NEW"),
        (b'{%b, "draft_id": "draft_N', None),
    ):
        with RawServer(serving(reply(201, body.replace(b"%b", old)))) as server:
            error = await error_of(client_kind, server, write=True)
        assert error.draft_id == draft_id


@both_decoders
async def test_lone_surrogate_in_a_name_is_accepted(client_kind) -> None:
    with RawServer(serving(reply(200, listing(r'"\ud800x"')))) as server:
        async with client_kind.open(server.url) as client:
            page = await wait(client.beta.list_campaigns(**IDS))
    assert page.data[0].name == "\ud800x"
    for text in (repr(page), repr(page.data[0]), page._repr_html_(), page.data[0]._repr_html_()):
        text.encode()


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (reply(502, b"<html><title>Bad Gateway</title>"), 502, "Bad Gateway"),
        (reply(500, b""), 500, "no reason given"),
        (reply(500, b'["one", "two"]'), 500, "one"),
        (reply(503, b"\xff\xfe"), 503, "\ufffd"),
        (reply(500, gzip.compress(b'{"message": "x"}')[:-9], "Content-Encoding: gzip"), 500, "x"),
        (reply(500, b'{"message": "late"}', "Content-Type: text/plain"), 500, "late"),
        (reply(500, b"[" * 60_000), 500, "["),
        (reply(500, gzip.compress(bytes(4 * MIB), 1), "Content-Encoding: gzip"), 500, ""),
    ],
    ids=["HTML", "empty", "list", "no UTF-8", "cut gzip", "called text", "deep", "bomb"],
)
@both_decoders
async def test_invalid_error_body_keeps_status_and_request_id(
    client_kind, answer, status, said
) -> None:
    answer = answer.replace(b"\r\n\r\n", b"\r\nX-Request-Id: req_1\r\n\r\n", 1)
    with RawServer(serving(answer)) as server:
        error = await error_of(client_kind, server)
    assert isinstance(error, ServerError)
    assert (error.status, error.request_id) == (status, "req_1")
    assert said in str(error)
    assert len(error.body.encode()) <= 3 * 2048


@sync_and_async
async def test_endless_error_body_of_an_injected_transport_is_bounded(
    client_kind, monkeypatch
) -> None:
    monkeypatch.setattr(async_library, "_LONGEST_CLOSE", 0.05)

    def body():
        while True:
            yield b" " * MIB

    async def async_body():
        while True:
            yield b" " * MIB

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500, content=body() if client_kind is SYNC else async_body())

    async with client_kind.open(transport=httpx.MockTransport(answer), max_retries=0) as client:
        with pytest.raises(ServerError):
            await wait(client.beta.list_campaigns(**IDS))


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@sync_and_async
async def test_redirect_is_not_followed(client_kind, status) -> None:
    with RawServer(serve_well) as elsewhere:
        redirect = reply(status, b"", f"Location: {elsewhere.url}/v1/", "Set-Cookie: a=b; Path=/")
        with RawServer(serving(redirect)) as server:
            async with client_kind.open(server.url, token="t0ken") as client:
                for call in (client.beta.pause_campaign, client.beta.list_campaigns):
                    with pytest.raises(APIError, match="a redirect, which is never followed"):
                        await wait(call(**IDS))
    assert elsewhere.connections == 0
    assert len(server.requests) == 2
    assert b"cookie" not in server.requests[1].lower()
