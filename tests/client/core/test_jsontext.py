"""JSON text: no number loses a digit, and what is not JSON is refused with a reason."""

import dataclasses
import json
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import ClassVar

import attrs
import pytest
from cases import each_case
from core_helpers import JSON_VALUE, Float64, Int64, Level, Mood, Shade
from hypothesis import given

from adclient._values import jsontext
from adclient._values.jsontext import DEEPEST, JSONError, dumps, frozen, loads

D = Decimal
MANY_DIGITS = D("0.1000000000000000055511151231257827")


def nested(depth, inner=None):
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.usefixtures("decoder")
class TestLoads:
    @given(JSON_VALUE)
    def test_any_document_is_read_unchanged(self, value):
        for text in (json.dumps(value, ensure_ascii=False), dumps(value, "fields")):
            assert json.dumps(loads(text.encode())) == json.dumps(value)

    @each_case(
        ("number_type", "texts"),
        (int, ["-" + "9" * digits for digits in (1, 15, 16, 17, 400, 4300)]),
        (float, ["0.1", "1e2", "-0.0", "1e-7", "1e300", "123456789012.25"]),
        (float, ["33.333333333333336", "0.30000000000000004", "-1.2345678901234568e-05"]),
        (D, ["0.12345678901234567890123", "12345678901234567890.5", "1e400", "1E+999999"]),
        (D, ["-0.123456789012345678e-3", "9007199254740993.0", "9030819600902697E22"]),
        (D, ["900719925474099.3", "-4503599627370497.55"]),
    )
    def test_number_is_a_decimal_only_if_a_float_would_change_it(self, number_type, texts):
        for text in texts:
            number = loads(text.encode())
            assert type(number) is number_type
            assert D(repr(number) if number_type is float else number) == D(text)

    def test_number_too_small_for_a_float_is_kept_in_a_draft_only(self):
        assert repr(loads(b"-1e-400", unique=True)) == "Decimal('-1E-400')"
        body = b"[0.5, 1e-" + b"9" * 19 + b"]"
        assert loads(body) == [0.5, 0.0]
        with pytest.raises(JSONError, match="the exponent of a number is too large"):
            loads(body, unique=True)

    @each_case(
        ("why", "bodies"),
        ("not JSON", [b"", b"  ", b"<html>", b'{"a": 1', b'{"a": 1} x', b"{'a': 1}", b"[01]"]),
        (
            "not JSON",
            [b"9" * 4301, b"[0.5, " + b"9" * 5000 + b"]", b"[0.123456789.0123456789]"],
        ),
        ("NaN is not a JSON value", [b"NaN"]),
        ("Infinity is not a JSON value", [b"[Infinity]"]),
        ("-Infinity is not a JSON value", [b'{"a": -Infinity}']),
        ("not UTF-8 text at byte 0", [b"\xff", '"a"'.encode("utf-16")]),
        ("not UTF-8 text at byte 3", [b'"ab\xc3"']),
        ("nested too deeply", [b"[" * 100_000 + b"]" * 100_000]),
        ("nested too deeply", [b'{"a":' * 100_000 + b"1" + b"}" * 100_000]),
        ("the exponent of a number is too large", [b"[1e" + b"9" * 19 + b"]"]),
    )
    def test_invalid_document_is_refused_with_a_reason(self, why, bodies):
        for body in bodies:
            with pytest.raises(JSONError, match=r"^\$: ") as caught:
                loads(body)
            assert why in str(caught.value)

    @each_case("unique", False, True)
    def test_nesting_has_a_limit(self, unique):
        for opened, closed in (("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")):
            levels = DEEPEST // len(closed)
            body = f"{opened * levels}1{closed * levels}"
            assert str(loads(body.encode(), unique=unique)).count(opened[0]) == levels
            with pytest.raises(JSONError, match=r"^\$: nested too deeply$"):
                loads(f"[{body}]".encode(), unique=unique)

    def test_brackets_in_texts_are_no_nesting_and_do_not_hide_any(self):
        for text in ([{"a": [1, {}], "b": "]" * 10, "c": "[{" * 200}] * 200, ["]" * 500]):
            assert loads(json.dumps(text).encode()) == text
            hidden = f"[{json.dumps(text)},{'[' * DEEPEST}{']' * DEEPEST}]".encode()
            with pytest.raises(JSONError, match="nested too deeply"):
                loads(hidden)
            assert loads(hidden, deepest=None)[0] == text


# Two decoders.


def outcome_of(body):
    try:
        return repr(loads(body))
    except JSONError as error:
        return str(error)


