"""Calls that wait for a free connection: first come, first served, within the timeout."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest
from anyio.lowlevel import checkpoint
from cases import each_case
from clients import AT_ONCE, a_draft, a_page, asyncio_and_trio, read

from adclient import AdClient, AsyncAdClient, CallTimeout, Draft, Hooks
from adclient._http import limiter as limiter_module
from adclient._http.limiter import CapacityLimiter, Slot
from adclient.testing import FakeAdService, Fault

BASE_URL = "https://ads.example.com"
PATIENCE = 20
NO_SLOT = r"no free connection in time \(max_concurrency is {}\)"


@asyncio_and_trio
async def test_waiting_tasks_are_served_in_order_of_arrival(client_kind) -> None:
    names = [f"account_{number}" for number in range(20)]
    seen, opened = [], anyio.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.params["account_id"])
        await opened.wait()
        return a_page("x")

    async def call(name: str) -> None:
        await read(client, account_id=name)

    client = AsyncAdClient(BASE_URL, transport=httpx.MockTransport(answer), max_concurrency=1)
    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(call, name)
            for _ in range(20):  # it runs until it blocks
                await checkpoint()
        with pytest.raises(CallTimeout, match=NO_SLOT.format(1)) as caught:
            await read(client.with_options(timeout=0.05, max_retries=0))
        assert not caught.value.outcome_unknown
        assert seen == names[:1]
        opened.set()
    assert seen == names


# Threads.


def test_call_without_a_free_slot_in_its_time_is_not_sent() -> None:
    fake = FakeAdService()
    client = fake.client(max_concurrency=1, timeout=0.05, max_retries=0)
    holding = threading.Thread(target=Slot(client._engine.limiter).acquire, args=(1,))
    holding.start()
    holding.join()
    with pytest.raises(CallTimeout, match=NO_SLOT.format(1)):
        client.alpha.explain_objectives(account_id="account_a91f")
    assert len(fake.requests) == 0


def waiting(
    limiter: CapacityLimiter, number: int, served: list[int], timeout: float = PATIENCE
) -> threading.Thread:
    """A thread that waits for a slot as the `number`th of all, and keeps it."""

    def wait() -> None:
        if Slot(limiter).acquire(timeout):
            served.append(number)

    thread = threading.Thread(target=wait)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while len(limiter.queue) < number and time.monotonic() < deadline:
        time.sleep(0.001)
    return thread


@pytest.fixture
def limiter(monkeypatch) -> CapacityLimiter:
    """A limiter whose threads wake each other."""
    monkeypatch.setattr(limiter_module, "_RECHECK", PATIENCE)
    return CapacityLimiter(1)


@pytest.fixture
def taken(limiter) -> Slot:
    """The only slot of the limiter."""
    slot = Slot(limiter)
    assert slot.acquire(0)
    return slot


def test_threads_are_served_in_order_of_arrival(limiter, taken) -> None:
    served: list[int] = []
    threads = [waiting(limiter, number, served) for number in (1, 2, 3)]
    taken.release()
    # The slot belongs to the thread that waits longest, even if that one is still asleep.
    assert not Slot(limiter).acquire(0)
    for number, thread in enumerate(threads, 1):
        while thread.is_alive() and len(served) < number:
            time.sleep(0.001)
        limiter.free.put(None)
    for thread in threads:
        thread.join()
    assert served == [1, 2, 3]


@pytest.mark.parametrize("hasty", [1, 2])
def test_thread_that_gives_up_leaves_its_turn_to_the_others(hasty, limiter, taken) -> None:
    served: list[int] = []
    patience = {1: PATIENCE, 2: PATIENCE, hasty: 0.3}
    threads = {number: waiting(limiter, number, served, patience[number]) for number in patience}
    threads[hasty].join()
    assert len(limiter.queue) == 1
    taken.release()
    threads[3 - hasty].join()
    assert served == [3 - hasty]
    assert not limiter.queue


def free_slots(limiter: CapacityLimiter) -> int:
    """Acquire all free slots, each in a thread of its own."""
    with ThreadPoolExecutor() as pool:
        at_once = threading.Barrier(4)
        slots = [pool.submit(lambda: (at_once.wait(), Slot(limiter).acquire(0))[1]) for _ in "1234"]
        return sum(slot.result() for slot in slots)


def test_interrupted_call_releases_its_slot() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        if not seen:
            seen.append(None)
            raise KeyboardInterrupt
        return a_draft()

    seen = []
    client = AdClient(BASE_URL, transport=httpx.MockTransport(answer), max_concurrency=1, timeout=8)
    with pytest.raises(KeyboardInterrupt):
        write(client)
    write(client)
    assert free_slots(client._engine.limiter) == 1


@each_case("name", "on_request", "on_response", "on_retry", "on_draft")
def test_hook_that_calls_its_client_has_the_slot_of_its_call(name) -> None:
    found = []

    def call_again(event) -> None:
        if not found and event.operation == "beta.pause_campaign":
            found.append(None)
            found.append(read(client, account_id="account_a91f").data)
            found.append(write(client))

    fake = FakeAdService()
    fake.faults.add(Fault.status(429))
    hooks = Hooks(**{name: call_again})
    client = AdClient(
        BASE_URL, transport=fake.transport, max_concurrency=1, hooks=hooks, retry=AT_ONCE, timeout=8
    )
    with ThreadPoolExecutor() as pool:
        for call in [pool.submit(write, client) for _ in range(3)]:
            call.result()
    assert (len(found), len(fake.drafts)) == (3, 4)
    assert free_slots(client._engine.limiter) == 1


def write(client) -> Draft:
    return client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
