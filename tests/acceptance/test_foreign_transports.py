"""Transports of other libraries: a table of the docs on stray responses.

Over TLS and through proxies, for adclient's own connections: tests/client/wire/test_stray_bytes.py.
"""

import json
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import anyio
import httpx
import httpx2
import pytest
from clients import DRAFT
from pyreqwest.compatibility.httpx import HttpxTransport, SyncHttpxTransport
from raw_server import Connection, RawServer, reply

from adclient import AdClient, AdClientError, AsyncAdClient

IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "http-clients.md"


def draft(number: object) -> bytes:
    return reply(201, json.dumps({**DRAFT, "draft_id": f"draft_{number}"}).encode())


# What follows the response to the first request, and whether the client has read that before.
STRAYS = list(product((draft("stray"), draft(0)[:60], b"x"), (False, True)))
Options = Callable[[type], dict[str, object]]


def client_of(library, **options: object) -> Options:
    names = {AdClient: "Client", AsyncAdClient: "AsyncClient"}
    return lambda kind: {"http_client": getattr(library, names[kind])(**options)}


def transport_of(*classes: type, **options: object) -> Options:
    """What makes a transport: of the first class for a sync client, else of the second."""
    return lambda kind: {"transport": classes[kind is AsyncAdClient](**options)}


OF_HTTPX2 = (httpx2.HTTPTransport, httpx2.AsyncHTTPTransport)
# Each row of the table: whether it is safe, and what sends.
ROWS: dict[str, tuple[bool, list[Options]]] = {
    "adclient's own connections": (True, [lambda _: {}]),
    "pyreqwest 0.15": (True, [transport_of(SyncHttpxTransport, HttpxTransport)]),
    "a client or transport of httpx 0.28 or httpx2 2.16":
        (False, [client_of(httpx), transport_of(*OF_HTTPX2)]),
    "the same with `limits=httpx.Limits(max_keepalive_connections=0)`":
        (True, [client_of(httpx, limits=httpx.Limits(max_keepalive_connections=0)),
                transport_of(*OF_HTTPX2, limits=httpx2.Limits(max_keepalive_connections=0))]),
}  # fmt: skip


async def second_draft(made: Options, kind: type, stray: bytes, is_late: bool) -> str:
    """The id of the second draft, or the error that came instead."""
    was_read, has_sent_all = threading.Event(), threading.Event()
    drafts = iter((1, 2))

    def serve(connection: Connection) -> None:
        while connection.read():
            number = next(drafts)
            connection.send(draft(number) + (stray if (number, is_late) == (1, False) else b""))
            if number == 1 and is_late:
                was_read.wait(10)
                connection.send(stray)
            has_sent_all.set()

    is_async, options, found = kind is AsyncAdClient, made(kind), ""
    with RawServer(serve) as server:
        client = kind(server.url, max_retries=0, timeout=5, **options)
        for _ in range(2):
            try:
                staged = client.beta.pause_campaign(**IDS)
                found = (await staged if is_async else staged).draft_id
            except AdClientError as error:
                found = type(error).__name__
            was_read.set()
            has_sent_all.wait(10)
            await anyio.sleep(0.01)  # for what reads in the background
        for opened in (client, *options.values()):
            await opened.aclose() if is_async else opened.close()
    return found


@pytest.mark.parametrize("name", ROWS)
def test_table_of_transports_is_true(name) -> None:
    is_safe, senders = ROWS[name]
    assert f"| {name} | {'yes' if is_safe else 'no'} |" in PAGE.read_text("utf-8")
    for made in senders:
        cases = product([made], (AdClient, AsyncAdClient), STRAYS)
        found = [anyio.run(second_draft, *sender, *stray) for *sender, stray in cases]
        assert (set(found) == {"draft_2"}) is is_safe, found
        assert is_safe or "draft_stray" in found
