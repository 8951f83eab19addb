"""Calls that wait for a free connection: first come, first served, within the timeout."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from clients import ASYNC, TRIO, a_draft, a_page, read, wait

from adclient import AdClient, AsyncAdClient, CallTimeout, Draft, Hooks, RetryPolicy
from adclient._http.limiter import CapacityLimiter, Slot
from adclient.testing import FakeAdService, Fault

BASE_URL = "https://ads.example.com"
PATIENCE = 10


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


# Threads.


def waiting(
    limiter: CapacityLimiter, number: int, served: list[int], timeout: float
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


def test_threads_are_served_in_order_of_arrival() -> None:
    limiter, served = CapacityLimiter(1), []
    slot = Slot(limiter)
    assert slot.acquire(0)
    threads = [waiting(limiter, number, served, PATIENCE) for number in (1, 2, 3)]
    slot.release()
    # The slot belongs to the thread that waits longest, even if that one is still asleep.
    assert not Slot(limiter).acquire(0)
    for thread in threads:
        while thread.is_alive() and len(served) < threads.index(thread) + 1:
            time.sleep(0.001)
        limiter.free.put(None)
    for thread in threads:
        thread.join()
    assert served == [1, 2, 3]


def test_thread_that_gives_up_leaves_its_turn_to_the_next() -> None:
    limiter, served = CapacityLimiter(1), []
    slot = Slot(limiter)
    assert slot.acquire(0)
    hasty = waiting(limiter, 1, served, 0.2)
    patient = waiting(limiter, 2, served, PATIENCE)
    hasty.join()
    slot.release()
    patient.join()
    assert served == [2]
    assert not limiter.queue


def test_thread_that_gives_up_behind_another_leaves_the_queue() -> None:
    limiter, served = CapacityLimiter(1), []
    slot = Slot(limiter)
    assert slot.acquire(0)
    patient = waiting(limiter, 1, served, PATIENCE)
    hasty = waiting(limiter, 2, served, 0.05)
    hasty.join()
    assert len(limiter.queue) == 1
    slot.release()
    patient.join()
    assert served == [1]


def free_slots(limiter: CapacityLimiter) -> int:
    """Acquire all free slots, each in a thread of its own."""
    with ThreadPoolExecutor() as pool:
        at_once = threading.Barrier(4)
        slots = [pool.submit(lambda: (at_once.wait(), Slot(limiter).acquire(0))[1]) for _ in "1234"]
        return sum(slot.result() for slot in slots)


def test_slot_is_released_once() -> None:
    limiter = CapacityLimiter(1)
    never_acquired, slot = Slot(limiter), Slot(limiter)
    never_acquired.release()
    assert slot.acquire(0)
    for _ in range(3):
        slot.release()
    assert free_slots(limiter) == 1


SIGNALS = """
import signal, sys, threading, time
from random import random
from adclient import AdClient
from adclient._http.limiter import Slot
from adclient.testing import FakeAdService

class Interrupt(Exception):
    pass

client = AdClient(
    "https://ads.example.com", transport=FakeAdService().transport, max_concurrency=2
)
limiter = client._engine.limiter
main, armed, hits, is_over = threading.get_ident(), [], [], threading.Event()

def interrupt(*_):
    if armed:  # the program is where it expects an interrupt
        armed.clear()
        hits.append(1)
        raise Interrupt

def call():
    client.alpha.explain_objectives(account_id="account_a91f")

def compete():
    while not is_over.is_set():
        call()

def send_signals():
    while len(hits) < 200:
        time.sleep(0.002 * random())
        signal.pthread_kill(main, signal.SIGUSR1)
    is_over.set()

call()  # so that no interrupt hits an import
signal.signal(signal.SIGUSR1, interrupt)
# An error in the main thread ends the others as well.
threads = [threading.Thread(target=compete, daemon=True) for _ in range(int(sys.argv[1]))]
for thread in [*threads, threading.Thread(target=send_signals, daemon=True)]:
    thread.start()
while not is_over.is_set():
    try:
        armed.append(1)
        call()
        armed.clear()
    except Interrupt:
        pass
for thread in threads:
    thread.join()
acquired = []
for _ in range(3):
    thread = threading.Thread(target=lambda: acquired.append(Slot(limiter).acquire(0)))
    thread.start()
    thread.join()
print(len(limiter.queue), acquired)
"""


@pytest.mark.parametrize("competitors", [0, 3])
def test_no_slot_is_lost_by_200_signals(competitors) -> None:
    command = [sys.executable, "-c", SIGNALS, str(competitors)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 [True, True, False]\n", "")


@pytest.mark.parametrize("client_class", [AdClient, AsyncAdClient])
def test_number_of_slots_costs_no_time(client_class) -> None:
    transport = FakeAdService().transport
    began = time.process_time()
    client = client_class(BASE_URL, transport=transport, max_concurrency=10**30)

    async def call() -> None:
        await wait(read(client, account_id="account_a91f"))

    anyio.run(call)
    assert time.process_time() - began < 2


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


@pytest.mark.parametrize("name", ["on_request", "on_response", "on_retry", "on_draft"])
def test_hook_that_calls_its_client_has_the_slot_of_its_call(name) -> None:
    found = []

    def call_again(event) -> None:
        if not found and event.operation == "beta.pause_campaign":
            found.append(None)
            found.append(read(client, account_id="account_a91f").data)
            found.append(write(client))

    fake = FakeAdService()
    fake.faults.add(Fault.status(429))
    hooks, retry = Hooks(**{name: call_again}), RetryPolicy(backoff_first=0)
    client = AdClient(
        BASE_URL, transport=fake.transport, max_concurrency=1, hooks=hooks, retry=retry, timeout=3
    )
    threads = [threading.Thread(target=write, args=[client]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(fake.drafts)) == (3, 4)
    assert free_slots(client._engine.limiter) == 1


def write(client) -> Draft:
    return client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")


def test_thread_that_waits_too_long_for_a_connection_times_out() -> None:
    is_taken, may_go_on = threading.Event(), threading.Event()

    def answer(_: httpx.Request) -> httpx.Response:
        is_taken.set()
        assert may_go_on.wait(PATIENCE)
        return a_draft()

    client = AdClient(BASE_URL, transport=httpx.MockTransport(answer), max_concurrency=1)
    ids = {"account_id": "a", "campaign_id": "c"}
    first = threading.Thread(target=client.beta.pause_campaign, kwargs=ids)
    first.start()
    assert is_taken.wait(PATIENCE)
    expected = r"no free connection in time \(max_concurrency is 1\)"
    with pytest.raises(CallTimeout, match=expected) as caught:
        client.with_options(timeout=0.05).beta.pause_campaign(**ids)
    may_go_on.set()
    first.join()
    assert not caught.value.outcome_unknown
    assert caught.value.attempts == 0


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
