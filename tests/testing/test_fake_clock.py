"""The clock of the fake drives its clients: what would wait turns the clock, and goes on."""

import functools
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from email.utils import format_datetime

import anyio
import httpx
import pytest

from adclient import AdClient, AsyncAdClient, CallTimeout, Hooks, RateLimited, RetryPolicy
from adclient.testing import FakeAdService, FakeClock, Fault

ACCOUNT = "account_b204"
BACKENDS = ("asyncio", "trio")


@pytest.fixture
def fake():
    return FakeAdService()


def listed(client):
    return client.beta.list_campaigns(account_id=ACCOUNT)


def passed(fake):
    return fake.clock.now() - FakeClock().now()


def run(scenario, backend):
    return anyio.run(scenario, backend=backend)


def test_retry_after_advances_the_clock(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}))
    page = listed(fake.client())
    assert passed(fake) == timedelta(seconds=20.5)
    assert fake.clock.sleeps == (20.5,)
    assert (page.response.attempts, page.response.elapsed) == (2, 20.5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_retry_after_advances_the_clock_in_async_clients(fake, backend):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}))

    async def scenario():
        return await fake.async_client().beta.list_campaigns(account_id=ACCOUNT)

    assert run(scenario, backend).response.elapsed == 20.5
    assert fake.clock.sleeps == (20.5,)


def test_a_retry_after_that_is_a_date_counts_from_the_clock(fake):
    fake.clock.advance(timedelta(days=400))
    date = format_datetime(fake.clock.now() + timedelta(seconds=10), usegmt=True)
    fake.faults.add(Fault.status(429, headers={"retry-after": date}))
    listed(fake.client())
    assert fake.clock.sleeps == (10.5,)


def test_backoff_is_the_middle_of_its_range(fake):
    fake.faults.add(Fault.refused(), times=4)
    listed(fake.client(retry=RetryPolicy(max_retries=4, backoff_first=1, backoff_longest=4)))
    assert fake.clock.sleeps == (0.5, 1.0, 2.0, 2.0)
    assert passed(fake) == timedelta(seconds=5.5)


def test_wait_longer_than_the_timeout_raises_at_once(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "60"}))
    with pytest.raises(RateLimited) as caught:
        listed(fake.client(timeout=30))
    assert (caught.value.retry_after, caught.value.attempts) == (60, 1)
    assert fake.clock.sleeps == ()


def test_waits_use_up_the_timeout(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}), times=2)
    with pytest.raises(RateLimited) as caught:
        listed(fake.client(timeout=30))
    assert (caught.value.attempts, caught.value.elapsed) == (2, 20.5)
    assert listed(fake.client(timeout=30)).data, "each call has a timeout of its own"


def test_client_with_options_uses_the_same_clock(fake):
    fake.faults.add(Fault.status(503, headers={"retry-after": "7"}))
    listed(fake.client().with_options(timeout=60))
    assert fake.clock.sleeps == (7.35,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_concurrent_async_sleeps_end_together(fake, backend):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}), times=10)
    client = fake.async_client()

    async def one():
        await client.beta.list_campaigns(account_id=ACCOUNT)

    async def scenario():
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(one)

    run(scenario, backend)
    assert fake.clock.sleeps == (20.5,) * 10
    assert passed(fake) == timedelta(seconds=20.5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wait_can_be_cancelled(fake, backend):
    async def scenario():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await fake.clock.async_sleep(5)

    run(scenario, backend)
    assert passed(fake) == timedelta(0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_call_is_not_late_because_another_task_waits_longer(fake, backend):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}), operation="gamma.list_ads")
    short = Fault.status(503, headers={"retry-after": "5"})
    fake.faults.add(short, operation="alpha.explain_objectives", times=3)
    client, elapsed = fake.async_client(timeout=30, max_retries=3), {}

    async def call(listing):
        page = await listing
        elapsed[page.response.operation] = page.response.elapsed

    async def scenario():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, client.gamma.list_ads(account_id="account_c3d8"))
            tasks.start_soon(call, client.alpha.explain_objectives(account_id="account_a91f"))

    run(scenario, backend)
    assert elapsed == {"gamma.list_ads": 20.5, "alpha.explain_objectives": 15.75}
    assert passed(fake) == timedelta(seconds=20.5)


