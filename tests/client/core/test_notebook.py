import re
from decimal import Decimal
from html.parser import HTMLParser

from cases import each_case
from hypothesis import given, strategies as st

from adclient import errors
from adclient._display.notebook import (
    COLUMNS,
    NOTE,
    ROWS,
    SHORT,
    Change,
    card,
    first_rows,
    short,
    table,
)


class Balanced(HTMLParser):
    """Collects the tags and texts of HTML, and checks that each tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert {name for name, _ in attributes} <= KNOWN_ATTRIBUTES
        if tag == "th":
            assert dict(attributes)["scope"] in ("col", "row")
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


KNOWN_ATTRIBUTES = {"style", "cellpadding", "colspan", "scope", "tabindex", "role", "aria-label"}
KNOWN_TAGS = {"div", "strong", "span", "table", "thead", "tbody", "tr", "th", "td"}
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=80),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=10,
)


@each_case(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        ("", ""),
        ("two\nlines\t", "two\\nlines\\t"),
        ("\u202e\ud800", "\\u202e\\ud800"),
        ("a\u3164\ufe0f\U000e0101", "a\\u3164\\ufe0f\\U000e0101"),
        ([], "[]"),
        ({}, "{}"),
        ((1, 2), "[1, 2]"),
        ({"a": {"b": True}}, "{a: {b: true}}"),
        ("x" * 61, "x" * 59 + "…"),
        ("\n" * 60, "\\n" * 29 + "\\…"),
    ],
)
def test_short_formats_a_value_as_one_line(value, text):
    assert short(value) == text


@given(VALUE)
def test_short_is_one_bounded_line(value):
    text = short(value)
    assert len(text) <= SHORT
    assert text.isprintable()


def test_short_formats_only_what_it_shows():
    formatted = []

    class Counted:
        def __str__(self):
            formatted.append(self)
            return "x"

    assert short([[[Counted()] * 60] * 60] * 60).startswith("[[[x, x, x")
    assert len(formatted) < 10_000


def test_short_accepts_any_depth():
    array = members = None
    for _ in range(5000):
        array, members = [array], {"a": members}
    assert 0 < len(short(array)) <= SHORT
    assert 0 < len(short(members)) <= SHORT


def test_card_shows_title_state_rows_and_notes():
    rows = [("heading",), ("name", 1), Change("other", "1", None, ""), Change("n", "1", "2", "+1")]
    html = card("Title", rows, state="new", notes=["note"])
    assert Balanced(html).texts == [
        "Title", " ", "new", "heading", "name", "1", "other", "1", " → ", "—",
        "n", "1", " → ", "2", " ", "+1", "note",
    ]  # fmt: skip
    assert Balanced(card("Title", [])).texts == ["Title"]


def test_table_has_a_column_for_each_name():
    rows = [{"a": 1, "b": "x"}, {"a": None, "c": True}]
    html = table("Title", rows, total=2, notes=["note"])
    assert Balanced(html).texts == [
        "Title", "a", "b", "c", "1", "x", "null", "true", "note",
    ]  # fmt: skip
    assert "<table" not in table("Title", [], total=0)


@each_case(
    ("values", "side"),
    [([1, 2.5, Decimal("0.1"), None], "right"), ([1, "2"], "left"), ([True], "left")],
)
def test_column_of_numbers_is_aligned_right(values, side):
    html = table("Title", [{"n": value} for value in values], total=len(values))
    assert html.count(f"text-align:{side}") == len(values) + 1


def test_numbers_come_after_the_columns_of_the_interface():
    rows = [
        {"id": "a", "name": "n", "reason": "r", "period": {}, "spend": None, "status": "s"},
        {"id": "b", "clicks": 3, "on": True, "spend": Decimal("1.5")},
    ]
    heads = re.findall("<th [^>]*>(.*?)</th>", table("t", rows, total=2))
    assert heads == ["id", "name", "status", "spend", "clicks", "reason", "period", "on"]


@each_case("count", [ROWS, ROWS + 1])
def test_rows_beyond_the_limit_are_counted(count):
    shown, hidden = first_rows([("n", "v")] * count)
    for html in (
        card("t", shown, notes=["note", *hidden]),
        table("t", [{"n": "v"}] * count, total=count, notes=["note"]),
    ):
        assert html.count(">v</td>") == ROWS
        assert "note" in html
        more = count - ROWS
        assert (f"{more} more rows are not shown" in html) is (more > 0)


def test_note_is_as_long_as_an_error_message():
    for html in (
        errors.BadRequest("x" * (NOTE - 1) + "!", status=400)._repr_html_(),
        table("t", [], total=0, notes=["x" * (NOTE - 1) + "!"]),
    ):
        assert "x!" in html
    assert "x!" not in card("t", [], notes=["x" * NOTE + "!"])


def test_columns_beyond_the_limit_are_counted():
    html = table("t", [{f"c{i}": i for i in range(COLUMNS + 2)}], total=1)
    assert html.count("</th>") == html.count("</td>") == COLUMNS
    assert "2 more columns are not shown" in html


@given(VALUE, st.text(max_size=80) | st.just("<script>alert(1)</script>"))
def test_html_is_well_formed_for_any_value(value, text):
    rows = [(text,), (text, value), Change(text, text, text, text)]
    for html in (
        card(text, rows, state=text, notes=[text]),
        table(text, [{text: value}], total=99, about=[text], notes=[text]),
        errors.BadRequest(text, status=400, message=text)._repr_html_(),
    ):
        assert Balanced(html).tags <= KNOWN_TAGS
        html.encode()
