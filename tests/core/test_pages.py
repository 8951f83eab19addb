import copy
from decimal import Decimal

import attrs
import pytest
from cases import each_case
from core_helpers import LISTING, assert_one_line, structure

from adclient._core.jsontext import loads
from adclient._core.operations import Listing
from adclient._pages import BasePage, check_limit, extra_of, reread
from adclient.errors import InvalidRequest, UnexpectedResponse
from adclient.models import Campaign, Item, ResponseInfo

FIRST, SECOND = (
    Campaign(id="c1", name="Spring", status="ENABLED", extra={"spend": 1.5, "geo": {"in": ["DE"]}}),
    Campaign(id="c2", name="<script>", status="PAUSED"),
)


def page_of(*items, **arguments):
    return BasePage(data=items, **arguments)


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
    def test_to_dict_gives_back_what_came(self, body):
        listing = structure(body, Listing[Campaign])
        page = BasePage(data=listing.data, next=listing.page.next, extra=extra_of(listing))
        assert page.to_dict() == body

    def test_to_dict_is_a_copy(self):
        page = page_of(FIRST, next={"after": 1}, extra={"page": {"x": [1]}, "more": [1]})
        before = copy.deepcopy(page)
        given = page.to_dict()
        given["page"]["next"]["after"] = 2
        given["page"]["x"].append(2)
        given["more"].append(2)
        given["data"][0]["geo"]["in"].append("FR")
        assert page == before
        assert page.to_dict() == before.to_dict()

    def test_the_raw_items_are_a_copy_too(self):
        page = page_of(Spend("a", Decimal(1)), raw=({"id": "a", "spend": 1, "x": [1]},))
        page.to_dict()["data"][0]["x"].append(2)
        assert page.to_dict()["data"] == [{"id": "a", "spend": 1, "x": [1]}]

    def test_equality_is_about_what_came(self):
        page = page_of(FIRST, next="c2")
        assert page == page_of(FIRST, next="c2", response=ResponseInfo(status=200))
        assert page != page_of(FIRST)
        assert page != page_of(SECOND, next="c2")
        assert hash(page) == hash(copy.copy(page))

    def test_has_neither_a_length_nor_a_truth_of_its_own(self):
        assert not hasattr(BasePage, "__len__")
        assert not hasattr(BasePage, "__bool__")
        assert bool(page_of())

    @pytest.mark.parametrize(
        ("page", "text"),
        [
            (page_of(), "<BasePage of 0 × item, the last page>"),
            (page_of(FIRST, SECOND), "<BasePage of 2 × Campaign, the last page>"),
            (page_of(FIRST, next="c2"), "<BasePage of 1 × Campaign, next=c2>"),
            (page_of(FIRST, next={"a": 1}), "<BasePage of 1 × Campaign, next={a: 1}>"),
        ],
    )
    def test_repr(self, page, text):
        assert repr(page) == text

    def test_the_repr_is_bounded(self):
        assert_one_line(repr(page_of(*[FIRST] * 1000, next="x\n" * 10_000)), 200)

    def test_the_html(self):
        html = page_of(FIRST, SECOND, next="c2")._repr_html_()
        for column in ("id", "name", "status", "spend", "geo"):
            assert html.count(f">{column}</th>") == 1
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        assert "more pages follow" in html
        assert "more pages follow" not in page_of(FIRST)._repr_html_()
        response = ResponseInfo(operation="beta.list_campaigns", account_id="account_1")
        html = page_of(FIRST, response=response)._repr_html_()
        assert " · beta.list_campaigns<" in html
        assert " · account_1<" in html

    def test_the_html_is_bounded(self):
        wide = Campaign(
            id="a", name="b", status="c", extra={f"f{i}": "x" * 500 for i in range(500)}
        )
        html = page_of(*[wide] * 500)._repr_html_()
        assert len(html) < 60_000
        assert html.count("<tr>") <= 21
        assert "more rows are not shown" in html

    def test_the_html_of_an_empty_page(self):
        assert "of 0 × item" in page_of()._repr_html_()


class TestReread:
    ITEMS = ({"id": "a", "spend": 1.5}, {"id": "b", "spend": 2})

    def test_into_a_class_of_the_caller_s(self):
        read = reread(self.ITEMS, Spend, "beta.list_campaigns")
        assert read == (Spend("a", Decimal("1.5")), Spend("b", Decimal(2)))

    def test_keeps_the_digits_of_money(self):
        items = (loads(b'{"id": "a", "spend": 0.12345678901234567890}'),)
        (read,) = reread(items, Spend, "x")
        assert str(read.spend) == "0.12345678901234567890"

    def test_into_a_kind_of_item(self):
        @attrs.frozen(kw_only=True)
        class Spent(Item):
            spend: float

        (read, _) = reread(
            [{"name": None, "status": None, "more": 1, **item} for item in self.ITEMS], Spent, "x"
        )
        assert (read.id, read.spend, read.extra) == ("a", 1.5, {"more": 1})

    def test_an_item_that_does_not_fit_is_named(self):
        items = (*self.ITEMS, {"id": "c", "spend": "3"})
        with pytest.raises(UnexpectedResponse) as caught:
            reread(items, Spend, "beta.list_campaigns")
        text = str(caught.value)
        assert caught.value.operation == "beta.list_campaigns"
        assert "beta.list_campaigns" in text
        assert "Spend" in text
        assert "$.data[2].spend: expected a number, got text" in text
        assert caught.value.outcome_unknown is False

    def test_the_text_stays_short_whatever_came(self):
        @attrs.define
        class Checked:
            id: str = attrs.field(validator=attrs.validators.in_(["a"]))

        with pytest.raises(UnexpectedResponse) as caught:
            reread(({"id": "x\n" * 10_000},), Checked, "x")
        assert_one_line(str(caught.value))

    @each_case("cls", [dict, str, object, Spend("a", Decimal(1)), None, "Spend"])
    def test_takes_attrs_classes_only(self, cls):
        with pytest.raises(TypeError, match="attrs class"):
            reread(self.ITEMS, cls, "x")


@pytest.mark.parametrize("limit", [None, 0, 1, 10**9])
def test_a_limit(limit):
    check_limit(limit)


@each_case("limit", [-1, 1.0, True, False, "3", float("inf")])
def test_no_limit(limit):
    with pytest.raises(InvalidRequest) as caught:
        check_limit(limit)
    assert caught.value.argument == "limit"
