import copy
from decimal import Decimal

import attrs
import pytest

from adclient import AsyncPage
from adclient._sync.page import Page
from adclient.models import Campaign, ResponseInfo

FIRST, SECOND = (
    Campaign(id="c1", name="Spring", status="ENABLED", extra={"spend": 1.5, "geo": {"in": ["DE"]}}),
    Campaign(id="c2", name="<script>", status="PAUSED"),
)


def page_of(*items, **arguments):
    return Page(data=items, **arguments)


@attrs.define
class Spend:
    id: str
    spend: Decimal


class TestPage:
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

    def test_repr_counts_items_and_shows_the_continuation(self):
        assert repr(page_of()) == "<Page of 0 × item, the last page>"
        assert repr(page_of(FIRST, next={"a": 1})) == "<Page of 1 × Campaign, next={a: 1}>"

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
