"""The clock of the fake drives its clients: what would wait turns the clock, and goes on."""

import functools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from email.utils import format_datetime

import anyio
import httpx
import pytest

from adclient import AdClient, AsyncAdClient, RateLimited, RetryPolicy
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


def test_a_wait_is_never_negative(fake):
    with pytest.raises(ValueError, match="0 seconds or more"):
        fake.clock.sleep(-1)
    with pytest.raises(ValueError, match="0 seconds or more"):
        anyio.run(functools.partial(fake.clock.async_sleep, -1))
    assert fake.clock.sleeps == ()
