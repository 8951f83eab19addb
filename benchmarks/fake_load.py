"""Measure whether the speed and memory of the fake service stay constant.

`python benchmarks/fake_load.py` stages 100,000 drafts, all of which are rejected or approved, then
runs 1,000 concurrent calls, and prints figures. Pass another number of drafts as an argument.
"""

import asyncio
import sys
import time
import tracemalloc
from collections.abc import Callable

from adclient import AdClient
from adclient.testing import FakeAdService

STEP = 1_000
IN_FLIGHT = 1_000
CAMPAIGN = {"account_id": "account_a91f", "campaign_id": "campaign_4c10"}


def seconds(work: Callable[[], None]) -> float:
    """Time some work."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def stage_and_decide(fake: FakeAdService, client: AdClient) -> None:
    """Stage a thousand drafts; approve one of every hundred and reject the others."""
    for number in range(STEP):
        draft = client.alpha.update_campaign_budget(**CAMPAIGN, daily_budget=101 + number)
        if number % 100:
            fake.dashboard.reject(draft.draft_id, reviewer="Ines")
        else:
            fake.dashboard.arm(draft.draft_id, reviewer="Ines")
            fake.dashboard.confirm(draft.draft_id, reviewer="Ines")


def read_and_look(fake: FakeAdService, client: AdClient) -> None:
    """Make a thousand reads, each with a query of the pending drafts."""
    for _ in range(STEP):
        client.alpha.explain_objectives(account_id="account_a91f")
        fake.dashboard.pending()


async def read_at_once(fake: FakeAdService) -> float:
    """Run a thousand concurrent calls; return the seconds for all of them."""
    async with fake.async_client(timeout=120) as client:
        began = time.perf_counter()
        calls = (
            client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
            if number % 4 == 0
            else client.alpha.explain_objectives(account_id="account_a91f").collect()
            for number in range(IN_FLIGHT)
        )
        await asyncio.gather(*calls)
        return time.perf_counter() - began


def time_of(drafts: int) -> None:
    """Print the cost of the first and the last thousand calls."""
    fake = FakeAdService()
    client = fake.client()
    reading = [seconds(lambda: read_and_look(fake, client))]
    steps = [seconds(lambda: stage_and_decide(fake, client)) for _ in range(drafts // STEP)]
    reading.append(seconds(lambda: read_and_look(fake, client)))
    print(f"{fake!r} in {sum(steps):.1f} s")
    for what, first, last in (
        ("write and decide", steps[0], steps[-1]),
        ("read and look", reading[0], reading[-1]),
    ):
        times = f"first 1,000: {first:.3f} s, last 1,000: {last:.3f} s"
        print(f"{what}: {times}, ratio {last / first:.2f}")
    at_once = asyncio.run(read_at_once(fake))
    print(f"{IN_FLIGHT:,} calls in flight: {at_once:.2f} s, {IN_FLIGHT / at_once:,.0f} a second")


def memory_of(drafts: int, history: int) -> None:
    """Print the allocated memory after each quarter of the drafts."""
    fake = FakeAdService(history=history)
    client = fake.client()
    tracemalloc.start()
    kept: list[str] = []
    for number in range(1, drafts // STEP + 1):
        stage_and_decide(fake, client)
        if number % max(1, drafts // STEP // 4) == 0:
            kept.append(f"{number * STEP:,}: {tracemalloc.get_traced_memory()[0] / 2**20:.1f} MiB")
    tracemalloc.stop()
    print(f"memory with history={history:,}, after drafts: {', '.join(kept)}")


def main(arguments: list[str]) -> None:
    """Measure the time first, without the overhead of tracemalloc."""
    drafts = int(arguments[0]) if arguments else 100_000
    time_of(drafts)
    memory_of(drafts // 5, 1_000)


if __name__ == "__main__":
    main(sys.argv[1:])
