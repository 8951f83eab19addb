"""Pages and the walks over them, in both clients."""

import asyncio
import copy
import functools
import gc
import json
import pickle
import warnings
from collections.abc import Coroutine
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
import trio
from cases import each_case
from clients import (
    ASYNC,
    BASE_URL,
    END,
    TRIO,
    Service,
    a_page,
    an_item,
    asyncio_and_trio,
    close,
    drain,
    everything,
    step,
    sync_and_async,
    sync_asyncio_trio,
    wait,
    walk,
)
from raw_server import Connection, RawServer, reply

from adclient import (
    AdClientError,
    AsyncListing,
    AsyncPage,
    Campaign,
    ConfigurationError,
    ConnectionFailed,
    Conventions,
    InvalidRequest,
    Items,
    PaginationError,
    RetryPolicy,
    ServerError,
    UnexpectedResponse,
)
from adclient.conventions import query_of_url

PATH = "/prefix/v1/beta-ads/list-beta-campaigns"


def listed(client, **arguments):
    return client.beta.list_campaigns(**{"account_id": "a", **arguments})


@asynccontextmanager
async def first_page(client_kind, service: Service, **arguments):
    """The first page of a listing, while its client is open."""
    async with client_kind.open(transport=service.transport) as client:
        yield await wait(listed(client, **arguments))


def names(items) -> str:
    return "".join(item.name for item in items)


def cut(reason: str = "reset") -> Exception:
    return httpx.ConnectError(reason)


@pytest.fixture
def three_pages() -> Service:
    return Service(a_page("ab", "c1"), a_page("c", "c2"), a_page("de"))


@sync_and_async
async def test_iterating_over_a_page_fetches_every_page(client_kind, three_pages) -> None:
    async with first_page(client_kind, three_pages) as page:
        assert names(await everything(page)) == "abcde"
    assert three_pages.queries == [
        "account_id=a",
        "account_id=a&cursor=c1",
        "account_id=a&cursor=c2",
    ]


@sync_and_async
async def test_pages_iterates_page_by_page(client_kind, three_pages) -> None:
    async with first_page(client_kind, three_pages) as page:
        pages = await everything(page.pages())
    assert [names(page.data) for page in pages] == ["ab", "c", "de"]
    assert pages[0] is page


# The kinds of continuation.

ENDPOINT = "https://ads.example.com" + PATH
CONTINUATIONS = {
    "text": ("a b&c=1", "account_id=a&cursor=a%20b%26c%3D1"),
    "number": (2, "account_id=a&cursor=2"),
    "zero": (0, "account_id=a&cursor=0"),
    "object": (
        {"after": "x", "n": 2},
        "account_id=a&cursor=%7B%22after%22%3A%22x%22%2C%22n%22%3A2%7D",
    ),
    "array": (["x", 2], "account_id=a&cursor=%5B%22x%22%2C2%5D"),
    "absolute URL": (f"{ENDPOINT}?account_id=a&page=2", "account_id=a&page=2"),
    "URL without the filters": (f"{ENDPOINT}?page=2", "account_id=a&page=2"),
    "URL with the port": (
        f"https://ads.example.com:443{PATH}?account_id=a&page=2",
        "account_id=a&page=2",
    ),
    "relative URL": (f"{PATH}?account_id=a&page=2", "account_id=a&page=2"),
    "query": ("?account_id=a&page=2", "account_id=a&page=2"),
    "token": ("?abc", "account_id=a&cursor=%3Fabc"),
    "token with padding": ("a?b/c==", "account_id=a&cursor=a%3Fb%2Fc%3D%3D"),
    "token of slashes": ("//a/b?c=d", "account_id=a&cursor=%2F%2Fa%2Fb%3Fc%3Dd"),
    "token like another path": ("/v1/x?page=2", "account_id=a&cursor=%2Fv1%2Fx%3Fpage%3D2"),
    "token like a URL": ("ab:c?d=e", "account_id=a&cursor=ab%3Ac%3Fd%3De"),
    "token like no pair": ("?=abc", "account_id=a&cursor=%3F%3Dabc"),
}


