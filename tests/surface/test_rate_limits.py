"""After a 429 with a `Retry-After`, the other calls of a client wait too."""

import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest
from clients import ASYNC, TRIO, sync_asyncio_trio, wait
from raw_server import Connection, RawServer, answer_to, reply

from adclient import AdClient, Conventions, RateLimited
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


# Fifty calls during a rate limit.


def until(is_so):
    """Yield until a condition holds; fail if it takes too long."""
    for turn in range(10_000):
        if is_so():
            return
        yield turn
    pytest.fail("it did not happen")


class Limited:
    """Refuses the first request, and all others until its `Retry-After` has passed."""

    def __init__(self) -> None:
        self.refused = 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._over = 0.0
        self._lock = threading.Lock()

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            self.may_answer.wait(10)
            with self._lock:
                is_first, self._over = not self._over, self._over or time.monotonic() + PAUSE
                refuses = is_first or time.monotonic() < self._over
                self.refused += refuses
            if refuses:
                connection.send(reply(429, b"{}", f"Retry-After: {PAUSE}"))
            else:
                connection.send(answer_to(request))


def test_fifty_threads_send_one_refused_request() -> None:
    limited = Limited()
    with RawServer(limited.serve) as server, AdClient(server.url) as client:
        found: list[object] = []

        def call() -> None:
            found.append(client.delta.analyze_wasted_spend(account_id=ACCOUNT))

        threads = [threading.Thread(target=call) for _ in range(50)]
        threads[0].start()
        for _ in until(lambda: client._engine.gate.ends):
            time.sleep(0.001)
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(found), limited.refused, len(server.requests)) == (50, 1, 51)


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_fifty_tasks_send_one_refused_request(client_kind) -> None:
    limited = Limited()
    found: list[object] = []

    async def call(client) -> None:
        found.append(await client.delta.analyze_wasted_spend(account_id=ACCOUNT))

    async def scenario() -> None:
        async with client_kind.client(server.url) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(call, client)
            for _ in until(lambda: client._engine.gate.ends):
                await anyio.sleep(0.001)
            for _ in range(49):
                tasks.start_soon(call, client)

    with RawServer(limited.serve) as server:
        client_kind.run(scenario)
    assert (len(found), limited.refused, len(server.requests)) == (50, 1, 51)


def test_threads_waiting_for_a_connection_are_paused() -> None:
    limited = Limited()
    with (
        RawServer(limited.serve) as server,
        AdClient(server.url, max_concurrency=1) as client,
        ThreadPoolExecutor(20) as threads,
    ):
        calls = [
            threads.submit(client.delta.analyze_wasted_spend, account_id=ACCOUNT) for _ in range(20)
        ]
        attempts = [call.result().response.attempts for call in calls]
    assert sorted(attempts) == [1] * 19 + [2]
    assert (limited.refused, len(server.requests)) == (1, 21)


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_tasks_waiting_for_a_connection_are_paused(client_kind) -> None:
    limited = Limited()
    attempts: list[int] = []

    async def call(client) -> None:
        page = await client.delta.analyze_wasted_spend(account_id=ACCOUNT)
        attempts.append(page.response.attempts)

    async def scenario() -> None:
        async with (
            client_kind.open(server.url, max_concurrency=1) as client,
            anyio.create_task_group() as tasks,
        ):
            for _ in range(20):
                tasks.start_soon(call, client)

    with RawServer(limited.serve) as server:
        client_kind.run(scenario)
    assert sorted(attempts) == [1] * 19 + [2]
    assert (limited.refused, len(server.requests)) == (1, 21)
