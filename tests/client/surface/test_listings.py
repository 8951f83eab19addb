"""Pages, listings and the walks over them, how they continue, and how they end."""

import asyncio
import copy
import gc
import json
import pickle
import warnings

import clients
import httpx
import pytest
from cases import each_case
from clients import Service, a_page, drain, listed, names, step, sync_and_async, wait, walk
from raw_server import Connection, RawServer, reply

import adclient
from adclient import AdClientError, AsyncPage, Campaign, Conventions, Items, PaginationError
from adclient.conventions import query_of_url


def three_pages() -> list[httpx.Response]:
    return [a_page("ab", "c1"), a_page("c", "c2"), a_page("de")]


@sync_and_async
async def test_page_iterates_over_all_items_and_pages(client_kind) -> None:
    service = Service(*three_pages(), *three_pages()[1:])
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        walked, found = walk(page), []
        while (item := await step(walked)) is not clients.END:
            found.append((item.name, walked.cursor))
        pages = await clients.everything(page.pages())
    assert found == [("a", "c1"), ("b", "c1"), ("c", "c2"), ("d", None), ("e", None)]
    assert [names(page.data) for page in pages] == ["ab", "c", "de"]
    assert pages[0] is page
    assert service.queries[0] == "account_id=a"
    assert service.queries[1:] == ["account_id=a&cursor=c1", "account_id=a&cursor=c2"] * 2


@each_case("prefetch", False, True)
@clients.sync_asyncio_trio
async def test_iteration_after_errors_returns_every_item_once(client_kind, prefetch) -> None:
    faults = [httpx.Response(500, json={"error": "down"}) for _ in range(3)]
    later = a_page("cd", "c2"), a_page("", "c3"), a_page("e")
    service = Service(a_page("ab", "c1"), *faults, *later)
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        iterator, found = (await wait(listed(client))).items(prefetch=prefetch), []
        for _ in faults:
            with pytest.raises(adclient.ServerError) as caught:
                await drain(iterator, found)
            assert caught.value.cursor == iterator.cursor == "c1"
        await drain(iterator, found)
    assert names(found) == "abcde"
    assert iterator.cursor is None


@each_case(("next", "prefetch"), (r'"x\ud83d"', False), (r'{"after": ["\udc80"]}', True))
@sync_and_async
async def test_items_before_a_bad_continuation_are_returned(client_kind, next, prefetch) -> None:
    last = {"data": [clients.an_item("c")], "page": {"next": json.loads(next)}}
    pages = a_page("ab", "c1"), httpx.Response(200, content=json.dumps(last))
    service = Service(*pages * 2)
    async with client_kind.open(transport=service.transport) as client:
        walked = walk((await wait(listed(client))).items(prefetch=prefetch))
        assert names([await step(walked) for _ in range(3)]) == "abc"
        for _ in range(2):
            with pytest.raises(PaginationError, match=r"cannot be sent.*lone surrogate") as caught:
                await step(walked)
            assert caught.value.cursor == walked.cursor == json.loads(next)
        assert len(service.requests) == 2
        assert names(await wait((await wait(listed(client))).collect(limit=3))) == "abc"


@sync_and_async
async def test_collect_returns_at_most_limit_items(client_kind) -> None:
    for limit, requests in [(0, 1), (1, 1), (2, 1), (3, 2), (5, 3), (None, 3)]:
        service = Service(*three_pages())
        async with client_kind.open(transport=service.transport) as client:
            page = await wait(listed(client))
            found = await wait(page.collect(limit=limit))
            assert isinstance(found, Items)
            assert names(found) == "abcde"[:limit]
            for wrong in (-1, 1.5, "2", True):
                with pytest.raises(adclient.InvalidRequest) as caught:
                    await wait(page.collect(limit=wrong))
                assert caught.value.argument == "limit"
        assert len(service.requests) == requests


