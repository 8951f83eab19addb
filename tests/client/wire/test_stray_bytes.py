"""Nothing that came before a request is taken for its response."""

import threading

import attrs
import httpcore
import pytest
import routes
from clients import sync_and_async, sync_asyncio_trio
from raw_server import Connection, RawServer, head, reply
from routes import AMPLE, CHUNKED, OK, PLAIN, TLS_IN_TLS, TUNNEL, Route, client_of, port_of, through
from waiting import until

pytestmark = pytest.mark.own

SECOND = reply(200, b"other")
CHUNKED_OK = CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"
TRAILERS = CHUNKED + b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
LONG = b"x" * 200_000


@attrs.frozen
class Exchange:
    """What a server sends for one request; each segment is a tuple of TLS records."""

    segments: tuple[tuple[bytes, ...], ...]
    content: bytes = b"hello"
    later: bytes | None = None  # sent after the client has read the response; b"" is the end
    method: str = "GET"


def at_once(*records: bytes, **more) -> Exchange:
    return Exchange((records,), **more)


def in_pieces(*segments: bytes, **more) -> Exchange:
    return Exchange(tuple((segment,) for segment in segments), **more)


CLEAN = [
    at_once(OK),
    at_once(reply(200, b""), content=b""),
    at_once(TRAILERS),
    at_once(NO_CONTENT, content=b""),
    at_once(NOT_MODIFIED, content=b""),
    at_once(head(200, 5), content=b"", method="HEAD"),
    in_pieces(EARLY_HINTS, OK),
    in_pieces(head(200, 5), b"hello"),
    in_pieces(OK[:-1], OK[-1:]),
    in_pieces(CHUNKED_OK[:-1], CHUNKED_OK[-1:]),
    in_pieces(OK[:-9], *(bytes([byte]) for byte in OK[-9:])),
]
STRAY = [
    at_once(OK + SECOND),
    at_once(OK + b"x"),
    at_once(OK + LONG),
    at_once(CHUNKED_OK + SECOND),
    at_once(NO_CONTENT + SECOND, content=b""),
    at_once(NOT_MODIFIED + b"hello", content=b""),
    at_once(OK, content=b"", method="HEAD"),
    at_once(OK, b"x"),
    in_pieces(OK[:-1], OK[-1:] + b"x"),
    in_pieces(CHUNKED_OK[:-1], CHUNKED_OK[-1:] + b"x"),
    at_once(OK, later=SECOND),
    at_once(OK, later=b""),
    at_once(NO_CONTENT, content=b"", later=b"x"),
]
EXCHANGES = CLEAN + STRAY


class Origin(RawServer):
    """Serves each exchange under its number."""

    def __init__(self, route: Route) -> None:
        self.has_been_read = threading.Event()
        self._route = route
        super().__init__(self._respond)

    def _respond(self, connection: Connection) -> None:
        self._route.lead(connection)
        while request := connection.read():
            exchange = EXCHANGES[int(request.split()[1].rpartition(b"/")[2])]
            for records in exchange.segments:
                connection.send_together(*records)
                connection.pause(0.003 if len(exchange.segments) > 1 else 0)
            if exchange.later is not None:
                self.has_been_read.wait(AMPLE)
                self.has_been_read.clear()
                if not exchange.later:
                    return
                connection.send(exchange.later)


@through(PLAIN, routes.OVER_TLS, TLS_IN_TLS)
@sync_and_async
async def test_bytes_beyond_a_response_make_its_connection_unusable(client_kind, route) -> None:
    with Origin(route) as server:
        for number, exchange in enumerate(EXCHANGES[len(CLEAN) :], len(CLEAN)):
            with client_of(client_kind, route, port_of(server)) as client:
                response = await client.send(f"/{number}", exchange.method)
                assert response.content == exchange.content
                if exchange.later is not None:
                    assert client.backend.is_reusable, exchange
                    server.has_been_read.set()
                    await until(lambda: not client.backend.is_reusable)
                for _ in range(2):  # looking changes nothing
                    assert not client.backend.is_reusable, exchange


@through(*routes.ROUTES)
@sync_asyncio_trio
async def test_connection_without_extra_bytes_is_reused(client_kind, route) -> None:
    with Origin(route) as server, client_of(client_kind, route, port_of(server)) as client:
        for number, exchange in enumerate(CLEAN):
            response = await client.send(f"/{number}", exchange.method)
            assert response.content == exchange.content
            for _ in range(2):
                assert client.backend.is_reusable, exchange
            assert client.backend.get_extra_info("is_readable") is False
    assert server.connections == 1


BEYOND_CONNECT = [b"x", b"\x15\x03\x03\x00\x02\x02\x28", SECOND]


@through(TUNNEL, TLS_IN_TLS)
@sync_and_async
async def test_bytes_beyond_the_response_to_connect_are_a_connect_error(client_kind, route) -> None:
    def serve(connection: Connection) -> None:
        attrs.evolve(route, steps=route.steps[:-2]).lead(connection)
        connection.read()
        connection.send(b"HTTP/1.1 200 Connected\r\n\r\n" + next(beyond))
        connection.wait_for_the_end()

    beyond = iter(BEYOND_CONNECT)
    with RawServer(serve) as server:
        for _ in BEYOND_CONNECT:
            with client_of(client_kind, route, port_of(server)) as client:
                with pytest.raises(httpcore.ConnectError, match="beyond its response to CONNECT"):
                    await client.send()
                assert routes.is_closed(client.backend)
