"""A write that the service has read is never resent, unless with the same idempotency key."""

import json
import threading
from collections.abc import Callable

import pytest
from cases import each_case
from clients import DRAFT, KEYED, close, method_of, sync_and_async, sync_asyncio_trio, wait
from interface_table import ROWS
from raw_server import Connection, RawServer, answer_to, head, refusing_url, reply, serving

from adclient import OutcomeUnknown, RetryPolicy, Unauthenticated

WRITES = [row for row in ROWS if not row.is_read]
IDS = {"account_id": "a", "campaign_id": "c"}
WHOLE = json.dumps(DRAFT).encode()

CLOSE = "Connection: close"

# Failures of a service after it has staged a draft: what it sends or does.
AFTERWARDS = {
    "drops": b"",
    "resets": Connection.reset,
    "fails": reply(500, b"", CLOSE),
    "is overloaded": reply(503, b"", CLOSE, "Retry-After: 0"),
    "is behind a gateway": reply(502, b"<html>", CLOSE),
    "cuts the head": b"HTTP/1.1 201 Cre",
    "cuts the body": head(201, len(WHOLE)) + WHOLE[:50],
    "answers no HTTP": b"\0\1\2\3\r\n\r\n",
}
UNREADABLE = {
    "answers no draft": reply(201, b'{"draft_id": "draft_1"}'),
    "answers nothing": reply(201, b""),
    "answers 204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "redirects": reply(302, b"", CLOSE, "Location: /elsewhere"),
    "answers 501": reply(501, b"", CLOSE),
    "answers 099": b"HTTP/1.1 099 Odd\r\n\r\n",
    "answers 101": b"HTTP/1.1 101 Other\r\n\r\n",
    "answers 600": reply(600, b"", CLOSE),
}


class Staging:
    """Stages a draft for each request, and then fails, `times` times."""

    def __init__(self, failure: bytes | Callable, times: float = float("inf")) -> None:
        self._failure = failure
        self._times = times
        self._lock = threading.Lock()

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            with self._lock:
                self._times -= 1
                is_wrong = self._times >= 0
            if is_wrong:
                failure = self._failure
                connection.send(failure) if isinstance(failure, bytes) else failure(connection)
                return
            connection.send(answer_to(request))


async def fails(client_kind, server: RawServer, **options) -> OutcomeUnknown:
    async with client_kind.open(server.url, **options) as client:
        with pytest.raises(OutcomeUnknown, match="look for it in the approval dashboard") as caught:
            await wait(client.beta.pause_campaign(**IDS))
    return caught.value


@each_case("failure", *AFTERWARDS, *UNREADABLE)
@sync_and_async
async def test_write_without_a_key_is_sent_once(client_kind, failure) -> None:
    with RawServer(Staging({**AFTERWARDS, **UNREADABLE}[failure]).serve) as server:
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


@each_case("failure", *AFTERWARDS)
@sync_and_async
async def test_write_with_a_key_is_retried_identically(client_kind, failure) -> None:
    with RawServer(Staging(AFTERWARDS[failure]).serve) as server:
        error = await fails(client_kind, server, conventions=KEYED)
    assert len(server.requests) == error.attempts == 3
    assert len(set(server.requests)) == 1
    assert f"idempotency-key: {error.idempotency_key}".encode() in server.requests[0].lower()


@sync_and_async
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


@sync_and_async
async def test_write_without_retries_or_with_a_refused_token_is_sent_once(client_kind) -> None:
    with RawServer(Staging(Connection.reset).serve) as server:
        await fails(client_kind, server, conventions=KEYED, max_retries=0)
    assert len(server.requests) == 1
    with RawServer(Staging(reply(401, b"{}", CLOSE)).serve) as server:
        async with client_kind.open(server.url, conventions=KEYED, token="t0ken") as client:
            with pytest.raises(Unauthenticated) as caught:
                await wait(client.beta.pause_campaign(**IDS))
    assert not caught.value.outcome_unknown
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("ending", "is_injected"),
    [(Connection.reset, False), (Connection.stay_silent, False), (Connection.reset, True)],
    ids=["resets", "reads no more", "resets an HTTP client"],
)
@sync_asyncio_trio
async def test_partly_sent_write_is_not_retried(client_kind, ending, is_injected) -> None:
    """The service may act on the part that it has read.

    With `--family=httpx2`, as nox runs it, all clients have one of httpx2.
    """

    def serve(connection: Connection) -> None:
        connection.receive()
        ending(connection)

    large = {"note": "x" * 8_000_000}  # more than the socket buffers hold
    options = {"timeout": 0.6 if ending is Connection.stay_silent else 20}
    if is_injected:
        options["http_client"] = client_kind.http_client(verify=False)
    async with serving(client_kind, serve, **options) as (server, client):
        with pytest.raises(OutcomeUnknown, match="look for it in the approval") as caught:
            await wait(client.alpha.update_campaign_budget(**IDS, fields=large))
    assert server.connections == caught.value.attempts == 1
    if is_injected:
        await close(options["http_client"])


@sync_and_async
async def test_write_is_retried_until_a_connection_is_established(client_kind) -> None:
    tokens: list[str] = []
    started: list[RawServer] = []
    url = refusing_url()

    def token() -> str:
        tokens.append("t0ken")
        if len(tokens) == 3:
            port = int(url.rpartition(":")[2])
            started.append(RawServer(Staging(b"", times=0).serve, port=port))
        return tokens[-1]

    async with client_kind.open(url, token=token, retry=RetryPolicy(backoff_first=0)) as client:
        draft = await wait(client.beta.pause_campaign(**IDS))
        assert draft.response.attempts == 3
        with started[0] as server:
            assert len(server.requests) == 1