@pytest.mark.parametrize(("next", "query"), list(CONTINUATIONS.values()), ids=list(CONTINUATIONS))
@sync_and_async
async def test_continuation_is_sent_back_by_its_kind(client_kind, next, query) -> None:
    service = Service(a_page("a", next), a_page("b"), a_page("b"))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        assert page.next == next
        assert type(page.next) is type(next)
        assert names(await everything(page)) == "ab"
        kept = json.loads(json.dumps(next))  # such as in a file
        assert names(await everything(await wait(listed(client, cursor=kept)))) == "b"
    assert service.queries == ["account_id=a", query, query]
    assert service.requests[1].url.path == PATH
    assert service.requests[1].url.host == "ads.example.com"


NO_NEXT = object()
ENDS = {"missing": NO_NEXT, "empty": "", "false": False, "null": None}


@pytest.mark.parametrize("end", ENDS)
@sync_and_async
async def test_only_the_end_of_the_conventions_ends_a_listing(client_kind, end) -> None:
    """Whatever else may be an end is an error, after the items before it."""
    for sent in ENDS:
        last = {"next": ENDS[sent]} if ENDS[sent] is not NO_NEXT else {}
        body = {"data": [an_item("b")], "page": last}
        service = Service(a_page("a", "c1"), httpx.Response(200, json=body))
        conventions = Conventions(reads={"beta.list_campaigns": {"end_of_listing": end}})
        async with client_kind.open(transport=service.transport, conventions=conventions) as client:
            pages, found = (await wait(listed(client))).pages(), []
            if sent in (end, "null"):
                await drain(pages, found)
                assert found[-1].next is None
                assert found[-1].to_dict()["page"] == {"next": None}
            else:
                with pytest.raises(AdClientError, match=f"end_of_listing='{sent}'") as caught:
                    await drain(pages, found)
                assert type(caught.value) in (PaginationError, UnexpectedResponse)
        # A page without `next` has not the documented shape; one that cannot be continued has.
        is_refused = sent == "missing" != end
        assert "".join(names(page.data) for page in found) == ("a" if is_refused else "ab")


@sync_and_async
async def test_read_with_its_own_conventions_follows_them_and_others_do_not(client_kind) -> None:
    conventions = Conventions(
        cursor_parameter="token",
        reads={"gamma.list_ads": {"read_parameters": "body", "cursor_parameter": "page"}},
    )
    service = Service(*[a_page("a", 2), a_page("b")] * 2)
    async with client_kind.open(transport=service.transport, conventions=conventions) as client:
        await everything(await wait(listed(client)))
        await everything(await wait(client.gamma.list_ads(account_id="a")))
    assert service.queries == ["account_id=a", "account_id=a&token=2", "", ""]
    assert json.loads(service.requests[-1].content) == {"account_id": "a", "page": 2}


INTERNAL = "http://ads-internal:8080/v1/ads?account_id=z&targeting[a]=b&after=x%20y&limit=2"


FIRST = "http://ads-internal/v1/ads?page=1"


@pytest.mark.parametrize(
    "next",
    [
        INTERNAL,
        {"href": INTERNAL},
        {"rel": "next", "url": INTERNAL},
        {"first": FIRST, "prev": None, "next": INTERNAL},
        {"link": INTERNAL, "title": "Next"},
    ],
)
@sync_and_async
async def test_query_of_a_foreign_url_continues_at_the_own_address(client_kind, next) -> None:
    service = Service(a_page("a", next), a_page("b"))
    conventions = Conventions(continuation=query_of_url)
    async with client_kind.open(transport=service.transport, conventions=conventions) as client:
        assert names(await everything(await wait(listed(client)))) == "ab"
    assert service.queries[1] == "account_id=a&after=x%20y&limit=2"
    assert service.requests[1].url.host == "ads.example.com"


@each_case("next", ["token", 5, {"href": "/v1/ads"}, ["/v1?a=b"], {}, "http://[x?y=1"])
def test_query_of_what_is_no_url_is_an_error(next) -> None:
    with pytest.raises(PaginationError, match="neither a URL with a query") as caught:
        query_of_url(next)
    assert caught.value.cursor == next


