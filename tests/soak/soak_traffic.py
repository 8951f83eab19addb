"""The traffic of the soak test: threads, asyncio and trio concurrently, with interruptions.

It records the result of every call, and compares them with the drafts of the server.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any

import anyio
import attrs
import trio  # noqa: F401 (if two threads import it first, httpcore goes on without it)
from clients import ASYNC, CLIENT_KINDS, SYNC, ClientKind, close, wait
from fake_helpers import ACCOUNTS, PATHS, READS, VALID_WRITES
from soak_server import CALLER, KEYED

from adclient import AdClientError, Draft, OutcomeUnknown, RetryPolicy
from adclient.testing import FakeAdService

RETRY = RetryPolicy(max_retries=3, backoff_first=0.02, backoff_longest=0.2)
LONGEST_TIMEOUT = 10.0
MOST_TRIES = 20


def arguments(operation: str, caller: int) -> dict[str, Any]:
    """The arguments of a call; where they have an object, it names the caller."""
    given = VALID_WRITES.get(operation, {})
    named = {name: {**v, "note": f"Soak {caller}"} for name, v in given.items() if type(v) is dict}
    return {"account_id": ACCOUNTS[operation.partition(".")[0]], **given, **named}


@attrs.frozen(kw_only=True)
class Plan:
    """One call to make."""

    caller: int
    operation: str
    limit: int | None
    timeout: float
    cancelled_after: float | None
    renews_client: bool

    def call(self, client: Any, key: str | None, timeout: float) -> Any:
        """Call the method of a copy of the client with the plan's own options."""
        headers = {CALLER: str(self.caller)} | ({} if key is None else {"Idempotency-Key": key})
        client = client.with_options(timeout=timeout, headers=headers)
        return attrgetter(self.operation)(client)(**arguments(self.operation, self.caller))


def plans(seed: str, callers: range, timeout: float) -> Iterator[Plan]:
    """Mixed calls, nearly half of them writes; a few have much shorter timeouts."""
    chance = random.Random(seed)
    for caller in callers:
        yield Plan(
            caller=caller,
            operation=chance.choice([*PATHS, *(read.full_name for read in READS)]),
            limit=chance.choice([None, None, 1, 60]),
            timeout=timeout * chance.choice([1.0] * 16 + [0.3, 0.1, 0.03, 0.01]),
            cancelled_after=chance.uniform(0, 0.1) if chance.random() < 0.1 else None,
            renews_client=chance.random() < 0.005,
        )


