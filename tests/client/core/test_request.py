"""The request of a call: URL, headers and body; and which arguments are refused."""

import json
from decimal import Decimal
from enum import IntEnum
from types import MappingProxyType

import attrs
import pytest
from cases import each_case
from core_helpers import ACCOUNT, BASE_URL, Mood, assert_one_line, built, call_of, pairs_of

from adclient import Page
from adclient._core.call import validated
from adclient._core.operations import BY_NAME
from adclient.errors import InvalidRequest, PaginationError
from adclient.models import Campaign

BUDGET = BY_NAME["alpha.update_campaign_budget"]
TARGETING = BY_NAME["alpha.update_campaign_targeting"]
KEYWORDS, VIDEO = BY_NAME["delta.update_keyword"], BY_NAME["beta.create_video_campaign"]
CAMPAIGNS, SEARCH = BY_NAME["beta.list_campaigns"], BY_NAME["gamma.search_targeting"]
DELETE = BY_NAME["delta.remove_auto_search_themes"]
DEEP = {"object_style": "deep_object"}
PAGES = [Campaign(id="c", name="n", status="s"), Page(data=())]
FINE = Decimal("120.1000000000000000055511151231257827")


@each_case(("operation", "arguments", "query"),
    (CAMPAIGNS, {"date_range": ""}, "account_id=account_a91f&date_range="),
    (CAMPAIGNS, {"account_id": "a b&=/é?#+%"}, "account_id=a%20b%26%3D%2F%C3%A9%3F%23%2B%25"),
    (
        SEARCH,
        {"targeting": {"type": "X", "n": [1, None, True]}},
        "account_id=account_a91f"
        "&targeting=%7B%22type%22%3A%22X%22%2C%22n%22%3A%5B1%2Cnull%2Ctrue%5D%7D",
    ),
)  # fmt: skip
def test_query_contains_the_parameters_of_a_read(operation, arguments, query):
    request = built(operation, **arguments)
    assert (request.method, request.body) == ("GET", None)
    assert request.url == f"{BASE_URL}{operation.path}?{query}"


@each_case(("targeting", "pairs"),
    ({"type": "X", "é&": "ü=", "x": ""}, {"[type]": "X", "[é&]": "ü=", "[x]": ""}),
    ({"a": {"b": {"c": 1}}, "n": None}, {"[a][b][c]": "1", "[n]": "null"}),
    ({"a": ["x", "y"]}, {"[a][0]": "x", "[a][1]": "y"}),
    ({"a": [{"b": 1}], "t": (1,)}, {"[a][0][b]": "1", "[t][0]": "1"}),
    ({"a": Decimal("1.50"), "b": 2.0}, {"[a]": "1.5", "[b]": "2.0"}),
    ({"a": {}, "b": []}, {"[a]": "{}", "[b]": "[]"}),
    ({}, {"": "{}"}),
)  # fmt: skip
def test_object_is_encoded_as_deep_object(targeting, pairs):
    request = built(SEARCH, targeting=targeting, conventions=DEEP)
    named = [(f"targeting{name}", value) for name, value in pairs.items()]
    assert pairs_of(request) == [("account_id", ACCOUNT), *named]


@each_case("value", attrs.make_class("G", ["country"])("DE"), MappingProxyType({"country": "DE"}))
@each_case("conventions", {}, DEEP)
def test_attrs_instance_and_mapping_are_objects(value, conventions):
    wanted = built(SEARCH, targeting={"geo": {"country": "DE"}}, conventions=conventions)
    assert built(SEARCH, targeting={"geo": value}, conventions=conventions) == wanted
    wanted = built(SEARCH, targeting={"country": "DE"}, conventions=conventions)
    assert built(SEARCH, targeting=value, conventions=conventions) == wanted


def test_enum_keys_and_values_are_sent_as_their_values():
    arguments = {"targeting": {Mood.CALM: Mood.CALM, "size": IntEnum("Size", {"BIG": 3}).BIG}}
    deep = built(SEARCH, **arguments, conventions=DEEP)
    assert pairs_of(deep)[1:] == [("targeting[calm]", "calm"), ("targeting[size]", "3")]
    assert json.loads(pairs_of(built(SEARCH, **arguments))[1][1]) == {"calm": "calm", "size": 3}
    assert pairs_of(built(CAMPAIGNS, date_range=Mood.CALM))[1] == ("date_range", "calm")


# Bodies.


