from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest
from cases import each_case
from core_helpers import ACCOUNT, BASE_URL, assert_one_line, build, call_of, options_of

from adclient._core import operations
from adclient._core.operations import PageBody, PageInfo
from adclient._core.paging import SeenPages, check_progress, query_from_next_url
from adclient.conventions import Conventions
from adclient.errors import InvalidRequest, PaginationError

CAMPAIGNS = operations.LIST_BETA_CAMPAIGNS
SEARCH = operations.SEARCH_GAMMA_TARGETING
PATH = CAMPAIGNS.path
CALL = call_of(CAMPAIGNS)


def followed(cursor, *, base_url=BASE_URL, conventions=None, **arguments):
    call = call_of(CAMPAIGNS, cursor=cursor, **arguments)
    return query_from_next_url(call, base_url + PATH, conventions or Conventions())


def requested(cursor, operation=CAMPAIGNS, *, conventions=None, **arguments):
    options = options_of(conventions=conventions or Conventions())
    return build(call_of(operation, cursor=cursor, **arguments), options)


def pairs_of(request):
    return parse_qsl(urlsplit(request.url).query, keep_blank_values=True)


@each_case(
    "url",
    [
        f"{BASE_URL}{PATH}?cursor=2",
        f"https://ads.example.com:443{PATH}?cursor=2",
        f"HTTPS://ADS.EXAMPLE.COM{PATH}?cursor=2",
        f"{PATH}?cursor=2",
        "?cursor=2",
        "list-beta-campaigns?cursor=2",
        "../beta-ads/list-beta-campaigns?cursor=2",
        f"{PATH}?cursor=2#top",
    ],
)
def test_query_of_a_url_of_the_same_endpoint_is_used(url):
    assert followed(url) == ["cursor=2"]


def test_default_port_equals_an_explicit_one():
    assert followed(f"http://h{PATH}?a=1", base_url="http://h:80") == ["a=1"]
    assert followed(f"http://h:80{PATH}?a=1", base_url="http://h") == ["a=1"]
    assert followed(f"http://h:8080/api{PATH}?a=1", base_url="http://h:8080/api") == ["a=1"]


@each_case(
    "url",
    [
        f"https://evil.example{PATH}?cursor=2",
        f"https://ads.example.com.evil.example{PATH}?cursor=2",
        f"http://ads.example.com{PATH}?cursor=2",
        f"http://ads.example.com:443{PATH}?cursor=2",
        f"https://ads.example.com:8443{PATH}?cursor=2",
        f"https://ads.example.com@evil.example{PATH}?cursor=2",
        f"https://user@ads.example.com{PATH}?cursor=2",
        f"https://user:pw@ads.example.com{PATH}?cursor=2",
        f"https://:@ads.example.com{PATH}?cursor=2",
        f"{BASE_URL}/v1/gamma-ads/list-gamma-ads?cursor=2",
        f"{BASE_URL}{PATH}/?cursor=2",
        f"{BASE_URL}{PATH}/more?cursor=2",
        f"{BASE_URL}?cursor=2",
        f"{BASE_URL}/api{PATH}?cursor=2",
        "ftp://ads.example.com/?cursor=2",
        "javascript://x/?y",
        "https://[::1?cursor=2",
        "https://ads.example.com:99999/?cursor=2",
        f"https://evil.example{PATH}",
    ],
)
def test_url_of_another_endpoint_is_refused(url):
    with pytest.raises(PaginationError) as caught:
        followed(url)
    error = caught.value
    assert error.cursor == url
    assert (error.operation, error.method, error.path) == ("beta.list_campaigns", "GET", PATH)
    assert "nothing was sent" in str(error)
    assert "follow_next_urls" in str(error)
    assert_one_line(str(error))


@each_case(
    "cursor",
    [
        None,
        7,
        {"next": f"{PATH}?a=1"},
        "c2",
        "",
        "a/b",
        "a:b",
        "a=b&c=d",
        "?",
        "?a",
        "a?b=c",
        "/?b=c",
        f"//h{PATH}?b=c",
        "//h/a",
    ],
)
def test_cursor_that_is_not_a_url_is_not_followed(cursor):
    assert followed(cursor) is None


def test_url_is_not_followed_if_disabled():
    conventions = Conventions(follow_next_urls=False)
    for url in (f"{PATH}?cursor=2", "https://evil.example/?cursor=2"):
        assert followed(url, conventions=conventions) is None
        assert pairs_of(requested(url, conventions=conventions))[-1] == ("cursor", url)


def test_url_of_another_account_is_refused():
    with pytest.raises(PaginationError, match="account_id"):
        followed(f"{PATH}?account_id=account_other&cursor=2")
    with pytest.raises(PaginationError, match="account_id"):
        followed(f"{PATH}?account_id={ACCOUNT}&account_id=account_other")
    with pytest.raises(PaginationError, match="campaign_id"):
        followed(f"{PATH}?campaign_id=b", campaign_id="a")
    with pytest.raises(PaginationError, match="campaign_id"):
        followed(f"{PATH}?campaign_id=b")