def assert_same_by_json(body):
    found = outcome_of(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_orjson_loads", lambda: None)
        assert outcome_of(body) == found


def test_both_decoders_return_the_same_for_what_orjson_refuses_or_rounds():
    for body in (b'{"a": 1, "b": 2, "a": 3}', b"-0", b'"\\ud83d"', b"1e400", b"[\n 1.5,\t-2e3\r]"):
        assert_same_by_json(body)
    for body in (b"[18446744073709551616]", b"\xef\xbb\xbf12345678901234567890.5"):
        assert_same_by_json(body)


@each_case("offset", *range(4))
@each_case(
    "place",
    *["%s", "-%s", '{"a":%s}', "[%s]", "[0,%s]"],
    *["[0,-%s]", "[0, %s]", "[\n%s]", "[\t%s]", "[\r%s]"],
)
@each_case("number", "900719925474099.3", "0.12345678901234567890", "9223372036854775808")
def test_number_that_a_float_would_change_is_found_at_any_place(place, number, offset, monkeypatch):
    body = (" " * offset + place % number).encode()
    monkeypatch.setattr(jsontext, "_orjson_loads", lambda: pytest.fail)
    assert outcome_of(body) == repr(json.loads(body, parse_float=D))


def test_numbers_that_are_kept_and_digits_in_text_are_decoded_by_orjson(monkeypatch):
    monkeypatch.setattr(jsontext, "_orjson_loads", lambda: lambda body: "by orjson")
    numbers = [33.333333333333336, 0.012345678901234568, -9007199254740993]
    value = {"numbers": numbers, "id": "12021000000000000123", "at": "2026-02-01"}
    assert loads(json.dumps(value).encode()) == "by orjson"


# Encoding.


@attrs.frozen
class Geo:
    country: str
    radius: Decimal | None = None


@each_case(
    ("value", "text"),
    *[(None, "null"), (True, "true"), (False, "false"), (0, "0"), (120.0, "120.0")],
    *[(0.1, "0.1"), (1e22, "1e+22"), (-0.0, "-0.0"), (D("120.50"), "120.50")],
    *[(MANY_DIGITS, str(MANY_DIGITS)), (D("1E+3"), "1E+3"), (10**4299, "1" + "0" * 4299)],
    *[(Int64(7), "7"), (Float64(0.5), "0.5"), (Level.HIGH, "3"), (Mood.CALM, '"calm"')],
    ('é😀\n"\\\u2028\x00', '"é😀\\n\\"\\\\\u2028\\u0000"'),
    *[({}, "{}"), ([], "[]"), ((1, (2, [3])), "[1,[2,[3]]]")],
    ({"b": 1, "a": None}, '{"b":1,"a":null}'),
    ({Mood.CALM: Mood.CALM}, '{"calm":"calm"}'),
    (MappingProxyType({"a": (1, 2)}), '{"a":[1,2]}'),
    ([Geo("DE", D("1.50"))], '[{"country":"DE","radius":1.50}]'),
)
def test_value_is_encoded_compactly(value, text):
    assert dumps(value, "fields") == text


@each_case(
    ("value", "problem"),
    *[({1, 2}, ": expected a JSON value, got set"), (Geo, ": expected a JSON value, got type")],
    ({"a": [1, {"b": object()}]}, ".a[1].b: expected a JSON value, got object"),
    ([Shade.DARK], "[0]: expected a JSON value, got Shade"),
    (Geo("DE", {1}), ".radius: expected a JSON value, got set"),
    (float("nan"), ": expected a finite number, got nan"),
    (D("NaN"), ": expected a finite number, got NaN"),
    ({1: 2}, ": expected a string as key, got int"),
    *[(text, ": contains a lone surrogate") for text in ("\ud800", {"\ud800": 1}, ["\udfff"])],
    (10**4300, ": expected a number of at most 4300 digits"),
)
def test_unencodable_value_is_refused_with_its_path(value, problem):
    with pytest.raises(JSONError) as caught:
        dumps(value, "fields")
    assert str(caught.value) == f"fields{problem}"


def test_value_that_contains_itself_or_is_too_deep_is_refused():
    ring = []
    ring.append({"again": ring})
    for value in (ring, nested(100_000)):
        for refuse in (dumps, frozen):
            with pytest.raises(JSONError, match=r"^x: nested too deeply, or contains itself$"):
                refuse(value, "x")
    # An argument may be half as deep as a response.
    value = nested(DEEPEST // 2)
    assert frozen(value, "x")[0] == value
    with pytest.raises(JSONError, match=r"^x: nested too deeply$"):
        frozen([value], "x")


class Model:
    """Has the method by which a pydantic model gives its fields: decimals are text in JSON."""

    def __init__(self, dumped, exact):
        self.dumped, self.exact = dumped, exact

    def model_dump(self, *, mode, by_alias):
        assert by_alias
        return {"json": self.dumped, "python": self.exact}[mode]


@each_case(
    ("dumped", "exact", "text"),
    (
        {"daily": "1.50", "days": [{"amount": "1.50", "day": "2026-03-02"}]},
        {"daily": D("1.50"), "days": [{"amount": D("1.50"), "day": date(2026, 3, 2)}]},
        '{"daily":1.50,"days":[{"amount":1.50,"day":"2026-03-02"}]}',
    ),
    # A serializer of the caller may omit, join or name elements, which are then left alone.
    ({"a": {"y": "2"}}, {"a": {"x": D(1), "y": D(2)}}, '{"a":{"y":"2"}}'),
    ({"a": ["2"]}, {"a": [D(1), D(2)]}, '{"a":["2"]}'),
    ({"a": "12"}, {"a": [D(1), D(2)]}, '{"a":"12"}'),
)
def test_decimals_of_a_pydantic_model_keep_their_digits(dumped, exact, text):
    assert dumps(Model(dumped, exact), "x") == text


def test_fields_of_a_dataclass_are_encoded_as_an_object():
    @dataclasses.dataclass
    class Name:
        name: str
        kind: ClassVar[str] = "not a field"

    assert dumps([Name("x")], "x") == '[{"name":"x"}]'
    with pytest.raises(JSONError, match="expected a JSON value, got type"):
        dumps(Name, "x")