def test_query_of_one_of_several_urls_is_an_error() -> None:
    with pytest.raises(PaginationError, match="several URLs"):
        query_of_url({"first": FIRST, "last": INTERNAL})


@sync_and_async
async def test_error_of_a_continuation_names_the_operation(client_kind) -> None:
    service = Service(a_page("a", "http://[x?y=1"))
    conventions = Conventions(continuation=query_of_url)
    async with client_kind.open(transport=service.transport, conventions=conventions) as client:
        with pytest.raises(PaginationError) as caught:
            await everything(await wait(client.gamma.list_ads(account_id="a")))
    assert str(caught.value).startswith("gamma.list_ads: the continuation is neither a URL")
    assert (caught.value.operation, caught.value.cursor) == ("gamma.list_ads", "http://[x?y=1")


# `%7e`, `+`, a name without a value, an empty pair, brackets: each could be written otherwise.
SIGNED = "sig=%7ea+b%2fc&flag&&page[after]=x&account_id=a&q='{}|^`\\!$()*,;:@/?~"


@pytest.mark.parametrize("url", [f"{PATH}?{SIGNED}", f"?{SIGNED}", f"{PATH}?{SIGNED}#top"])
@pytest.mark.parametrize("library", ["own", "httpx"])
@sync_asyncio_trio
async def test_query_of_a_next_url_is_sent_byte_for_byte(client_kind, library, url) -> None:
    pages = [a_page("a", url).content, a_page("b").content]

    def serve(connection: Connection) -> None:
        while connection.read():
            connection.send(reply(200, pages.pop(0)))

    theirs = {"http_client": client_kind.http_client()} if library == "httpx" else {}
    with RawServer(serve) as server:
        async with client_kind.open(f"{server.url}/prefix", **theirs) as client:
            assert names(await everything(await wait(listed(client)))) == "ab"
        for each in theirs.values():
            await close(each)
    target = server.requests[1].split(b" ")[1].decode()
    assert target == f"{PATH}?{SIGNED}"


@pytest.mark.parametrize("place", ["query", "body"])
@sync_and_async
async def test_continuation_of_conventions_makes_the_next_request(client_kind, place) -> None:
    def after(next):
        return {"offset": next["at"], "page[sig]": next["sig"], "all": [1], "none": None}

    service = Service(a_page("a", {"at": 50, "sig": "?a b"}), a_page("b"))
    conventions = Conventions(continuation=after, read_parameters=place)
    async with client_kind.open(transport=service.transport, conventions=conventions) as client:
        assert names(await everything(await wait(listed(client)))) == "ab"
    sent = service.requests[1]
    if place == "query":
        expected = "account_id=a&offset=50&page%5Bsig%5D=%3Fa%20b&all=%5B1%5D"
        assert sent.url.query.decode() == expected
    else:
        expected = {"account_id": "a", "offset": 50, "page[sig]": "?a b", "all": [1]}
        assert json.loads(sent.content) == expected


@sync_and_async
async def test_continuation_that_returns_no_parameters_is_a_configuration_error(
    client_kind,
) -> None:
    others = [{"account_id": "b"}, {"account_id[]": "b"}]  # some services read both alike
    refused = [None, ["a"], {"": 1}, {7: 1}, *others, {"x": {1}}, {"x": "\ud800"}]
    service = Service(a_page("a", f"{PATH}?page=2"), a_page("b"))
    conventions = Conventions(continuation=lambda _: refused[0] if refused else {"page": 2})
    async with client_kind.open(transport=service.transport, conventions=conventions) as client:
        pages = (await wait(listed(client))).pages()
        await step(pages)
        while refused:
            with pytest.raises(ConfigurationError, match="nothing was sent") as caught:
                await step(pages)
            assert caught.value.argument == "continuation"
            refused.pop(0)
        await step(pages)
    assert service.queries == ["account_id=a", "account_id=a&page=2"]


