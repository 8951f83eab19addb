"""The traffic of the soak test: threads, asyncio and trio concurrently, with interruptions."""

import asyncio
import inspect
import json
import random
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import product
from operator import attrgetter
from threading import Lock, Thread
from typing import Any

import anyio
import attrs
import httpx
import trio  # noqa: F401 (if two threads import it first, httpcore goes on without it)
from soak_books import Books
from soak_server import CALLER, KEYED

from adclient import AdClient, AsyncAdClient, RetryPolicy
from adclient.testing import FakeAdService

RETRY = RetryPolicy(max_retries=3, backoff_first=0.02, backoff_longest=0.2)
LONGEST_TIMEOUT = 10.0
MOST_TRIES = 20

ACCOUNTS = {"alpha": "a91f", "beta": "b204", "gamma": "c3d8", "delta": "d118"}
CAMPAIGN = {"campaign_id": "campaign_4c10"}
# The arguments of each call beside the account; # is its number.
WRITES: dict[str, dict[str, Any]] = {
    "alpha.update_campaign_targeting": {**CAMPAIGN, "targeting": {"note": "#"}},
    "alpha.update_campaign_budget": CAMPAIGN,
    "alpha.update_creative": {"creative_id": "creative_2f70", "fields": {"headline": "#"}},
    "beta.create_video_campaign": {"fields": {"name": "#"}},
    "beta.pause_campaign": {"campaign_id": "campaign_57a7"},
    "gamma.create_image_campaign": {"fields": {"name": "#", "ad": {"name": "Leaf"}}},
    "gamma.create_dco_ad": {"fields": {"name": "#"}},
    "delta.update_keyword": {"keywords": ["#"]},
    "delta.remove_auto_search_themes": {},
}
READS: dict[str, dict[str, Any]] = {
    "alpha.explain_objectives": {},
    "beta.list_campaigns": {"date_range": "LAST_30_DAYS"},
    "beta.detect_creative_fatigue": {},
    "gamma.search_targeting": {"targeting": {}},
    "gamma.list_ads": {},
    "delta.analyze_wasted_spend": {},
    "delta.infer_business_profile": {},
}


def arguments(operation: str, caller: int) -> dict[str, Any]:
    """The arguments of a call, which tell a write from those of the other callers."""
    given = json.dumps((WRITES | READS)[operation]).replace("#", f"Soak {caller}")
    account = f"account_{ACCOUNTS[operation.partition('.')[0]]}"
    budget = {"daily_budget": 200 + caller % 800} if operation.endswith("budget") else {}
    return {"account_id": account, **json.loads(given), **budget}


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
        return arguments(self.operation, self.caller)


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


class Current:
    """The client that all workers of a kind share; it may be replaced while in use."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = Lock()
        self.client = make()

    def renew(self) -> Any:
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
        reads = {name: attrgetter(name)(client)(**arguments(name, 0)) for name in READS}
        return {name: [item.id for item in page] for name, page in reads.items()}

    def run(self, callers: range, workers: int) -> None:
        """Make the calls in threads, asyncio and trio, with and without an httpx client."""
        kinds = list(product((None, "asyncio", "trio"), (False, True)))
        share = -(-len(callers) // len(kinds))
        parts = [callers[number * share : (number + 1) * share] for number in range(len(kinds))]
        _at_once(
            partial(self._run, part, workers, *kind)
            for part, kind in zip(parts, kinds, strict=True)
        )

    def _run(self, callers: range, workers: int, backend: str | None, over_httpx: bool) -> None:
        client, of_httpx = (AdClient, httpx.Client)
        if backend is not None:
            client, of_httpx = (AsyncAdClient, httpx.AsyncClient)
        theirs = of_httpx(verify=False) if over_httpx else None
        conventions = KEYED if self.keyed else None
        options = {"retry": RETRY, "conventions": conventions, "max_concurrency": workers}
        current = Current(partial(client, self.url, http_client=theirs, **options))
        shares = [callers[number::workers] for number in range(workers)]
        if backend is None:
            _at_once(partial(_without_a_loop, self._work, current, share) for share in shares)
            _without_a_loop(_close, current.client, theirs)
        else:
            anyio.run(self._tasks, current, shares, theirs, backend=backend)

    async def _tasks(self, current: Current, shares: list[range], theirs: object) -> None:
        async with anyio.create_task_group() as group:
            for share in shares:
                group.start_soon(self._work, current, share)
        await _close(current.client, theirs)

    async def _work(self, current: Current, callers: range) -> None:
        for plan in plans(f"{self.seed}:{callers}", callers, self.timeout):
            if plan.renews_client:
                await _close(current.renew())
            if plan.is_write:
                await self._stage(current, plan)
            else:
                await self._read(current, plan)

    async def _stage(self, current: Current, plan: Plan) -> None:
        timeout, cancelled_after = plan.timeout, _is_async(current) and plan.cancelled_after
        # A caller that cancels a call never learns the key that the library generated for it.
        key = f"caller-{plan.caller}" if self.keyed and cancelled_after else None
        for _ in range(MOST_TRIES if self.keyed else 1):
            async with _cancelled(cancelled_after):
                with self.books.write(plan.caller) as said:
                    said.answer = await wait(current.method(plan, key, timeout)(**plan.arguments))
            if said.answer is not None:
                return
            key, timeout = said.key or key, min(2 * timeout, LONGEST_TIMEOUT)
            cancelled_after = None

    async def _read(self, current: Current, plan: Plan) -> None:
        async with _cancelled(_is_async(current) and plan.cancelled_after):
            with self.books.read(plan.caller, self.whole[plan.operation][: plan.limit]) as said:
                listing = current.method(plan, None, plan.timeout)(**plan.arguments)
                said.answer = [item.id for item in await wait(listing.collect(limit=plan.limit))]


def _is_async(current: Current) -> bool:
    return isinstance(current.client, AsyncAdClient)


async def _close(*clients: object) -> None:
    for client in filter(None, clients):
        await wait(client.aclose() if hasattr(client, "aclose") else client.close())


def _without_a_loop(function: Callable[..., Coroutine[Any, Any, None]], *given: object) -> None:
    """Run what calls only a sync client."""
    with suppress(StopIteration):
        function(*given).send(None)


@asynccontextmanager
async def _cancelled(after: float | None) -> AsyncGenerator[None]:
    """Cancel the body after some seconds: once, as asyncio does, or until it ends, as trio."""
    if not after:
        yield
    elif _is_asyncio():
        with suppress(TimeoutError):
            async with asyncio.timeout(after):
                yield
    else:
        with anyio.move_on_after(after):
            yield


def _is_asyncio() -> bool:
    try:
        return bool(asyncio.get_running_loop())
    except RuntimeError:
        return False


async def wait(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _at_once(work: Iterator[Callable[[], None]]) -> None:
    threads = [Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
