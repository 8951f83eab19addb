"""The traffic of the soak test: threads, asyncio and trio concurrently, with interruptions."""

import asyncio
import math
import random
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from operator import attrgetter
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

import anyio
import attrs
import httpx
import trio  # noqa: F401 (if two threads import it first, httpcore goes on without it)
from soak_books import Books
from soak_server import CALLER, KEYED

from adclient import AdClient, AsyncAdClient, RetryPolicy
from adclient.testing import FakeAdService

C = TypeVar("C", AdClient, AsyncAdClient)

RETRY = RetryPolicy(max_retries=3, backoff_first=0.02, backoff_longest=0.2)
LONGEST_TIMEOUT = 10.0
MOST_TRIES = 20

WRITES: dict[str, Callable[[int], dict[str, Any]]] = {
    "alpha.update_campaign_targeting": lambda n: {
        "account_id": "account_a91f",
        "campaign_id": "campaign_4c10",
        "targeting": {"note": n},
    },
    "alpha.update_campaign_budget": lambda n: {
        "account_id": "account_a91f",
        "campaign_id": "campaign_4c10",
        "daily_budget": 200 + n % 800,
    },
    "alpha.update_creative": lambda n: {
        "account_id": "account_a91f",
        "creative_id": "creative_2f70",
        "fields": {"headline": f"Soak {n}"},
    },
    "beta.create_video_campaign": lambda n: {
        "account_id": "account_b204",
        "fields": {"name": f"Soak {n}"},
    },
    "beta.pause_campaign": lambda _: {
        "account_id": "account_b204",
        "campaign_id": "campaign_57a7",
    },
    "gamma.create_image_campaign": lambda n: {
        "account_id": "account_c3d8",
        "fields": {"name": f"Soak {n}", "ad": {"name": "Leaf"}},
    },
    "gamma.create_dco_ad": lambda n: {
        "account_id": "account_c3d8",
        "fields": {"name": f"Soak {n}"},
    },
    "delta.update_keyword": lambda n: {
        "account_id": "account_d118",
        "keywords": [f"soak {n}"],
    },
    "delta.remove_auto_search_themes": lambda _: {"account_id": "account_d118"},
}
READS: dict[str, dict[str, Any]] = {
    "alpha.explain_objectives": {"account_id": "account_a91f"},
    "beta.list_campaigns": {"account_id": "account_b204", "date_range": "LAST_30_DAYS"},
    "beta.detect_creative_fatigue": {"account_id": "account_b204"},
    "gamma.search_targeting": {"account_id": "account_c3d8", "targeting": {}},
    "gamma.list_ads": {"account_id": "account_c3d8"},
    "delta.analyze_wasted_spend": {"account_id": "account_d118"},
    "delta.infer_business_profile": {"account_id": "account_d118"},
}


@attrs.frozen(kw_only=True)
class Plan:
    """One call to make."""

    caller: int
    operation: str
    limit: int | None
    timeout: float
    cancelled_after: float | None
    renews_client: bool

    @property
    def is_write(self) -> bool:
        return self.operation in WRITES

    @property
    def arguments(self) -> dict[str, Any]:
        made = WRITES.get(self.operation)
        return READS[self.operation] if made is None else made(self.caller)


def plans(seed: str, callers: range, timeout: float) -> Iterator[Plan]:
    """Mixed calls, nearly half of them writes; a few have much shorter timeouts."""
    chance = random.Random(seed)
    for caller in callers:
        yield Plan(
            caller=caller,
            operation=chance.choice([*WRITES, *READS, *READS]),
            limit=chance.choice([None, None, 1, 60]),
            timeout=timeout * chance.choice([1.0] * 16 + [0.3, 0.1, 0.03, 0.01]),
            cancelled_after=chance.uniform(0, 0.1) if chance.random() < 0.1 else None,
            renews_client=chance.random() < 0.005,
        )


class Current(Generic[C]):
    """The client that all workers of a kind share; it may be replaced while in use."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = Lock()
        self.client: C = make()

    def renew(self) -> C:
        """Replace the client; the caller closes the returned old one."""
        with self._lock:
            old, self.client = self.client, self._make()
            return old

    def method(self, plan: Plan, key: str | None, timeout: float) -> Callable[..., Any]:
        """The method of a plan, on a copy of the client with the plan's own options."""
        headers = {CALLER: str(plan.caller)}
        if key is not None:
            headers["Idempotency-Key"] = key
        client = self.client.with_options(timeout=timeout, headers=headers)
        return attrgetter(plan.operation)(client)


