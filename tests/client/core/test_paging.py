import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from cases import each_case
from core_helpers import ACCOUNT, BASE_URL, assert_one_line, build, call_of, options_of

from adclient._core import operations
from adclient.conventions import Conventions
from adclient.errors import PaginationError

CAMPAIGNS = operations.LIST_BETA_CAMPAIGNS
SEARCH = operations.SEARCH_GAMMA_TARGETING
PATH = CAMPAIGNS.path


def requested(cursor, operation=CAMPAIGNS, *, base_url=BASE_URL, arguments=None, **conventions):
    """The request for the page at a continuation."""
    options = options_of(base_url=base_url, conventions=Conventions(**conventions))
    return build(call_of(operation, cursor=cursor, **(arguments or {})), options)


def pairs_of(request):
    return parse_qsl(urlsplit(request.url).query, keep_blank_values=True)


@each_case(
    ("url", "base_url"),
    [
        (f"{BASE_URL}{PATH}?page=2", BASE_URL),
        (f"HTTPS://ADS.EXAMPLE.COM:443{PATH}?page=2", BASE_URL),
        (f"{PATH}?page=2", BASE_URL),
        (f"{PATH}?page=2&account_id={ACCOUNT}", BASE_URL),
        ("?page=2", BASE_URL),
        ("list-beta-campaigns?page=2", BASE_URL),
        ("../beta-ads/list-beta-campaigns?page=2#top", BASE_URL),
        (f"http://h{PATH}?page=2", "http://h:80"),
        (f"http://h:8080/api{PATH}?page=2", "http://h:8080/api"),
    ],
)
def test_query_of_a_url_of_the_same_endpoint_is_sent(url, base_url):
    request = requested(url, base_url=base_url)
    assert request.url.startswith(f"{base_url}{PATH}?")
    assert sorted(pairs_of(request)) == [("account_id", ACCOUNT), ("page", "2")]


@each_case(
    "url",
    [
        f"https://evil.example{PATH}?cursor=2",
        f"https://evil.example{PATH}",
        f"https://ads.example.com.evil.example{PATH}?cursor=2",
        f"http://ads.example.com{PATH}?cursor=2",
        f"http://ads.example.com:443{PATH}?cursor=2",
        f"https://ads.example.com:8443{PATH}?cursor=2",
        f"https://ads.example.com@evil.example{PATH}?cursor=2",
        f"https://user:pw@ads.example.com{PATH}?cursor=2",
        f"https://:@ads.example.com{PATH}?cursor=2",
        f"{BASE_URL}/v1/gamma-ads/list-gamma-ads?cursor=2",
        f"{BASE_URL}{PATH}/more?cursor=2",
        f"{BASE_URL}/api{PATH}?cursor=2",
        "javascript://x/?y",
        "https://[::1?cursor=2",
        "https://ads.example.com:99999/?cursor=2",
    ],
)
def test_url_of_another_endpoint_is_refused(url):
    with pytest.raises(PaginationError, match=r"nothing was sent.*follow_next_urls") as caught:
        requested(url)
    error = caught.value
    assert error.cursor == url
    assert (error.operation, error.method, error.path) == ("beta.list_campaigns", "GET", PATH)
    assert_one_line(str(error))


@each_case(
    ("query", "argument"),
    [
        ("account_id=account_other", "account_id"),
        (f"account_id={ACCOUNT}&account_id=account_other", "account_id"),
        ("campaign_id=b", "campaign_id"),
    ],
)
def test_url_of_another_account_or_campaign_is_refused(query, argument):
    for campaign in (None, "a"):
        with pytest.raises(PaginationError, match=argument):
            requested(f"{PATH}?{query}", arguments={"campaign_id": campaign})


@each_case(
    "cursor",
    ["c2", "", "a/b", "a:b", "a=b&c=d", "?", "?a", "a?b=c", "/?b=c", f"//h{PATH}?b=c", "//h/a"],
)
def test_cursor_that_is_not_a_url_is_sent_as_it_is(cursor):
    assert pairs_of(requested(cursor))[-1] == ("cursor", cursor)


