from decimal import Decimal
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adclient import errors
from adclient.notebook import ROWS, SHORT, card, short, table


class Balanced(HTMLParser):
    """Collects the tags and texts of HTML, and checks that each tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert attributes == []
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


KNOWN_TAGS = {"div", "strong", "table", "tr", "th", "td", "em"}
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=80),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (1.5, "1.5"),
        (Decimal("1.50"), "1.50"),
        ("", ""),
        ("text", "text"),
        ("two\nlines\t", "two\\nlines\\t"),
        ("\x1b[31m\x00", "\\x1b[31m\\x00"),
        ("\u202e\ud800", "\\u202e\\ud800"),
        ("é😀", "é😀"),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", [None]], "[1, a, [null]]"),
        ((1, 2), "[1, 2]"),
        ({"a": {"b": True}}, "{a: {b: true}}"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("\n" * 60, "\\n" * 29 + "\\…"),
        (list(range(1000)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_short(value, text):
    assert short(value) == text


@given(VALUE)
def test_short_is_one_bounded_line(value):
    text = short(value)
    assert len(text) <= SHORT
    assert text.isprintable()
    assert short(value) == text


class Counted:
    """A value that counts how often it is shown."""

    shown = 0

    def __str__(self):
        Counted.shown += 1
        return "x"


def test_short_looks_at_the_beginning_only():
    Counted.shown = 0
    wide = [[[Counted()] * 60] * 60] * 60
    assert short(wide).startswith("[[[x, x, x")
    assert Counted.shown < 10_000


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_short_takes_any_depth(opening):
    value = None
    for _ in range(5000):
        value = [value] if opening == "[" else {"a": value}
    assert 0 < len(short(value)) <= SHORT


def test_a_card():
    html = card("Title", [("name", 1), ("other", None)], note="note")
    assert html == (
        "<div><strong>Title</strong><table>"
        "<tr><th>name</th><td>1</td></tr><tr><th>other</th><td>null</td></tr>"
        "</table><div><em>note</em></div></div>"
    )
    assert "<em>" not in card("Title", [])


def test_a_table():
    html = table("Title", ["a", "b"], [[1, 2], [3, None]])
    assert html == (
        "<div><strong>Title</strong><table>"
        "<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>null</td></tr>"
        "</table></div>"
    )


@pytest.mark.parametrize("count", [ROWS, ROWS + 1, 10_000])
def test_rows_are_bounded(count):
    for html in (
        card("t", [("n", "v")] * count, note="note"),
        table("t", ["n"], [["v"]] * count, note="note"),
    ):
        assert html.count("<td>v</td>") == ROWS
        assert "note" in html
        more = count - ROWS
        assert (f"note; {more} more rows are not shown" in html) is (more > 0)


@given(VALUE, st.text(max_size=80))
def test_html_is_well_formed_and_nothing_gets_out_of_its_cell(value, text):
    for html in (
        card(text, [(text, value)], note=text),
        table(text, [text], [[value]], note=text),
    ):
        parsed = Balanced(html)
        assert parsed.tags <= KNOWN_TAGS
        assert html == html.encode("utf-8").decode("utf-8")


def test_a_script_stays_a_text():
    script = "<script>alert(1)</script>"
    for html in (
        card(script, [(script, [script])], script),
        table(script, [script], [[script]], script),
    ):
        assert "<script" not in html
        assert script in "".join(Balanced(html).texts)


def test_an_error_has_a_card_too():
    error = errors.BadRequest("alpha.pause: 400: <script>", status=400, message="<script>")
    html = error._repr_html_()
    assert "BadRequest" in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