@attrs.frozen(kw_only=True)
class Traffic:
    """Some callers of one service."""

    url: str
    seed: str
    keyed: bool
    timeout: float
    books: Books
    whole: dict[str, list[str]] = attrs.field(init=False)

    @whole.default
    def _whole(self) -> dict[str, list[str]]:
        client = FakeAdService(seed=self.seed).client()
        reads = {name: attrgetter(name)(client)(**READS[name]) for name in READS}
        return {name: [item.id for item in page] for name, page in reads.items()}

    def run(self, callers: range, workers: int) -> None:
        """Make the calls in threads, asyncio and trio, with and without an httpx client."""
        kinds: list[Callable[[range, int], None]] = [
            self._threads,
            partial(anyio.run, self._tasks, backend="asyncio"),
            partial(anyio.run, self._tasks, backend="trio"),
            self._threads_over_httpx,
            partial(anyio.run, self._tasks_over_httpx, backend="asyncio"),
            partial(anyio.run, self._tasks_over_httpx, backend="trio"),
        ]
        share = -(-len(callers) // len(kinds))
        _at_once(
            partial(kind, callers[number * share : (number + 1) * share], workers)
            for number, kind in enumerate(kinds)
        )

    def _options(self) -> dict[str, Any]:
        return {"retry": RETRY, "conventions": KEYED if self.keyed else None}

    def _threads_over_httpx(self, callers: range, workers: int) -> None:
        with httpx.Client(verify=False) as theirs:
            self._threads(callers, workers, http_client=theirs)

    def _threads(self, callers: range, workers: int, **given: Any) -> None:
        make = partial(AdClient, self.url, **self._options(), max_concurrency=workers, **given)
        current = Current(make)
        _at_once(partial(self._work, current, callers[n::workers]) for n in range(workers))
        current.client.close()

    def _work(self, current: Current[AdClient], callers: range) -> None:
        for plan in plans(f"{self.seed}:{callers}", callers, self.timeout):
            if plan.renews_client:
                current.renew().close()
            if plan.is_write:
                self._stage(current, plan)
            else:
                self._read(current, plan)

    def _stage(self, current: Current[AdClient], plan: Plan) -> None:
        key, timeout = None, plan.timeout
        for _ in range(MOST_TRIES if self.keyed else 1):
            with self.books.write(plan.caller) as said:
                said.answer = current.method(plan, key, timeout)(**plan.arguments)
            if said.answer is not None:
                return
            key, timeout = said.key or key, min(2 * timeout, LONGEST_TIMEOUT)

    def _read(self, current: Current[AdClient], plan: Plan) -> None:
        with self.books.read(plan.caller, self.whole[plan.operation][: plan.limit]) as said:
            page = current.method(plan, None, plan.timeout)(**plan.arguments)
            said.answer = [item.id for item in page.collect(limit=plan.limit)]

    async def _tasks_over_httpx(self, callers: range, workers: int) -> None:
        async with httpx.AsyncClient(verify=False) as theirs:
            await self._tasks(callers, workers, http_client=theirs)

    async def _tasks(self, callers: range, workers: int, **given: Any) -> None:
        make = partial(AsyncAdClient, self.url, **self._options(), max_concurrency=workers, **given)
        current = Current(make)
        async with anyio.create_task_group() as group:
            for number in range(workers):
                group.start_soon(self._async_work, current, callers[number::workers])
        await current.client.aclose()

    async def _async_work(self, current: Current[AsyncAdClient], callers: range) -> None:
        for plan in plans(f"{self.seed}:{callers}", callers, self.timeout):
            if plan.renews_client:
                await current.renew().aclose()
            if plan.is_write:
                await self._async_stage(current, plan)
            else:
                await self._async_read(current, plan)

    async def _async_stage(self, current: Current[AsyncAdClient], plan: Plan) -> None:
        # A caller that cancels a call never learns the key that the library generated for it.
        key = f"caller-{plan.caller}" if self.keyed and plan.cancelled_after else None
        timeout, cancelled_after = plan.timeout, plan.cancelled_after
        for _ in range(MOST_TRIES if self.keyed else 1):
            async with _cancelled(cancelled_after):
                with self.books.write(plan.caller) as said:
                    said.answer = await current.method(plan, key, timeout)(**plan.arguments)
            if said.answer is not None:
                return
            key, timeout = said.key or key, min(2 * timeout, LONGEST_TIMEOUT)
            cancelled_after = None

    async def _async_read(self, current: Current[AsyncAdClient], plan: Plan) -> None:
        async with _cancelled(plan.cancelled_after):
            with self.books.read(plan.caller, self.whole[plan.operation][: plan.limit]) as said:
                listing = current.method(plan, None, plan.timeout)(**plan.arguments)
                said.answer = [item.id for item in await listing.collect(limit=plan.limit)]


@asynccontextmanager
async def _cancelled(after: float | None) -> AsyncGenerator[None]:
    """Cancel the body after some seconds: once, as asyncio does, or until it ends, as trio."""
    if _is_asyncio():
        with suppress(TimeoutError):
            async with asyncio.timeout(after):
                yield
    else:
        with anyio.move_on_after(math.inf if after is None else after):
            yield


def _is_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _at_once(work: Iterator[Callable[[], None]]) -> None:
    threads = [Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
