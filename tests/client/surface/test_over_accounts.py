"""One read of many accounts: what is returned, how much is under way, and how it ends."""

import asyncio
import contextvars
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import count

import anyio
import attrs
import httpx
import pyarrow
import pytest
from cases import each_case
from clients import (
    END,
    a_page,
    an_item,
    asyncio_and_trio,
    close,
    everything,
    step,
    sync_and_async,
    sync_asyncio_trio,
    walk,
)
from raw_server import Connection, RawServer, reply

from adclient import (
    AdClient,
    AsyncAdClient,
    Campaign,
    ConfigurationError,
    ConnectionFailed,
    Hooks,
    InvalidRequest,
    Items,
    NotFound,
)

LONG = 20.0  # seconds, for a machine under load


class Accounts(httpx.MockTransport):
    """Each account has two pages; one called `missing…` does not exist, `down…` is not reached.

    Accounts called `slow…` wait until they are opened.
    """

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.requests: list[str] = []
        self.opened = threading.Event()

    def _answer(self, request: httpx.Request) -> httpx.Response:
        account_id = request.url.params["account_id"]
        if account_id.startswith("missing"):
            return httpx.Response(404)
        if account_id.startswith("down"):
            raise httpx.ConnectError("nobody listens")
        return a_page("c") if "cursor" in request.url.params else a_page("ab", "c1")

    def handle_request(self, request):
        if self._is_slow(request):
            assert self.opened.wait(LONG)
        return super().handle_request(request)

    async def handle_async_request(self, request):
        is_slow = self._is_slow(request)
        while is_slow and not self.opened.is_set():
            await anyio.sleep(0.001)
        return await super().handle_async_request(request)

    def _is_slow(self, request) -> bool:
        account_id = request.url.params["account_id"]
        self.requests.append(account_id)
        return account_id.startswith("slow")


async def until(fact) -> None:
    """Wait until a condition holds, in a thread or in an event loop."""
    end = time.monotonic() + LONG
    while not fact():
        assert time.monotonic() < end, "it never happened"
        await pause(0.001)


async def pause(seconds: float) -> None:
    try:
        anyio.get_current_task()
    except (anyio.NoEventLoopError, RuntimeError):
        time.sleep(seconds)
    else:
        await anyio.sleep(seconds)


def over(client, account_ids, **options):
    return client.over_accounts(client.beta.list_campaigns, account_ids, **options)


def names(items) -> str:
    return "".join(item.name for item in items)


# What is returned.


@sync_asyncio_trio
async def test_each_account_comes_with_its_items_or_its_error(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport, max_retries=0) as client:
        assert transport.requests == []
        found = dict(await everything(over(client, ["x", "missing", "y", "down"], at_once=2)))
    assert {name: names(found.pop(name)) for name in ("x", "y")} == {"x": "abc", "y": "abc"}
    assert {name: type(error) for name, error in found.items()} == {
        "missing": NotFound,
        "down": ConnectionFailed,
    }
    assert found["missing"].status == 404


