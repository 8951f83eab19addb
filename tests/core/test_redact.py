import html
import json
import time
from urllib.parse import quote

import pytest
from cases import each_case
from hypothesis import example, given, strategies as st

from adclient._core.redact import EXCERPT, LINE, Redactor, _pattern, excerpt, one_line


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
    assert excerpt(b"") == ""
    assert excerpt("é".encode()) == "é"
    assert excerpt(b"\xff") == "\ufffd"
    assert excerpt(b"x" * 10**6) == "x" * EXCERPT
    assert 1024 <= EXCERPT <= 4096
    assert LINE <= 200


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=60)
SPELLED = [
    str,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    html.escape,
    quote,
    lambda text: quote(text, safe=""),
    lambda text: coded(text, "\\u{:04X}"),
    lambda text: coded(text, "&#{};"),
    lambda text: coded(text, "&#x{:x};"),
]


def coded(text, form):
    return "".join(char if char.isalnum() else form.format(ord(char)) for char in text)


@pytest.mark.parametrize("spelled", SPELLED)
@example("00\\&")
@example("00\\%")
@given(token=TOKENS)
def test_secret_is_redacted_in_every_escaped_form(spelled, token):
    assert Redactor((token,)).redact(f"[{spelled(token)}]") == "[***]"


@given(TOKENS, st.data())
def test_truncated_secret_at_the_end_is_redacted(token, data):
    length = data.draw(st.integers(4, len(token)))
    assert Redactor((token,)).redact_bytes(b"said " + token[:length].encode()) == b"said ***"


@each_case(
    ("text", "hidden"),
    [
        ("abcabcd", "abc***"),
        ("abcd, and then abcdabcde", "abcd, and then ***"),
        ("abcd abcdabcdX", "abcd abcdabcdX"),
        ("abcd abc", "abcd abc"),
        ("abcd…", "***…"),
        ("abc", "abc"),
        ("", ""),
        ("\ud800 abcdabcdef", "\ud800 ***"),
    ],
)
def test_truncated_secret_in_text_is_redacted(text, hidden):
    assert Redactor(("abcdabcdef",)).redact(text) == hidden


def test_hostile_text_is_searched_in_linear_time():
    run = b"\\" * 100_000
    began = time.process_time()
    assert Redactor(("_canary",)).redact_bytes(b"canary " + run) == b"canary " + run
    assert time.process_time() - began < 5


@each_case("char", ["-", "+", "\\", "/", "&", "\\-", "-\\"])
def test_token_of_marks_is_searched_in_linear_time(char):
    began = time.process_time()
    for tail in ("", "a"):
        data = b"a" + char.encode() * 5_000
        Redactor((char * 30 + tail + "b",)).redact_bytes(data + b"b" * (not tail))
    assert time.process_time() - began < 5


def test_text_without_the_longest_word_compiles_no_pattern():
    made = _pattern.cache_info().misses
    assert Redactor(("fresh-for-this-1",)).redact("for fresh-this-1") == "for fresh-this-1"
    assert _pattern.cache_info().misses == made + 1
    assert Redactor(("fresh-for-this-2",)).redact("nothing of it") == "nothing of it"
    assert _pattern.cache_info().misses == made + 1


def test_short_secret_is_not_redacted():
    assert Redactor(("v2", "abc")).redact("v2 abc") == "v2 abc"


def test_repr_contains_no_secret():
    assert "canary" not in repr(Redactor(("canary",)))