@pytest.mark.parametrize("fault", [Fault.slow(20), Fault.slow_body(20)], ids=["slow", "slow body"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_slow_responses_to_concurrent_tasks_end_together(fake, backend, fault):
    fake.faults.add(fault, times=3)
    client = fake.async_client(timeout=30)

    async def scenario():
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(client.beta.list_campaigns(account_id=ACCOUNT).collect)

    run(scenario, backend)
    assert passed(fake) == timedelta(seconds=20)


def in_threads(call, arguments):
    """The results of calls that begin at the same time, each in a thread of its own."""
    begin = threading.Barrier(len(arguments))

    def one(argument):
        begin.wait()
        return call(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(one, arguments))


@pytest.mark.parametrize("shares_client", [True, False])
def test_waits_of_concurrent_threads_end_together(fake, shares_client):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}), times=8)
    clients = [fake.client()] * 8 if shares_client else [fake.client() for _ in range(8)]
    pages = in_threads(listed, clients)
    assert [page.response.elapsed for page in pages] == [20.5] * 8
    assert fake.clock.sleeps == (20.5,) * 8
    assert passed(fake) == timedelta(seconds=20.5)


def test_slow_responses_to_concurrent_threads_end_together(fake):
    fake.faults.add(Fault.slow(20), times=4)
    pages = in_threads(listed, [fake.client() for _ in range(4)])
    assert [page.response.elapsed for page in pages] == [20] * 4
    assert passed(fake) == timedelta(seconds=20)


def test_thread_that_works_is_not_late_because_another_waits(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}), times=2)
    other_is_done = threading.Event()

    def waiting_for_the_other(_):
        assert other_is_done.wait(timeout=10)

    def call(works):
        hooks = Hooks(on_retry=waiting_for_the_other) if works else None
        page = listed(fake.client(hooks=hooks))
        if not works:
            other_is_done.set()
        return page.response.elapsed

    assert in_threads(call, [True, False]) == [20.5, 20.5]


def test_sleeps_of_own_code_in_concurrent_threads_end_together(fake):
    in_threads(fake.clock.sleep, [60, 60, 45, 30])
    assert passed(fake) == timedelta(seconds=60)


def test_sleep_in_a_function_of_the_caller_counts_for_its_call(fake):
    def token():
        fake.clock.sleep(40)
        return "t0ken"

    with AdClient(fake.base_url, token=token, transport=fake.transport) as client:
        with pytest.raises(CallTimeout, match="credentials"):
            listed(client)
        assert passed(fake) == timedelta(seconds=40)
        fake.clock.advance(5)
        assert listed(client.with_options(timeout=41)).response.elapsed == 40


def test_call_inside_a_call_to_another_fake_uses_the_other_clock(fake):
    inner = FakeAdService()
    inner.faults.add(Fault.slow(3))

    def token():
        listed(inner.client())
        return "t0ken"

    with AdClient(fake.base_url, token=token, transport=fake.transport) as client:
        listed(client)
    assert (passed(inner), passed(fake)) == (timedelta(seconds=3), timedelta(0))


def test_sleeps_of_many_threads_are_all_recorded(fake):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fake.clock.sleep, [1.0] * 200))
    assert len(fake.clock.sleeps) == 200
    assert passed(fake) <= timedelta(seconds=200)


def test_own_client_on_the_transport_uses_the_clock(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}))
    with AdClient(fake.base_url, transport=fake.transport) as client:
        listed(client)
    assert fake.clock.sleeps == (20.5,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_own_async_client_on_the_transport_uses_the_clock(fake, backend):
    fake.faults.add(Fault.status(429, headers={"retry-after": "20"}))

    async def scenario():
        async with AsyncAdClient(fake.base_url, transport=fake.transport) as client:
            await client.beta.list_campaigns(account_id=ACCOUNT)

    run(scenario, backend)
    assert fake.clock.sleeps == (20.5,)


def test_client_with_http_client_uses_real_time(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "0"}))
    with httpx.Client(transport=fake.transport) as http_client:
        page = listed(AdClient(fake.base_url, http_client=http_client))
    assert page.response.elapsed > 0
    assert fake.clock.sleeps == ()


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf])
def test_a_wait_is_finite_and_never_negative(fake, seconds):
    with pytest.raises(ValueError, match="0 seconds or more, and finite"):
        fake.clock.sleep(seconds)
    with pytest.raises(ValueError, match="0 seconds or more, and finite"):
        anyio.run(functools.partial(fake.clock.async_sleep, seconds))
    assert fake.clock.sleeps == ()
