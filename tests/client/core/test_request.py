import json
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum, IntEnum
from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest
from cases import each_case
from core_helpers import ACCOUNT, BASE_URL, assert_one_line, build, call_of, options_of
from hypothesis import given, strategies as st

from adclient import Page
from adclient._core import operations
from adclient._core.call import validated
from adclient._core.operations import OPERATIONS
from adclient._version import __version__
from adclient.conventions import Conventions
from adclient.errors import InvalidRequest, PaginationError
from adclient.models import Campaign

BUDGET = operations.UPDATE_ALPHA_CAMPAIGN_BUDGET
TARGETING = operations.UPDATE_ALPHA_CAMPAIGN_TARGETING
KEYWORDS = operations.UPDATE_KEYWORD
VIDEO = operations.CREATE_BETA_VIDEO_CAMPAIGN
CAMPAIGNS = operations.LIST_BETA_CAMPAIGNS
SEARCH = operations.SEARCH_GAMMA_TARGETING

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def built(
    operation,
    *,
    cursor=None,
    base_url=BASE_URL,
    headers=None,
    conventions=None,
    **arguments,
):
    options = attrs.evolve(
        options_of(headers=headers or {}, conventions=Conventions(**(conventions or {}))),
        base_url=base_url,
    )
    return build(call_of(operation, cursor=cursor, **arguments), options)


def query_of(request):
    return urlsplit(request.url).query


def pairs_of(request):
    return parse_qsl(query_of(request), keep_blank_values=True, strict_parsing=True)


