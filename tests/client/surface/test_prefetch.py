"""Iteration with prefetch: the next page is fetched while the caller works on the current one."""

import asyncio
import contextvars
import gc
import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import anyio
import clients
import pytest
from cases import each_case
from clients import BASE_URL, SYNC, Service, a_page, asyncio_and_trio, listed, names, step, wait
from raw_server import RawServer, reply
from waiting import LONG, HeldTransport, until

from adclient import AdClient, AsyncAdClient, Hooks
from adclient._tasks import background


class Pages(Service):
    """Three pages, the later of which are held back until `opened` is set."""

    def __init__(self, *, are_held: bool = False) -> None:
        super().__init__(a_page("ab", "c1"), a_page("c", "c2"), a_page("de"))
        is_held = lambda request: are_held and b"cursor" in request.url.query  # noqa: E731
        self.transport = HeldTransport(self._answer, is_held)
        self.opened = self.transport.opened


@clients.sync_asyncio_trio
async def test_prefetch_requests_only_the_next_page_in_the_context_of_the_loop(client_kind) -> None:
    """No page after it is requested, however long the caller works."""
    walker = contextvars.ContextVar("walker", default="nobody")
    contexts: list[str] = []
    hooks = Hooks(on_request=lambda _: contexts.append(walker.get()))
    service = Pages()
    async with client_kind.open(transport=service.transport, hooks=hooks) as client:
        walker.set("me")
        pages = (await wait(listed(client))).pages(prefetch=True)
        for requests, letters, cursor in [(2, "ab", "c1"), (3, "c", "c2"), (3, "de", None)]:
            page = await step(pages)
            await until(lambda requests=requests: len(service.requests) == requests)
            assert (names(page.data), pages.cursor) == (letters, cursor)
        assert await step(pages) is clients.END
    assert contexts == ["me"] * 3


@pytest.mark.parametrize("is_circular", [False, True])
@asyncio_and_trio
async def test_prefetch_is_cancelled_when_its_loop_is_left(client_kind, is_circular) -> None:
    service, calls = Pages(), []

    async def token() -> str:
        calls.append("asked")
        if len(calls) > 1:
            try:
                await anyio.sleep_forever()
            finally:
                calls.append("cancelled")
        return "t0ken"

    async with client_kind.open(transport=service.transport, token=token) as client:
        loop = [listed(client).items(prefetch=True)]
        if is_circular:
            loop.append(loop)
        await anext(loop[0])
        await until(lambda: len(calls) == 2)
        del loop  # as `break` does
        gc.collect()
        await until(lambda: calls[2:] == ["cancelled"])
    assert len(service.requests) == 1


@asyncio_and_trio
async def test_cancelled_wait_for_a_prefetched_page_can_be_repeated(client_kind) -> None:
    gate = Pages(are_held=True)
    async with client_kind.open(transport=gate.transport) as client:
        pages = (await listed(client)).pages(prefetch=True)
        await anext(pages)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anext(pages)
        assert scope.cancelled_caught
        gate.opened.set()
        assert names((await anext(pages)).data) == "c"
        assert names((await anext(pages)).data) == "de"
    assert len(gate.requests) == 3


@pytest.mark.parametrize("first_loop", ["asyncio", "trio", "stopped", "closed"])
def test_iteration_continues_in_another_event_loop(first_loop) -> None:
    has_begun = first_loop != "stopped"  # which has only scheduled the prefetch
    gate = Pages(are_held=has_begun)
    client = AsyncAdClient(BASE_URL, transport=gate.transport)
    pages = listed(client).pages(prefetch=True)

    async def first() -> str:
        page = await anext(pages)
        await until(lambda: len(gate.requests) == 1 + has_begun)
        return names(page.data)

    async def rest() -> str:
        return "".join([names(page.data) async for page in pages])

    loop, backend = asyncio.new_event_loop(), "trio" if first_loop == "trio" else "asyncio"
    is_left = first_loop in ("stopped", "closed")
    found = loop.run_until_complete(first()) if is_left else anyio.run(first, backend=backend)
    if first_loop == "closed":
        abandon(loop)
    if len(gate.requests) == 2:  # a stopped loop has sent one if it starts tasks eagerly
        gate.answers.insert(0, a_page("c", "c2"))  # the cancelled page is requested again
    gate.opened.set()
    assert found + anyio.run(rest, backend=backend) == "abcde"
    abandon(loop)


def abandon(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):  # which would warn
        task._log_destroy_pending = False
    loop.close()