@sync_asyncio_trio
async def test_account_is_returned_as_soon_as_it_finishes(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        accounts = walk(over(client, iter(["slow", "x", "y"])))
        assert sorted([(await step(accounts))[0] for _ in range(2)]) == ["x", "y"]
        transport.opened.set()
        assert (await step(accounts))[0] == "slow"
        assert [await step(accounts) for _ in range(2)] == [END, END]


@attrs.frozen(kw_only=True)
class Named(Campaign):
    pass


READS = {
    "a method": lambda client: client.beta.list_campaigns,
    "partial": lambda client: partial(client.beta.list_campaigns, date_range="LAST_30_DAYS"),
    "typed": lambda client: (
        lambda account_id: client.beta.list_campaigns(account_id=account_id).typed(Named)
    ),
    "progress": lambda client: (
        lambda account_id: client.beta.list_campaigns(account_id=account_id).progress()
    ),
}


@each_case("way", READS)
@sync_and_async
async def test_read_is_any_function_that_returns_what_a_read_does(client_kind, way) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        [(account_id, items)] = await everything(client.over_accounts(READS[way](client), ["x"]))
    assert (account_id, names(items), items.account_id) == ("x", "abc", "x")
    assert {type(item) for item in items} == {Named if way == "typed" else Campaign}


@asyncio_and_trio
async def test_read_of_an_async_client_can_be_a_coroutine_function(client_kind) -> None:
    async with client_kind.open(transport=Accounts()) as client:

        async def read(*, account_id):
            return await client.beta.list_campaigns(account_id=account_id)

        [(_, items)] = await everything(client.over_accounts(read, ["x"]))
    assert names(items) == "abc"


@sync_and_async
async def test_no_accounts_are_no_error(client_kind) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        assert await everything(over(client, [])) == []


@sync_and_async
async def test_reads_see_the_context_variables_of_the_loop(client_kind) -> None:
    variable = contextvars.ContextVar("variable")
    seen = []
    hooks = Hooks(on_request=lambda event: seen.append(variable.get()))
    async with client_kind.open(transport=Accounts(), hooks=hooks) as client:
        variable.set("night run")
        await everything(over(client, ["x"]))
    assert seen == ["night run"] * 2


@each_case(("asked", "expected"), [(7, 7), (2**64, 9)])
@sync_and_async
async def test_iterator_shows_how_many_accounts_it_reads_at_once(
    client_kind, asked, expected
) -> None:
    async with client_kind.open(transport=Accounts(), max_concurrency=9) as client:
        accounts = over(client, ["x"], at_once=asked)
        assert len(await everything(accounts)) == 1
    assert repr(accounts).endswith(f"AccountIterator, at_once={expected}>")


# What is refused, and what ends the iteration.


@each_case(
    ("argument", "given"),
    [
        ("account_ids", {"account_ids": "account_b204"}),
        *(("at_once", {"at_once": value}) for value in (0, True, 2.0, None)),
    ],
)
@sync_and_async
async def test_wrong_argument_is_refused_at_once(client_kind, argument, given) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        with pytest.raises(InvalidRequest, match=argument) as caught:
            over(client, **{"account_ids": ["x"], **given})
        with pytest.raises(TypeError):
            over(client, 5)
    assert caught.value.argument == argument


async def fails(iterator, error, match) -> None:
    """The next step raises an error, and no later step looks like a regular end."""
    with pytest.raises(error, match=match):
        await drained(iterator)
    with pytest.raises(RuntimeError, match="this iterator was closed"):
        await step(iterator)


async def drained(iterator) -> None:
    while await step(iterator) is not END:
        pass


@sync_and_async
async def test_closed_client_ends_the_iteration(client_kind) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        accounts = walk(over(client, map(str, range(100))))
        await step(accounts)
        await close(client)
        await fails(accounts, ConfigurationError, "this client is closed")


def exhausted(**_):
    return next(iter(()))


def exhausted_async(**_):
    raise StopAsyncIteration


@each_case(
    ("read", "error", "match"),
    [
        (lambda **_: 1 / 0, ZeroDivisionError, "zero"),
        (lambda **_: sys.exit(3), SystemExit, "3"),
        (lambda **_: pytest.fail("no exception"), pytest.fail.Exception, "no exception"),
        (lambda **_: [], TypeError, "must return a page|await"),
        (exhausted, RuntimeError, "StopIteration"),
        (exhausted_async, (RuntimeError, StopAsyncIteration), "StopAsyncIteration|^$"),
        (lambda: None, TypeError, "account_id"),
    ],
)
@sync_asyncio_trio
async def test_bug_in_read_ends_the_iteration(client_kind, read, error, match) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        await fails(walk(client.over_accounts(read, map(str, range(100)))), error, match)


@asyncio_and_trio
async def test_awaitable_of_something_else_than_a_page_is_named(client_kind) -> None:
    async with client_kind.open(transport=Accounts()) as client:
        listing = client.beta.list_campaigns
        accounts = client.over_accounts(lambda **given: listing(**given).collect(), ["x", "y"])
        await fails(walk(accounts), TypeError, "read must return a page of the client, not Items")


@sync_and_async
async def test_error_of_the_account_ids_ends_the_iteration(client_kind) -> None:
    def account_ids():
        yield "x"
        raise KeyError("no more")

    async with client_kind.open(transport=Accounts()) as client:
        accounts = walk(over(client, account_ids(), at_once=1))
        assert (await step(accounts))[0] == "x"
        await fails(accounts, KeyError, "no more")


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


class opened:  # noqa: N801 (it reads like a function)
    """The context of an iterator of either client."""

    def __init__(self, accounts) -> None:
        self.accounts = accounts

    async def __aenter__(self):
        if hasattr(self.accounts, "__aenter__"):
            return await self.accounts.__aenter__()
        return self.accounts.__enter__()

    async def __aexit__(self, *error):
        if hasattr(self.accounts, "__aexit__"):
            return await self.accounts.__aexit__(*error)
        return self.accounts.__exit__(*error)


def test_second_thread_at_an_iterator_is_told() -> None:
    transport = Accounts()
    with AdClient("https://ads.example.com", transport=transport) as client:
        accounts = over(client, ["slow1", "slow2"])
        first = threading.Thread(target=next, args=(accounts,))
        first.start()
        while not transport.requests:
            time.sleep(0.001)
        with pytest.raises(RuntimeError, match="already waiting for an account"):
            next(accounts)
        transport.opened.set()
        first.join()
        assert len(list(accounts)) == 1


@asyncio_and_trio
async def test_second_task_at_an_iterator_is_told(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        accounts = over(client, ["slow1", "slow2"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, accounts)
            await until(lambda: transport.requests)
            with pytest.raises(RuntimeError, match="already waiting for an account"):
                await anext(accounts)
            transport.opened.set()
        assert len(await everything(accounts)) == 1


@pytest.mark.parametrize("others", [0, 1])
def test_accounts_are_read_as_they_are_taken_where_no_thread_can_start(others, monkeypatch) -> None:
    started, start = count(), threading.Thread.start

    def refuse(self) -> None:
        if next(started) >= others:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    transport = Accounts()
    with AdClient("https://ads.example.com", transport=transport) as client:
        accounts = over(client, ["x", "y", "z"])
        next(accounts)
        assert len(set(transport.requests)) <= 1 + others
        assert len(list(accounts)) == 2
        client.beta.list_campaigns(account_id="x")  # its end does not stop calls of the caller


# How it ends.


class Slow:
    """The account `fast` responds at once, with one page; others respond when `proceed` is set."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.proceed = threading.Event()

    def serve(self, connection: Connection) -> None:
        while request := connection.read():
            if b"account_id=fast" in request:
                connection.send(page())
            else:
                while not self.proceed.wait(0.01) and not connection._server.stopping.is_set():
                    pass
                connection.send(self.answer)
            if connection.is_over:
                return


def page(next: str = "null") -> bytes:
    item = b'{"id": "x", "name": "x", "status": "s"}'
    return reply(200, b'{"data": [%b], "page": {"next": %b}}' % (item, next.encode()))


NEXT_PAGE = page('"c1"')


def first_and_endless():
    yield ""
    yield from (f"slow{number}" for number in count())


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "adclient-worker"]


async def leave_by_break(accounts, is_asked) -> None:
    if hasattr(accounts, "__aiter__"):
        async for _ in accounts:
            await until(is_asked)
            break
    else:
        for _ in accounts:
            await until(is_asked)
            break


async def leave_by_error(accounts, is_asked) -> None:
    with suppress(ZeroDivisionError):
        if hasattr(accounts, "__aiter__"):
            async for _ in accounts:
                await until(is_asked)
                raise ZeroDivisionError
        for _ in accounts:
            await until(is_asked)
            raise ZeroDivisionError


async def leave_by_close(accounts, is_asked) -> None:
    kept.append(accounts)
    await step(accounts)
    await until(is_asked)
    await close(accounts)


async def leave_a_block(accounts, is_asked) -> None:
    kept.append(accounts)
    async with opened(accounts) as walked:
        await step(walked)
        await until(is_asked)


async def leave_to_the_collector(accounts, is_asked) -> None:
    circle = [accounts]
    circle.append(circle)
    await step(accounts)
    await until(is_asked)
    del accounts, circle


kept: list = []  # what a caller still has in a variable
LEAVE = [leave_by_break, leave_by_error, leave_by_close, leave_a_block, leave_to_the_collector]


async def left(client_kind, leave, answer, *, asked: int) -> int:
    """Leave a loop while so many requests have begun, and return how many there are in the end."""
    slow = Slow(answer)
    with RawServer(slow.serve) as server:
        async with client_kind.open(server.url) as client:

            def read(*, account_id):
                # The first is refused without a request, and so the first to finish.
                return client.beta.list_campaigns(account_id=account_id or None)

            async def loop() -> None:
                accounts = client.over_accounts(read, first_and_endless(), at_once=4)
                await leave(accounts, lambda: len(server.requests) == asked)

            began = time.monotonic()
            await loop()
            gc.collect()
            assert time.monotonic() - began < LONG
            kept.clear()
            slow.proceed.set()
            await until(lambda: not workers())
            await pause(0.05)
        return len(server.requests)


@pytest.mark.parametrize("leave", LEAVE)
@sync_asyncio_trio
async def test_loop_that_was_left_reads_no_further_page(client_kind, leave) -> None:
    assert await left(client_kind, leave, NEXT_PAGE, asked=3) == 3


def test_loop_that_was_left_ends_one_in_its_read() -> None:
    slow, ended = Slow(page()), []
    with RawServer(slow.serve) as server, AdClient(server.url) as client:

        def read(*, account_id):
            try:
                return list(over(client, (f"slow{number}" for number in count()), at_once=2))
            except RuntimeError as error:
                ended.append(str(error))
                raise

        accounts = client.over_accounts(read, ["x"])
        closing = threading.Thread(target=lambda: run_sync(leave_when(accounts, server)))
        closing.start()
        with pytest.raises(RuntimeError, match="closed"):
            next(accounts)
        closing.join()
        slow.proceed.set()
        run_sync(until(lambda: ended))
    assert ended == ["this iteration was closed, so nothing is sent"]
    assert len(server.requests) == 2


async def leave_when(accounts, server) -> None:
    await until(lambda: len(server.requests) == 2)
    accounts.close()


@sync_asyncio_trio
async def test_loop_that_was_left_retries_nothing(client_kind) -> None:
    assert await left(client_kind, leave_by_break, reply(503, b""), asked=3) == 3


@sync_asyncio_trio
async def test_loop_that_was_left_starts_no_request_that_waited_for_a_slot(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport, max_concurrency=2) as client:

        def read(*, account_id):  # "" is refused without a request
            return client.beta.list_campaigns(account_id=account_id or None)

        others = [client.over_accounts(read, ["", "slow"]) for _ in range(2)]
        for each in others:
            await step(each)
        await until(lambda: transport.requests == ["slow", "slow"])
        await leave_by_break(client.over_accounts(read, ["", "x"]), lambda: True)
        transport.opened.set()
        for each in others:
            await drained(each)
        await pause(0.01)
    assert "x" not in transport.requests


@asyncio_and_trio
async def test_no_task_runs_after_the_iterator_was_closed(client_kind) -> None:
    ended = []

    async def read(*, account_id):
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
                with pytest.raises(RuntimeError, match="nothing is sent"):
                    await client.beta.list_campaigns(account_id=account_id)
            ended.append(account_id)

    async with client_kind.open(transport=Accounts()) as client:
        accounts = client.over_accounts(read, ["x", "y", "z"], at_once=2)
        with anyio.move_on_after(0.3):
            await anext(accounts)
        await accounts.aclose()
        assert sorted(ended) == ["x", "y"]
        with pytest.raises(RuntimeError, match="closed"):
            await anext(accounts)


@sync_asyncio_trio
async def test_iterator_closed_before_its_first_step_sends_nothing(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        accounts = over(client, ["x"])
        await close(accounts)
        await fails(accounts, RuntimeError, "closed")
    assert transport.requests == []


@asyncio_and_trio
async def test_cancelled_consumer_cancels_the_reads(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport, max_concurrency=2) as client:
        accounts = over(client, ["slow1", "slow2"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, accounts)
            await until(lambda: len(transport.requests) == 2)
            tasks.cancel_scope.cancel()
        transport.opened.set()
        # Both slots are free again.
        assert len(await everything(over(client, ["x", "y"]))) == 2
    assert Counter(transport.requests) == {"slow1": 1, "slow2": 1, "x": 2, "y": 2}


@sync_asyncio_trio
async def test_caller_that_waits_is_told_that_the_iterator_was_closed(client_kind) -> None:
    transport = Accounts()
    async with client_kind.open(transport=transport) as client:
        accounts = over(client, ["slow"])

        async def close_it() -> None:
            await until(lambda: transport.requests)
            await close(accounts)

        if client_kind.client is AsyncAdClient:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(close_it)
                await fails(accounts, RuntimeError, "closed")
        else:
            closing = threading.Thread(target=lambda: run_sync(close_it()))
            closing.start()
            await fails(accounts, RuntimeError, "closed")
            closing.join()
        transport.opened.set()


def run_sync(scenario) -> None:
    with suppress(StopIteration):
        scenario.send(None)


def test_iterator_belongs_to_its_event_loop() -> None:
    transport = Accounts()
    client = AsyncAdClient("https://ads.example.com", transport=transport)
    accounts = over(client, ["x", "slow"])
    stopped = asyncio.new_event_loop()
    assert stopped.run_until_complete(anext(accounts))[0] == "x"
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(first_of(accounts))
    asyncio.run(accounts.aclose())  # it waits for no task of a loop that may never run again
    transport.opened.set()
    stopped.run_until_complete(asyncio.wait(asyncio.all_tasks(stopped)))
    stopped.close()


async def first_of(accounts):
    return await anext(accounts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_iterator_belongs_to_its_process() -> None:
    transport = Accounts()
    with AdClient("https://ads.example.com", transport=transport) as client:
        accounts = over(client, ["x", "slow"])
        assert next(accounts)[0] == "x"
        child = os.fork()
        if child == 0:
            signal.alarm(int(LONG))
            try:
                next(accounts)
            except RuntimeError as error:
                os._exit(0 if "fork" in str(error) else 1)
            finally:
                os._exit(2)
        transport.opened.set()
        assert next(accounts)[0] == "slow"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INTERRUPTED = """
import asyncio, logging, signal, sys, time
import anyio
logging.getLogger("asyncio").setLevel("ERROR")  # it warns on a slow machine
from adclient import AdClient, AsyncAdClient
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
url, kind, place = sys.argv[1:]
ids = ["fast", *(f"slow{number}" for number in range(100))]
def run():
    client = AdClient(url)
    for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
        print(account_id, flush=True)
        if place == "body":
            time.sleep(60)
async def run_async():
    async with AsyncAdClient(url) as client:
        async for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
            print(account_id, flush=True)
            if place == "body":
                await anyio.sleep(60)
try:
    run() if kind == "sync" else anyio.run(run_async, backend=kind)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.no_cover
@pytest.mark.parametrize("place", ["body", "step"])
@pytest.mark.parametrize("kind", ["sync", "asyncio", "trio"])
def test_interrupt_ends_the_process_although_requests_hang(kind, place) -> None:
    with RawServer(Slow(page()).serve) as server:
        command = [sys.executable, "-X", "dev", "-W", "error", "-c", INTERRUPTED]
        with subprocess.Popen(
            [*command, server.url, kind, place],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout.readline() == "fast\n"
            sent = 6 if place == "step" else 5
            while len(server.requests) < sent:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            output, errors = process.communicate(timeout=LONG)
            took = time.monotonic() - began
    assert (process.returncode, output, errors) == (130, "", "")
    assert took < 5  # a request takes up to 30
    assert len(server.requests) == sent


# The tables.

CAMPAIGNS = [Campaign(**an_item("a"), extra={"spend": 1}), Campaign(**an_item("b"))]


def table_of(items: Items) -> dict[str, list]:
    table = items.to_arrow()
    assert table.schema == items.schema == pyarrow.table(items).schema
    assert list(items.to_pandas().columns) == table.column_names
    return table.to_pydict()


def test_tables_begin_with_the_account() -> None:
    items = Items(CAMPAIGNS, account_id="account_x")
    assert list(table_of(items)) == ["account_id", "id", "name", "status", "spend"]
    assert table_of(items)["account_id"] == ["account_x"] * 2
    assert items.schema.field(0) == pyarrow.field("account_id", pyarrow.string(), nullable=False)
    assert [list(record)[:2] for record in items.to_records()] == [["account_id", "id"]] * 2
    assert [record["account_id"] for record in items.to_records()] == ["account_x"] * 2
    shown = items._repr_html_()
    assert shown.index(">account_id<") < shown.index(">id<")
    assert shown.count("account_x") == 2
    assert list(table_of(Items(account_id="account_x"))) == ["account_id", "id", "name", "status"]


@attrs.frozen
class Own:
    id: str
    account_id: int


@attrs.frozen(kw_only=True)
class Kept(Campaign):
    spend: int = 0


def test_schema_of_a_class_is_the_same_for_all_accounts() -> None:
    empty = Items(cls=Kept, account_id="account_x")
    items = Items([Kept(**an_item("a"))], account_id="account_y")
    assert items.schema == empty.schema
    assert items.schema.names == ["account_id", *Items(cls=Kept).schema.names]
    assert pyarrow.concat_tables([empty.to_arrow(), items.to_arrow()]).num_rows == 1
    assert table_of(items)["account_id"] == ["account_y"]


@each_case(
    ("items", "column", "kind"),
    [
        ([Campaign(**an_item("a"), extra={"account_id": 7}), CAMPAIGNS[1]], [7, None], "int64"),
        ([Own(id="a", account_id=7)], [7], "int64"),
        ([Campaign(**an_item("a"), extra={"account_id": "sub"})], ["sub"], "string"),
    ],
)
def test_field_of_the_items_wins_over_the_account(items, column, kind) -> None:
    found = Items(items, account_id="account_x")
    assert table_of(found)["account_id"] == column
    assert str(found.schema.field("account_id").type) == kind
    assert found.to_records() == Items(items).to_records()


def test_undeclared_field_leaves_the_schema_of_a_class_alone() -> None:
    items = Items([Kept(**an_item("a"), extra={"account_id": "sub"})], account_id="account_x")
    assert items.schema == Items(cls=Kept, account_id="account_x").schema
    assert table_of(items)["account_id"] == ["account_x"]
    assert items.to_records()[0]["account_id"] == "sub"


def test_items_keep_their_account() -> None:
    items = Items(CAMPAIGNS, cls=Campaign, account_id="account_x")
    assert items == Items(CAMPAIGNS, account_id="account_y") == CAMPAIGNS
    assert items[:1].account_id == "account_x"
    assert pickle.loads(pickle.dumps(items)).account_id == "account_x"
    assert Items(items).account_id == "account_x"
    assert Items(items, account_id="account_y").account_id == "account_y"
    assert (items + items[1:]).account_id == "account_x"
    assert (items + CAMPAIGNS).account_id is None
    assert (items + Items(items, account_id="account_y")).account_id is None
    typed = Items((), cls=Kept)
    assert Items(typed).schema == typed.schema
    assert Items(typed, cls=Campaign).schema == Items(cls=Campaign).schema
