"""Iteration with prefetch: the next page is fetched while the caller works on the current one."""

import asyncio
import contextvars
import gc
import os
import signal
import threading
import time
import weakref
from contextlib import suppress

import anyio
import httpx
import pytest
from clients import (
    ASYNC,
    END,
    TRIO,
    Service,
    a_page,
    asyncio_and_trio,
    everything,
    step,
    sync_asyncio_trio,
    wait,
)

from adclient import AdClient, AsyncAdClient, Hooks, ServerError
from adclient._tasks import background

LONG = 20.0  # seconds, for a machine under load


def listed(client, **arguments):
    return client.beta.list_campaigns(account_id="a", **arguments)


def names(items) -> str:
    return "".join(item.name for item in items)


async def until(fact) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + LONG
    while not fact():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.001)
        if in_a_loop():
            await anyio.sleep(0)


def in_a_loop() -> bool:
    try:
        anyio.get_current_task()
    except (anyio.NoEventLoopError, RuntimeError):
        return False
    return True


class Gate(Service):
    """A service that holds back later pages until it is opened."""

    def __init__(self, *answers) -> None:
        super().__init__(*answers)
        self.opened = threading.Event()
        self.transport = GatedTransport(self)


class GatedTransport(httpx.MockTransport):
    def __init__(self, gate: Gate) -> None:
        super().__init__(gate._answer)
        self._gate = gate

    def handle_request(self, request):
        answer = super().handle_request(request)
        if b"cursor" in request.url.query:
            assert self._gate.opened.wait(LONG)
        return answer

    async def handle_async_request(self, request):
        answer = await super().handle_async_request(request)
        while b"cursor" in request.url.query and not self._gate.opened.is_set():
            await anyio.sleep(0.001)
        return answer


def three(kind=Service):
    return kind(a_page("ab", "c1"), a_page("c", "c2"), a_page("de"))


@sync_asyncio_trio
async def test_prefetch_requests_only_the_next_page(client_kind) -> None:
    """No page after it is requested, however long the caller works."""
    service = three()
    async with client_kind.open(transport=service.transport) as client:
        pages = (await wait(listed(client))).pages(prefetch=True)
        for requests, letters, cursor in [(2, "ab", "c1"), (3, "c", "c2"), (3, "de", None)]:
            page = await step(pages)
            await until(lambda requests=requests: len(service.requests) == requests)
            assert (names(page.data), pages.cursor) == (letters, cursor)
        assert await step(pages) is END
    assert len(service.requests) == 3


@sync_asyncio_trio
async def test_prefetch_error_is_raised_at_its_page_and_loses_nothing(client_kind) -> None:
    service = Service(a_page("ab", "c1"), httpx.Response(500), a_page("c", "c2"), a_page("d"))
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        walk = (await wait(listed(client))).items(prefetch=True)
        assert names([await step(walk), await step(walk)]) == "ab"
        await until(lambda: len(service.requests) == 2)
        assert walk.cursor == "c1"
        with pytest.raises(ServerError) as caught:
            await step(walk)
        assert caught.value.cursor == "c1"
        assert names(await everything(walk)) == "cd"
    assert len(service.requests) == 4


@pytest.mark.parametrize("prefetch", [False, True])
@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration])
@sync_asyncio_trio
async def test_end_of_an_iterator_of_the_caller_does_not_end_the_listing(
    client_kind, error, prefetch
) -> None:
    raised = [None, error()]

    def token() -> str:
        if ended := raised.pop(0) if raised else None:
            raise ended
        return "t"

    async with client_kind.open(transport=three().transport, token=token) as client:
        found = (await wait(listed(client))).items(prefetch=prefetch)
        assert names([await step(found), await step(found)]) == "ab"
        with pytest.raises((RuntimeError, error)):
            await step(found)
        assert names(await everything(found)) == "cde"


@sync_asyncio_trio
async def test_hooks_run_in_the_context_of_the_iteration(client_kind) -> None:
    walker = contextvars.ContextVar("walker", default="nobody")
    contexts: list[str] = []
    hooks = Hooks(on_request=lambda _: contexts.append(walker.get()))
    service = Service(a_page("a", "c1"), a_page("b"))
    async with client_kind.open(transport=service.transport, hooks=hooks) as client:
        walker.set("me")
        await everything((await wait(listed(client))).items(prefetch=True))
    assert contexts == ["me", "me"]


