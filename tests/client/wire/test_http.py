"""The clients over real sockets, with failures that only sockets have."""

import gzip
import json
import threading

import pytest
import raw_server
from cases import each_case
from clients import read, sync_and_async, sync_asyncio_trio, wait, write
from raw_server import LISTING, RawServer, answer_to, reply, responding, serve_well, serving

import adclient._async.connections  # noqa: F401  (here, so that coverage sees its import)
from adclient import Draft, NotFound
from adclient._http import send

LISTING_BYTES = json.dumps(LISTING).encode()


@sync_asyncio_trio
async def test_post_get_and_delete_are_sent_exactly_over_one_connection(client_kind) -> None:
    with RawServer(serve_well) as server:
        async with client_kind.open(f"{server.url}/prefix", token="t0ken") as client:
            assert isinstance(await wait(write(client)), Draft)
            assert len((await wait(read(client))).data) == 1
            await wait(client.delta.remove_auto_search_themes(account_id="a"))
            await wait(write(client.with_options(timeout=5)))
    assert server.connections == 1
    posted, got, deleted, again = server.requests
    assert again == posted
    host = server.url.removeprefix("http://").encode()
    first = b"POST /prefix/v1/beta-ads/pause-beta-campaign HTTP/1.1\r\nhost: "
    assert posted.startswith(first + host)
    assert posted.endswith(b'\r\n\r\n{"account_id":"a","campaign_id":"c"}')
    assert b"\r\nauthorization: Bearer t0ken\r\n" in posted
    assert b"\r\naccept-encoding: gzip\r\n" in posted.lower()
    assert got.startswith(b"GET /prefix/v1/alpha-ads/explain-alpha-objectives?account_id=a HTTP")
    assert got.endswith(b"\r\n\r\n")
    assert b"content-length" not in got.lower()
    path = b"/prefix/v1/delta-ads/remove-delta-auto-search-themes"
    assert deleted.startswith(b"DELETE %b HTTP/1.1\r\n" % path)
    assert deleted.endswith(b'\r\n\r\n{"account_id":"a"}')


@sync_and_async
async def test_connection_closed_while_idle_is_replaced(client_kind) -> None:
    closed = threading.Event()

    def serve(connection: raw_server.Connection) -> None:
        connection.send(answer_to(connection.read()))
        connection.close()
        closed.set()

    async with serving(client_kind, serve, max_retries=0) as (server, client):
        await wait(write(client))
        assert closed.wait(20)
        await wait(write(client))
    assert (server.connections, len(server.requests)) == (2, 2)


PACKED = gzip.compress(LISTING_BYTES)


def chunked(body: bytes, size: int, coding: str) -> bytes:
    first = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [*(body[start : start + size] for start in range(0, len(body), size)), b""]
    return first.encode() + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


@each_case(
    ("coding", "body"),
    *[("", LISTING_BYTES), ("identity", LISTING_BYTES)],
    *[("gzip", PACKED + rest) for rest in (b"", b"\0\0", b"\r\n" + PACKED)],
    *[(coding, PACKED) for coding in ("x-gzip", "GZip")],
)
@each_case("piece", 1, 37, send._PIECE)
@sync_and_async
async def test_chunked_or_compressed_body_is_decoded(
    client_kind, coding, body, piece, monkeypatch
) -> None:
    monkeypatch.setattr(send, "_PIECE", piece)
    for data in (reply(200, body, f"Content-Encoding: {coding}"), chunked(body, 7, coding)):
        async with serving(client_kind, responding(data)) as (server, client):
            for _ in range(2):
                assert (await wait(read(client))).to_dict() == LISTING
        assert server.connections == 1


@pytest.mark.own
@sync_and_async
async def test_header_that_is_not_utf8_is_read_as_latin1(client_kind) -> None:
    data = b"HTTP/1.1 404 -\r\nX-Request-Id: caf\xe9\r\nContent-Length: 0\r\n\r\n"
    async with serving(client_kind, responding(data)) as (_, client):
        with pytest.raises(NotFound, match="caf\xe9"):
            await wait(read(client))