@sync_and_async
async def test_next_url_is_sent_with_the_parameters_of_the_first_page(client_kind) -> None:
    """What the URL lacks is added, and the rest is left alone."""
    url = f'{PATH}?a=%7e&campaign_id=c%2B&caf\u00e9=\u00e9 "<>'
    service = Service(a_page("a", url), a_page("b"))
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client, campaign_id="c+", date_range="LAST_30_DAYS"))
        await everything(page)
    assert service.queries[1] == (
        "account_id=a&date_range=LAST_30_DAYS&a=%7e&campaign_id=c%2B&caf%C3%A9=%C3%A9%20%22%3C%3E"
    )


@sync_and_async
async def test_empty_page_with_a_continuation_is_not_the_end(client_kind) -> None:
    service = Service(a_page("a", "c1"), a_page("", "c2"), a_page("", "c3"), a_page("b"))
    async with first_page(client_kind, service) as page:
        assert names(await everything(page)) == "ab"
    assert len(service.requests) == 4


@pytest.mark.parametrize(
    ("nexts", "handed_out"),
    [(["A", "A"], "a"), (["A", "B", "A"], "ab"), ([{"n": 1}, {"n": 2}, {"n": 1}], "ab")],
    ids=["A-A", "A-B-A", "objects"],
)
@sync_and_async
async def test_repeated_continuation_raises_pagination_error(
    client_kind, nexts, handed_out
) -> None:
    service = Service(
        *(a_page(name, following) for name, following in zip("abc", nexts, strict=False))
    )
    async with first_page(client_kind, service) as page:
        iterator, found = walk(page), []
        with pytest.raises(PaginationError, match="cursor_parameter") as caught:
            await drain(iterator, found)
    assert names(found) == handed_out
    assert len(service.requests) == len(nexts)
    assert caught.value.cursor in nexts
    assert caught.value.operation == "beta.list_campaigns"


@sync_and_async
async def test_same_items_under_new_continuations_raise_pagination_error(client_kind) -> None:
    """A service that does not know our parameter may return page one with a new token."""
    service = Service(*(a_page("abc", f"t{n}") for n in range(3)))
    async with first_page(client_kind, service) as page:
        iterator, found = walk(page), []
        for _ in range(2):  # also if the caller tries again
            with pytest.raises(PaginationError, match="same 3 items") as caught:
                await drain(iterator, found)
            assert "Conventions(cursor_parameter=…)" in str(caught.value)
            assert caught.value.cursor == iterator.cursor == "t0"
    assert names(found) == "abc"


@sync_and_async
async def test_items_that_repeat_on_other_pages_are_returned(client_kind) -> None:
    """A listing that changes while it is read may repeat items, even all of a page of one."""
    pages = ["ab", "", "", "bc", "c", "c", "c", "cd", "dc", "bc"]
    answers = [a_page(names, f"c{n}") for n, names in enumerate(pages)]
    service = Service(*answers, a_page("x"))
    async with first_page(client_kind, service) as page:
        assert names(await everything(page)) == "".join(pages) + "x"


@sync_and_async
async def test_last_page_with_the_items_of_the_page_before_is_returned(client_kind) -> None:
    service = Service(a_page("ab", "c1"), a_page("ab"))
    async with first_page(client_kind, service) as page:
        assert names(await everything(page)) == "abab"


@pytest.mark.parametrize("cycle", [[""], ["a"], ["ab", "cd"], ["ab", "", "c"]])
@sync_and_async
async def test_longer_cycle_of_pages_ends(client_kind, cycle) -> None:
    service = Service(*(a_page(cycle[n % len(cycle)], f"c{n}") for n in range(110)))
    async with first_page(client_kind, service) as page:
        with pytest.raises(PaginationError, match="page 101 in a row") as caught:
            await everything(page)
    first_repeat = len(cycle) if any(cycle) else 0
    assert len(service.requests) == first_repeat + 101
    assert caught.value.cursor == f"c{first_repeat + 99}"