@attrs.define(kw_only=True)
class Traffic:
    """The callers of one service, and what they know; `broken` describes the broken rules."""

    url: str
    seed: str
    keyed: bool
    timeout: float
    counts: Counter[str] = attrs.field(factory=Counter)
    broken: list[str] = attrs.field(factory=list)
    _whole: dict[str, list[str]] = attrs.field(factory=dict, init=False)
    _drafts: dict[int, Draft] = attrs.field(factory=dict, init=False)
    _unknown: dict[int, str | None] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        client = FakeAdService(seed=self.seed).client()
        for name in (read.full_name for read in READS):
            page = attrgetter(name)(client)(**arguments(name, 0))
            self._whole[name] = [item.id for item in page]

    def run(self, callers: range, workers: int) -> None:
        """Make the calls in threads, asyncio and trio, with and without an httpx client."""
        ways = list(product(CLIENT_KINDS, (False, True)))
        parts = zip(_shares(callers, len(ways)), ways, strict=True)
        _at_once(partial(self._run, part, workers, *way) for part, way in parts)

    def _run(self, callers: range, workers: int, kind: ClientKind, over_httpx: bool) -> None:
        theirs = kind.http_client(verify=False) if over_httpx else None
        options: dict[str, Any] = {"retry": RETRY, "max_concurrency": workers}
        options |= {"http_client": theirs, "conventions": KEYED if self.keyed else None}
        # The workers share a client, which one of them may replace while it is in use.
        current = [kind.client(self.url, **options)]
        renew = partial(kind.client, self.url, **options)
        work = partial(self._work, current, renew, kind)

        async def close_all() -> None:
            for client in filter(None, (*current, theirs)):
                await close(client)

        async def work_in_tasks() -> None:
            async with anyio.create_task_group() as group:
                for share in _shares(callers, workers):
                    group.start_soon(work, share)
            await close_all()

        if kind is SYNC:
            _at_once(partial(kind.run, partial(work, each)) for each in _shares(callers, workers))
            kind.run(close_all)
        else:
            kind.run(work_in_tasks)

    async def _work(self, current: list[Any], renew: Any, kind: ClientKind, callers: range) -> None:
        for plan in plans(f"{self.seed}:{callers}", callers, self.timeout):
            if plan.renews_client:
                current.append(renew())
                await close(current.pop(0))
            cancelled_after = None if kind is SYNC else plan.cancelled_after
            make = self._stage if PATHS[plan.operation].is_write else self._read
            await make(plan, current, kind, cancelled_after)

    async def _stage(self, plan: Plan, current: list[Any], kind: ClientKind, after: Any) -> None:
        caller, timeout = plan.caller, plan.timeout
        # A caller that cancels a call never learns the key that the library generated for it.
        key = f"caller-{caller}" if self.keyed and after else None
        for _ in range(MOST_TRIES if self.keyed else 1):
            async with _cancelled(kind, after):
                try:
                    self._drafts[caller] = await wait(plan.call(current[-1], key, timeout))
                    self._unknown.pop(caller, None)
                    self.counts["write: draft"] += 1
                    return
                except AdClientError as error:
                    key = error.idempotency_key or key
                    if isinstance(error, OutcomeUnknown):
                        self._unknown[caller] = error.draft_id
                        self.counts["write: outcome unknown"] += 1
                    else:
                        self.counts["write: refused, nothing staged"] += 1
                except Exception as error:
                    self._is_foreign(caller, error)
                except BaseException:
                    self._unknown[caller] = None
                    self.counts["write: cancelled"] += 1
                    raise
            timeout, after = min(2 * timeout, LONGEST_TIMEOUT), None

    async def _read(self, plan: Plan, current: list[Any], kind: ClientKind, after: Any) -> None:
        async with _cancelled(kind, after):
            try:
                listing = await wait(plan.call(current[-1], None, plan.timeout))
                items = await wait(listing.collect(limit=plan.limit))
                self.counts["read: whole"] += 1
                if [item.id for item in items] != self._whole[plan.operation][: plan.limit]:
                    self.broken.append(f"call {plan.caller}: the listing is not the whole one")
            except AdClientError:
                self.counts["read: failed"] += 1
            except Exception as error:
                self._is_foreign(plan.caller, error)

    def _is_foreign(self, caller: int, error: Exception) -> None:
        self.broken.append(f"call {caller}: {error!r} is no error of the library")

    def balance(self, staged: Iterable[tuple[int, str, object]]) -> None:
        """Compare the drafts of the server, each of which is passed once, with the callers'.

        A request can arrive after its call was cancelled, so an unknown outcome stays recorded
        until its draft is passed. With idempotency keys nothing may stay unknown.
        """
        for caller, draft_id, diff in staged:
            self.counts["server: drafts"] += 1
            known = self._drafts.pop(caller, None)
            if known is not None:
                if (known.draft_id, known.diff.to_dict()) != (draft_id, diff):
                    self.broken.append(f"call {caller} holds {known}, the server {draft_id}")
            elif caller in self._unknown:
                self.counts["server: drafts behind an unknown outcome"] += 1
                named = self._unknown.pop(caller)
                if named not in (None, draft_id):
                    self.broken.append(f"call {caller} has {named}, not {draft_id}")
            else:
                self.broken.append(f"{draft_id} is staged twice, or not known to call {caller}")
        for caller, draft in self._drafts.items():
            self.broken.append(f"call {caller} holds {draft}, the server does not")
        self._drafts.clear()
        if self.keyed:
            self.broken += [f"call {caller} has a key, and no draft" for caller in self._unknown]


@asynccontextmanager
async def _cancelled(kind: ClientKind, after: float | None) -> AsyncGenerator[None]:
    """Cancel the body after some seconds: once, as asyncio does, or until it ends, as trio."""
    if not after:
        yield
    elif kind is ASYNC:
        with suppress(TimeoutError):
            async with asyncio.timeout(after):
                yield
    else:
        with anyio.move_on_after(after):
            yield


def _shares(callers: range, count: int) -> Sequence[range]:
    return [callers[number::count] for number in range(count)]


def _at_once(work: Iterable[Any]) -> None:
    works = list(work)
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(each) for each in works]:
            done.result()
