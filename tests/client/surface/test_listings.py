"""Pages, listings and the walks over them, in both clients."""

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
from clients import ASYNC, BASE_URL, Service, a_page, drain, names, step, sync_and_async, wait, walk

import adclient
from adclient import AdClientError, AsyncPage, Campaign, Items, PaginationError, ServerError


def listed(client, **arguments):
    return client.beta.list_campaigns(**{"account_id": "a", **arguments})


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
    service = Service(
        a_page("ab", "c1"), *faults, a_page("cd", "c2"), a_page("", "c3"), a_page("e")
    )
    async with client_kind.open(transport=service.transport, max_retries=0) as client:
        iterator, found = (await wait(listed(client))).items(prefetch=prefetch), []
        for _ in faults:
            with pytest.raises(ServerError) as caught:
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
        assert b"by_field" not in pickle.dumps(page)
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
    client = ASYNC.client(BASE_URL, transport=service.transport)
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
    client = ASYNC.client(BASE_URL, transport=service.transport)
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
