"""The progress bar of a listing: what it shows, and that it ends with the iteration."""

import gc
import io
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import tqdm.auto
from clients import (
    Service,
    a_page,
    close,
    everything,
    step,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    walk,
)

from adclient import AdClient, Campaign, ConnectionFailed, Page, RetryPolicy


class Bars:
    """All bars that were drawn, and what they wrote."""

    def __init__(self) -> None:
        self.made: list[tqdm.auto.tqdm] = []
        self.file = io.StringIO()

    @property
    def last(self) -> str:
        return self.file.getvalue().replace("\r", "\n").strip().splitlines()[-1]

    @property
    def counts(self) -> set[tuple[str, str]]:
        """The counts of items and pages that stood beside each other."""
        return set(re.findall(r"(\d+) items [^\r]*pages: (\d+)", self.file.getvalue()))

    @property
    def all_ended(self) -> bool:
        gc.collect()
        return not tqdm.auto.tqdm._instances


@pytest.fixture
def bars(monkeypatch) -> Bars:
    bars = Bars()

    class Bar(tqdm.auto.tqdm):
        monitor_interval = 0

        def __init__(self, **arguments) -> None:
            super().__init__(**arguments, file=bars.file, mininterval=0)
            bars.made.append(arguments)

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    return bars


def pages() -> Service:
    return Service(a_page("ab", "c1"), a_page("c", "c2"), a_page("de"))


async def listed(client):
    """Of the async client the listing itself, which has a bar of its own."""
    return client.beta.list_campaigns(account_id="a")


WALKS = {
    "items": everything,
    "pages": lambda listing: everything(listing.pages()),
    "collect": lambda listing: wait(listing.collect()),
    "typed": lambda listing: everything(listing.typed(Campaign)),
}


@pytest.mark.parametrize("way", WALKS)
@sync_and_async
async def test_bar_counts_pages_and_items(client_kind, way, bars) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        walked = await WALKS[way]((await listed(client)).progress())
    assert len(walked) == {"pages": 3}.get(way, 5)
    assert bars.last.startswith("beta.list_campaigns: 5 items [")
    assert "items/s" in bars.last
    assert "pages: 3" in bars.last
    assert bars.counts <= {("2", "1"), ("3", "2"), ("5", "3")}
    assert len(bars.made) == 1
    assert bars.made[0]["dynamic_ncols"]  # a terminal may change its width
    assert bars.all_ended


@sync_and_async
async def test_only_the_page_that_progress_returned_has_a_bar(client_kind, bars) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        page = await wait(await listed(client))
        shown = page.progress()
        assert shown == page
        assert type(shown) is type(page)
        await wait(page.collect(limit=1))
        assert list(Page(data=(1,)).progress()) == [1]  # a page without a client
        assert bars.made == []
        await everything(shown)
        assert "5 items" in bars.last
    assert len(bars.made) == 1


@sync_asyncio_trio
async def test_abandoned_loop_closes_its_bar(client_kind, bars) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        walked = walk((await listed(client)).progress())
        await step(walked)
        assert not bars.all_ended
        del walked
        assert bars.all_ended
        assert "pages: 1" in bars.last
        assert len(await wait((await listed(client)).progress().collect(limit=3))) == 3
    assert bars.all_ended
    assert "pages: 2" in bars.last


def accounts_page(request: httpx.Request) -> httpx.Response:
    return httpx.Response(404) if "bad" in str(request.url) else a_page("ab")


@pytest.mark.parametrize("kind", [list, iter], ids=["known", "unknown total"])
@sync_and_async
async def test_bar_of_accounts_counts_the_failed_ones(client_kind, kind, bars) -> None:
    transport = httpx.MockTransport(accounts_page)
    async with client_kind.open(transport=transport) as client:
        read = client.beta.list_campaigns
        walked = walk(client.over_accounts(read, kind(["a", "bad1", "b", "bad2"]), progress=True))
        assert len(await everything(walked)) == 4
    assert "failed: 2" in bars.last
    assert ("accounts: 100%" in bars.last) is ("4/4" in bars.last) is (kind is list)
    assert bars.all_ended