@pytest.mark.parametrize("next", [r'"x\ud83d"', r'{"after": ["\udc80"]}'])
@pytest.mark.parametrize("prefetch", [False, True])
@sync_and_async
async def test_items_before_a_continuation_that_cannot_be_sent_are_returned(
    client_kind, next, prefetch
) -> None:
    def answers():
        last = {"data": [an_item("c")], "page": {"next": json.loads(next)}}
        return a_page("ab", "c1"), httpx.Response(200, content=json.dumps(last))

    service = Service(*answers(), *answers())
    async with client_kind.open(transport=service.transport) as client:
        page = await wait(listed(client))
        walked = walk(page.items(prefetch=prefetch))
        assert names([await step(walked) for _ in range(3)]) == "abc"
        for _ in range(2):
            with pytest.raises(PaginationError, match=r"cannot be sent.*lone surrogate") as caught:
                await step(walked)
            assert caught.value.cursor == walked.cursor == json.loads(next)
        assert len(service.requests) == 2
        assert names(await wait((await wait(listed(client))).collect(limit=3))) == "abc"


@sync_and_async
async def test_cursor_that_makes_an_invalid_url_is_refused(client_kind) -> None:
    service = Service(a_page("a", "c" * 70_000))
    async with client_kind.open(transport=service.transport) as client:
        for argument in ({"account_id": "a" * 70_000}, {"cursor": "c" * 70_000}):
            with pytest.raises(InvalidRequest, match="65536 are the limit") as caught:
                await wait(listed(client, **argument))
            assert caught.value.argument == next(iter(argument))
        assert service.requests == []
        walked = walk(await wait(listed(client)))
        await step(walked)
        with pytest.raises(InvalidRequest, match="read_parameters='body'"):
            await step(walked)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "next",
    [
        f"https://evil.example.com{PATH}?page=2",
        f"{ENDPOINT}?account_id=somebody_else",
    ],
)
@sync_and_async
async def test_continuation_of_another_endpoint_is_not_followed(client_kind, next) -> None:
    service = Service(a_page("a", next))
    async with client_kind.open(transport=service.transport, token="t0ken") as client:
        iterator = walk(await wait(listed(client)))
        assert (await step(iterator)).name == "a"
        with pytest.raises(PaginationError, match="nothing was sent") as caught:
            await step(iterator)
    assert caught.value.cursor == iterator.cursor == next
    assert len(service.requests) == 1


# Errors lose nothing.


@pytest.mark.parametrize("failures", [1, 3])
@sync_and_async
async def test_iteration_after_an_error_returns_every_item_once(client_kind, failures) -> None:
    faults = [httpx.Response(500, json={"error": "down"}) for _ in range(failures)]
    service = Service(a_page("ab", "c1"), *faults, a_page("cd", "c2"), a_page("e"))
    options = {"transport": service.transport, "retry": RetryPolicy(max_retries=0)}
    async with client_kind.open(**options) as client:
        iterator, found = walk(await wait(listed(client))), []
        for _ in range(failures):
            with pytest.raises(ServerError) as caught:
                await drain(iterator, found)
            assert caught.value.cursor == iterator.cursor == "c1"
        await drain(iterator, found)
    assert names(found) == "abcde"
    assert iterator.cursor is None


@sync_and_async
async def test_cursor_of_an_item_iterator_is_the_next_page(client_kind, three_pages) -> None:
    async with first_page(client_kind, three_pages) as page:
        iterator, cursors = walk(page), []
        while await step(iterator) is not END:
            cursors.append(iterator.cursor)
    assert cursors == ["c1", "c1", "c2", None, None]


@sync_and_async
async def test_error_of_a_first_page_has_its_cursor(client_kind) -> None:
    service = Service(httpx.Response(404), httpx.Response(404))
    async with client_kind.open(transport=service.transport) as client:
        with pytest.raises(AdClientError) as caught:
            await wait(listed(client))
        assert caught.value.cursor is None
        with pytest.raises(AdClientError) as caught:
            await wait(listed(client, cursor="c7"))
        assert caught.value.cursor == "c7"


# Collecting.