class Tokens:
    """A `token` function that hangs for later pages, and records its cancellation."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def __call__(self) -> str:
        self.calls.append("asked")
        if len(self.calls) > 1:
            try:
                await anyio.sleep_forever()
            finally:
                self.calls.append("cancelled")
        return "t0ken"


async def leave_by_break(items, is_asked) -> None:
    async for _ in items:
        await until(is_asked)
        break


async def leave_by_error(items, is_asked) -> None:
    with suppress(ZeroDivisionError):
        async for _ in items:
            await until(is_asked)
            raise ZeroDivisionError


async def leave_to_the_collector(items, is_asked) -> None:
    circle = [items]
    circle.append(circle)
    await anext(items)
    await until(is_asked)


@pytest.mark.parametrize("leave", [leave_by_break, leave_by_error, leave_to_the_collector])
@asyncio_and_trio
async def test_pending_prefetch_is_cancelled_when_the_loop_is_left(client_kind, leave) -> None:
    service, tokens = three(), Tokens()
    async with client_kind.open(transport=service.transport, token=tokens) as client:
        page = await listed(client)
        await leave(page.items(prefetch=True), lambda: len(tokens.calls) == 2)
        gc.collect()
        await until(lambda: tokens.calls[2:] == ["cancelled"])
    assert len(service.requests) == 1


def test_abandoned_prefetch_thread_ends_with_its_request() -> None:
    gate = three(Gate)
    with AdClient("https://ads.example.com", transport=gate.transport) as client:
        for _ in listed(client).items(prefetch=True):
            break
        (thread,) = prefetching()
        gate.opened.set()
        thread.join(LONG)
        assert not prefetching()
    assert len(gate.requests) == 2


def prefetching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "adclient-prefetch"]


@asyncio_and_trio
async def test_cancelled_wait_for_a_prefetched_page_can_be_repeated(client_kind) -> None:
    gate = three(Gate)
    async with client_kind.open(transport=gate.transport) as client:
        pages = (await listed(client)).pages(prefetch=True)
        await anext(pages)
        with anyio.move_on_after(0.01) as scope:
            await anext(pages)
        assert scope.cancelled_caught
        gate.opened.set()
        assert names((await anext(pages)).data) == "c"
        assert names((await anext(pages)).data) == "de"
    assert len(gate.requests) == 3


@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_iteration_continues_in_another_event_loop(client_kind) -> None:
    gate = three(Gate)
    client = AsyncAdClient("https://ads.example.com", transport=gate.transport)
    walk = listed(client).items(prefetch=True)

    async def first() -> str:
        item = await anext(walk)
        await until(lambda: len(gate.requests) == 2)
        return item.name

    assert client_kind.run(first) == "a"
    gate.answers.insert(0, a_page("c", "c2"))  # the cancelled page is requested again
    gate.opened.set()

    async def rest() -> str:
        return names([item async for item in walk])

    assert client_kind.run(rest) == "bcde"


@pytest.mark.parametrize("is_closed", [False, True])
def test_iteration_continues_after_its_first_event_loop_stopped(is_closed) -> None:
    service = three()
    client = AsyncAdClient("https://ads.example.com", transport=service.transport)
    pages = listed(client).pages(prefetch=True)
    stopped = asyncio.new_event_loop()
    assert names(stopped.run_until_complete(anext(pages)).data) == "ab"
    if is_closed:
        abandon(stopped)

    async def rest() -> str:
        with anyio.fail_after(LONG):
            return "".join([names(page.data) async for page in pages])

    assert asyncio.run(rest()) == "cde"
    if not is_closed:
        abandon(stopped)


def abandon(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False
    loop.close()


def test_interrupt_while_starting_a_prefetch_thread_loses_no_page(monkeypatch) -> None:
    def interrupted(self) -> None:
        raise KeyboardInterrupt

    with AdClient("https://ads.example.com", transport=three().transport) as client:
        pages = listed(client).pages(prefetch=True)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", interrupted)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    next(pages)
        assert "".join(names(page.data) for page in pages) == "abcde"


def test_interrupt_while_waiting_for_a_prefetched_page_keeps_it(monkeypatch) -> None:
    def interrupted(self) -> None:
        raise KeyboardInterrupt

    service = three()
    with AdClient("https://ads.example.com", transport=service.transport) as client:
        pages = listed(client).pages(prefetch=True)
        next(pages)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "join", interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(pages)
        assert "".join(names(page.data) for page in pages) == "cde"
    assert len(service.requests) == 3


def test_prefetch_task_cancelled_before_it_started_runs_on_demand() -> None:
    async def scenario() -> None:
        async def work() -> int:
            return 7

        ahead = background.AsyncPrefetch(work)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        with anyio.fail_after(LONG):
            assert await ahead.result() == 7

    asyncio.run(scenario())


def test_page_is_fetched_on_demand_if_no_thread_can_start(monkeypatch) -> None:
    def refuse(self) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    service = three()
    with AdClient("https://ads.example.com", transport=service.transport) as client:
        walk = listed(client).items(prefetch=True)
        assert next(walk).name == "a"
        assert len(service.requests) == 1
        assert names(walk) == "bcde"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_prefetch_works_in_parent_and_child_after_a_fork() -> None:
    gate = three(Gate)
    with AdClient("https://ads.example.com", transport=gate.transport) as client:
        walk = listed(client).items(prefetch=True)
        next(walk)
        deadline = time.monotonic() + LONG
        while len(gate.requests) < 2:
            assert time.monotonic() < deadline
        child = os.fork()
        if child == 0:
            signal.alarm(int(LONG))
            gate.answers.insert(0, a_page("c", "c2"))
            gate.opened.set()
            os._exit(0 if names(walk) == "bcde" else 1)
        gate.opened.set()
        assert names(walk) == "bcde"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@sync_asyncio_trio
async def test_prefetch_holds_at_most_two_pages(client_kind) -> None:
    service = Service(*(a_page(f"ab{n}", str(n)) for n in range(9)), a_page("z"))
    held: list[weakref.ref] = []
    most = 0
    async with client_kind.open(transport=service.transport) as client:
        pages = (await wait(listed(client))).pages(prefetch=True)
        page = None
        while page is not END:
            page = None
            page = await step(pages)
            if page is not END:
                held.append(weakref.ref(page))
            gc.collect()
            most = max(most, sum(ref() is not None for ref in held))
    assert len(held) == 10
    assert most == 1  # the prefetched one is not yet a page of the caller
