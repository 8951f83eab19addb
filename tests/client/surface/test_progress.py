"""The progress bar of a listing: what it shows, and that it ends with the iteration."""

import io
import sys
from types import SimpleNamespace

import httpx
import pytest
from cases import each_case
from clients import Service, a_page, close, everything, listed, step, sync_and_async, wait, walk

from adclient import AdClient, Campaign, Page
from adclient._show import progress


class Terminal(io.StringIO):
    """Standard error, and the lines that are left on it."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        return [line.rpartition("\r")[2] for line in self.getvalue().split("\n")[:-1]]


@pytest.fixture
def terminal(monkeypatch) -> Terminal:
    terminal = Terminal()
    seen = SimpleNamespace(stderr=terminal, modules=sys.modules)  # pytest sets its own in `sys`
    monkeypatch.setattr(progress, "sys", seen)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0))
    monkeypatch.setattr(progress, "_BETWEEN", 0)
    return terminal


def pages() -> Service:
    return Service(a_page("ab", "c1"), a_page("c", "c2"), a_page("de"))


WALKS = {
    "items": everything,
    "pages": lambda listing: everything(listing.pages()),
    "collect": lambda listing: wait(listing.collect()),
    "typed": lambda listing: everything(listing.typed(Campaign)),
}


@pytest.mark.parametrize("way", WALKS)
@sync_and_async
async def test_bar_counts_pages_and_items(client_kind, way, terminal) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        walked = await WALKS[way](listed(client).progress())
    assert len(walked) == {"pages": 3}.get(way, 5)
    assert terminal.lines == ["beta.list_campaigns: 5 items, 3 pages, 0:00"]
    assert "\rbeta.list_campaigns: 2 items, 1 page, 0:00" in f"\r{terminal.getvalue()}"


@sync_and_async
async def test_only_the_page_that_progress_returned_has_a_bar(client_kind, terminal) -> None:
    async with client_kind.open(transport=pages().transport) as client:
        page = await wait(listed(client))
        shown = page.progress()
        assert shown == page
        assert type(shown) is type(page)
        await wait(page.collect(limit=1))
        assert list(Page(data=(1,)).progress()) == [1]  # a page without a client
        assert terminal.getvalue() == ""
        assert len(await wait(shown.collect(limit=3))) == 3
        assert terminal.lines == ["beta.list_campaigns: 3 items, 2 pages, 0:00"]
        walked = walk(shown)
        await step(walked)
        assert not terminal.getvalue().endswith("\n")
        del walked  # as a loop does that is left
        assert terminal.lines[1:] == ["beta.list_campaigns: 2 items, 1 page, 0:00"]


def accounts_page(request: httpx.Request) -> httpx.Response:
    return httpx.Response(404) if "bad" in str(request.url) else a_page("ab")


@sync_and_async
async def test_bar_of_accounts_counts_the_failed_ones(client_kind, terminal) -> None:
    async with client_kind.open(transport=httpx.MockTransport(accounts_page)) as client:
        for kind in (list, iter):  # of the second, the total is unknown
            read, ids = client.beta.list_campaigns, kind(["a", "bad1", "b", "bad2"])
            assert len(await everything(client.over_accounts(read, ids, progress=True))) == 4
        walked = walk(client.over_accounts(read, ["a", "b", "c"], progress=True))
        await step(walked)
        await close(walked)
    known, unknown, left = terminal.lines
    assert known == f"over_accounts: 4 of 4 accounts, 2 failed, 0:00 [{'#' * 20}]"
    assert unknown == "over_accounts: 4 accounts, 2 failed, 0:00"
    assert left == f"over_accounts: 1 of 3 accounts, 0:00 [{'######':.<20}]"


@each_case("stderr", None, io.StringIO())
def test_without_a_terminal_only_the_end_is_written(stderr, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", stderr)
    client = AdClient("https://ads.example.com", transport=pages().transport)
    assert len(list(client.beta.list_campaigns(account_id="a").progress())) == 5
    if stderr is not None:
        assert stderr.getvalue().startswith("beta.list_campaigns: 5 items, 3 pages, ")
        assert len(stderr.getvalue().splitlines()) == 1


def test_notebook_keeps_the_end_of_the_bar(monkeypatch, terminal) -> None:
    def display(bundle, **_) -> SimpleNamespace:
        shown.append([bundle["text/html"]])
        return SimpleNamespace(update=lambda bundle, raw: shown[-1].append(bundle["text/html"]))

    shown = []
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    service = Service(*pages().answers, a_page("a"), a_page("b"))
    client = AdClient("https://ads.example.com", transport=service.transport)
    read = client.beta.list_campaigns
    assert len(list(read(account_id="a").progress())) == 5
    assert len(list(client.over_accounts(read, ["a", "b"], progress=True))) == 2
    listing, accounts = shown
    bar = '<progress aria-label="beta.list_campaigns"></progress> '
    assert listing[0] == f"{bar}beta.list_campaigns: 2 items, 1 page, 0:00"
    assert listing[-1] == "beta.list_campaigns: 5 items, 3 pages, 0:00"
    bar = '<progress aria-label="over_accounts" value="2" max="2"></progress> '
    assert accounts[-1].startswith(f"{bar}over_accounts: 2 of 2 accounts")
    assert terminal.getvalue() == ""
