"""Hostile responses: a clear library error, bounded memory, and no request to another host."""

import gzip
import json
from itertools import repeat

import attrs
import httpx
import pytest
from cases import each_case
from clients import DRAFT, SYNC, sync_and_async, wait
from memory import LONGEST, MIB, TOO_LARGE, bounded_memory
from raw_server import Connection, RawServer, reply, responding, serve_well, serving

import adclient
from adclient import AdClientError, APIError, Items, OutcomeUnknown, ServerError, UnexpectedResponse
from adclient._http import async_library, attempt

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}


async def error_of(client_kind, serve, *, write: bool = False) -> AdClientError:
    """The error of a call to a server that serves in some way, or responds with these bytes."""
    serve = responding(serve) if isinstance(serve, bytes) else serve
    async with serving(client_kind, serve, max_retries=0, token="t0ken") as (_, client):
        call = client.beta.pause_campaign if write else client.beta.list_campaigns
        with pytest.raises(AdClientError) as caught:
            await wait(call(**IDS))
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) <= 500
    assert caught.value.outcome_unknown is (write and not 400 <= (caught.value.status or 0) < 500)
    return caught.value


# Size.

BOMB = gzip.compress(bytes(20 * MIB), 1)


@pytest.mark.no_cover
@each_case(("status", "kind"), (200, UnexpectedResponse), (500, ServerError))
@sync_and_async
async def test_compression_bomb_is_refused_with_bounded_memory(client_kind, status, kind) -> None:
    with bounded_memory():
        error = await error_of(client_kind, reply(status, BOMB, "Content-Encoding: gzip"))
    assert type(error) is kind
    assert (TOO_LARGE in str(error)) is (status == 200)


@sync_and_async
async def test_body_may_have_the_greatest_size_and_no_more(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(attempt, "LONGEST_BODY", LONGEST)
    body = listing(b'"x"').ljust(LONGEST)
    async with serving(client_kind, responding(reply(200, body))) as (_, client):
        assert len((await wait(client.beta.list_campaigns(**IDS))).data) == 1
    assert TOO_LARGE in str(await error_of(client_kind, reply(200, body + b" ")))


@pytest.mark.no_cover
@each_case(
    ("status", "framing", "before", "after"),
    (200, "Transfer-Encoding: chunked", b"100000\r\n", b"\r\n"),
    # A length that does not count.
    (200, "Content-Length: 9\r\nTransfer-Encoding: Chunked", b"100000\r\n", b"\r\n"),
    (200, f"Content-Length: {1000 * MIB}", b"", b""),
    (200, "Connection: close", b"", b""),
    (404, f"Content-Length: {1000 * MIB}", b"<title>Bad luck</title>", b""),
)
@sync_and_async
async def test_endless_body_is_cut_off(client_kind, status, framing, before, after) -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(f"HTTP/1.1 {status} Any\r\n{framing}\r\n\r\n".encode())
        for _ in range(64):  # sixteen times the limit; an endless one would hang the test
            connection.send(before + bytes(MIB) + after)

    with bounded_memory(2 * LONGEST + MIB if status == 200 else 3 * MIB):
        error = await error_of(client_kind, serve)
    assert (TOO_LARGE if status == 200 else "Bad luck") in str(error)
    assert error.status == status


@sync_and_async
async def test_endless_head_is_connection_lost(client_kind) -> None:
    endless = b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: 1\r\n" % n for n in range(30_000))
    assert isinstance(await error_of(client_kind, endless), adclient.ConnectionLost)


@pytest.mark.own  # the transport of httpx2 in these tests reads whole responses
@sync_and_async
async def test_endless_error_body_of_a_transport_is_bounded(client_kind, monkeypatch) -> None:
    monkeypatch.setattr(async_library, "_LONGEST_CLOSE", 0.05)
    chunks = repeat(b" " * MIB, 1_000_000)

    async def async_body():
        for chunk in chunks:
            yield chunk

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500, content=chunks if client_kind is SYNC else async_body())

    async with client_kind.open(transport=httpx.MockTransport(answer), max_retries=0) as client:
        with pytest.raises(ServerError):
            await wait(client.beta.list_campaigns(**IDS))
    assert next(chunks, None) is not None, "it was read to its end"


# Content.


