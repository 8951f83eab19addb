"""Calls that wait for a free connection: first come, first served, within the timeout."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial

import anyio
import httpx
import pytest
from cases import each_case
from clients import AT_ONCE, BASE_URL, SYNC, a_draft, a_page, read, sync_asyncio_trio, wait, write
from waiting import LONG, HeldTransport, beside, until

from adclient import AdClient, CallTimeout, Hooks
from adclient._http import slots as slots_module
from adclient._http.slots import CapacityLimiter, Slot
from adclient.testing import FakeAdService, Fault

NO_SLOT = r"no free connection in time \(max_concurrency is 1\)"
PAUSE = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}


@pytest.mark.parametrize("hasty", [None, 1, 2])
@sync_asyncio_trio
async def test_waiting_calls_are_sent_in_order_of_arrival(client_kind, hasty, monkeypatch) -> None:
    """Also behind one that gives up, and before the next call of the first one."""
    monkeypatch.setattr(slots_module, "_RECHECK", LONG)  # threads wake each other
    seen, gave_up = [], []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(int(request.url.params["account_id"]))
        return a_page("x")

    async def call(number: int) -> None:
        if number == hasty:
            with pytest.raises(CallTimeout, match=NO_SLOT) as caught:
                await wait(write(client.with_options(timeout=0.1, max_retries=0)))
            assert not caught.value.outcome_unknown
            gave_up.append(caught.value.attempts)
            return
        for _ in range(2 if number == 0 else 1):
            await wait(read(client, account_id=str(number)))

    async def is_waiting(number: int) -> None:
        if client_kind is SYNC:
            queue = client._engine.limiter.queue
            await until(lambda: seen and len(queue) + len(gave_up) == number)
        else:
            await anyio.wait_all_tasks_blocked()

    transport = HeldTransport(answer, lambda _: True)
    options = {"transport": transport, "max_concurrency": 1, "timeout": LONG}
    async with client_kind.open(**options) as client, AsyncExitStack() as calls:
        for number in range(4):
            await calls.enter_async_context(beside(client_kind, partial(call, number)))
            await is_waiting(number)
        await until(lambda: hasty is None or gave_up)
        assert seen == [0]
        transport.opened.set()
    assert seen == [number for number in (0, 1, 2, 3, 0) if number != hasty]
    assert gave_up == [0] * (hasty is not None)


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
            found.append(write(client, **PAUSE))

    fake = FakeAdService()
    fake.faults.add(Fault.status(429))
    hooks = Hooks(**{name: call_again})
    client = fake.client(max_concurrency=1, hooks=hooks, retry=AT_ONCE, timeout=8)
    with ThreadPoolExecutor() as pool:
        for call in [pool.submit(write, client, **PAUSE) for _ in range(3)]:
            call.result()
    assert (len(found), len(fake.drafts)) == (3, 4)
    assert free_slots(client._engine.limiter) == 1
