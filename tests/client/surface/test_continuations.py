"""How a listing continues and ends; the clients share the code that decides it."""

import clients
import httpx
import pytest
from cases import each_case
from clients import BASE_URL, SYNC, Service, a_page, an_item, close, drain, sync_and_async, wait
from raw_server import Connection, RawServer, reply

from adclient import AdClientError, Conventions, PaginationError, UnexpectedResponse
from adclient.conventions import query_of_url

PATH = "/prefix/v1/beta-ads/list-beta-campaigns"


def pages_of(service: Service, **conventions):
    """The iterator over all pages, of the sync client."""
    conventions = Conventions(**conventions)
    client = SYNC.client(BASE_URL, transport=service.transport, conventions=conventions)
    return client.beta.list_campaigns(account_id="a").pages()


def names(pages) -> str:
    return "".join(item.name for page in pages for item in page.data)


def refused(pages, match: str, error: type = PaginationError) -> tuple[str, AdClientError]:
    """The names of all items up to an error, and the error."""
    found = []
    with pytest.raises(error, match=match) as caught:
        SYNC.run(drain, iterator=pages, found=found)
    return names(found), caught.value


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
            await clients.everything(await wait(client.beta.list_campaigns(account_id="a")))
        for each in theirs.values():
            await close(each)
    assert server.requests[1].split(b" ")[1].decode() == f"{PATH}?{SIGNED}"


ENDS = {"missing": {}, "empty": {"next": ""}, "false": {"next": False}, "null": {"next": None}}


@each_case("end", *ENDS)
def test_only_the_end_of_the_conventions_ends_a_listing(end) -> None:
    """Whatever else may be an end is an error, after the pages before it."""
    for sent, last in ENDS.items():
        body = {"data": [an_item("b")], "page": last}
        service = Service(a_page("a", "c1"), httpx.Response(200, json=body))
        pages = pages_of(service, reads={"beta.list_campaigns": {"end_of_listing": end}})
        if sent in (end, "null"):
            found = list(pages)
            assert names(found) == "ab"
            assert found[-1].next is None
            assert found[-1].to_dict()["page"] == {"next": None}
        else:
            problem = rf"next: {sent}; .*end_of_listing='{sent}'"
            assert refused(pages, problem, UnexpectedResponse)[0] == "a"


# Of the caller.
INTERNAL = "http://ads-internal:8080/v1/ads?Account.ID=z&targeting[a]=b&after=x%20y&limit=2"


@each_case("next", INTERNAL, {"first": "http://ads-internal/v1/ads?page=1", "next": INTERNAL})
def test_query_of_a_foreign_url_continues_at_the_own_address(next) -> None:
    service = Service(a_page("a", next), a_page("b"))
    assert names(pages_of(service, continuation=query_of_url)) == "ab"
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
        pages, found = (await wait(client.beta.list_campaigns(account_id="a"))).pages(), []
        for _ in range(2):  # also if the caller tries again
            with pytest.raises(PaginationError, match=r"same 3 .*\(cursor_parameter") as caught:
                await drain(pages, found)
            assert caught.value.cursor == pages.cursor == "t0"
    assert names(found) == "abc"
