"""After a 429 with a `Retry-After`, the other calls of a client wait too."""

import logging
import re
import threading
import time
from functools import partial

import anyio
import anyio.to_thread
import pytest
from clients import CLIENT_KINDS, SYNC, TRIO, close, sync_asyncio_trio, wait
from raw_server import Connection, RawServer, answer_to, reply

from adclient import Conventions, RateLimited
from adclient.testing import FakeAdService, Fault

ACCOUNT, OTHER = "account_b204", "account_a91f"
PAUSE = 0.2
LIMITED = Fault.status(429, headers={"retry-after": "20"})


async def refused(client) -> None:
    """Make a call whose timeout is shorter than the `Retry-After` of 20 seconds."""
    with pytest.raises(RateLimited) as caught:
        await wait(client.with_options(timeout=10).beta.list_campaigns(account_id=ACCOUNT))
    assert caught.value.retry_after == 20.0


@pytest.mark.own  # uses the clock of the fake
@pytest.mark.parametrize(("scope", "sleeps"), [("account", 0), ("client", 1), ("call", 0)])
@sync_asyncio_trio
async def test_scope_decides_which_calls_wait_before_they_are_sent(
    client_kind, scope, sleeps, caplog
) -> None:
    caplog.set_level(logging.INFO, "adclient")
    fake = FakeAdService()
    fake.faults.add(LIMITED)
    options = {"transport": fake.transport, "conventions": Conventions(rate_limit_scope=scope)}
    async with client_kind.open(fake.base_url, **options) as client:
        await refused(client)
        await wait(client.alpha.explain_objectives(account_id=OTHER))
        assert fake.clock.sleeps == (20.5,) * sleeps
        page = await wait(client.beta.list_campaigns(account_id=ACCOUNT))
    assert page.response.attempts == 1
    assert fake.clock.sleeps == (() if scope == "call" else (20.5,))
    waits = [message for message in caplog.messages if "shared rate limit" in message]
    assert len(waits) == len(fake.clock.sleeps)
    for message in waits:
        assert re.fullmatch(r"\S+ #\d+: waits 20.500 s for a shared rate limit", message)


@sync_asyncio_trio
async def test_clients_do_not_wait_for_each_other(client_kind) -> None:
    fake = FakeAdService()
    fake.faults.add(LIMITED)
    for call in (refused, lambda client: wait(client.beta.list_campaigns(account_id=ACCOUNT))):
        async with client_kind.open(fake.base_url, transport=fake.transport) as client:
            await call(client)
    assert fake.clock.sleeps == ()


# Concurrent calls during a rate limit.


class Limited:
    """Refuses the first request, and all others until its `Retry-After` has passed."""

    def __init__(self) -> None:
        self.refused = 0
        self._over = 0.0
        self._lock = threading.Lock()

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            with self._lock:
                is_first, self._over = not self._over, self._over or time.monotonic() + PAUSE
                refuses = is_first or time.monotonic() < self._over
                self.refused += refuses
            if refuses:
                connection.send(reply(429, b"{}", f"Retry-After: {PAUSE}"))
            else:
                connection.send(answer_to(request))


@pytest.mark.parametrize("are_queued", [False, True])
@pytest.mark.parametrize("client_kind", CLIENT_KINDS, ids=str)
def test_concurrent_calls_send_one_refused_request(client_kind, are_queued) -> None:
    """They begin after the refusal, or wait for the only connection before it."""
    limited, attempts = Limited(), []

    async def scenario() -> None:
        threads = anyio.CapacityLimiter(50)
        options = {"max_concurrency": 1} if are_queued else {}
        client = client_kind.client(server.url, **options)

        async def call() -> None:
            made = partial(client.delta.analyze_wasted_spend, account_id=ACCOUNT)
            if client_kind is SYNC:
                page = await anyio.to_thread.run_sync(made, limiter=threads)
            else:
                page = await made()
            attempts.append(page.response.attempts)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while not (are_queued or client._engine.gate.ends):
                    await anyio.sleep(0.001)
                for _ in range(49):
                    tasks.start_soon(call)
        await close(client)

    with RawServer(limited.serve) as server:
        anyio.run(scenario, backend="trio" if client_kind is TRIO else "asyncio")
    assert sorted(attempts) == [1] * 49 + [2]
    assert (limited.refused, len(server.requests)) == (1, 51)
