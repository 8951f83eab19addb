import json
from urllib.parse import quote

import pytest
from cases import each_case
from hypothesis import example, given, strategies as st

from adclient._core.redact import EXCERPT, LINE, Redactor, excerpt, one_line


@each_case(
    ("text", "line"),
    [
        ("", ""),
        ("plain", "plain"),
        ("  a \n\t b\r\n", "a b"),
        (" no campaign ' a  b' ", "no campaign ' a  b'"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("a\u2028b\u202ec\ufeff", "a b c"),
        ("\ud800", ""),
        ("é 😀", "é 😀"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 10**6, "x" * 199 + "…"),
    ],
)
def test_one_line_is_printable_and_shortened(text, line):
    assert one_line(text) == line


@given(st.text(max_size=1000), st.integers(1, 300))
def test_any_text_becomes_a_printable_bounded_line(text, limit):
    line = one_line(text, limit)
    assert line.isprintable()
    assert len(line) <= limit
    assert line == line.strip()


def test_excerpt_is_the_beginning_as_text():
    assert excerpt("é".encode()) == "é"
    assert excerpt(b"\xff") == "\ufffd"
    assert excerpt(b"x" * 10**6) == "x" * EXCERPT
    assert (EXCERPT, LINE) == (2048, 200)


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=60)
FORMS = [
    str,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda text: repr(text)[1:-1],
    quote,
    lambda text: quote(text, safe=""),
]


@pytest.mark.parametrize("form", FORMS)
@example(token="abc0\\")
@given(token=TOKENS)
def test_secret_is_redacted_in_every_form(form, token):
    redactor, text = Redactor(("another", token)), f"[{form(token)}]"
    assert redactor.may_find(text)
    assert redactor.redact(text) == "[***]"
    assert redactor.redact_bytes(text.encode()) == b"[***]"


def test_short_secret_is_not_redacted():
    redactor = Redactor(("v2", "abc"))
    assert redactor.redact("v2 abc") == "v2 abc"
    assert not redactor.may_find("v2 abc")


def test_repr_contains_no_secret():
    assert "canary" not in repr(Redactor(("canary",)))


def test_secret_is_redacted_whatever_a_service_escapes():
    redactor = Redactor(["s3cr3t+tok/en=="])
    for body in (rb"s3cr3t\u002Btok/en\u003d\u003d", b"s3cr3t%2btok%2fen%3d%3d"):
        assert redactor.redact_bytes(body) == b"***"
