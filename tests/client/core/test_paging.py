"""How a continuation is sent, which ones are refused, and when a listing must stop."""

import json
from urllib.parse import parse_qsl

import core_helpers
import pytest
from cases import each_case
from core_helpers import ACCOUNT, BASE_URL, built, call_of, drive, pairs_of, reply

from adclient._core.operations import BY_NAME
from adclient._core.paging import MOST_REPEATS, SeenPages
from adclient.errors import ConfigurationError, PaginationError

CAMPAIGNS, SEARCH = BY_NAME["beta.list_campaigns"], BY_NAME["gamma.search_targeting"]
PATH = CAMPAIGNS.path


def requested(cursor, operation=CAMPAIGNS, *, base_url=BASE_URL, arguments=None, **conventions):
    """The request for the page at a continuation."""
    options = {"base_url": base_url, "conventions": conventions}
    return built(operation, cursor=cursor, **options, **(arguments or {}))


# URLs.


@each_case(("url", "base_url"),
    (f"{BASE_URL}{PATH}?page=2", BASE_URL),
    (f"HTTPS://ADS.EXAMPLE.COM:443{PATH}?page=2", BASE_URL),
    *[(f"{PATH}?page=2&account_id={ACCOUNT}#top", BASE_URL), ("?page=2", BASE_URL)],
    (f"http://h:8080/api{PATH}?page=2", "http://h:8080/api"),
)  # fmt: skip
def test_query_of_a_url_of_the_same_endpoint_is_sent(url, base_url):
    request = requested(url, base_url=base_url)
    assert request.url.startswith(f"{base_url}{PATH}?")
    assert sorted(pairs_of(request)) == [("account_id", ACCOUNT), ("page", "2")]


@each_case("url",
    *[f"https://evil.example{PATH}{query}" for query in ("?cursor=2", "")],
    *[f"http://ads.example.com{port}{PATH}?cursor=2" for port in ("", ":443")],
    *[f"https://ads.example.com{port}{PATH}?cursor=2" for port in (".evil.example", ":8443")],
    *[f"https://{user}@ads.example.com{PATH}?cursor=2" for user in ("user:pw", "user", ":")],
    f"https://ads.example.com@evil.example{PATH}?cursor=2",
    *[f"{BASE_URL}{path}?cursor=2" for path in ("/v1/gamma-ads/list-gamma-ads", PATH + "/x")],
    f"{BASE_URL}/api{PATH}?cursor=2",
    *["javascript://x/?y", "https://[::1?cursor=2", "https://ads.example.com:99999/?cursor=2"],
)  # fmt: skip
def test_url_of_another_endpoint_is_refused(url):
    with pytest.raises(PaginationError, match=r"nothing was sent.*follow_next_urls") as caught:
        requested(url)
    error = caught.value
    assert (error.cursor, error.operation) == (url, "beta.list_campaigns")
    assert (error.method, error.path) == ("GET", PATH)
    assert "cursor=2" not in str(error)  # a query may contain credentials
    core_helpers.assert_one_line(str(error))


@each_case(("query", "argument"),
    ("account_id=account_other", "account_id"),
    (f"account_id={ACCOUNT}&account_id=account_other", "account_id"),
    *((f"account_id{rest}", "account_id") for rest in (f"={ACCOUNT};b", f"[ne]={ACCOUNT}")),
    ("campaign_id=b", "campaign_id"),
    *((f"{name}=b", "account_id") for name in ("account_id[]", "x=1;account_id", "Account.Id")),
)  # fmt: skip
def test_url_of_another_account_or_campaign_is_refused(query, argument):
    for campaign in (None, "a"):
        with pytest.raises(PaginationError, match=argument):
            requested(f"{PATH}?{query}", arguments={"campaign_id": campaign})


NO_URLS = ["c2", "", "a/b", "a:b", "a=b&c=d", "?", "?a", "a?b=c", "/?b=c", "//h/a"]


@each_case("cursor", *NO_URLS, f"//h{PATH}?b=c")
def test_cursor_that_is_not_a_url_is_sent_as_it_is(cursor):
    assert pairs_of(requested(cursor))[-1] == ("cursor", cursor)