@sync_and_async
async def test_repr_and_equality_of_a_page_send_nothing(client_kind) -> None:
    service = Service(a_page("ab", "c1"), a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport) as client:
        page, other = await wait(listed(client)), await wait(listed(client))
        assert page == other
        assert hash(page) == hash(other)
        assert "<table" in page._repr_html_()
        assert names(list(page.data)) == names(page.data[-2:]) == "ab"
        assert page.data[1] is page.data[1]
        assert [*reversed(page.data)] == [*other.data][::-1] != [*other.data]
        assert b"ByField" not in pickle.dumps(page)
        assert page.to_dict()["page"] == {"next": "c1"}
        assert page.pages().cursor == walk(page).cursor == "c1"
        for shown in (page, page.pages(), walk(page)):
            assert "c1" in repr(shown)
        for name in dir(page):
            getattr(page, name)
        with pytest.raises(TypeError):
            len(page)
        assert page
    assert len(service.requests) == 2


@each_case("made", lambda page: pickle.loads(pickle.dumps(page, 0)), copy.copy, copy.deepcopy)
@sync_and_async
async def test_copied_page_keeps_its_data_and_cannot_fetch(client_kind, made) -> None:
    service = Service(a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport, token="t0ken") as client:
        page = await wait(listed(client))
    assert b"t0ken" not in pickle.dumps(page)
    kept = made(page)
    assert kept == page
    assert kept.response == page.response
    assert kept.to_dict() == page.to_dict()
    for each, problem in ((kept, r"cursor=page\.next"), (page, "closed")):
        iterator, found = walk(each), []
        with pytest.raises(AdClientError, match=problem) as caught:
            await drain(iterator, found)
        assert names(found) == "ab"
        assert isinstance(caught.value, PaginationError) is (each is kept)
        assert caught.value.cursor == iterator.cursor == "c1"


# The listing that a method of the async client returns.


@clients.asyncio_and_trio
async def test_listing_is_read_with_and_without_await(client_kind) -> None:
    service = Service(*three_pages() * 4)
    async with client_kind.open(transport=service.transport) as client:
        listing = listed(client, cursor="c0")
        assert names([item async for item in listing]) == "abcde"
        assert [names(page.data) async for page in listing.pages()] == ["ab", "c", "de"]
        assert names(await listing.collect()) == "abcde"
        assert await listed(client).collect(limit=0) == []
        assert len(service.requests) == 9
        page = await listing
        assert isinstance(page, AsyncPage)
        assert names(page.data) == "ab"
    assert service.queries[::3] == ["account_id=a&cursor=c0"] * 4


def test_unused_listing_sends_nothing_and_warns() -> None:
    service = Service()
    client = clients.ASYNC.client(clients.BASE_URL, transport=service.transport)
    listing = listed(client, cursor="c1")
    assert "beta.list_campaigns" in repr(listing)
    assert "c1" in repr(listing)
    aiter(listing)
    listing.pages()
    listing.typed(Campaign).close()
    for unused in (lambda: listed(client), lambda: listing.typed(Campaign)):
        with pytest.warns(RuntimeWarning, match=r"'beta\.list_\w+' was never awaited"):
            unused()
    assert service.requests == []


def test_listing_that_was_not_awaited_explains_what_it_is() -> None:
    service = Service(*[a_page("a", "c1")] * 2)
    client = clients.ASYNC.client(clients.BASE_URL, transport=service.transport)
    listing = listed(client)
    with pytest.raises(TypeError, match="use `async for`, or `await`"):
        [each for each in listing]  # noqa: C416  the loop is what is tested
    for name in ("data", "next"):
        with pytest.raises(AttributeError, match=rf"use `await`, .* `\(await listing\)\.{name}`"):
            getattr(listing, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'dta'$"):
        listing.dta  # noqa: B018  the access is what is tested
    with warnings.catch_warnings(record=True) as warned:
        for made in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="coroutine and cannot be pickled or copied"):
                made(listing)
        gc.collect()
    assert warned == []

    async def gathered() -> list[AsyncPage]:
        return await asyncio.gather(listing, asyncio.create_task(listed(client)))

    for page in asyncio.run(gathered()):
        assert (names(page.data), page.next) == ("a", "c1")


# How a listing continues and ends; the clients share the code that decides it.

PATH = "/prefix/v1/beta-ads/list-beta-campaigns"


def pages_of(service: Service, **conventions):
    """The iterator over all pages, of the sync client."""
    options = {"transport": service.transport, "conventions": Conventions(**conventions)}
    return listed(clients.SYNC.client(clients.BASE_URL, **options)).pages()


