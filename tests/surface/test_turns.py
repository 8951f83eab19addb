"""Calls that wait for a free connection: first come, first served, within the timeout."""

import asyncio
import threading
import time

import anyio
import httpx
import pytest
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from clients import ASYNC, TRIO, a_draft, a_page

from adclient import AdClient, AsyncAdClient, CallTimeout
from adclient._http.slots import Slots

BASE_URL = "https://ads.example.com"
PATIENCE = 30


class Slow(httpx.AsyncBaseTransport):
    """Responds once it is opened, and records the account of each request."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        self.accounts: list[str] = []
        self.under_way = self.most_under_way = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.accounts.append(request.url.params["account_id"])
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await self.opened.wait()
        await anyio.sleep(0)
        self.under_way -= 1
        return a_page("x")


# Trio resumes tasks that are ready at the same time in random order, so only one slot.
@pytest.mark.parametrize(("client_kind", "slots"), [(ASYNC, 1), (ASYNC, 3), (TRIO, 1)], ids=str)
def test_waiting_tasks_are_served_in_order_of_arrival(client_kind, slots) -> None:
    names = [f"account_{number}" for number in range(40)]

    async def scenario() -> None:
        transport = Slow()
        client = AsyncAdClient(
            BASE_URL, transport=transport, max_concurrency=slots, timeout=PATIENCE
        )
        async with anyio.create_task_group() as group:
            for name in names:
                await _started(group, client, name)
            assert transport.accounts == names[:slots]
            transport.opened.set()
        assert transport.accounts == names
        assert transport.most_under_way == slots

    anyio.run(scenario, backend=client_kind.name)


async def _started(group: TaskGroup, client: AsyncAdClient, account_id: str) -> None:
    """Start a call and let it run until it blocks."""
    group.start_soon(_read, client, account_id)
    for _ in range(20):
        await checkpoint()


async def _read(client: AsyncAdClient, account_id: str) -> None:
    await client.alpha.explain_objectives(account_id=account_id)


@pytest.mark.no_cover
def test_thousand_concurrent_calls_respect_the_default_limit() -> None:
    async def scenario() -> None:
        transport = Slow()
        transport.opened.set()
        client = AsyncAdClient(BASE_URL, transport=transport, timeout=600)
        await asyncio.gather(*(_read(client, str(number)) for number in range(1_000)))
        assert len(transport.accounts) == 1_000
        assert transport.most_under_way == 100

    asyncio.run(scenario())


# Threads. The locks of the standard library are not fair, so `Slots` has its own queue.


def waiting(slots: Slots, number: int, taken: list[int], timeout: float) -> threading.Thread:
    """Start a thread that waits for a slot as the `number`th."""

    def wait() -> None:
        if slots.acquire(timeout):
            taken.append(number)

    thread = threading.Thread(target=wait)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while len(slots._waiting) < number and time.monotonic() < deadline:
        time.sleep(0.001)
    return thread


def test_waiting_threads_are_served_in_order_of_arrival() -> None:
    slots, taken = Slots(1), []
    assert slots.acquire(0)
    threads = [waiting(slots, number, taken, PATIENCE) for number in (1, 2, 3)]
    for thread in threads:
        slots.release()
        # The slot belongs to the waiting thread, even if that has not woken up yet.
        assert not slots.acquire(0)
        thread.join()
    assert taken == [1, 2, 3]
    slots.release()
    assert slots.acquire(0)


def test_thread_that_stops_waiting_loses_no_slot() -> None:
    slots, taken = Slots(1), []
    assert slots.acquire(0)
    hasty = waiting(slots, 1, taken, 0.2)
    patient = waiting(slots, 2, taken, PATIENCE)
    hasty.join()
    slots.release()
    patient.join()
    assert taken == [2]


class InterruptedLock:
    """A lock interrupted by Ctrl-C, before or after the slot was handed over."""

    def __init__(self, slots: Slots, *, too_late: bool) -> None:
        self._slots, self._too_late, self._is_first = slots, too_late, True

    def acquire(self, timeout: float = 0) -> bool:
        if self._is_first:
            self._is_first = False
            return True
        if self._too_late:
            self._slots.release()
        raise KeyboardInterrupt

    def release(self) -> None:
        pass


@pytest.mark.parametrize("too_late", [False, True])
def test_interrupt_while_waiting_loses_no_slot(monkeypatch, too_late) -> None:
    slots = Slots(1)
    assert slots.acquire(0)
    monkeypatch.setattr(threading, "Lock", lambda: InterruptedLock(slots, too_late=too_late))
    with pytest.raises(KeyboardInterrupt):
        slots.acquire(PATIENCE)
    if not too_late:
        slots.release()
    assert slots.acquire(0)
    assert not slots._waiting


def test_threads_of_one_client_respect_max_concurrency() -> None:
    under_way, most = 0, 0
    counting = threading.Lock()

    def answer(_: httpx.Request) -> httpx.Response:
        nonlocal under_way, most
        with counting:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.001)
        with counting:
            under_way -= 1
        return a_draft()

    client = AdClient(
        BASE_URL, transport=httpx.MockTransport(answer), max_concurrency=3, timeout=PATIENCE
    )

    def work() -> None:
        for _ in range(5):
            client.beta.pause_campaign(account_id="a", campaign_id="c")

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 3


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_waiting_for_a_connection_counts_against_the_timeout(client_kind) -> None:
    async def scenario() -> None:
        transport = Slow()
        client = AsyncAdClient(
            BASE_URL, transport=transport, max_concurrency=1, timeout=PATIENCE, max_retries=0
        )
        async with anyio.create_task_group() as group:
            await _started(group, client, "first")
            expected = r"no free connection in time \(max_concurrency is 1\)"
            with pytest.raises(CallTimeout, match=expected) as caught:
                await _read(client.with_options(timeout=0.1), "second")
            assert not caught.value.outcome_unknown
            transport.opened.set()

    anyio.run(scenario, backend=client_kind.name)