@each_case(("operation", "arguments", "rest"),
    (BUDGET, {"campaign_id": "c", "daily_budget": 120}, '"campaign_id":"c","daily_budget":120'),
    *[
        (BUDGET, {"campaign_id": "c", "daily_budget": n}, f'"campaign_id":"c","daily_budget":{n}')
        for n in (-5.0, 0, FINE)
    ],
    (KEYWORDS, {"keywords": ["schöne schuhe", ""]}, '"keywords":["schöne schuhe",""]'),
    (DELETE, {}, ""),
)  # fmt: skip
def test_body_contains_the_parameters_of_a_write(operation, arguments, rest):
    request = built(operation, **arguments, headers={"x-key": "canary"})
    assert "canary" not in repr(request)
    assert "daily_budget" not in repr(request)
    assert (request.method, request.url) == (operation.method, BASE_URL + operation.path)
    comma = "," if rest else ""
    assert request.body.decode() == f'{{"account_id":"account_a91f"{comma}{rest}}}'
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-length"] == str(len(request.body))


# Refused.


@each_case(("operation", "argument", "value", "shown"),
    *[(CAMPAIGNS, "account_id", *row) for row in (("", "''"), (None, "None"), (7, "int"))],
    *[(CAMPAIGNS, "campaign_id", "", "''"), (CAMPAIGNS, "date_range", 30, "int")],
    *[(BUDGET, "campaign_id", None, "None"), (BUDGET, "daily_budget", True, "bool")],
    (BUDGET, "daily_budget", "120", "str"),
    (BUDGET, "daily_budget", float("nan"), "nan"),
    (BUDGET, "daily_budget", Decimal("-Infinity"), "Infinity"),
    (BUDGET, "daily_budget", Decimal("sNaN"), "NaN"),
    *[(KEYWORDS, "keywords", None, "None"), (KEYWORDS, "keywords", "shoes", "str")],
    *[(KEYWORDS, "keywords", b"shoes", "bytes"), (KEYWORDS, "keywords", {"shoes"}, "set")],
    (KEYWORDS, "keywords", ["shoes", 7], "int"),
    *[(VIDEO, "fields", None, "None"), (VIDEO, "fields", '{"a": 1}', "str")],
    *[(VIDEO, "fields", {"a": [{"b": b"x"}]}, "fields.a[0].b: "), (VIDEO, "fields", {1: 2}, "key")],
    *[(VIDEO, "fields", object(), "object"), (SEARCH, "targeting", "x", "str")],
    (SEARCH, "targeting", attrs.make_class("Geo", []), "type"),
    *[(SEARCH, "targeting", {"a": {name: 1}}, "bracket") for name in ("x][y", "x[", "]")],
)  # fmt: skip
def test_invalid_argument_is_refused(operation, argument, value, shown):
    required = {"campaign_id": "c"} if argument == "daily_budget" else {}
    with pytest.raises(InvalidRequest) as caught:
        built(operation, **{**required, argument: value}, conventions=DEEP)
    error = caught.value
    assert (error.argument, error.operation) == (argument, operation.full_name)
    assert str(error).startswith(f"{operation.full_name}: {argument}")
    assert shown in str(error)
    assert "nothing was sent" in str(error)
    assert_one_line(str(error))


@each_case("cursor", {1}, b"c", object(), float("nan"), "\ud800", "?a=\ud800", {1: 2}, *PAGES)
@each_case("place", "query", "body")
def test_invalid_cursor_is_refused(cursor, place):
    with pytest.raises((InvalidRequest, PaginationError)) as caught:
        built(CAMPAIGNS, cursor=cursor, conventions={"read_parameters": place})
    assert_one_line(str(caught.value))
    assert caught.value.operation == "beta.list_campaigns"
    if cursor in PAGES:
        assert "expected a page's `next`" in str(caught.value)
        assert caught.value.argument == "cursor"


@each_case(("write", "name", "value"), (BUDGET, "daily_budget", 1), (TARGETING, "targeting", {}))
def test_value_given_twice_is_refused(write, name, value):
    twice = {name: value, "fields": {name: value}}
    with pytest.raises(InvalidRequest, match=f"{name} is given twice") as caught:
        call_of(write, campaign_id="c", **twice)
    assert caught.value.argument == name
    call_of(write, campaign_id="c", fields={name: value})


def test_argument_without_a_parameter_is_an_error():
    arguments = {"account_id": ACCOUNT, "campaign_id": None, "date_range": None, "fields": None}
    with pytest.raises(TypeError, match=r"beta\.list_campaigns .* 'fields'"):
        validated(CAMPAIGNS, arguments)
