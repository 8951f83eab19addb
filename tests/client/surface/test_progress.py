"""The progress bar of a listing: what it shows, and that it ends with the iteration."""

import gc
import io
import re
import sys

import httpx
import pytest
import tqdm.auto
from clients import Service, a_page, close, everything, step, sync_and_async, wait, walk

from adclient import AdClient, Campaign, Page


class Bars:
    """All bars that were drawn, and what they wrote."""

    def __init__(self) -> None:
        self.made: list[dict] = []
        self.file = io.StringIO()

    @property
    def last(self) -> str:
        return self.file.getvalue().replace("\r", "\n").strip().splitlines()[-1]

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


def listed(client):
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
        walked = await WALKS[way](listed(client).progress())
    assert len(walked) == {"pages": 3}.get(way, 5)
    assert bars.last.startswith("beta.list_campaigns: 5 items [")
    assert "items/s" in bars.last
    assert "pages: 3" in bars.last
    counts = set(re.findall(r"(\d+) items [^\r]*pages: (\d+)", bars.file.getvalue()))
    assert counts <= {("2", "1"), ("3", "2"), ("5", "3")}
    assert len(bars.made) == 1
    assert bars.made[0]["dynamic_ncols"]  # a terminal may change its width
    assert bars.all_ended


@sync_and_async
async def test_only_the_page_that_progress_returned_has_a_bar(client_kind, bars) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        page = await wait(listed(client))
        shown = page.progress()
        assert shown == page
        assert type(shown) is type(page)
        await wait(page.collect(limit=1))
        assert list(Page(data=(1,)).progress()) == [1]  # a page without a client
        assert bars.made == []
        assert len(await wait(shown.collect(limit=3))) == 3
        assert "pages: 2" in bars.last
        walked = walk(shown)
        await step(walked)
        assert not bars.all_ended
        del walked  # as a loop does that is left
        assert bars.all_ended
        assert "pages: 1" in bars.last
    assert len(bars.made) == 2


def accounts_page(request: httpx.Request) -> httpx.Response:
    return httpx.Response(404) if "bad" in str(request.url) else a_page("ab")


@sync_and_async
async def test_bar_of_accounts_counts_the_failed_ones(client_kind, bars) -> None:
    async with client_kind.open(transport=httpx.MockTransport(accounts_page)) as client:
        for kind in (list, iter):  # of the second, the total is unknown
            read, ids = client.beta.list_campaigns, kind(["a", "bad1", "b", "bad2"])
            assert len(await everything(client.over_accounts(read, ids, progress=True))) == 4
            assert "failed: 2" in bars.last
            assert ("accounts: 100%" in bars.last) is ("4/4" in bars.last) is (kind is list)
            assert bars.all_ended
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


@sync_and_async
async def test_missing_tqdm_is_named_at_once(client_kind, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "tqdm.auto")
    monkeypatch.setitem(sys.modules, "tqdm", None)
    async with client_kind.open(transport=pages().transport) as client:
        listing = listed(client)
        with pytest.raises(ModuleNotFoundError) as caught:
            listing.progress()
        with pytest.raises(ModuleNotFoundError, match="this needs tqdm"):
            client.over_accounts(client.beta.list_campaigns, ["a"], progress=True)
    install = "pip install 'adclient[notebook]', or '.[notebook]' in a checkout"
    assert str(caught.value) == f"this needs tqdm: {install}"
