"""A write that the service has read is never resent, unless with the same idempotency key."""

import json
import threading
from contextlib import asynccontextmanager

import pytest
from clients import (
    DRAFT,
    KEYED,
    close,
    method_of,
    sync_asyncio_trio,
    wait,
)
from interface_table import ROWS
from raw_server import Connection, RawServer, answer_to, head, refusing_url, reply

from adclient import Conventions, OutcomeUnknown, RetryPolicy, Unauthenticated

WRITES = [row for row in ROWS if not row.is_read]
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
WHOLE = json.dumps(DRAFT).encode()

CLOSE = "Connection: close"

# Failures of a service after it has staged a draft.
AFTERWARDS = {
    "drops": lambda connection: None,
    "resets": Connection.reset,
    "fails": lambda connection: connection.send(reply(500, b"", CLOSE)),
    "is overloaded": lambda connection: connection.send(reply(503, b"", CLOSE, "Retry-After: 0")),
    "is behind a gateway": lambda connection: connection.send(reply(502, b"<html>", CLOSE)),
    "cuts the head": lambda connection: connection.send(b"HTTP/1.1 201 Cre"),
    "cuts the body": lambda connection: connection.send(head(201, len(WHOLE)) + WHOLE[:50]),
    "answers no HTTP": lambda connection: connection.send(b"\0\1\2\3\r\n\r\n"),
}
UNREADABLE = {
    "answers no draft": lambda connection: connection.send(reply(201, b'{"draft_id": "draft_1"}')),
    "answers nothing": lambda connection: connection.send(reply(201, b"")),
    "answers 204": lambda connection: connection.send(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "redirects": lambda connection: connection.send(reply(302, b"", CLOSE, "Location: /elsewhere")),
    "answers 501": lambda connection: connection.send(reply(501, b"", CLOSE)),
    "answers 099": lambda connection: connection.send(b"HTTP/1.1 099 Odd\r\n\r\n"),
    "answers 101": lambda connection: connection.send(b"HTTP/1.1 101 Other\r\n\r\n"),
    "answers 600": lambda connection: connection.send(reply(600, b"", CLOSE)),
}


class Staging:
    """Stages a draft for each request, and then fails, `times` times."""

    def __init__(self, goes_wrong, times: float = float("inf")) -> None:
        self._goes_wrong = goes_wrong
        self._times = times
        self._lock = threading.Lock()

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            with self._lock:
                self._times -= 1
                is_wrong = self._times >= 0
            if is_wrong:
                self._goes_wrong(connection)
                return
            connection.send(answer_to(request))


async def fails(client_kind, server: RawServer, **options) -> OutcomeUnknown:
    async with client_kind.open(server.url, **options) as client:
        with pytest.raises(OutcomeUnknown, match="look for it in the approval dashboard") as caught:
            await wait(client.beta.pause_campaign(**IDS))
    return caught.value


@pytest.mark.parametrize("goes_wrong", [*AFTERWARDS, *UNREADABLE])
@sync_asyncio_trio
async def test_write_without_a_key_is_sent_once(client_kind, goes_wrong) -> None:
    with RawServer(Staging({**AFTERWARDS, **UNREADABLE}[goes_wrong]).serve) as server:
        error = await fails(client_kind, server)
    assert len(server.requests) == error.attempts == 1
    assert error.outcome_unknown


@sync_asyncio_trio
async def test_each_write_is_sent_once_after_a_reset(client_kind) -> None:
    with RawServer(Staging(Connection.reset).serve) as server:
        async with client_kind.open(server.url) as client:
            for row in WRITES:
                with pytest.raises(OutcomeUnknown, match=row.call):
                    await wait(method_of(client, row.call)(**row.arguments))
    assert len(server.requests) == len(WRITES)


@pytest.mark.parametrize("goes_wrong", AFTERWARDS)
@sync_asyncio_trio
async def test_write_with_a_key_is_retried_identically(client_kind, goes_wrong) -> None:
    with RawServer(Staging(AFTERWARDS[goes_wrong]).serve) as server:
        error = await fails(client_kind, server, conventions=KEYED)
    assert len(server.requests) == error.attempts == 3
    assert len(set(server.requests)) == 1
    assert f"idempotency-key: {error.idempotency_key}".encode() in server.requests[0].lower()


@sync_asyncio_trio
async def test_write_with_a_key_returns_its_draft_after_retries(client_kind) -> None:
    with RawServer(Staging(Connection.reset, times=2).serve) as server:
        async with client_kind.open(server.url, conventions=KEYED) as client:
            draft = await wait(client.beta.pause_campaign(**IDS))
            await wait(client.beta.pause_campaign(**IDS))
            mine = client.with_options(headers={"Idempotency-Key": "mine-7"})
            await wait(mine.beta.pause_campaign(**IDS))
    assert draft.response.attempts == 3
    *attempts, another, last = server.requests
    assert len(set(attempts)) == 1
    assert another != attempts[0], "another call has another key"
    assert b"idempotency-key: mine-7\r\n" in last.lower()


@pytest.mark.parametrize("conventions", [KEYED, Conventions()], ids=["key", "no key"])
@sync_asyncio_trio
async def test_write_without_retries_is_sent_once(client_kind, conventions) -> None:
    with RawServer(Staging(Connection.reset).serve) as server:
        await fails(client_kind, server, conventions=conventions, max_retries=0)
    assert len(server.requests) == 1


@sync_asyncio_trio
async def test_write_is_not_retried_after_a_401(client_kind) -> None:
    def refuse(connection: Connection) -> None:
        connection.send(reply(401, b"{}"))

    with RawServer(Staging(refuse).serve) as server:
        async with client_kind.open(server.url, conventions=KEYED, token="t0ken") as client:
            with pytest.raises(Unauthenticated) as caught:
                await wait(client.beta.pause_campaign(**IDS))
    assert not caught.value.outcome_unknown
    assert len(server.requests) == 1


@asynccontextmanager
async def opened(client_kind, library: str | None, url: str, **options):
    """A client over its default connections, or over those of an injected HTTP client."""
    if library is None:
        async with client_kind.open(url, **options) as client:
            yield client
        return
    theirs = getattr(pytest.importorskip(library), client_kind.http_client_name)(verify=False)
    try:
        async with client_kind.open(url, http_client=theirs, **options) as client:
            yield client
    finally:
        await close(theirs)


# Ways for a partly sent write to fail: the service may act on the part that it has read.
HALFWAY = {"resets": Connection.reset, "reads no more": Connection.stay_silent}


@pytest.mark.parametrize("library", [None, "httpx"])
@pytest.mark.parametrize("ending", HALFWAY)
@sync_asyncio_trio
async def test_partly_sent_write_is_not_retried(client_kind, ending, library) -> None:
    def serve(connection: Connection) -> None:
        connection.receive()
        HALFWAY[ending](connection)

    large = {"note": "x" * 8_000_000}  # more than the socket buffers hold
    with RawServer(serve) as server:
        timeout = 0.5 if ending == "reads no more" else 20
        async with opened(client_kind, library, server.url, timeout=timeout) as client:
            with pytest.raises(OutcomeUnknown, match="look for it in the approval") as caught:
                await wait(client.alpha.update_campaign_budget(**IDS, fields=large))
    assert server.connections == caught.value.attempts == 1


@sync_asyncio_trio
async def test_write_is_retried_until_a_connection_is_established(client_kind) -> None:
    tokens: list[str] = []
    started: list[RawServer] = []
    url = refusing_url()

    def token() -> str:
        tokens.append("t0ken")
        if len(tokens) == 3:
            started.append(
                RawServer(Staging(None, times=0).serve, port=int(url.rpartition(":")[2]))
            )
        return tokens[-1]

    async with client_kind.open(url, token=token, retry=RetryPolicy(backoff_first=0)) as client:
        draft = await wait(client.beta.pause_campaign(**IDS))
        assert draft.response.attempts == 3
        with started[0] as server:
            assert len(server.requests) == 1
