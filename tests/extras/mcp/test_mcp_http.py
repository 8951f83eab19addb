"""The MCP server over HTTP: who may call it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import anyio
import uvicorn
from cases import each_case
from mcp_user import status, used

from adclient.mcp import http_app
from adclient.testing import FakeAdService

TOKEN = "token-of-the-server"
LOCAL, FOREIGN = "http://localhost:6274", "https://ads.example.com"


@contextmanager
def served(app) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(30)


@each_case(
    ("token", "requests"),
    (
        None,
        [
            ({"origin": FOREIGN}, 403),
            ({"host": "ads.example.com"}, 421),
            ({"host": "localhost", "origin": "http://localhost"}, None),  # of port 80
            ({"host": "localhost.example.com"}, 421),
        ],
    ),
    (
        TOKEN,
        [
            ({}, 401),
            ({"authorization": "Bearer other"}, 401),
            ({"authorization": f"Basic {TOKEN}"}, 401),
            ({"authorization": f"bearer {TOKEN}"}, None),
            ({"authorization": f"Bearer {TOKEN}", "origin": LOCAL}, 401),
            ({"authorization": f"Bearer {TOKEN}", "host": "ads.example.com"}, None),
        ],
    ),
)
def test_requests_of_others_are_refused_and_reads_are_served(token, requests) -> None:
    with served(http_app(FakeAdService().async_client(), token=token)) as url:
        for headers, refusal in requests:
            found = status(url, **headers)
            assert found == refusal or (refusal is None and found not in (401, 403, 421)), headers
        found = used(url, "alpha_explain_objectives", token, account_id="account_a91f")
    assert found == (7, "7 items; there are no more.")


@each_case("server", ("10.0.0.5", 80), ("/run/mcp.sock", None), None)
def test_connection_to_another_address_needs_a_token(server) -> None:
    sent = []

    async def send(message) -> None:
        sent.append(message)

    app = http_app(FakeAdService().async_client())
    headers = [(b"host", b"localhost:80"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "server": server}
    anyio.run(app, scope, None, send)
    assert sent[0]["status"] == 401