@pytest.mark.parametrize(
    ("limit", "expected", "requests"),
    [(0, "", 1), (1, "a", 1), (2, "ab", 1), (3, "abc", 2), (5, "abcde", 3), (None, "abcde", 3)],
)
@sync_and_async
async def test_collect_returns_at_most_limit_items(
    client_kind, three_pages, limit, expected, requests
) -> None:
    async with first_page(client_kind, three_pages) as page:
        found = await wait(page.collect(limit=limit))
    assert isinstance(found, Items)
    assert names(found) == expected
    assert len(three_pages.requests) == requests


@pytest.mark.parametrize("limit", [-1, 1.5, "2", True])
@sync_and_async
async def test_collect_refuses_a_limit_that_is_not_a_count(client_kind, three_pages, limit) -> None:
    async with first_page(client_kind, three_pages) as page:
        with pytest.raises(InvalidRequest) as caught:
            await wait(page.collect(limit=limit))
    assert caught.value.argument == "limit"
    assert len(three_pages.requests) == 1


# Nothing is sent behind the caller's back.


@sync_and_async
async def test_repr_and_equality_of_a_page_send_nothing(client_kind) -> None:
    service = Service(a_page("ab", "c1"), a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport) as client:
        page, other = await wait(listed(client)), await wait(listed(client))
        assert page == other
        assert hash(page) == hash(other)
        assert "c1" in repr(page)
        assert "<table" in page._repr_html_()
        assert names(list(page.data)) == "ab"
        assert page.to_dict()["page"] == {"next": "c1"}
        assert page.pages().cursor == walk(page).cursor == "c1"
        assert "c1" in repr(page.pages())
        assert "c1" in repr(walk(page))
        for name in dir(page):
            getattr(page, name)
        with pytest.raises(TypeError):
            len(page)
        assert page
    assert len(service.requests) == 2


# A page without its client.

