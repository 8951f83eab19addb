"""A gate that processes share: which requests wait, on the clock of the fake."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from queue import SimpleQueue

import httpx
import pytest
from cases import each_case
from clients import SYNC, Service, a_page, sync_and_async, wait
from gate_tests import *  # noqa: F403
from gate_tests import CALL, reserved

import adclient
from adclient import AdClient, CallTimeout, Conventions, Hooks, RateLimited
from adclient._http.slots import AsyncSlot, Slot
from adclient.extend import Failure
from adclient.gate import SharedGate
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService, Fault

ACCOUNT, OTHER = "account_b204", "account_b7e0"


def read(client, account_id=ACCOUNT):
    return client.beta.list_campaigns(account_id=account_id)


def be_refused(client) -> None:
    with pytest.raises(RateLimited):
        read(client)


def limit(fake, *seconds: int) -> None:
    for number in seconds:
        fake.faults.add(Fault.status(429, headers={"retry-after": f"{number}"}))


def of_fake(client_kind, fake, gate, **options):
    return client_kind.open(fake.base_url, transport=fake.transport, gate=gate, **options)


# Pauses.


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize(("scope", "sleeps"), [("account", 0), ("client", 1), ("call", 0)])
@sync_and_async
async def test_scope_decides_which_other_calls_wait(
    client_kind, fake, gate_of, scope, sleeps, is_shared
) -> None:
    """Calls of the same client, or through a gate also those of another one."""
    limit(fake, 20)
    options = {"conventions": Conventions(rate_limit_scope=scope)}
    options["gate"] = gate_of() if is_shared else None
    async with (
        of_fake(client_kind, fake, **options) as client,
        of_fake(client_kind, fake, **options) as second,
    ):
        with pytest.raises(RateLimited):
            await wait(read(client.with_options(timeout=10)))
        other = second if is_shared else client
        await wait(read(other, OTHER))
        assert fake.clock.sleeps == (20.5,) * sleeps
        page = await wait(read(other))
    assert page.response.attempts == 1
    assert fake.clock.sleeps == (() if scope == "call" else (20.5,))


@sync_and_async
async def test_call_without_time_for_a_pause_is_not_sent(client_kind, fake, gate_of, where) -> None:
    limit(fake, 60)
    ledger = SQLiteLedger(where)
    async with of_fake(client_kind, fake, gate_of(), timeout=40, ledger=ledger) as client:
        with pytest.raises(RateLimited):
            await wait(read(client))
        problem = "the gate asks to wait 60 s.*retry after 60 s"
        with pytest.raises(CallTimeout, match=problem) as late:
            await wait(client.beta.pause_campaign(account_id=ACCOUNT, campaign_id="c"))
    assert (late.value.attempts, late.value.retry_after) == (0, 60.0)
    assert len(fake.requests) == 1
    assert [entry.state for entry in ledger.entries()] == ["not staged"]
    ledger.verify()


@pytest.mark.parametrize(
    ("first", "second", "left"), [(60, 40, 60.0), (40, 60, 60.0), (10**9, 1, 86400.0)]
)
def test_longest_pause_counts_up_to_a_day(fake, gate_of, first, second, left) -> None:
    limit(fake, first, second)
    options = {"gate": gate_of(), "timeout": 0.5}
    inner = fake.client(**options)
    # The inner call is sent first.
    be_refused(fake.client(hooks=Hooks(on_request=lambda event: be_refused(inner)), **options))
    with pytest.raises(CallTimeout) as late:
        read(inner)
    assert late.value.retry_after == left


def test_pause_is_shared_by_the_gates_of_a_name_and_address(gate_of) -> None:
    limited = httpx.Response(429, headers={"Retry-After": "60"})
    options = {"transport": Service(limited, *[a_page()] * 3).transport, "max_retries": 0}
    be_refused(AdClient("https://ads.example.com/api", gate=gate_of(name="a"), **options))
    for name, address, is_same in (
        ("a", "HTTPS://ADS.example.com:443/api/", True),
        ("b", "https://ads.example.com/api", False),
        ("a", "https://ads.example.com", False),
        ("a", "https://other.example.com/api", False),
    ):
        with pytest.raises(CallTimeout) if is_same else nullcontext():
            read(AdClient(address, gate=gate_of(name=name), **options))


def test_429_without_a_time_pauses_nothing(fake, gate_of) -> None:
    fake.faults.add(Fault.status(429))
    client = fake.client(gate=gate_of(), max_retries=0)
    be_refused(client)
    read(client)
    assert fake.clock.sleeps == ()


# Requests per second.


@sync_and_async
async def test_requests_per_second_are_counted_by_account(client_kind, fake, gate_of) -> None:
    async with of_fake(client_kind, fake, gate_of(per_second=1)) as client:
        for account_id in (ACCOUNT, OTHER, ACCOUNT, ACCOUNT):
            await wait(read(client, account_id))
        assert fake.clock.sleeps == pytest.approx((0.95, 1.0))
        problem = "the gate asks to wait 1 s"
        with pytest.raises(CallTimeout, match=problem) as late:
            await wait(read(client.with_options(timeout=0.5)))
    assert late.value.retry_after == pytest.approx(1)


def test_calls_of_scope_call_have_one_cap_and_no_pause(fake, gate_of) -> None:
    limit(fake, 60)
    options = {"conventions": Conventions(rate_limit_scope="call"), "max_retries": 0}
    client = fake.client(gate=gate_of(per_second=1), **options)
    be_refused(client)
    read(client, OTHER)
    assert fake.clock.sleeps == pytest.approx((0.95,))


def test_call_whose_turn_comes_during_a_pause_is_sent_after_it(fake, gate_of) -> None:
    fake.faults.add(Fault.status(429, headers={"retry-after": "4"}), call=2)
    client = fake.client(gate=gate_of(per_second=0.5))
    read(client)
    with ThreadPoolExecutor(1) as threads, fake.clock.held():
        reading = threads.submit(read, client)
        fake.clock.wait_for_sleepers(1)
        be_refused(fake.client(gate=gate_of(), max_retries=0))
        for seconds in (1.95, 2):
            fake.clock.advance(seconds)
            fake.clock.wait_for_sleepers(1)
        assert len(fake.requests) == 2
        fake.clock.advance(0.2)
    assert reading.exception() is None
    assert fake.clock.sleeps == pytest.approx((1.95, 2.1525))


def test_calls_that_queued_for_a_slot_at_their_turn_keep_to_the_cap(fake, gate_of) -> None:
    """Calls of other accounts hold all slots while the turns of six calls pass."""
    sent, is_held, is_free = SimpleQueue[float](), threading.Barrier(7), threading.Event()
    client = fake.client(gate=gate_of(per_second=10), max_concurrency=6)
    noted = client.with_options(hooks=Hooks(on_request=lambda _: sent.put(fake.clock.monotonic())))
    slow = Hooks(on_request=lambda event: [is_held.wait(10), is_free.wait(10)])
    with ThreadPoolExecutor(14) as threads, fake.clock.held():
        for _ in range(7):
            threads.submit(read, noted)
        fake.clock.wait_for_sleepers(6)
        for number in range(6):
            threads.submit(read, client.with_options(hooks=slow), f"account_{number}")
        is_held.wait(10)
        for queued in range(1, 7):
            fake.clock.advance(0.1)
            while len(client._engine.limiter.queue) < queued:
                time.sleep(0.001)
        fake.clock.advance(0.06)
        is_free.set()
        times = [sent.get(timeout=10)]
        for left in reversed(range(6)):
            times.append(sent.get(timeout=10))
            fake.clock.wait_for_sleepers(left)
            fake.clock.advance(0.1)
    for first, begin in enumerate(times):
        for last, end in enumerate(times[first:], first):
            assert last - first + 1 <= 10 * (end - begin + 0.1) + 1 + 1e-6
    assert times[-1] < 1.5  # the cap is reached


def test_slow_database_takes_no_turn_of_a_call_that_has_its_slot_in_time(fake, where) -> None:
    uses = list[float]()

    def now():
        uses.append(fake.clock.monotonic())
        fake.clock.advance(0.5 if len(uses) > 2 else 0.01)
        return fake.clock.now()

    client = fake.client(gate=SharedGate(SQLiteLedger(where, now=now), per_second=1))
    read(client)
    read(client)
    assert uses == pytest.approx([0, 0.01, 0.96])
    assert fake.clock.sleeps == pytest.approx((0.94,))


def test_calls_have_no_more_turns_at_once_than_slots(fake, gate_of) -> None:
    """A process that is killed leaves no more unused."""
    client = fake.client(gate=gate_of(per_second=1), max_concurrency=2)
    with ThreadPoolExecutor(9) as threads, fake.clock.held():
        reading = [threads.submit(read, client) for _ in range(9)]
        fake.clock.wait_for_sleepers(2)
        with pytest.raises(CallTimeout, match=r"no turn .* in time \(max_concurrency is 2\)"):
            read(client.with_options(timeout=0.2))
        read(client, OTHER)
        with pytest.raises(CallTimeout) as late:
            read(fake.client(gate=gate_of(per_second=1), timeout=1))
        assert late.value.retry_after == pytest.approx(2.95)
    assert [future.exception() for future in reading] == [None] * 9


def test_call_inside_of_a_hook_waits_for_no_turn_of_a_call_that_waits_for_its_slot(
    fake, gate_of
) -> None:
    threads, waiting = ThreadPoolExecutor(1), []

    def on_request(event) -> None:
        if event.account_id == ACCOUNT:
            waiting.append(threads.submit(read, client, OTHER))
            while not client._engine.limiter.queue:
                time.sleep(0.001)
            read(client, OTHER)

    hooks = Hooks(on_request=on_request)
    client = fake.client(gate=gate_of(per_second=9), max_concurrency=1, timeout=5, hooks=hooks)
    with threads:
        read(client)
    assert waiting[0].exception() is None


@sync_and_async
async def test_call_without_a_slot_in_time_is_not_sent(client_kind, fake, gate_of) -> None:
    async with of_fake(client_kind, fake, gate_of(), max_concurrency=1) as client:
        if client_kind is SYNC:
            with ThreadPoolExecutor(1) as other:
                other.submit(Slot(client._engine.limiter).acquire, 1).result()
        else:
            await AsyncSlot(client._engine.limiter).acquire(1)
        problem = r"no free connection in time \(max_concurrency is 1\)"
        with pytest.raises(CallTimeout, match=problem):
            await wait(read(client.with_options(timeout=0.01)))
    assert len(fake.requests) == 0


def test_call_without_time_for_its_turn_takes_none(gate_of) -> None:
    gate = gate_of(per_second=0.1)
    assert reserved(gate) <= 0
    for _ in range(3):
        assert reserved(gate, longest=9.9) == pytest.approx(9.95)
    assert reserved(gate) == pytest.approx(9.95)


def test_turn_of_a_slower_gate_or_of_a_clock_that_was_set_back_blocks_nobody(
    fake, where, gate_of
) -> None:
    assert reserved(gate_of(per_second=1e-9)) <= 0
    assert reserved(gate_of(per_second=10)) == pytest.approx(0.05)
    gate_of().pause(CALL, "key", 60)
    set_back = SQLiteLedger(where, now=lambda: fake.clock.now() - timedelta(hours=1))
    slow, paused = SharedGate(set_back, per_second=0.1), SharedGate(set_back)
    assert paused.ask(CALL, "key", 9) is None
    assert reserved(slow) <= 0
    paused.pause(CALL, "key", 1)
    assert paused.ask(CALL, "key", 9) == pytest.approx(1)


def test_slow_token_function_takes_no_turn_of_its_call(fake, gate_of) -> None:
    client = fake.client(gate=gate_of(per_second=1), token=lambda: f"{fake.clock.advance(0.5)}")
    read(client)
    read(client)
    assert fake.clock.sleeps == pytest.approx((0.45,))


def test_call_whose_token_was_refused_takes_no_turn(fake, gate_of) -> None:
    fake.faults.add(Fault.status(401))
    with pytest.raises(adclient.Unauthenticated):
        read(fake.client(gate=gate_of(per_second=1), token=lambda: "same"))
    assert fake.clock.sleeps == ()


def test_bug_of_a_clock_is_no_error_of_the_database(where) -> None:
    gate = SharedGate(SQLiteLedger(where, now=lambda: [][1]))
    with pytest.raises(IndexError):
        gate.ask(CALL, "key", 9)


# A gate of somebody else; docs/recipes/gate-of-your-own.md has one with pauses.


@sync_and_async
async def test_gate_of_somebody_else_is_asked_until_it_consents(client_kind, fake, caplog) -> None:
    class Gate:
        answers, seen = [2, 0.4, -1, 40, None, Failure(reason="closed", sent=False)], set()

        def ask(self, call, key, seconds):
            assert 0 < seconds <= 30
            self.seen.add((call.account_id, key))
            return self.answers.pop(0)

        def pause(self, call, key, seconds):
            raise ValueError(seconds)

    caplog.set_level(logging.INFO, "adclient")
    async with of_fake(client_kind, fake, Gate()) as client:
        assert repr(client).endswith(", gate Gate>")
        assert (await wait(read(client))).response.attempts == 1
        with pytest.raises(CallTimeout, match="the gate asks to wait 40 s") as late:
            await wait(read(client))
        limit(fake, 2)
        is_warned = pytest.warns(RuntimeWarning, match="gate could not begin a pause: ValueError")
        with is_warned, pytest.raises(RateLimited):  # which explains more
            await wait(read(client))
    assert fake.clock.sleeps == pytest.approx((2.1, 0.42, 2.1))
    assert (late.value.retry_after, late.value.attempts, len(fake.requests)) == (40, 0, 2)
    assert Gate.seen == {(ACCOUNT, f"{fake.base_url}:443\n{ACCOUNT}")}
    waits = [text.partition("waits ")[2] for text in caplog.messages if "waits" in text]
    assert waits == ["2.100 s for a shared rate limit"]


# Settings.


@each_case(
    ("argument", "value"),
    *(("ledger", value) for value in (None, "drafts.db", FakeAdService())),
    *(("name", value) for value in (b"a", 1)),
    *(("per_second", value) for value in (0, float("nan"), float("inf"), 10**400, True, "5")),
)
def test_wrong_settings_are_refused(where, argument, value) -> None:
    with pytest.raises(adclient.ConfigurationError) as refused:
        SharedGate(**{"ledger": SQLiteLedger(where), argument: value})
    assert refused.value.argument == argument