class TestQuery:
    @each_case(
        ("operation", "arguments", "query"),
        [
            (CAMPAIGNS, {}, "account_id=account_a91f"),
            (
                CAMPAIGNS,
                {"date_range": "LAST_30_DAYS", "campaign_id": "campaign_1"},
                "account_id=account_a91f&campaign_id=campaign_1&date_range=LAST_30_DAYS",
            ),
            (CAMPAIGNS, {"date_range": ""}, "account_id=account_a91f&date_range="),
            (
                CAMPAIGNS,
                {"account_id": "a b&c=d/é?#+%"},
                "account_id=a%20b%26c%3Dd%2F%C3%A9%3F%23%2B%25",
            ),
            (CAMPAIGNS, {"account_id": "a-._~z"}, "account_id=a-._~z"),
            (SEARCH, {"targeting": {}}, "account_id=account_a91f&targeting=%7B%7D"),
            (
                SEARCH,
                {"targeting": {"type": "X", "n": [1, None, True]}},
                "account_id=account_a91f"
                "&targeting=%7B%22type%22%3A%22X%22%2C%22n%22%3A%5B1%2Cnull%2Ctrue%5D%7D",
            ),
        ],
    )
    def test_query_contains_the_parameters_of_a_read(self, operation, arguments, query):
        request = built(operation, **arguments)
        assert request.method == "GET"
        assert request.url == f"{BASE_URL}{operation.path}?{query}"
        assert request.body is None

    @each_case(
        ("targeting", "pairs"),
        [
            ({"type": "X"}, [("targeting[type]", "X")]),
            ({"a": {"b": {"c": 1}}}, [("targeting[a][b][c]", "1")]),
            ({"a": ["x", "y"]}, [("targeting[a][0]", "x"), ("targeting[a][1]", "y")]),
            ({"a": [{"b": 1}]}, [("targeting[a][0][b]", "1")]),
            ({"a": (1,)}, [("targeting[a][0]", "1")]),
            (
                {"a": None, "b": True, "c": False},
                [("targeting[a]", "null"), ("targeting[b]", "true"), ("targeting[c]", "false")],
            ),
            ({"a": Decimal("1.50"), "b": 2.0}, [("targeting[a]", "1.50"), ("targeting[b]", "2.0")]),
            ({"a": {}, "b": []}, [("targeting[a]", "{}"), ("targeting[b]", "[]")]),
            ({}, [("targeting", "{}")]),
            ({"a": ""}, [("targeting[a]", "")]),
            ({"é&": "ü="}, [("targeting[é&]", "ü=")]),
        ],
    )
    def test_object_is_encoded_as_deep_object(self, targeting, pairs):
        request = built(SEARCH, targeting=targeting, conventions={"object_style": "deep_object"})
        assert pairs_of(request) == [("account_id", ACCOUNT), *pairs]

    def test_brackets_are_encoded(self):
        request = built(CAMPAIGNS, cursor="x", conventions={"cursor_parameter": "page[after]"})
        assert query_of(request).endswith("&page%5Bafter%5D=x")

        request = built(
            SEARCH, targeting={"a": {"b": "c[]"}}, conventions={"object_style": "deep_object"}
        )
        assert query_of(request).endswith("&targeting%5Ba%5D%5Bb%5D=c%5B%5D")

    @pytest.mark.parametrize("style", ["json", "deep_object"])
    def test_attrs_instance_and_mapping_are_objects(self, style):
        @attrs.frozen
        class Geo:
            country: str

        class Plain(Mapping):
            def __getitem__(self, key):
                return {"country": "DE"}[key]

            def __iter__(self):
                return iter(["country"])

            def __len__(self):
                return 1

        conventions = {"object_style": style}
        wanted = built(SEARCH, targeting={"geo": {"country": "DE"}}, conventions=conventions)
        assert built(SEARCH, targeting={"geo": Geo("DE")}, conventions=conventions) == wanted
        assert built(SEARCH, targeting={"geo": Plain()}, conventions=conventions) == wanted
        wanted = built(SEARCH, targeting={"country": "DE"}, conventions=conventions)
        assert built(SEARCH, targeting=Geo("DE"), conventions=conventions) == wanted

    def test_enum_keys_and_values_are_sent_as_their_values(self):
        class Kind(str, Enum):  # noqa: UP042  the two are written differently by str()
            GEO = "geo"

        class Size(IntEnum):
            BIG = 3

        arguments = {"targeting": {Kind.GEO: Kind.GEO, "size": Size.BIG}}
        deep = built(SEARCH, **arguments, conventions={"object_style": "deep_object"})
        assert pairs_of(deep)[1:] == [("targeting[geo]", "geo"), ("targeting[size]", "3")]
        assert json.loads(pairs_of(built(SEARCH, **arguments))[1][1]) == {"geo": "geo", "size": 3}
        assert pairs_of(built(CAMPAIGNS, date_range=Kind.GEO))[1] == ("date_range", "geo")

    @given(TEXT, TEXT)
    def test_decoded_query_equals_the_arguments(self, account_id, date_range):
        request = built(CAMPAIGNS, account_id=account_id, date_range=date_range)
        assert pairs_of(request) == [("account_id", account_id), ("date_range", date_range)]
        assert request.url.isascii()
        assert urlsplit(request.url).path == CAMPAIGNS.path

    @each_case(
        ("cursor", "text"),
        [
            ("c2", "c2"),
            (7, "7"),
            (1.5, "1.5"),
            ({"after": ["é"]}, '{"after":["é"]}'),
            ("", ""),
            (0, "0"),
        ],
    )
    def test_cursor_is_the_last_parameter(self, cursor, text):
        request = built(CAMPAIGNS, cursor=cursor, date_range="X")
        assert pairs_of(request) == [("account_id", ACCOUNT), ("date_range", "X"), ("cursor", text)]