COPIES = {
    "pickle": lambda page: pickle.loads(pickle.dumps(page)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("made", list(COPIES.values()), ids=list(COPIES))
@sync_and_async
async def test_copied_page_keeps_its_data_and_cannot_fetch(client_kind, made) -> None:
    service = Service(a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport, token="t0ken") as client:
        page = await wait(listed(client))
        kept = made(page)
        assert kept == page
        assert kept.response == page.response
        assert kept.to_dict() == page.to_dict()
        iterator = walk(kept)
        assert [(await step(iterator)).name for _ in "ab"] == ["a", "b"]
        with pytest.raises(PaginationError, match=r"cursor=page\.next") as caught:
            await step(iterator)
        assert caught.value.cursor == iterator.cursor == "c1"
        assert b"t0ken" not in pickle.dumps(page)
    assert len(service.requests) == 1


@sync_and_async
async def test_page_of_a_closed_client_refuses_to_fetch(client_kind) -> None:
    service = Service(a_page("a", "c1"))
    async with first_page(client_kind, service) as page:
        pass
    iterator = walk(page)
    assert (await step(iterator)).name == "a"
    with pytest.raises(AdClientError, match="closed") as caught:
        await step(iterator)
    assert caught.value.cursor == "c1"


# The listing that a method of the async client returns.


def drop(value) -> None:
    del value
    gc.collect()


@asyncio_and_trio
async def test_unused_listing_sends_nothing(client_kind) -> None:
    service = Service()
    async with client_kind.open(transport=service.transport) as client:
        listing = listed(client, cursor="c1")
        assert "beta.list_campaigns" in repr(listing)
        assert "c1" in repr(listing)
        aiter(listing)
        listing.pages()
        listing.typed(Campaign).close()
        for unused in (lambda: listed(client), lambda: listing.typed(Campaign)):
            with pytest.warns(RuntimeWarning, match=r"'beta\.list_\w+' was never awaited"):
                drop(unused())
    assert service.requests == []


TASKS = {
    "gather": lambda listing: _first(asyncio.gather(listing(), listing())),
    "TaskGroup": lambda listing: _in_task_group(listing()),
    "another thread": lambda listing: asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(listing(), asyncio.get_running_loop())
    ),
}


async def _first(results):
    return (await results)[0]


async def _in_task_group(listing):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(listing)
    return task.result()


@pytest.mark.parametrize("way", TASKS)
def test_async_listing_can_be_a_task(way) -> None:
    service = Service(*(a_page("a", "c1") for _ in range(3)))
    client = ASYNC.client(BASE_URL, transport=service.transport)

    async def main() -> AsyncPage:
        return await TASKS[way](lambda: listed(client))

    page = asyncio.run(main())
    assert (names(page.data), page.next) == ("a", "c1")
    assert asyncio.run(listed(client)) == page


@asyncio_and_trio
async def test_async_listing_can_be_a_task_of_trio_and_anyio(client_kind) -> None:
    service = Service(*(a_page("a") for _ in range(3)))
    async with client_kind.open(transport=service.transport) as client:
        read = functools.partial(listed, client)
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(read, name="a name")
        if client_kind is TRIO:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(read)
    assert len(service.requests) == 2 + (client_kind is TRIO)


def test_async_listing_is_a_coroutine() -> None:
    service = Service(a_page("a"), a_page("b"))
    listing = listed(ASYNC.client(BASE_URL, transport=service.transport))
    assert asyncio.iscoroutine(listing)
    assert isinstance(listing, Coroutine)
    assert isinstance(listing, AsyncListing)
    assert type(listing) is AsyncListing
    assert listing.__qualname__ == "beta.list_campaigns"
    listing.close()
    with pytest.raises(RuntimeError, match="already awaited"):
        asyncio.run(listing)
    assert service.requests == []


@asyncio_and_trio
async def test_awaited_listing_returns_the_first_page(client_kind, three_pages) -> None:
    async with client_kind.open(transport=three_pages.transport) as client:
        page = await listed(client)
        assert isinstance(page, AsyncPage)
        assert names(page.data) == "ab"
    assert len(three_pages.requests) == 1


@pytest.mark.parametrize("way", ["items", "pages", "collect"])
@asyncio_and_trio
async def test_listing_is_read_without_await(client_kind, three_pages, way) -> None:
    async with client_kind.open(transport=three_pages.transport) as client:
        listing = listed(client, cursor="c0")
        if way == "items":
            assert names([item async for item in listing]) == "abcde"
        elif way == "pages":
            assert [names(page.data) async for page in listing.pages()] == ["ab", "c", "de"]
        else:
            assert await listed(client).collect(limit=0) == []
            assert names(await listing.collect(limit=2)) == "ab"
    assert three_pages.queries[0] == "account_id=a&cursor=c0"


@asyncio_and_trio
async def test_failed_first_page_of_a_listing_is_requested_again(client_kind) -> None:
    service = Service(cut(), a_page("a"))
    options = {"transport": service.transport, "retry": RetryPolicy(max_retries=0)}
    async with client_kind.open(**options) as client:
        iterator = aiter(listed(client, cursor="c3"))
        with pytest.raises(ConnectionFailed) as caught:
            await step(iterator)
        assert caught.value.cursor == iterator.cursor == "c3"
        assert (await step(iterator)).name == "a"


def test_missing_await_of_a_listing_is_explained() -> None:
    listing = ASYNC.client(BASE_URL).beta.list_campaigns(account_id="a")
    with pytest.raises(TypeError, match="use `async for`, or `await`"):
        [each for each in listing]  # noqa: C416  the loop is what is tested
    for name in ("data", "next", "extra", "response"):
        with pytest.raises(AttributeError, match=rf"use `await`, .* `\(await listing\)\.{name}`"):
            getattr(listing, name)
    with pytest.raises(AttributeError, match=r"no 'dta'$"):
        listing.dta  # noqa: B018  the access is what is tested
    listing.close()


@pytest.mark.parametrize("made", [pickle.dumps, copy.copy, copy.deepcopy])
def test_async_listing_refuses_pickle_and_copy(made) -> None:
    service = Service(a_page("a"))
    listing = listed(ASYNC.client(BASE_URL, transport=service.transport))
    with warnings.catch_warnings(record=True) as warned:
        with pytest.raises(TypeError, match="coroutine and cannot be pickled or copied"):
            made(listing)
        gc.collect()
    assert warned == []
    assert names(asyncio.run(listing).data) == "a"