def test_interrupted_start_of_a_prefetch_loses_no_page(monkeypatch) -> None:
    service = Pages()
    with AdClient(BASE_URL, transport=service.transport) as client:
        pages = listed(client).pages(prefetch=True)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", Mock(side_effect=KeyboardInterrupt))
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    next(pages)
        assert "".join(names(page.data) for page in pages) == "abcde"
    assert len(service.requests) == 3


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="it cannot be interrupted")
def test_page_ahead_is_requested_once_if_the_wait_for_it_is_interrupted() -> None:
    main, begun = threading.get_ident(), list[int]()

    def waits(number: int) -> bool:
        file = sys._current_frames()[main].f_code.co_filename
        return number in begun and file == background.__file__

    def work() -> None:
        SYNC.run(until, fact=lambda: waits(1))
        signal.pthread_kill(main, signal.SIGINT)
        SYNC.run(until, fact=lambda: waits(2))
        service.opened.set()

    service, before = Pages(are_held=True), signal.signal(signal.SIGINT, signal.default_int_handler)
    with AdClient(BASE_URL, transport=service.transport) as client:
        pages = listed(client).pages(prefetch=True)
        found = [next(pages)]
        threading.Thread(target=work).start()
        begun.append(1)
        with pytest.raises(KeyboardInterrupt):
            next(pages)
        begun.append(2)
        assert "".join(names(page.data) for page in [*found, *pages]) == "abcde"
        signal.signal(signal.SIGINT, before)
    assert len(service.requests) == 3


def test_page_is_fetched_on_demand_if_no_thread_can_start(monkeypatch) -> None:
    refuse = Mock(side_effect=RuntimeError("can't start new thread"))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    service = Pages()
    walk = listed(AdClient(BASE_URL, transport=service.transport)).items(prefetch=True)
    assert (next(walk).name, len(service.requests)) == ("a", 1)
    assert names(walk) == "bcde"


@each_case("prefetch", False, True)
@clients.sync_and_async
async def test_end_of_the_callers_iterator_does_not_end_the_listing(client_kind, prefetch) -> None:
    raised = [None, StopIteration() if client_kind is SYNC else StopAsyncIteration()]

    def token() -> str:
        if ended := raised.pop(0) if raised else None:
            raise ended
        return "t"

    async with client_kind.open(transport=Pages().transport, token=token) as client:
        found = (await wait(listed(client))).items(prefetch=prefetch)
        assert names([await step(found), await step(found)]) == "ab"
        with pytest.raises(RuntimeError, match="while a page was fetched"):
            await step(found)
        assert names(await clients.everything(found)) == "cde"


def test_prefetch_cancelled_before_it_started_is_repeated() -> None:
    async def scenario() -> None:
        async with AsyncAdClient(BASE_URL, transport=Pages().transport) as client:
            pages = listed(client).pages(prefetch=True)
            found = names((await anext(pages)).data)
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            assert found + "".join([names(page.data) async for page in pages]) == "abcde"

    asyncio.run(scenario())


# A process ends although requests of a prefetch or of `over_accounts` hang.

PROGRAM = """
import logging, signal, sys, time
import anyio
from adclient import AdClient, AsyncAdClient
logging.getLogger("asyncio").setLevel("ERROR")  # it warns on a slow machine
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
url = sys.argv[1]
ids = ["fast", *(f"slow{number}" for number in range(100))]
def run(place):
    client = AdClient(url)
    for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
        print(account_id, flush=True)
        if place == "body":
            time.sleep(600)
async def run_async(place):
    async with AsyncAdClient(url) as client:
        async for account_id, _ in client.over_accounts(client.beta.list_campaigns, ids, at_once=5):
            print(account_id, flush=True)
            if place == "body":
                await anyio.sleep(600)
for kind in ("sync", "asyncio", "trio"):
    for place in ("body", "step"):
        try:
            run(place) if kind == "sync" else anyio.run(run_async, place, backend=kind)
        except KeyboardInterrupt:
            print("interrupted", kind, place, flush=True)
pages = AdClient(url).beta.list_campaigns(account_id="paged").pages(prefetch=True)
print(*(campaign.name for campaign in next(pages).data), flush=True)
sys.stdin.readline()  # until the server has the request for the next page
"""


def page(next: str) -> bytes:
    item = b'{"id": "x", "name": "x", "status": "s"}'
    return reply(200, b'{"data": [%b], "page": {"next": %b}}' % (item, next.encode()))


@pytest.mark.own
@pytest.mark.no_cover
def test_process_ends_although_requests_hang() -> None:
    def serve(connection) -> None:
        while request := connection.read():
            if b"account_id=fast" in request or b"account_id=paged HTTP" in request:
                connection.send(page('"c1"' if b"paged" in request else "null"))
            else:
                connection.stay_silent()

    async def sent(number: int) -> None:
        await until(lambda: len(server.requests) == number)

    with RawServer(serve) as server:
        process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM, server.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        watchdog = threading.Timer(2 * LONG, process.kill)  # ends what reads its output below
        watchdog.start()
        requests = 0
        with process:
            try:
                for kind in ("sync", "asyncio", "trio"):
                    for place in ("body", "step"):
                        assert process.stdout.readline() == "fast\n"
                        requests += 6 if place == "step" else 5
                        SYNC.run(sent, number=requests)
                        process.send_signal(signal.SIGINT)
                        assert process.stdout.readline() == f"interrupted {kind} {place}\n"
                assert process.stdout.readline() == "x\n"
                SYNC.run(sent, number=requests + 2)
                # A request takes up to 30 seconds.
                assert process.communicate("\n", timeout=LONG) == ("", "")
            finally:
                watchdog.cancel()
                process.kill()
    assert process.returncode == 0
    assert len(server.requests) == requests + 2
