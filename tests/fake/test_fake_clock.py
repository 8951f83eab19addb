"""The clock of the fake: a wait of a client advances it, and the client continues at once."""

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import anyio
import httpx
import pytest

from adclient import AdClient, AsyncAdClient, CallTimeout, RateLimited, RetryPolicy, Token
from adclient.testing import FakeAdService, FakeClock, Fault, Profile, _clock

ACCOUNT = "account_b204"
LIMITED = Fault.status(429, headers={"retry-after": "20"})
both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


@pytest.fixture
def fake():
    return FakeAdService()


def listed(client):
    return client.beta.list_campaigns(account_id=ACCOUNT)


def passed(fake):
    return fake.clock.monotonic()


def at_once(backend, calls):
    """Run async functions at the same time."""

    async def scenario():
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(call)

    anyio.run(scenario, backend=backend)


def test_clock_only_goes_forward(fake):
    assert fake.clock.now().isoformat() == "2026-03-02T09:00:00+00:00"
    fake.clock.advance(1.5)
    fake.clock.advance(timedelta(days=1))
    assert (passed(fake), fake.clock.today().day) == (86_401.5, 3)
    for step in (-1, timedelta(seconds=-1)):
        with pytest.raises(ValueError, match="forward"):
            fake.clock.advance(step)


def test_waits_between_attempts_advance_the_clock(fake):
    fake.faults.add(LIMITED)
    page = listed(fake.client())
    assert (passed(fake), fake.clock.sleeps) == (20.5, (20.5,))
    assert (page.response.attempts, page.response.elapsed) == (2, 20.5)
    fake.faults.add(LIMITED, times=2)
    with pytest.raises(RateLimited) as caught:
        listed(fake.client(timeout=30))
    assert (caught.value.attempts, caught.value.elapsed) == (2, 20.5)


def test_backoff_is_the_middle_of_its_range(fake):
    fake.faults.add(Fault.refused(), times=4)
    listed(fake.client(retry=RetryPolicy(max_retries=4, backoff_first=1, backoff_longest=4)))
    assert fake.clock.sleeps == (0.5, 1.0, 2.0, 2.0)


@both_backends
@pytest.mark.parametrize(
    ("fault", "seconds"), [(LIMITED, 20.5), (Fault.slow(20), 20), (Fault.slow_body(20), 20)]
)
def test_waits_of_concurrent_tasks_overlap(fake, backend, fault, seconds):
    fake.faults.add(fault, times=5)
    at_once(backend, [listed(fake.async_client()).collect for _ in range(5)])
    assert passed(fake) == seconds


@both_backends
def test_call_is_not_late_because_another_task_waits_longer(fake, backend):
    fake.faults.add(LIMITED, operation="gamma.list_ads")
    short = Fault.status(503, headers={"retry-after": "5"})
    fake.faults.add(short, operation="alpha.explain_objectives", times=3)
    client, elapsed = fake.async_client(timeout=30, max_retries=3), {}

    async def call(listing):
        page = await listing
        elapsed[page.response.operation] = page.response.elapsed

    ads = client.gamma.list_ads(account_id="account_c3d8")
    objectives = client.alpha.explain_objectives(account_id="account_a91f")
    at_once(backend, [functools.partial(call, listing) for listing in (ads, objectives)])
    assert elapsed == {"gamma.list_ads": 20.5, "alpha.explain_objectives": 15.75}
    assert passed(fake) == 20.5


def test_calls_in_threads_each_wait_from_their_own_time():
    fake = FakeAdService(profile=Profile(latency=20))
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(listed, [fake.client() for _ in range(8)]))
    assert [page.response.elapsed for page in pages] == [20] * 8
    assert 20 <= passed(fake) <= 8 * 20


def test_sleeps_of_own_threads_add_up(fake):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fake.clock.sleep, [1.0] * 200))
    assert (len(fake.clock.sleeps), passed(fake)) == (200, 200)


def test_sleep_in_a_function_of_the_caller_counts_for_its_call(fake):
    def token():
        fake.clock.sleep(40)
        return "t0ken"

    with AdClient(fake.base_url, token=token, transport=fake.transport) as client:
        with pytest.raises(CallTimeout, match="credentials"):
            listed(client)
        assert passed(fake) == 40
        assert listed(client.with_options(timeout=41)).response.elapsed == 40


