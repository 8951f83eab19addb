"""How a row is measured inside the process of a peer.

Each class is opened on a row, and has then seen the right result; `run(times)` gives the figure.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

from field.rows import Row
from field.shapes import (
    ACCOUNTS,
    DELAYS,
    HOLDINGS,
    LIVES,
    MESSAGE,
    MISSING,
    SHAPES,
    ids_of,
    reply_to,
)

PATIENCE = 600  # seconds, where a row is not about how long one waits


class WrongResult(Exception):
    """A contestant did not do the work of the row."""


class Measure:
    """One row for one contestant: a module of `contestants`."""

    is_repeated = False  # whether `times` matters

    def __init__(self, contestant: ModuleType, shape: str, row: Row, service: str) -> None:
        self.contestant = contestant
        self.shape = shape
        self.row = row
        self.url = f"{service}/{shape}/{row.holding}"

    def client(self, kind: str = "Client", **settings: Any) -> Any:
        if self.row.in_process:
            method = "POST" if self.row.call == "post" else "GET"
            settings["response"] = reply_to(method, self.shape, self.row.holding)
        return getattr(self.contestant, kind)(self.url, **settings)

    def work(self, client: Any) -> Callable[[], Any]:
        """The call of the row; what it returns shows that it went through all of the response."""
        if self.row.call == "page":
            return lambda: client.ids(client.page())
        if self.row.call == "decode":
            body = reply_to("GET", self.shape, self.row.holding).body
            return lambda: client.ids(client.decode(body))
        if self.row.call in ("listing", "prefetched"):
            size, pages = HOLDINGS[self.row.holding]
            walk = getattr(client, self.row.call)
            return lambda: _last(islice(walk(), size * pages + 1))
        return getattr(client, self.row.call)

    def expected(self) -> Any:
        if self.row.holding == MISSING:
            return 404, MESSAGE
        if self.row.call == "post":
            return SHAPES[self.shape].draft_id
        ids = ids_of(self.shape, self.row.holding)
        size, pages = HOLDINGS[self.row.holding]
        return (size * pages, ids[-1]) if self.row.call in ("listing", "prefetched") else ids

    def check_items(self, page: Any) -> None:
        """Compare whole items, for a contestant that can show them as they were received."""
        if hasattr(self.contestant, "items"):
            expected = json.loads(reply_to("GET", self.shape, self.row.holding).body)["data"]
            if self.contestant.items(page) != expected:
                raise WrongResult("the items differ from what was sent")

    def check(self, result: Any) -> None:
        if result != (expected := self.expected()):
            raise WrongResult(f"expected {str(expected)[:200]}, got {str(result)[:200]}")

    def run(self, times: int) -> float | None:
        raise NotImplementedError

    def close(self) -> None:
        pass


class Repeated(Measure):
    """Seconds of one call among many."""

    is_repeated = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._client = self.client()
        self._work = self.work(self._client)
        self.check(self._work())
        if self.row.call == "page":
            self.check_items(self._client.page())

    def run(self, times: int) -> float:
        return seconds(self._work, times) / times

    def close(self) -> None:
        self._client.close()


class AsyncMeasure(Measure):
    """A measure with an event loop."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.runner = asyncio.Runner()

    async def opened(self, **settings: Any) -> Any:
        client = self.client("AsyncClient", **settings)
        await client.open()
        return client

    def close(self) -> None:
        self.runner.close()


class AsyncRepeated(AsyncMeasure):
    """Seconds of one call among many that are awaited one after the other."""

    is_repeated = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._client = self.runner.run(self.opened())
        self.runner.run(self._repeat(1))
        self.check_items(self.runner.run(self._client.page()))

    def run(self, times: int) -> float:
        return self.runner.run(self._repeat(times)) / times

    def close(self) -> None:
        self.runner.run(self._client.close())
        super().close()

    async def _repeat(self, times: int) -> float:
        client, ids = self._client, None
        began = time.perf_counter()
        for _ in range(times):
            ids = client.ids(await client.page())
        took = time.perf_counter() - began
        self.check(ids)
        return took


class Table(Repeated):
    """Seconds of a listing that becomes a table."""

    def client(self, kind: str = "Client", **settings: Any) -> Any:
        import httpx  # in the environments of those who take part

        @cache
        def reply(target: bytes) -> Any:
            return reply_to("GET", self.shape, self.row.holding, target.decode())

        def respond(request: Any) -> Any:
            status, headers, body = reply(request.url.raw_path)
            return httpx.Response(status, headers=headers, content=body)

        return super().client(kind, transport=httpx.MockTransport(respond), **settings)

    def expected(self) -> Any:
        from field import parts

        return parts.table(self.row.holding)


