import copy
from decimal import Decimal

import attrs
import pytest
from cases import each_case
from core_helpers import LISTING, assert_one_line, call_of, structure

from adclient import AsyncPage
from adclient._core import operations
from adclient._core.jsontext import loads
from adclient._core.operations import PageBody
from adclient._core.typed import read_items
from adclient._sync.iterators import collect
from adclient._sync.page import Page, Source
from adclient.errors import InvalidRequest, UnexpectedResponse
from adclient.models import Campaign, Item, ResponseInfo

FIRST, SECOND = (
    Campaign(id="c1", name="Spring", status="ENABLED", extra={"spend": 1.5, "geo": {"in": ["DE"]}}),
    Campaign(id="c2", name="<script>", status="PAUSED"),
)


def page_of(*items, **arguments):
    return Page(data=items, **arguments)


class Runner:
    """An engine that has one response for every call."""

    def __init__(self, listing):
        self.listing = listing

    def run(self, call):
        return self.listing


@attrs.define
class Spend:
    id: str
    spend: Decimal


class TestPage:
    @each_case(
        "body",
        [
            LISTING,
            {"data": [], "page": {"next": "c2"}},
            {"data": [], "page": {"next": {"after": [1]}, "total": 7}, "took": 1.5},
            {"data": [{"id": "a", "name": "b", "status": "c", "x": None}], "page": {"next": 7}},
            {"data": [], "page": {"next": None, "extra": 1}, "extra": 2, "response": 3, "next": 4},
        ],
    )
    def test_to_dict_returns_the_received_body(self, body):
        listing = structure(body, PageBody[Campaign])
        page = Source(Runner(listing), call_of(operations.LIST_BETA_CAMPAIGNS)).page(None)
        assert page.to_dict() == body

    def test_changed_to_dict_leaves_the_page_unchanged(self):
        page = page_of(FIRST, next={"after": 1}, extra={"page": {"x": [1]}, "more": [1]})
        before = copy.deepcopy(page)
        given = page.to_dict()
        given["page"]["next"]["after"] = 2
        given["page"]["x"].append(2)
        given["more"].append(2)
        given["data"][0]["geo"]["in"].append("FR")
        assert page == before
        assert page.to_dict() == before.to_dict()

    def test_equality_of_pages_ignores_the_response(self):
        page = page_of(FIRST, next="c2")
        assert page == page_of(FIRST, next="c2", response=ResponseInfo(status=200))
        assert page != page_of(FIRST)
        assert page != page_of(SECOND, next="c2")
        assert hash(page) == hash(copy.copy(page))

    def test_page_has_no_length_and_no_index_and_is_always_true(self):
        with pytest.raises(TypeError, match=r"len\(page\.data\).*len\(page\.collect\(\)\)"):
            len(page_of(FIRST))
        for page in (page_of(FIRST), AsyncPage(data=(FIRST,))):
            with pytest.raises(TypeError, match=r"page\.data\[0\]"):
                page[0]
        assert page_of()

    @pytest.mark.parametrize(
        ("page", "text"),
        [
            (page_of(), "<Page of 0 × item, the last page>"),
            (page_of(FIRST, SECOND), "<Page of 2 × Campaign, the last page>"),
            (page_of(FIRST, next="c2"), "<Page of 1 × Campaign, next=c2>"),
            (page_of(FIRST, next={"a": 1}), "<Page of 1 × Campaign, next={a: 1}>"),
        ],
    )
    def test_repr_counts_items_and_shows_the_continuation(self, page, text):
        assert repr(page) == text

    def test_repr_is_one_bounded_line(self):
        assert_one_line(repr(page_of(*[FIRST] * 1000, next="x\n" * 10_000)), 200)

    def test_html_is_a_table_that_escapes_values(self):
        html = page_of(FIRST, SECOND, next="c2")._repr_html_()
        for column in ("id", "name", "status", "spend", "geo"):
            assert html.count(f">{column}</th>") == 1
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        assert "1 page, and more follow" in html
        assert "1 page, the last one" in page_of(FIRST)._repr_html_()
        response = ResponseInfo(operation="beta.list_campaigns", account_id="account_1")
        html = page_of(FIRST, response=response)._repr_html_()
        assert " · beta.list_campaigns<" in html
        assert " · account_1<" in html

    def test_html_of_a_wide_and_long_page_is_bounded(self):
        wide = Campaign(
            id="a", name="b", status="c", extra={f"f{i}": "x" * 500 for i in range(500)}
        )
        html = page_of(*[wide] * 500)._repr_html_()
        assert len(html) < 60_000
        assert html.count("<tr>") <= 21
        assert "more rows are not shown" in html

    def test_html_of_an_empty_page_counts_0_items(self):
        assert "of 0 × item" in page_of()._repr_html_()


class TestReadItems:
    ITEMS = ({"id": "a", "spend": 1.5}, {"id": "b", "spend": 2})

    def test_items_are_read_into_an_attrs_class(self):
        read = read_items(self.ITEMS, Spend, "beta.list_campaigns")
        assert read == (Spend("a", Decimal("1.5")), Spend("b", Decimal(2)))

    def test_decimal_field_keeps_every_digit(self):
        items = (loads(b'{"id": "a", "spend": 0.12345678901234567890}'),)
        (read,) = read_items(items, Spend, "x")
        assert str(read.spend) == "0.12345678901234567890"

    def test_item_subclass_keeps_unknown_fields_in_extra(self):
        @attrs.frozen(kw_only=True)
        class Spent(Item):
            spend: float

        (read, _) = read_items(
            [{"name": None, "status": None, "more": 1, **item} for item in self.ITEMS], Spent, "x"
        )
        assert (read.id, read.spend, read.extra) == ("a", 1.5, {"more": 1})

    def test_misfit_raises_an_error_that_names_the_item_and_field(self):
        items = (*self.ITEMS, {"id": "c", "spend": "3"})
        with pytest.raises(UnexpectedResponse) as caught:
            read_items(items, Spend, "beta.list_campaigns")
        text = str(caught.value)
        assert caught.value.operation == "beta.list_campaigns"
        assert "beta.list_campaigns" in text
        assert "Spend" in text
        assert "$.data[2].spend: expected a number, got text" in text
        assert caught.value.outcome_unknown is False

    def test_message_about_a_huge_value_is_one_bounded_line(self):
        @attrs.define
        class Checked:
            id: str = attrs.field(validator=attrs.validators.in_(["a"]))

        with pytest.raises(UnexpectedResponse) as caught:
            read_items(({"id": "x\n" * 10_000},), Checked, "x")
        assert_one_line(str(caught.value))

    @each_case("cls", [dict, str, object, Spend("a", Decimal(1)), None, "Spend"])
    def test_other_than_an_attrs_class_is_refused(self, cls):
        with pytest.raises(TypeError, match="attrs class"):
            read_items(self.ITEMS, cls, "x")


@pytest.mark.parametrize(("limit", "count"), [(None, 2), (0, 0), (1, 1), (10**9, 2)])
def test_collect_returns_at_most_limit_items(limit, count):
    assert len(collect(iter(page_of(FIRST, SECOND)), limit)) == count


@each_case("limit", [-1, 1.0, True, False, "3", float("inf")])
def test_collect_refuses_a_limit_that_is_not_a_count(limit):
    with pytest.raises(InvalidRequest) as caught:
        collect(iter(page_of(FIRST)), limit)
    assert caught.value.argument == "limit"
