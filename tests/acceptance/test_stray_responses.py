"""Which transports return a response that was sent before the request: a table of the docs."""

import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path

import anyio
import httpx
import httpx2
import pytest
import trustme
from pyreqwest.client import ClientBuilder, SyncClientBuilder
from pyreqwest.compatibility.httpx import HttpxTransport, SyncHttpxTransport

from adclient import AdClient, AdClientError, AsyncAdClient

AUTHORITY = trustme.CA()
TRUST = ssl.create_default_context()
AUTHORITY.configure_trust(TRUST)
SERVING = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
AUTHORITY.issue_cert("localhost").configure_cert(SERVING)

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "http-clients.md"


def draft(number: object) -> bytes:
    diff = {"field": "status", "before": "ENABLED", "after": "PAUSED"}
    draft = {"draft_id": f"draft_{number}", "status": "pending_approval", "diff": diff}
    body = json.dumps({**draft, "requires": "human_two_step_approve"}).encode()
    return b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


# What follows the response to the first request, and whether the client has read that before.
STRAYS = [
    (stray, is_late) for stray in (draft("stray"), draft(0)[:60], b"x") for is_late in (False, True)
]


class Connection(socketserver.StreamRequestHandler):
    """Numbers the drafts of its server, and sends a stray response behind the first one."""

    server: "Server"
    # Else the stray response waits until the next request acknowledges the first one.
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(OSError):
            if self.server.is_tls:
                self.request = SERVING.wrap_socket(self.request, server_side=True)
            with self.request as sock:
                while received := sock.recv(65536):
                    if received.rstrip().endswith(b"}"):
                        self.respond(sock)

    def respond(self, sock: socket.socket) -> None:
        server = self.server
        server.staged += 1
        response = draft(server.staged)
        if server.staged > 1:
            sock.sendall(response)
        elif server.is_late:
            sock.sendall(response)
            server.was_read.wait(10)
            sock.sendall(server.stray)
        else:
            sock.sendall(response + server.stray)
        server.has_sent_all.set()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, stray: bytes, *, is_late: bool, is_tls: bool) -> None:
        super().__init__(("localhost", 0), Connection)
        self.was_read, self.has_sent_all = threading.Event(), threading.Event()
        self.stray, self.is_late, self.is_tls, self.staged = stray, is_late, is_tls, 0
        self.url = f"{'https' if is_tls else 'http'}://localhost:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()


def of_pyreqwest(is_async: bool) -> dict[str, object]:
    pem = AUTHORITY.cert_pem.bytes()
    if is_async:
        return {"transport": HttpxTransport(ClientBuilder().add_root_certificate_pem(pem).build())}
    client = SyncClientBuilder().add_root_certificate_pem(pem).build()
    return {"transport": SyncHttpxTransport(client)}


def of(library, *names: str, **options: object) -> Callable[[bool], dict[str, object]]:
    """The argument of a client that sends through a class of httpx or httpx2."""

    def made(is_async: bool) -> dict[str, object]:
        argument = "transport" if "Transport" in names[0] else "http_client"
        return {argument: getattr(library, names[is_async])(verify=TRUST, **options)}

    return made


CLIENTS = ("Client", "AsyncClient")
TRANSPORTS = ("HTTPTransport", "AsyncHTTPTransport")


def without_keepalive(library) -> Callable[[bool], dict[str, object]]:
    return of(library, *CLIENTS, limits=library.Limits(max_keepalive_connections=0))


# Each row of the table, and the senders that it is about.
ROWS = {
    "adclient's own connections": (True, [lambda is_async: {"verify": TRUST}]),
    "pyreqwest 0.15": (True, [of_pyreqwest]),
    "a client or transport of httpx 0.28 or httpx2 2.16": (
        False,
        [of(library, *names) for library in (httpx, httpx2) for names in (CLIENTS, TRANSPORTS)],
    ),
    "the same with `limits=httpx.Limits(max_keepalive_connections=0)`": (
        True,
        [without_keepalive(library) for library in (httpx, httpx2)],
    ),
}


async def second_draft(server: Server, options: dict[str, object], *, is_async: bool) -> str:
    """The id of the second draft, or the error that came instead."""
    kind = AsyncAdClient if is_async else AdClient
    client, found = kind(server.url, max_retries=0, timeout=5, **options), ""
    for _ in range(2):
        try:
            staged = client.beta.pause_campaign(**IDS)
            found = (await staged if is_async else staged).draft_id
        except AdClientError as error:
            found = type(error).__name__
        server.was_read.set()
        server.has_sent_all.wait(10)
        await anyio.sleep(0.01)  # for what reads in the background
    await client.aclose() if is_async else client.close()
    for opened in options.values():
        if hasattr(opened, "aclose") and is_async:
            await opened.aclose()
        elif hasattr(opened, "close"):
            opened.close()
    return found


@pytest.mark.parametrize("name", ROWS)
def test_table_of_transports_is_true(name) -> None:
    is_safe, senders = ROWS[name]
    assert f"| {name} | {'yes' if is_safe else 'no'} |" in PAGE.read_text("utf-8")
    for sender in senders:
        found = []
        for is_async, is_tls, (stray, is_late) in product((False, True), (False, True), STRAYS):
            with Server(stray, is_late=is_late, is_tls=is_tls) as server:
                call = partial(second_draft, server, sender(is_async), is_async=is_async)
                found.append(anyio.run(call))
                server.shutdown()
        assert (set(found) == {"draft_2"}) is is_safe, found
        assert is_safe or "draft_stray" in found
