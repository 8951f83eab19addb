import pytest
from hypothesis import given
from hypothesis import strategies as st

from adclient._core.redact import EXCERPT, LINE, excerpt, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("plain", "plain"),
        ("  a \n\t b\r\n", "a b"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("a\u2028b\u202ec\ufeff", "a b c"),
        ("\ud800", ""),
        ("é 😀", "é 😀"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 10**6, "x" * 199 + "…"),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_one_line(text, line):
    assert one_line(text) == line


@given(st.text(max_size=1000), st.integers(1, 300))
def test_a_line_is_printable_and_bounded(text, limit):
    line = one_line(text, limit)
    assert line.isprintable()
    assert len(line) <= limit
    assert line == line.strip()


def test_an_excerpt():
    assert excerpt(b"") == ""
    assert excerpt("é".encode()) == "é"
    assert excerpt(b"\xff") == "\ufffd"
    assert excerpt(b"x" * 10**6) == "x" * EXCERPT
    assert 1024 <= EXCERPT <= 4096
    assert LINE <= 200