class TestBody:
    @each_case(
        ("operation", "arguments", "body"),
        [
            (
                BUDGET,
                {"campaign_id": "campaign_1", "daily_budget": 120},
                '{"account_id":"account_a91f","campaign_id":"campaign_1","daily_budget":120}',
            ),
            (
                BUDGET,
                {"fields": {"note": None}, "campaign_id": "c"},
                '{"account_id":"account_a91f","campaign_id":"c","fields":{"note":null}}',
            ),
            (
                KEYWORDS,
                {"keywords": ["schöne schuhe", ""]},
                '{"account_id":"account_a91f","keywords":["schöne schuhe",""]}',
            ),
            (KEYWORDS, {"keywords": ("a",)}, '{"account_id":"account_a91f","keywords":["a"]}'),
            (KEYWORDS, {"keywords": []}, '{"account_id":"account_a91f","keywords":[]}'),
            (VIDEO, {"fields": {}}, '{"account_id":"account_a91f","fields":{}}'),
            (operations.REMOVE_DELTA_AUTO_SEARCH_THEMES, {}, '{"account_id":"account_a91f"}'),
        ],
    )
    def test_body_contains_the_parameters_of_a_write(self, operation, arguments, body):
        request = built(operation, **arguments)
        assert request.method == operation.method
        assert request.url == BASE_URL + operation.path
        assert request.body == body.encode()
        assert request.headers["content-type"] == "application/json"
        assert request.headers["content-length"] == str(len(body.encode()))

    def test_body_contains_the_parameters_of_a_read_by_convention(self):
        request = built(
            SEARCH,
            targeting={"a": 1},
            cursor={"after": 7},
            conventions={"read_parameters": "body", "object_style": "deep_object"},
        )
        assert request.method == "GET"
        assert request.url == BASE_URL + SEARCH.path
        assert (
            request.body
            == b'{"account_id":"account_a91f","targeting":{"a":1},"cursor":{"after":7}}'
        )
        assert request.headers["content-length"] == str(len(request.body))

    @each_case(
        ("budget", "digits"),
        [
            (120, "120"),
            (120.0, "120.0"),
            (0.1, "0.1"),
            (Decimal("120.50"), "120.50"),
            (
                Decimal("0.1000000000000000055511151231257827"),
                "0.1000000000000000055511151231257827",
            ),
            (Decimal("1E+2"), "1E+2"),
            (-5, "-5"),
            (0, "0"),
            (10**40, "1" + "0" * 40),
        ],
    )
    def test_budget_keeps_the_digits_of_the_caller(self, budget, digits):
        request = built(BUDGET, campaign_id="c", daily_budget=budget)
        assert request.body.endswith(b'"daily_budget":' + digits.encode() + b"}")

    @given(st.decimals(allow_nan=False, allow_infinity=False))
    def test_any_decimal_is_sent_exactly(self, budget):
        body = built(BUDGET, campaign_id="c", daily_budget=budget).body
        arrived = json.loads(body, parse_float=Decimal, parse_int=Decimal)["daily_budget"]
        assert str(arrived) == str(budget)


class TestHeaders:
    def test_read_has_exactly_these_headers(self):
        assert built(CAMPAIGNS).headers == {
            "host": "ads.example.com",
            "accept": "application/json",
            "accept-encoding": "gzip",
            "user-agent": f"adclient/{__version__}",
        }

    def test_write_has_exactly_these_headers(self):
        assert sorted(built(BUDGET, campaign_id="c").headers) == [
            "accept",
            "accept-encoding",
            "content-length",
            "content-type",
            "host",
            "user-agent",
        ]

    @pytest.mark.parametrize(
        ("base_url", "host"),
        [
            ("https://ads.example.com/api", "ads.example.com"),
            ("http://localhost:8080", "localhost:8080"),
            ("http://[::1]:8080", "[::1]:8080"),
        ],
    )
    def test_host_header_and_path_prefix_follow_the_base_url(self, base_url, host):
        request = built(CAMPAIGNS, base_url=base_url)
        assert request.headers["host"] == host
        assert request.url.startswith(base_url + CAMPAIGNS.path + "?")

    def test_idempotency_key_in_the_client_headers_is_the_one_that_is_sent(self):
        conventions = {"idempotency_header": "Idempotency-Key"}
        own = {"idempotency-key": "k1"}
        request = built(BUDGET, campaign_id="c", headers=own, conventions=conventions)
        assert request.headers["idempotency-key"] == "k1"


class Odd:
    """Neither a mapping nor an attrs instance."""