def test_url_is_not_followed_if_disabled():
    for url in (f"{PATH}?cursor=2", "https://evil.example/?cursor=2"):
        assert pairs_of(requested(url, follow_next_urls=False))[-1] == ("cursor", url)


def test_followed_url_is_sent_with_the_parameters_of_the_first_page():
    url = f"?token=t%20%26&empty=&account_id={ACCOUNT}&after=%FF%FEa&name%FF="
    request = requested(url, arguments={"date_range": "X", "campaign_id": "c"})
    assert request.url.endswith(f"?campaign_id=c&date_range=X&{url[1:]}")
    request = requested("?token=t", arguments={"date_range": "X"}, read_parameters="body")
    assert request.url == f"{BASE_URL}{PATH}?token=t"
    assert request.body == b'{"account_id":"account_a91f","date_range":"X"}'


@pytest.mark.parametrize("style", ["json", "deep_object"])
def test_object_in_a_followed_url_is_sent_once(style):
    arguments = {"targeting": {"type": "X", "ages": [18, 65]}}
    first = requested(None, SEARCH, arguments=arguments, object_style=style)
    again = requested(f"{first.url}&cursor=2", SEARCH, arguments=arguments, object_style=style)
    assert pairs_of(again) == [*pairs_of(first), ("cursor", "2")]


def page_sizes(request):
    """The query and the body that a request has besides the account."""
    body = json.loads(request.body or "{}")
    body.pop("account_id", None)
    return [pair for pair in pairs_of(request) if pair[0] != "account_id"], body


@each_case(
    ("cursor", "conventions", "sent"),
    [
        (None, {}, {"limit": 20}),
        ("x", {}, {"limit": 20, "cursor": "x"}),
        ({"a": 1}, {"continuation": dict}, {"limit": 20, "a": 1}),
        # What fits this continuation wins.
        ({"a": 1, "limit": 5}, {"continuation": dict}, {"limit": 5, "a": 1}),
        ({"a": 1, "limit": None}, {"continuation": dict}, {"limit": 20, "a": 1}),
    ],
)
def test_page_size_is_sent_with_every_read(cursor, conventions, sent):
    in_query = requested(cursor, **conventions, page_size={"limit": 20})
    assert page_sizes(in_query) == ([(name, str(value)) for name, value in sent.items()], {})
    in_body = requested(cursor, **conventions, page_size={"limit": 20}, read_parameters="body")
    assert page_sizes(in_body) == ([], sent)


@each_case(
    ("url", "added"),
    [
        ("?after=x", True),
        ("?after=x&limit=5", False),
        ("?page%5Bafter%5D=x&page%5Blimit%5D=5", True),
    ],
)
def test_page_size_of_a_followed_url_wins(url, added):
    own = [("limit", "20")] if added else []
    request = requested(url, page_size={"limit": 20})
    assert page_sizes(request)[0] == own + parse_qsl(url[1:])
    request = requested(url, page_size={"limit": 20}, read_parameters="body")
    assert page_sizes(request) == (parse_qsl(url[1:]), {"limit": 20} if added else {})


def test_nested_name_of_a_followed_url_is_not_that_of_the_page_size():
    request = requested("?page%5Bafter%5D=x", page_size={"page[size]": 20})
    assert page_sizes(request)[0] == [("page[size]", "20"), ("page[after]", "x")]


def test_read_has_its_own_page_size_or_none():
    own = {SEARCH.full_name: {"page_size": {"size": 5}}, CAMPAIGNS.full_name: {"page_size": None}}
    settings = {"page_size": {"limit": 20}, "reads": own}
    sizes = [
        page_sizes(requested(None, operation, **settings))[0]
        for operation in (SEARCH, CAMPAIGNS, operations.LIST_GAMMA_ADS)
    ]
    assert sizes == [[("size", "5")], [], [("limit", "20")]]


def test_page_size_is_not_sent_with_a_write():
    options = options_of(base_url=BASE_URL, conventions=Conventions(page_size={"limit": 20}))
    request = build(call_of(operations.PAUSE_BETA_CAMPAIGN, campaign_id="c"), options)
    assert json.loads(request.body) == {"account_id": ACCOUNT, "campaign_id": "c"}
