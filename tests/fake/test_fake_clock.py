"""The clock of the fake: a wait of a client advances it, and the client continues at once."""

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import anyio
import pytest

from adclient import RateLimited, RetryPolicy
from adclient.testing import Fault
from adclient.testing._fake import clock as clocks

LIMITED = Fault.status(429, headers={"retry-after": "20"})


def listed(client):
    return client.beta.list_campaigns(account_id="account_b204")


def passed(fake):
    return fake.clock.monotonic()


def test_clock_only_goes_forward(fake):
    assert fake.clock.now().isoformat() == "2026-03-02T09:00:00+00:00"
    fake.clock.advance(1.5)
    fake.clock.advance(timedelta(days=1))
    assert (passed(fake), fake.clock.today().day) == (86_401.5, 3)
    for step in (-1, timedelta(seconds=-1)):
        with pytest.raises(ValueError, match="forward"):
            fake.clock.advance(step)
    for seconds in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="0 seconds or more, and finite"):
            fake.clock.sleep(seconds)


def test_waits_between_attempts_advance_the_clock(fake):
    fake.faults.add(LIMITED)
    page = listed(fake.client())
    assert (passed(fake), fake.clock.sleeps) == (20.5, (20.5,))
    assert (page.response.attempts, page.response.elapsed) == (2, 20.5)
    fake.faults.add(LIMITED, times=2)
    with pytest.raises(RateLimited) as caught:
        listed(fake.client(timeout=30))
    assert (caught.value.attempts, caught.value.elapsed) == (2, 20.5)
    # Without a Retry-After, each wait is the middle of its range.
    fake.faults.add(Fault.refused(), times=4)
    listed(fake.client(retry=RetryPolicy(max_retries=4, backoff_first=1, backoff_longest=4)))
    assert fake.clock.sleeps[-4:] == (0.5, 1.0, 2.0, 2.0)


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


def test_forgotten_advance_or_sleeper_is_an_error(fake, monkeypatch):
    monkeypatch.setattr(clocks, "_PATIENCE", 0.01)
    with fake.clock.held():
        with pytest.raises(TimeoutError, match="the clock is held, and nobody advances it"):
            fake.clock.sleep(1)
        with pytest.raises(TimeoutError, match="0 of 1 threads or tasks wait"):
            fake.clock.wait_for_sleepers(1)
    assert passed(fake) == 0


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_wait_can_be_cancelled(fake, backend):
    async def scenario():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await fake.clock.async_sleep(5)
        with fake.clock.held(), anyio.move_on_after(0.01):
            await fake.clock.async_sleep(5)

    anyio.run(scenario, backend=backend)
    assert passed(fake) == 0