@sync_and_async
async def test_bar_of_accounts_ends_with_the_iteration(client_kind, bars) -> None:
    async with client_kind.open(transport=httpx.MockTransport(accounts_page)) as client:
        read = client.beta.list_campaigns
        walked = walk(client.over_accounts(read, ["a", "b", "c"], progress=True))
        await step(walked)
        assert not bars.all_ended
        await close(walked)
        assert bars.all_ended
    assert "1/3" in bars.last


def test_program_without_stderr_runs_without_a_bar(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    client = AdClient("https://ads.example.com", transport=pages().transport)
    assert len(list(client.beta.list_campaigns(account_id="a").progress())) == 5


def failing_once(error: BaseException) -> httpx.MockTransport:
    """Three pages, of which the second comes at the second try."""
    service, calls = pages(), []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        if len(calls) == 2:
            raise error
        return service._answer(request)

    return httpx.MockTransport(answer)


@sync_and_async
async def test_error_closes_the_bar_and_iteration_can_continue(client_kind, bars) -> None:
    transport = failing_once(httpx.ConnectError("cut"))
    async with client_kind.open(transport=transport, retry=RetryPolicy(max_retries=0)) as client:
        walked = walk((await listed(client)).progress().pages())
        await step(walked)
        with pytest.raises(ConnectionFailed):
            await step(walked)
        assert bars.all_ended
        await step(walked)
        assert "3 items" in bars.last
        assert "pages: 2" in bars.last
        await step(walked)
        await step(walked)
    assert "5 items" in bars.last
    assert len(bars.made) == 2
    assert bars.all_ended


def test_interrupt_closes_the_bar(bars) -> None:
    client = AdClient("https://ads.example.com", transport=failing_once(KeyboardInterrupt()))
    walked = iter(client.beta.list_campaigns(account_id="a").progress())
    with pytest.raises(KeyboardInterrupt):
        list(walked)
    assert bars.all_ended
    assert len(list(walked)) == 3
    assert "5 items" in bars.last


@sync_and_async
async def test_missing_tqdm_is_named_at_once(client_kind, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "tqdm.auto")
    monkeypatch.setitem(sys.modules, "tqdm", None)
    async with client_kind.open(transport=pages().transport) as client:
        listing = await listed(client)
        with pytest.raises(ModuleNotFoundError) as caught:
            listing.progress()
        with pytest.raises(ModuleNotFoundError, match="this needs tqdm"):
            client.over_accounts(client.beta.list_campaigns, ["a"], progress=True)
    install = "pip install 'adclient[notebook]', or '.[notebook]' in a checkout"
    assert str(caught.value) == f"this needs tqdm: {install}"


class BrokenStream(io.StringIO):
    """Standard error that takes so many writes, and then fails as a closed pipe."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.writes = writes

    def write(self, text: str) -> int:
        self.writes -= 1
        if self.writes < 0:
            raise BrokenPipeError(32, "Broken pipe")
        return super().write(text)


def is_lock_free() -> bool:
    """Whether other threads can draw their bars."""
    lock = tqdm.auto.tqdm.get_lock().th_lock
    if is_free := lock.acquire(blocking=False):
        lock.release()
    return is_free


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("writes", range(6))
@sync_and_async
async def test_bar_that_cannot_be_drawn_is_dropped(client_kind, writes, bars) -> None:
    bars.file = BrokenStream(writes)
    async with client_kind.open(transport=pages().transport) as client:
        assert len(await everything((await listed(client)).progress())) == 5
    assert bars.file.writes < 0
    assert bars.all_ended
    with ThreadPoolExecutor() as pool:
        assert pool.submit(is_lock_free).result()