def test_followed_url_is_sent_with_the_parameters_of_the_first_page():
    url = f"?token=t%20%26&empty=&account_id={ACCOUNT}&after=%FF%FEa&name%FF="
    request = requested(url, arguments={"date_range": "X", "campaign_id": "c"})
    assert request.url.endswith(f"?campaign_id=c&date_range=X&{url[1:]}")
    for url in (f"?{name}={ACCOUNT}" for name in ("account_id[]", "Account_ID", "account.id")):
        assert requested(url).url.endswith(f"?account_id={ACCOUNT}&{url[1:]}")
    request = requested("?token=t", arguments={"date_range": "X"}, read_parameters="body")
    assert request.url == f"{BASE_URL}{PATH}?token=t"
    assert request.body == b'{"account_id":"account_a91f","date_range":"X"}'
    arguments = {"targeting": {"type": "X", "ages": [18, 65]}}
    for style in ("json", "deep_object"):  # an object is sent once
        first = requested(None, SEARCH, arguments=arguments, object_style=style)
        again = requested(f"{first.url}&cursor=2", SEARCH, arguments=arguments, object_style=style)
        assert pairs_of(again) == [*pairs_of(first), ("cursor", "2")]


# Page sizes.


def page_sizes(request):
    """The query and the body that a request has besides the account."""
    body = json.loads(request.body or "{}")
    body.pop("account_id", None)
    return [pair for pair in pairs_of(request) if pair[0] != "account_id"], body


@each_case(("url", "name", "added"),
    *[("?after=x", "limit", True), ("?after=x&limit=5", "limit", False)],
    ("?page%5Bafter%5D=x&page%5Blimit%5D=5", "limit", True),
    ("?page%5Bafter%5D=x", "page[size]", True),
    ("?page%5Bsize%5D=x", "page[size]", False),
)  # fmt: skip
def test_page_size_of_a_followed_url_wins(url, name, added):
    own = [(name, "20")] if added else []
    request = requested(url, page_size={name: 20})
    assert page_sizes(request)[0] == own + parse_qsl(url[1:])
    request = requested(url, page_size={name: 20}, read_parameters="body")
    assert page_sizes(request) == (parse_qsl(url[1:]), {name: 20} if added else {})


@each_case("fields", None, "x", {1: 2}, {"a": {1}}, {"": 1}, {"account_id": "b"}, {"date_range": 1})
def test_continuation_without_usable_parameters_is_a_configuration_error(fields):
    with pytest.raises(ConfigurationError, match=r"beta\.list_campaigns: .*nothing was") as caught:
        requested("x", continuation=lambda cursor: fields)
    assert caught.value.argument == "continuation"


# Listings that never end.

CALL = call_of(CAMPAIGNS)


def test_page_that_leads_to_itself_is_a_pagination_error():
    page = reply(200, {"data": [], "page": {"next": "A"}})
    assert drive(CALL, page).value.next == "A"
    assert drive(call_of(CAMPAIGNS, cursor="B"), page).value.next == "A"
    error = drive(call_of(CAMPAIGNS, cursor="A"), page).error
    assert isinstance(error, PaginationError)
    assert error.cursor == "A"


def added(pages, start=None):
    """The error that adding pages raises, and how many pages were added without."""
    seen = SeenPages(CALL, start)
    for count, (cursor, ids) in enumerate(pages):
        try:
            seen.add(cursor, tuple(ids))
        except PaginationError as error:
            return count, error
    return len(pages), None


def cycle_of(*ids):
    return [(f"c{n}", ids[n % len(ids)]) for n in range(110)]


IN_A_ROW = f"page {MOST_REPEATS + 1} in a row"


@each_case(
    ("pages", "start", "count", "cursor", "problem"),
    ([("A", "a"), ("B", "b"), ("A", "c")], None, 2, "A", "was received before"),
    ([({"n": n}, str(n)) for n in (1, 2, 1)], None, 2, {"n": 1}, "was received before"),
    ([("B", "a"), ("A", "b")], "A", 1, "A", "was received before"),
    ([("A", "abc"), ("B", "abc")], None, 1, "A", "the same 3 items as the page before"),
    # An empty page between the two.
    ([("A", "ab"), ("B", ""), ("C", "ab")], None, 2, "B", "the same 2 items"),
    (cycle_of(""), None, 100, "c99", IN_A_ROW),
    (cycle_of("a"), None, 101, "c100", IN_A_ROW),
    (cycle_of("ab", "", "c"), None, 103, "c102", IN_A_ROW),
    # Pages that are no fault: the last one, single items, and what cannot be sent anyhow.
    ([("A", "ab"), (None, "ab")], None, 2, None, ""),
    ([("A", "a"), ("B", "a"), ("C", ""), ("D", "ba"), ("E", "ab")], None, 5, None, ""),
    ([("\ud800", "a")] * 2, None, 2, None, ""),
)
def test_listing_that_never_ends_is_a_pagination_error(pages, start, count, cursor, problem):
    found, error = added(pages, start)
    assert found == count
    if problem:
        assert problem in str(error)
        assert "Conventions(cursor_parameter=…)" in str(error)
        assert (error.cursor, error.operation) == (cursor, "beta.list_campaigns")
    else:
        assert error is None