class Accounts(Measure):
    """Seconds of reading many accounts with a client of its own; `nightly` writes their parts."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._ids = ACCOUNTS[: self.row.amount]
        self._folder = tempfile.TemporaryDirectory()
        self._settings: dict[str, Any] = {}
        if self.row.holding in LIVES:
            self._settings["token"] = lambda: uuid4().hex
        self.check(sorted(self._read()))
        if self.row.call == "nightly":
            self._check_parts()

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        return seconds(self._read, 1)

    def expected(self) -> Any:
        if self.row.call == "nightly":
            return sorted(self._ids)
        _, pages = HOLDINGS[self.row.holding]
        ids = (ids_of(self.shape, self.row.holding, page) for page in range(1, pages + 1))
        return [list(chain.from_iterable(ids))] * len(self._ids)

    def close(self) -> None:
        self._folder.cleanup()

    def _job(self, client: Any) -> Any:
        """What a client makes of each account."""
        given = (self._folder.name,) if self.row.call == "nightly" else (self.row.at_once,)
        return getattr(client, self.row.call)(self._ids, *given)

    def _read(self) -> list[Any]:
        client = self.client(**self._settings)
        found = [*self._job(client)]
        client.close()
        return found

    def _check_parts(self) -> None:
        from field import parts

        for account_id in self._ids:
            path = Path(self._folder.name, f"{account_id}.parquet")
            if not parts.read(path).equals(parts.table(self.row.holding, account_id)):
                raise WrongResult(f"the file of {account_id} differs")


class AsyncAccounts(Accounts):
    """The same on an event loop."""

    def _read(self) -> list[Any]:
        return asyncio.run(self._read_all())

    async def _read_all(self) -> list[Any]:
        client = self.client("AsyncClient", **self._settings)
        await client.open()
        found = [each async for each in self._job(client)]
        await client.close()
        return found


class NewClients(Measure):
    """Seconds of making a client and closing it, beside one that exists."""

    is_repeated = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first = self.client()
        self.check(self.work(self._first)())

    def run(self, times: int) -> float:
        return seconds(lambda: self.client().close(), times) / times

    def close(self) -> None:
        self._first.close()


class ManyTasks(AsyncMeasure):
    """Seconds of a request, when many tasks make two each with a client that is in use.

    On a fresh one, the tasks meet a pool without any connection. Then bare httpx takes five to ten
    times longer still, because at each step of a request it holds every request that waits against
    every connection. `AtOnce` is about that moment.
    """

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        return self.runner.run(self._all()) / (2 * self.row.amount)

    async def _all(self) -> float:
        client = await self.opened(timeout=PATIENCE)
        self.check(client.ids(await client.page()))
        began = time.perf_counter()
        results = await asyncio.gather(*(self._two(client) for _ in range(self.row.amount)))
        took = time.perf_counter() - began
        await client.close()
        for result in results:
            self.check(result)
        return took

    async def _two(self, client: Any) -> Any:
        client.ids(await client.page())
        return client.ids(await client.page())


class AtOnce(AsyncMeasure):
    """How many calls succeed if all are started at once, with the library's own settings."""

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        return self.runner.run(self._succeeded())

    async def _succeeded(self) -> float:
        client = await self.opened()
        calls = (client.page() for _ in range(self.row.amount))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        await client.close()
        pages = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        for page in pages:
            self.check(client.ids(page))
        return len(pages)


class AfterCalls(Repeated):
    """The cost of a call after many, to that at the beginning."""

    is_repeated = False

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        first = least_seconds(self._work)
        seconds(self._work, self.row.amount)
        return least_seconds(self._work) / first


class BesideClients(Repeated):
    """The cost of a call while many other clients exist that were used, to that without them."""

    is_repeated = False

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        alone = least_seconds(self._work)
        others = [self.client() for _ in range(self.row.amount)]
        for other in others:
            self.check(self.work(other)())
        beside = least_seconds(self._work)
        for other in others:
            other.close()
        return beside / alone


class AfterPages(Measure):
    """The cost of a page at the end of a long listing, to that at its beginning."""

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        client = self.client()
        self.check(self.work(client)())
        size, pages = HOLDINGS[self.row.holding]
        listing = client.listing()
        _last(islice(listing, size))  # some have read their first page before this
        took = [seconds(lambda: _last(islice(listing, size)), 1) for _ in range(pages - 1)]
        client.close()
        tenth = max(1, pages // 10)
        return min(took[-tenth:]) / min(took[:tenth])


class Prefetch(Measure):
    """The time of a walk that works on each page, with prefetch to without."""

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        client = self.client()
        self.check(self.work(client)())
        without, ahead = (self._walk(client.pages(prefetch=on)) for on in (False, True))
        client.close()
        return ahead / without

    def _walk(self, pages: Iterator[Any]) -> float:
        began = time.perf_counter()
        for _ in pages:
            time.sleep(DELAYS[self.row.holding])
        return time.perf_counter() - began


class AsyncPrefetch(AsyncMeasure):
    """The same on an event loop."""

    def run(self, times: int) -> float:  # noqa: ARG002 (every measure receives it)
        return self.runner.run(self._compared())

    async def _compared(self) -> float:
        client = await self.opened()
        without, ahead = [await self._walk(client.pages(prefetch=on)) for on in (False, True)]
        await client.close()
        return ahead / without

    async def _walk(self, pages: AsyncIterator[Any]) -> float:
        _, expected = HOLDINGS[self.row.holding]
        began, count = time.perf_counter(), 0
        async for _ in pages:
            await asyncio.sleep(DELAYS[self.row.holding])
            count += 1
        if count != expected:
            raise WrongResult(f"expected {expected} pages, got {count}")
        return time.perf_counter() - began


def seconds(work: Callable[[], Any], times: int) -> float:
    """How long some work takes, done so many times."""
    rounds = range(times)
    began = time.perf_counter()
    for _ in rounds:
        work()
    return time.perf_counter() - began


def least_seconds(work: Callable[[], Any]) -> float:
    """The quickest of many short turns, after a warm-up: what else runs cannot make it less."""
    seconds(work, 500)
    return min(seconds(work, 5) for _ in range(300))


def _last(ids: Iterator[Any]) -> tuple[int, Any]:
    """How many there are, and the last."""
    count, last = 0, None
    for last in ids:  # noqa: B007
        count += 1
    return count, last