def test_call_inside_a_call_to_another_fake_uses_the_other_clock(fake):
    inner = FakeAdService()
    inner.faults.add(Fault.slow(3))

    def token():
        listed(inner.client())
        return "t0ken"

    with AdClient(fake.base_url, token=token, transport=fake.transport) as client:
        listed(client)
    assert (passed(inner), passed(fake)) == (3, 0)


# A clock that is held.


def test_held_clock_wakes_each_thread_at_its_time(fake):
    fake.faults.add(LIMITED, times=4)
    with ThreadPoolExecutor(5) as pool, fake.clock.held():
        pages = [pool.submit(listed, fake.client()) for _ in range(4)]
        long = pool.submit(fake.clock.sleep, 60)
        fake.clock.wait_for_sleepers(5)
        assert len(fake.requests) == 4
        fake.clock.advance(20.5)
        assert [page.result(timeout=20).response.elapsed for page in pages] == [20.5] * 4
        fake.clock.wait_for_sleepers(1)
        assert not long.done()
    assert passed(fake) == 60, "at the end of the block, the rest of a wait advances the clock"


@both_backends
def test_held_clock_holds_tasks(fake, backend):
    is_done = []

    async def scenario():
        async with anyio.create_task_group() as tasks:
            with fake.clock.held():

                async def call():
                    is_done.append((await listed(fake.async_client())).response.elapsed)

                fake.faults.add(LIMITED)
                tasks.start_soon(call)
                await anyio.to_thread.run_sync(fake.clock.wait_for_sleepers, 1)
                assert is_done == []
                fake.clock.advance(25)

    anyio.run(scenario, backend=backend)
    assert is_done == [25]


def test_forgotten_advance_or_sleeper_is_an_error(fake, monkeypatch):
    monkeypatch.setattr(_clock, "_PATIENCE", 0.01)
    with fake.clock.held():
        with pytest.raises(TimeoutError, match="the clock is held, and nobody advances it"):
            fake.clock.sleep(1)
        with pytest.raises(TimeoutError, match="0 of 1 threads or tasks wait"):
            fake.clock.wait_for_sleepers(1)
    assert passed(fake) == 0


@both_backends
def test_a_wait_can_be_cancelled(fake, backend):
    async def scenario():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await fake.clock.async_sleep(5)
        with fake.clock.held(), anyio.move_on_after(0.01):
            await fake.clock.async_sleep(5)

    anyio.run(scenario, backend=backend)
    assert passed(fake) == 0


# Which clients use the clock.


def test_own_clients_on_the_transport_use_the_clock(fake):
    async def scenario():
        async with AsyncAdClient(fake.base_url, transport=fake.transport) as client:
            await listed(client)

    fake.faults.add(LIMITED)
    with AdClient(fake.base_url, transport=fake.transport) as client:
        listed(client)
    fake.faults.add(LIMITED)
    anyio.run(scenario)
    assert fake.clock.sleeps == (20.5, 20.5)


def test_token_expires_by_the_clock_of_the_fake(fake):
    def token():
        tokens.append(Token("t0ken", expires_at=fake.clock.now() + timedelta(hours=1)))
        return tokens[-1]

    tokens = []
    client = fake.client(token=token)
    for _ in range(2):
        listed(client)
        listed(client)
        fake.clock.advance(timedelta(hours=1))
    assert len(tokens) == 2


def test_client_with_http_client_uses_real_time(fake):
    fake.faults.add(Fault.status(429, headers={"retry-after": "0"}))
    with httpx.Client(transport=fake.transport) as http_client:
        page = listed(AdClient(fake.base_url, http_client=http_client))
    assert page.response.elapsed > 0
    assert fake.clock.sleeps == ()


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf])
def test_a_wait_is_finite_and_never_negative(seconds):
    clock = FakeClock()
    with pytest.raises(ValueError, match="0 seconds or more, and finite"):
        clock.sleep(seconds)
    with pytest.raises(ValueError, match="0 seconds or more, and finite"):
        anyio.run(functools.partial(clock.async_sleep, seconds))
    assert clock.sleeps == ()
