"""One read of many accounts: what is returned, how much is under way, and how it ends."""

import asyncio
import contextvars
import gc
import sys
import threading
from collections import Counter
from functools import partial
from itertools import count

import anyio
import clients
import httpx
import pytest
from cases import each_case
from clients import BASE_URL, END, close, drain, everything, names, step, sync_asyncio_trio, walk
from waiting import LONG, HeldTransport, beside, pause, until

import adclient
from adclient import AdClient, AsyncAdClient, ConnectionFailed, Hooks, InvalidRequest, NotFound


class Accounts(HeldTransport):
    """Each account has two pages; `missing…` does not exist, `down…` and `busy…` do not respond.

    Accounts called `slow…` and `busy…` wait until they are opened.
    """

    def __init__(self) -> None:
        super().__init__(self._answer, lambda request: account_of(request)[:4] in ("slow", "busy"))
        self.requests: list[str] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        account_id = account_of(request)
        self.requests.append(account_id)
        if account_id.startswith(("missing", "busy")):
            return httpx.Response(404 if account_id == "missing" else 503)
        if account_id == "down":
            raise httpx.ConnectError("nobody listens")
        return clients.a_page("c") if "cursor" in request.url.params else clients.a_page("ab", "c1")


def account_of(request: httpx.Request) -> str:
    return request.url.params["account_id"]


def over(client, account_ids, **options):
    return client.over_accounts(client.beta.list_campaigns, account_ids, **options)


async def fails(iterator, error, match) -> None:
    """A next step raises an error, and no later step looks like a regular end."""
    with pytest.raises(error, match=match):
        await drain(iterator, [])
    with pytest.raises(RuntimeError, match="this iterator was closed"):
        await step(iterator)


# What is returned.


@sync_asyncio_trio
async def test_each_account_comes_as_it_finishes_with_its_items_or_its_error(client_kind) -> None:
    transport, variable, seen = Accounts(), contextvars.ContextVar("variable"), []
    hooks = Hooks(on_request=lambda _: seen.append(variable.get()))
    async with client_kind.open(transport=transport, max_retries=0, hooks=hooks) as client:
        variable.set("of the loop")
        accounts = over(client, iter(["slow", "x", "missing", "down"]), at_once=2)
        assert transport.requests == []
        walked = walk(accounts)
        found = dict([await step(walked) for _ in range(3)])
        assert names(found.pop("x")) == "abc"
        kinds = {name: type(error) for name, error in found.items()}
        assert kinds == {"missing": NotFound, "down": ConnectionFailed}
        assert found["missing"].status == 404
        transport.opened.set()
        [(account_id, items)] = await everything(accounts)
        assert (account_id, names(items), items.account_id) == ("slow", "abc", "slow")
        assert [await step(walked) for _ in range(2)] == [END, END]
        assert await everything(over(client, [])) == []
    assert seen == ["of the loop"] * 6


@clients.asyncio_and_trio
async def test_read_of_an_async_client_can_be_a_coroutine_function(client_kind) -> None:
    async with client_kind.open(transport=Accounts()) as client:

        async def read(*, account_id):
            page = await client.beta.list_campaigns(account_id=account_id)
            return page if account_id == "x" else await page.collect()

        [(_, items)] = await everything(client.over_accounts(read, ["x"]))
        assert names(items) == "abc"
        accounts = walk(client.over_accounts(read, ["other"]))
        await fails(accounts, TypeError, "read must return a page of the client, not Items")


# What is refused, and what ends the iteration.


@each_case(
    ("argument", "value"),
    ("account_ids", "account_b204"),
    ("account_ids", 5),
    *(("at_once", value) for value in (0, True, 2.0, None)),
)
@clients.sync_and_async
async def test_wrong_argument_is_refused_at_once(client_kind, argument, value) -> None:
    async with client_kind.open(transport=Accounts(), max_concurrency=9) as client:
        with pytest.raises(InvalidRequest, match=argument) as caught:
            over(client, **{"account_ids": ["x"], argument: value})
        assert repr(over(client, [], at_once=2**64)).endswith("AccountIterator, at_once=9>")
    assert caught.value.argument == argument


def exhausted_async(**_):
    raise StopAsyncIteration


@each_case(
    ("read", "error", "match"),
    (lambda **_: 1 / 0, ZeroDivisionError, "zero"),
    (lambda **_: sys.exit(3), SystemExit, "3"),
    (lambda **_: [], TypeError, "must return a page|await"),
    (lambda **_: next(iter(())), RuntimeError, "StopIteration"),
    (exhausted_async, (RuntimeError, StopAsyncIteration), "StopAsyncIteration|^$"),
    (lambda: None, TypeError, "account_id"),
)
@clients.sync_and_async
async def test_bug_in_read_ends_the_iteration(client_kind, read, error, match) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        await fails(walk(client.over_accounts(read, map(str, range(100)))), error, match)


# How much is under way.


@sync_asyncio_trio
async def test_accounts_under_way_and_not_yet_taken_are_bounded(client_kind) -> None:
    transport, drawn = Accounts(), count()
    async with client_kind.open(transport=transport) as client:
        accounts = over(client, (f"x{next(drawn)}" for _ in count()), at_once=3)
        for expected in (3, 4, 5):  # those that were taken before, and three
            await step(accounts)
            await until(lambda expected=expected: len(transport.requests) == 2 * expected)
            await pause(0.01)
            assert Counter(Counter(transport.requests).values()) == {2: expected}
        await close(accounts)
    assert next(drawn) == 5