def items_of(pages) -> list:
    return [item for page in pages for item in page.data]


def refused(pages, match: str, error: type = PaginationError) -> tuple[str, AdClientError]:
    """The names of all items up to an error, and the error."""
    found = []
    with pytest.raises(error, match=match) as caught:
        clients.SYNC.run(drain, iterator=pages, found=found)
    return names(items_of(found)), caught.value


# `%7e`, `+`, a name without a value, an empty pair, brackets: each could be written otherwise.
SIGNED = "sig=%7ea+b%2fc&flag&&page[after]=x&account_id=a&q='{}|^`\\!$()*,;:@/?~"


@pytest.mark.parametrize("library", ["own", "httpx"])
@sync_and_async
async def test_query_of_a_next_url_is_sent_byte_for_byte(client_kind, library) -> None:
    url = f"{PATH}?{SIGNED}#top" if library == "own" else f"?{SIGNED}"
    pages = [a_page("a", url).content, a_page("b").content]

    def serve(connection: Connection) -> None:
        while connection.read():
            connection.send(reply(200, pages.pop(0)))

    theirs = {"http_client": client_kind.http_client()} if library == "httpx" else {}
    with RawServer(serve) as server:
        async with client_kind.open(f"{server.url}/prefix", **theirs) as client:
            await clients.everything(await wait(listed(client)))
        for each in theirs.values():
            await clients.close(each)
    assert server.requests[1].split(b" ")[1].decode() == f"{PATH}?{SIGNED}"


ENDS = {"missing": {}, "empty": {"next": ""}, "false": {"next": False}, "null": {"next": None}}


@each_case("end", *ENDS)
def test_only_the_end_of_the_conventions_ends_a_listing(end) -> None:
    """Whatever else may be an end is an error, after the pages before it."""
    for sent, last in ENDS.items():
        body = {"data": [clients.an_item("b")], "page": last}
        service = Service(a_page("a", "c1"), httpx.Response(200, json=body))
        pages = pages_of(service, reads={"beta.list_campaigns": {"end_of_listing": end}})
        if sent in (end, "null"):
            found = list(pages)
            assert names(items_of(found)) == "ab"
            assert found[-1].next is None
            assert found[-1].to_dict()["page"] == {"next": None}
        else:
            problem = rf"next: {sent}; .*end_of_listing='{sent}'"
            assert refused(pages, problem, adclient.UnexpectedResponse)[0] == "a"


# Of the caller.
INTERNAL = "http://ads-internal:8080/v1/ads?Account.ID=z&targeting[a]=b&after=x%20y&limit=2"


@each_case("next", INTERNAL, {"first": "http://ads-internal/v1/ads?page=1", "next": INTERNAL})
def test_query_of_a_foreign_url_continues_at_the_own_address(next) -> None:
    service = Service(a_page("a", next), a_page("b"))
    assert names(items_of(pages_of(service, continuation=query_of_url))) == "ab"
    assert service.queries[1] == "account_id=a&after=x%20y&limit=2"
    assert service.requests[1].url.host == "ads.example.com"


@each_case("next", "x7", {"a": "/ads?x=1", "b": "/ads?x=2"})
def test_continuation_without_one_query_is_not_sent(next) -> None:
    pages = pages_of(Service(a_page("a", next)), continuation=query_of_url)
    found, error = refused(pages, "the next is ")
    assert (found, error.operation, error.cursor) == ("a", "beta.list_campaigns", next)


# Listings that would never end, or cannot be continued.


@sync_and_async
async def test_same_items_under_new_continuations_raise_pagination_error(client_kind) -> None:
    """A service that does not know our parameter may return page one with a new token."""
    service = Service(*(a_page("abc", f"t{n}") for n in range(3)))
    async with client_kind.open(transport=service.transport) as client:
        pages, found = (await wait(listed(client))).pages(), []
        for _ in range(2):  # also if the caller tries again
            with pytest.raises(PaginationError, match=r"same 3 .*\(cursor_parameter") as caught:
                await drain(pages, found)
            assert caught.value.cursor == pages.cursor == "t0"
    assert names(items_of(found)) == "abc"