def listing(name: bytes) -> bytes:
    return b'{"data":[{"id":"x","name":%b,"status":"S"}],"page":{"next":null}}' % name


PACKED = gzip.compress(listing(b'"x"') * 20)
TWICE = json.dumps(DRAFT).replace('"after":', '"after": 1, "after":').encode()


@each_case(
    ("data", "said"),
    (reply(200, listing(b"[" * 100_000 + b"]" * 100_000)), "nested too deeply"),
    (reply(200, listing(b'"\xff"')), "not UTF-8 text at byte 27"),
    (reply(200, listing(b'"x"')[:-9]), "not JSON"),
    (reply(200, b"<html><title>Sign in</title>"), "Sign in"),
    *[
        (reply(200, b"x", f"Content-Encoding: {coding}"), "was not requested")
        for coding in ("br", "deflate", "gzip, gzip")
    ],
    *[
        (reply(200, body, "Content-Encoding: gzip"), "compressed data is damaged")
        for body in (b"not compressed at all", PACKED[:-8] + bytes(8))
    ],
    *[
        (reply(200, PACKED[:length], "Content-Encoding: gzip"), "compressed data is truncated")
        for length in (0, 1, 10, 30)
    ],
    (reply(200, TWICE), "an object has the same name twice"),
    (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
)
@sync_and_async
async def test_invalid_body_is_unexpected_response(client_kind, data, said) -> None:
    data = data.replace(b"\r\n\r\n", b"\r\nX-Request-Id: req_1\r\n\r\n", 1)
    for write in (False, True):
        error = await error_of(client_kind, data, write=write)
        assert isinstance(error, UnexpectedResponse)
        assert isinstance(error, OutcomeUnknown) is write
        assert error.status == (200 if said else 204)
        assert error.request_id == "req_1"
        assert said in str(error) or (TWICE in data and not write)


@sync_and_async
async def test_item_nested_too_deeply_is_named_by_what_converts_it(client_kind) -> None:
    deep = reply(200, listing(b'"x","a":' + b"[" * 1010 + b"]" * 1010))
    async with serving(client_kind, responding(deep)) as (_, client):
        page = await wait(client.beta.list_campaigns(account_id="a"))
        assert len(page.data) == len(page.data[0].extra) == 1
        for convert in (page.to_dict, page.data.to_records, page.data[0].to_dict):
            with pytest.raises(UnexpectedResponse, match=r"^Campaign x: nested too dee") as caught:
                convert()
            assert caught.value.__context__ is None
        own = attrs.make_class("Own", ["id", "a"])("x", page.data[0].extra["a"])
        with pytest.raises(UnexpectedResponse, match=r"^Own x: nested too deeply"):
            Items([own]).to_records()


CUT = gzip.compress(b'{"message": "cut short"}')[:-9]


@each_case(
    ("body", "line", "said"),
    (b"\xff\xfe", "", "\ufffd"),
    (CUT, "Content-Encoding: gzip", "cut short"),
    (gzip.compress(bytes(4 * MIB), 1), "Content-Encoding: gzip", ""),
)
@sync_and_async
async def test_bad_error_body_keeps_status_and_request_id(client_kind, body, line, said) -> None:
    lines = ["X-Request-Id: req_1", *filter(None, [line])]
    error = await error_of(client_kind, reply(500, body, *lines))
    assert isinstance(error, ServerError)
    assert (error.status, error.request_id) == (500, "req_1")
    assert said in str(error)
    assert len(error.body.encode()) <= 3 * 2048


@each_case("status", 300, 301, 307)
@sync_and_async
async def test_redirect_is_not_followed(client_kind, status) -> None:
    with RawServer(serve_well) as elsewhere:
        location = f"Location: {elsewhere.url}/v1/"
        redirect = responding(reply(status, b"", location, "Set-Cookie: a=b; Path=/"))
        async with serving(client_kind, redirect, max_concurrency=1) as (server, client):
            for call in (client.beta.pause_campaign, client.beta.list_campaigns):
                with pytest.raises(APIError, match="a redirect, which is never followed") as it:
                    await wait(call(**IDS))
                assert elsewhere.url not in str(it.value)
    assert elsewhere.connections == 0
    assert len(server.requests) == 2
    assert b"cookie" not in server.requests[1].lower()