class TestRefused:
    @each_case(
        ("operation", "argument", "value", "shown"),
        [
            (CAMPAIGNS, "account_id", "", "''"),
            (CAMPAIGNS, "account_id", None, "None"),
            (CAMPAIGNS, "account_id", 7, "int"),
            (CAMPAIGNS, "campaign_id", "", "''"),
            (CAMPAIGNS, "date_range", 30, "int"),
            (BUDGET, "campaign_id", None, "None"),
            (BUDGET, "daily_budget", True, "bool"),
            (BUDGET, "daily_budget", "120", "str"),
            (BUDGET, "daily_budget", float("nan"), "nan"),
            (BUDGET, "daily_budget", Decimal("-Infinity"), "Infinity"),
            (BUDGET, "daily_budget", Decimal("sNaN"), "NaN"),
            (KEYWORDS, "keywords", None, "None"),
            (KEYWORDS, "keywords", "shoes", "str"),
            (KEYWORDS, "keywords", b"shoes", "bytes"),
            (KEYWORDS, "keywords", {"shoes"}, "set"),
            (KEYWORDS, "keywords", ["shoes", 7], "int"),
            (VIDEO, "fields", None, "None"),
            (VIDEO, "fields", '{"a": 1}', "str"),
            (VIDEO, "fields", Odd(), "Odd"),
            (SEARCH, "targeting", "x", "str"),
            (SEARCH, "targeting", attrs.make_class("Geo", []), "type"),
        ],
    )
    def test_invalid_argument_is_refused(self, operation, argument, value, shown):
        required = {"campaign_id": "c"} if argument == "daily_budget" else {}
        with pytest.raises(InvalidRequest) as caught:
            built(operation, **{**required, argument: value})
        error = caught.value
        assert error.argument == argument
        assert error.operation == operation.full_name
        assert str(error).startswith(f"{operation.full_name}: {argument}")
        assert shown in str(error)
        assert "nothing was sent" in str(error)
        assert_one_line(str(error))

    @each_case(
        ("fields", "path"),
        [
            ({"a": {1, 2}}, "fields.a: "),
            ({"a": [{"b": b"x"}]}, "fields.a[0].b: "),
            ({"a": float("nan")}, "fields.a: "),
            ({1: 2}, "fields: "),
            ({"a": "\ud800"}, "fields: "),
        ],
    )
    def test_value_that_is_not_json_is_named_with_its_path(self, fields, path):
        with pytest.raises(InvalidRequest) as caught:
            built(VIDEO, fields=fields)
        assert path in str(caught.value)
        assert caught.value.argument == "fields"

    @each_case("cursor", [{1}, b"c", object(), float("nan"), "\ud800", "?a=\ud800", {1: 2}])
    @each_case("place", ["query", "body"])
    def test_invalid_cursor_is_refused(self, cursor, place):
        with pytest.raises((InvalidRequest, PaginationError)) as caught:
            built(CAMPAIGNS, cursor=cursor, conventions={"read_parameters": place})
        assert_one_line(str(caught.value))

    def test_argument_that_changes_while_read_is_read_once(self):
        class Fickle(dict):
            def items(self):
                self["times"] = self.get("times", 0) + 1
                return {"times": self["times"]}.items()

        request = built(TARGETING, campaign_id="c", targeting=(fickle := Fickle()))
        assert json.loads(request.body)["targeting"] == fickle == {"times": 1}


@each_case("operation", OPERATIONS)
def test_request_url_is_its_own_endpoint(operation):
    samples = {"id": "../../v1/approve", "text": "?x", "object": {}, "number": 1, "texts": []}
    arguments = {parameter.name: samples[parameter.type] for parameter in operation.parameters}
    request = built(operation, **arguments)
    parts = urlsplit(request.url)
    assert (request.method, parts.path) == (operation.method, operation.path)


@pytest.mark.parametrize("cursor", [Campaign(id="c", name="n", status="s"), Page(data=())])
def test_item_or_page_as_cursor_is_refused(cursor):
    with pytest.raises(InvalidRequest, match="expected a page's `next`") as caught:
        built(CAMPAIGNS, cursor=cursor)
    assert caught.value.argument == "cursor"
    assert caught.value.operation == "beta.list_campaigns"


def test_argument_without_a_parameter_is_an_error():
    arguments = {"account_id": ACCOUNT, "campaign_id": None, "date_range": None, "fields": None}
    with pytest.raises(TypeError, match=r"beta\.list_campaigns .* 'fields'"):
        validated(CAMPAIGNS, arguments)


def test_arguments_changed_after_the_call_are_ignored():
    cursor, targeting = {"after": 1}, {"a": [1]}
    call = call_of(SEARCH, cursor=cursor, targeting=targeting)
    cursor["after"] = 2
    targeting["a"].append(2)
    sent = dict(pairs_of(build(call, options_of())))
    assert (sent["targeting"], sent["cursor"]) == ('{"a":[1]}', '{"after":1}')


def test_repr_shows_neither_headers_nor_body():
    request = built(BUDGET, campaign_id="canary", headers={"x-key": "canary"})
    assert "canary" not in repr(request)