@pytest.mark.parametrize("others", [0, 1])
def test_accounts_are_read_as_they_are_taken_where_no_thread_can_start(others, monkeypatch) -> None:
    started, start = count(), threading.Thread.start

    def refuse(self) -> None:
        if next(started) >= others:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    transport = Accounts()
    with AdClient(BASE_URL, transport=transport) as client:
        accounts = over(client, ["x", "y", "z"])
        next(accounts)
        assert len(set(transport.requests)) <= 1 + others
        assert len(list(accounts)) == 2
        client.beta.list_campaigns(account_id="x")  # its end does not stop calls of the caller


# How it ends.


async def leave(way, accounts, is_asked) -> None:
    """Leave a loop after its first step; after `close` and `block`, the iterator is still there."""
    await step(accounts)
    await until(is_asked)
    if way == "circle":  # else the loop has the last reference, also in `break`
        circle = [accounts]
        circle.append(circle)
    if way in ("close", "block"):
        kept.append(accounts)
    if way == "close":
        await close(accounts)
    elif way == "block" and hasattr(accounts, "__aenter__"):
        async with accounts as walked:
            assert walked is accounts
    elif way == "block":
        with accounts as walked:
            assert walked is accounts


kept: list = []


@pytest.mark.parametrize(
    ("way", "others"),
    [("break", "busy"), *((way, "slow") for way in ("break", "circle", "close", "block"))],
)
@sync_asyncio_trio
async def test_loop_that_was_left_reads_and_retries_nothing(client_kind, way, others) -> None:
    transport = Accounts()
    ids = ("" if n == 0 else f"{others}{n}" for n in count())  # "" is refused without a request
    async with client_kind.open(transport=transport) as client:
        accounts = [over(client, ids, at_once=4)]
        await leave(way, accounts.pop(), lambda: len(transport.requests) == 3)
        await pause(0)  # until then, trio keeps the last pause, and the frames that waited for it
        gc.collect()
        transport.opened.set()
        await until(lambda: "adclient-worker" not in {each.name for each in threading.enumerate()})
        await pause(0.01)
        kept.clear()
    assert sorted(transport.requests) == [f"{others}{n}" for n in (1, 2, 3)]


@clients.asyncio_and_trio
async def test_cancelled_caller_cancels_the_reads_and_close_waits_for_them(client_kind) -> None:
    transport, ended = Accounts(), []
    async with client_kind.open(transport=transport, max_concurrency=2) as client:

        async def read(*, account_id):
            try:
                return await client.beta.list_campaigns(account_id=account_id)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.01)
                    with pytest.raises(RuntimeError, match="nothing is sent"):
                        await client.beta.list_campaigns(account_id=account_id)
                ended.append(account_id)

        accounts = client.over_accounts(read, ["slow1", "slow2", "z"], at_once=2)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, accounts)
            await until(lambda: len(transport.requests) == 2)
            tasks.cancel_scope.cancel()
        await accounts.aclose()
        assert sorted(ended) == ["slow1", "slow2"]
        await fails(accounts, RuntimeError, "closed")
        transport.opened.set()
        # Both slots are free again.
        assert len(await everything(over(client, ["x", "y"]))) == 2
    assert Counter(transport.requests) == {"slow1": 1, "slow2": 1, "x": 2, "y": 2}


@sync_asyncio_trio
async def test_second_caller_is_refused_and_one_that_waits_is_told_of_the_end(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        accounts = over(client, ["slow"])
        async with beside(client_kind, lambda: fails(accounts, RuntimeError, "closed")):
            await until(lambda: transport.requests)
            with pytest.raises(RuntimeError, match="already waiting for an account"):
                await step(accounts)
            await close(accounts)
        transport.opened.set()
        accounts = over(client, ["x"])
        await close(accounts)  # before its first step
        await fails(accounts, RuntimeError, "closed")
    assert transport.requests == ["slow"]


def test_iterator_belongs_to_its_event_loop() -> None:
    transport = Accounts()
    client = AsyncAdClient(BASE_URL, transport=transport)
    accounts = over(client, ["x", "slow"])
    stopped = asyncio.new_event_loop()
    assert stopped.run_until_complete(anext(accounts))[0] == "x"
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(step(accounts))
    asyncio.run(accounts.aclose())  # it waits for no task of a loop that may never run again
    transport.opened.set()
    stopped.run_until_complete(asyncio.wait(asyncio.all_tasks(stopped)))
    stopped.close()


@clients.sync_and_async
async def test_read_that_stages_a_draft_sends_nothing_and_ends_the_loop(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        pause = partial(client.beta.pause_campaign, campaign_id="c")
        accounts = client.over_accounts(pause, ["a", "b", "c"])
        with pytest.raises(adclient.ConfigurationError, match=r"only reads; .* nothing was sent"):
            await step(walk(accounts))
    assert transport.requests == []


if sys.version_info >= (3, 12):  # before, event loops start no task eagerly

    def test_account_that_fails_at_once_in_an_eager_task_ends_the_loop() -> None:
        async def read(account_id: str):
            raise ValueError(account_id)

        async def scenario() -> None:
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
            with anyio.fail_after(LONG), pytest.raises(ValueError, match=r"^a$"):
                async with AsyncAdClient(BASE_URL) as client:
                    await step(walk(client.over_accounts(read, ["a"])))

        asyncio.run(scenario())


@sync_asyncio_trio
async def test_loop_that_was_left_starts_no_request_that_waited_for_a_slot(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport, max_concurrency=2) as client:
        others = [over(client, ["", "slow"]) for _ in range(2)]
        for each in others:
            await step(each)
        await until(lambda: transport.requests == ["slow", "slow"])
        await step(over(client, ["", "x"]))  # which is left at once
        transport.opened.set()
        for each in others:
            await drain(each, [])
        await pause(0.01)
    assert "x" not in transport.requests