def test_url_of_the_same_account_is_followed():
    assert followed(f"{PATH}?account_id={ACCOUNT}&c=2") == [f"account_id={ACCOUNT}", "c=2"]


def test_followed_url_keeps_parameters_of_the_first_page():
    request = requested("?token=t%20%26&empty=", date_range="LAST_30_DAYS", campaign_id="c")
    assert request.url.startswith(f"{BASE_URL}{PATH}?")
    assert pairs_of(request) == [
        ("account_id", ACCOUNT),
        ("campaign_id", "c"),
        ("date_range", "LAST_30_DAYS"),
        ("token", "t &"),
        ("empty", ""),
    ]


def test_parameters_in_a_followed_url_are_sent_once():
    request = requested(f"?date_range=X&account_id={ACCOUNT}&cursor=2", date_range="LAST_30_DAYS")
    expected = [("date_range", "X"), ("account_id", ACCOUNT), ("cursor", "2")]
    assert pairs_of(request) == expected


@pytest.mark.parametrize("style", ["json", "deep_object"])
def test_object_in_a_followed_url_is_sent_once(style):
    conventions = Conventions(object_style=style)
    arguments = {"targeting": {"type": "X", "ages": [18, 65]}, "conventions": conventions}
    first = requested(None, SEARCH, **arguments)
    url = f"{first.url}&cursor=2"
    assert pairs_of(requested(url, SEARCH, **arguments)) == [*pairs_of(first), ("cursor", "2")]


def test_invalid_utf8_in_a_followed_url_is_kept():
    url = requested("?after=%FF%FEa%20%C3%A9&name%FF=").url
    assert url.endswith("&after=%FF%FEa%20%C3%A9&name%FF=")


def test_followed_url_is_sent_with_a_body():
    conventions = Conventions(read_parameters="body")
    request = requested("?token=t", conventions=conventions, date_range="X")
    assert request.url == f"{BASE_URL}{PATH}?token=t"
    assert request.body == b'{"account_id":"account_a91f","date_range":"X"}'


class TestSeenPages:
    def test_new_continuations_are_accepted(self):
        trail = SeenPages(CALL)
        for cursor in [
            "a",
            "b",
            "c",
            1,
            "1",
            1.5,
            True,
            "true",
            {"a": 1},
            {"a": "1"},
            [1],
            [[1]],
            None,
        ]:
            trail.add(cursor)

    @each_case(
        "walk",
        [
            ["a", "a"],
            ["a", "b", "a"],
            [1, 2, 3, 1],
            [{"a": [1]}, {"a": [2]}, {"a": [1]}],
            [0, 0],
            ["", ""],
            [False, False],
        ],
    )
    def test_repeated_continuation_is_refused(self, walk):
        trail = SeenPages(CALL)
        for cursor in walk[:-1]:
            trail.add(cursor)
        with pytest.raises(PaginationError) as caught:
            trail.add(walk[-1])
        assert caught.value.cursor == walk[-1]
        assert caught.value.operation == "beta.list_campaigns"
        assert "Conventions(cursor_parameter=…)" in str(caught.value)
        assert_one_line(str(caught.value))

    def test_cursor_at_which_an_iteration_starts_counts_as_seen(self):
        trail = SeenPages(attrs.evolve(CALL, cursor="a"))
        trail.add("b")
        with pytest.raises(PaginationError):
            trail.add("a")

    def test_none_is_accepted_as_cursor_at_any_time(self):
        trail = SeenPages(CALL)
        trail.add(None)
        trail.add(None)

    def test_message_about_a_repeated_cursor_is_bounded(self):
        trail = SeenPages(CALL)
        cursor = {"token": "x\n" * 10_000}
        trail.add(cursor)
        with pytest.raises(PaginationError) as caught:
            trail.add(cursor)
        assert_one_line(str(caught.value))
        assert caught.value.cursor == cursor

    def test_seen_cursors_keep_at_most_16_bytes_each(self):
        trail = SeenPages(CALL)
        for n in range(1000):
            trail.add("x" * 1000 + str(n), tuple(f"campaign_{n}_{i}" for i in range(50)))
        assert all(len(key) <= 16 for key in trail._cursors | trail._pages)

    @pytest.mark.parametrize("cursor", [{1}, object(), float("nan")])
    def test_cursor_that_cannot_be_encoded_is_refused(self, cursor):
        with pytest.raises(InvalidRequest):
            SeenPages(attrs.evolve(CALL, cursor=cursor))


def test_progress_is_checked_for_later_pages_only():
    listing = PageBody(data=(), page=PageInfo(next="a"))
    check_progress(CALL, listing)
    check_progress(attrs.evolve(CALL, cursor="b"), listing)
    with pytest.raises(PaginationError):
        check_progress(attrs.evolve(CALL, cursor="a"), listing)
