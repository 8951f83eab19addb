import contextlib
import dataclasses
import json
import sys
from datetime import date
from decimal import Decimal
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar

import attrs
import orjson
import pytest
from cases import each_case
from core_helpers import JSON_VALUE, Level, Mood, Shade, Status
from hypothesis import example, given, strategies as st

from adclient._core import jsontext
from adclient._core.jsontext import JSONError, digits, dumps, loads
from adclient.models import Campaign

NUMBER_TEXT = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)


def is_tiny(text):
    """Return whether a number is too small for a float, which then is the closest one."""
    return abs(float(text)) < sys.float_info.min


def nested(depth, inner=None):
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.usefixtures("decoder")
class TestLoads:
    @given(JSON_VALUE)
    def test_document_of_json_dumps_is_read_unchanged(self, value):
        read = loads(json.dumps(value, ensure_ascii=False).encode())
        assert read == value
        assert json.dumps(read) == json.dumps(value)

    @given(NUMBER_TEXT)
    def test_numbers_keep_their_digits(self, text):
        number = loads(text.encode())
        assert Decimal(str(number)) == Decimal(repr(float(text)) if is_tiny(text) else text)

    @each_case("digits", [1, 15, 16, 17, 400, 4300])
    def test_whole_numbers_of_any_size_are_exact(self, digits):
        number = loads(b"-" + b"9" * digits)
        assert type(number) is int
        assert number == -int("9" * digits)

    @each_case(
        "text",
        [
            *(
                "0.1",
                "120.5",
                "1e2",
                "-0.0",
                "1e-7",
                "123456789012.25",
                "33.333333333333336",
                "1e300",
            ),
            *("0.30000000000000004", "-1.2345679012345678e-05", "0.00012345678901234567"),
            *("-1e-400", "1.2345e-310", "1e-" + "9" * 19, "0." + "0" * 400 + "1"),  # too small
        ],
    )
    def test_number_that_a_float_holds_is_a_float(self, text):
        number = loads(text.encode())
        assert type(number) is float
        assert number == float(text)

    @each_case(
        "text",
        [
            "0.12345678901234567890123",
            "12345678901234567890.5",
            "0.1000000000000000055511151231257827",
            "1e400",
            "1E+999999",
            "-0.123456789012345678e-3",
            "9007199254740993.0",
            "9030819600902697E22",
            "900719925474099.3",
            "-4503599627370497.55",
        ],
    )
    def test_number_that_a_float_would_change_is_a_decimal(self, text):
        number = loads(text.encode())
        assert type(number) is Decimal
        assert number == Decimal(text)

    def test_tiny_number_of_a_draft_is_a_decimal(self):
        number = loads(b"-1e-400", unique=True)
        assert type(number) is Decimal
        assert number == Decimal("-1e-400")

    def test_byte_order_mark_is_skipped(self):
        assert loads(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}

    @each_case(
        ("body", "why"),
        [
            (b"", "not JSON"),
            (b"  ", "not JSON"),
            (b"<html>", "not JSON"),
            (b'{"a": 1', "not JSON"),
            (b'{"a": 1} x', "not JSON"),
            (b"{'a': 1}", "not JSON"),
            (b"[01]", "not JSON"),
            (b"NaN", "NaN is not a JSON value"),
            (b"[Infinity]", "Infinity is not a JSON value"),
            (b'{"a": -Infinity}', "-Infinity is not a JSON value"),
            (b"\xff", "not UTF-8 text at byte 0"),
            (b'"ab\xc3"', "not UTF-8 text at byte 3"),
            ('"a"'.encode("utf-16"), "not UTF-8 text"),
            (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
            (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
            (b"9" * 4301, "not JSON"),
            (b"[0.5, " + b"9" * 5000 + b"]", "not JSON"),
            (b"[0.123456789.0123456789]", "not JSON"),
        ],
    )
    def test_invalid_document_is_refused_with_a_reason(self, body, why):
        with pytest.raises(JSONError, match=r"^\$: ") as caught:
            loads(body)
        assert why in str(caught.value)

    @each_case("exponent", ["9" * 19, "9" * 400])
    def test_huge_exponent_raises_json_error(self, exponent):
        with pytest.raises(JSONError):
            loads(b"[1e" + exponent.encode() + b"]")

    @given(st.binary(max_size=100))
    def test_any_bytes_return_a_value_or_raise_json_error(self, body):
        with contextlib.suppress(JSONError):
            loads(body)


# Pieces of JSON, put together into what is whole, odd or broken.
PIECES = ["0", "-0", "1.5", "e", "E-5", "1e99", "1e-308", "12345678901234", "9" * 16, "[", "]", "{"]
PIECES += ["}", ",", ":", " ", '"', '"a":', '"é"', "\\ud83d", "\\ude00", "\\", "null", "NaN", "\t"]
BROKEN = st.lists(st.sampled_from(PIECES), max_size=12).map("".join).map(str.encode)
WRITTEN = st.builds(
    lambda value, plain, indent: json.dumps(value, ensure_ascii=plain, indent=indent).encode(),
    JSON_VALUE,
    st.booleans(),
    st.sampled_from([None, 1]),
)


def outcome_of(body):
    try:
        return repr(loads(body))
    except JSONError as error:
        return str(error)


def by_json(body):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_orjson_loads", lambda: None)
        return outcome_of(body)


class TestTwoDecoders:
    @given(WRITTEN | BROKEN | NUMBER_TEXT.map(str.encode) | st.binary(max_size=50))
    @example(b'{"a": 1, "b": 2, "a": 3}')
    @example(b"-0")
    @example(b'"\\ud83d"')
    @example(b"[1e-400]")
    @example(b"[1E-400]")
    @example(b"1e400")
    @example(b"[18446744073709551616]")
    @example(b"\xef\xbb\xbf12345678901234567890.5")
    def test_both_decoders_return_the_same(self, body):
        assert outcome_of(body) == by_json(body)

    @each_case("offset", range(4))
    @each_case(
        "place",
        [
            "%s",
            "-%s",
            '{"a":%s}',
            "[%s]",
            "[0,%s]",
            "[0,-%s]",
            "[0, %s]",
            "[\n%s]",
            "[\t%s]",
            "[\r%s]",
        ],
    )
    @each_case("number", ["900719925474099.3", "0.12345678901234567890", "9223372036854775808"])
    def test_number_that_a_float_would_change_is_found_at_any_place(
        self, place, number, offset, monkeypatch
    ):
        body = (" " * offset + place % number).encode()
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: pytest.fail)
        exact = json.loads(body, parse_float=Decimal)
        assert repr(exact) == outcome_of(body)

    @each_case("number", ["33.333333333333336", "0.012345678901234568", "-9007199254740993"])
    def test_long_number_that_is_kept_is_decoded_by_orjson(self, number, monkeypatch):
        body = f'[{number}, {{"a":{number}}}]'.encode()
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: orjson.loads)
        monkeypatch.setattr(jsontext, "_decoder", pytest.fail)
        assert repr(loads(body)) == f"[{number}, {{'a': {number}}}]"

    def test_digits_in_a_string_are_not_a_number(self, monkeypatch):
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: json.loads)
        monkeypatch.setattr(jsontext, "_decoder", pytest.fail)
        assert loads(b'{"id": "12021000000000000123", "at": "2026-02-01"}') == {
            "id": "12021000000000000123",
            "at": "2026-02-01",
        }

    def test_body_above_the_limit_is_decoded_by_json(self, monkeypatch):
        monkeypatch.setattr(jsontext, "_ORJSON_LIMIT", 4)
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: lambda body: len(body))
        assert [loads(b"[12]"), loads(b"[123]")] == [4, [123]]

    @each_case("depth", [900, 1_000, 1_024, 1_025, 2_000])
    def test_deep_document_is_read_or_refused(self, depth):
        try:
            value = loads(b"[" * depth + b"]" * depth)
        except JSONError as error:
            assert str(error) == "$: nested too deeply"  # noqa: PT017  both ends are right
        else:
            for _ in range(depth - 1):
                (value,) = value
            assert value == []


class Int64:
    """A whole number as numpy makes them: not an int."""

    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value


Integral.register(Int64)


class Float64(float):
    def __repr__(self):
        return f"Float64({float(self)!r})"


@attrs.frozen
class Geo:
    country: str
    radius: Decimal | None = None


@attrs.frozen
class Spec:
    geo: Geo
    ages: tuple[int, int]


class TestDumps:
    @given(JSON_VALUE)
    def test_dumped_value_loads_as_itself(self, value):
        text = dumps(value, "fields")
        assert loads(text.encode()) == value
        assert json.dumps(loads(text.encode())) == json.dumps(value)

    @given(NUMBER_TEXT)
    def test_dumped_decimal_keeps_its_digits(self, text):
        assert dumps(Decimal(text), "fields") == str(Decimal(text))

    @given(st.integers(-(10**200), 10**200))
    def test_dumped_whole_number_keeps_its_digits(self, number):
        assert dumps(number, "fields") == str(number)

    @each_case(
        ("value", "text"),
        [
            (None, "null"),
            (True, "true"),
            (False, "false"),
            (0, "0"),
            (120.0, "120.0"),
            (0.1, "0.1"),
            (1e22, "1e+22"),
            (-0.0, "-0.0"),
            (Decimal("120.50"), "120.50"),
            (
                Decimal("0.1000000000000000055511151231257827"),
                "0.1000000000000000055511151231257827",
            ),
            (Decimal("1E+3"), "1E+3"),
            (10**4299, "1" + "0" * 4299),
            (Int64(7), "7"),
            (Float64(0.5), "0.5"),
            (Level.HIGH, "3"),
            (Status.ENABLED, '"ENABLED"'),
            (Mood.CALM, '"calm"'),
            ('é😀\n"\\\u2028\x00', '"é😀\\n\\"\\\\\u2028\\u0000"'),
            ({}, "{}"),
            ([], "[]"),
            ((1, (2, [3])), "[1,[2,[3]]]"),
            ({"b": 1, "a": None}, '{"b":1,"a":null}'),
            ({Status.ENABLED: Status.ENABLED}, '{"ENABLED":"ENABLED"}'),
            ({Mood.CALM: Mood.CALM}, '{"calm":"calm"}'),
            (MappingProxyType({"a": (1, 2)}), '{"a":[1,2]}'),
            (Geo("DE"), '{"country":"DE","radius":null}'),
            (
                Spec(Geo("DE", Decimal("1.50")), (18, 65)),
                '{"geo":{"country":"DE","radius":1.50},"ages":[18,65]}',
            ),
        ],
    )
    def test_value_is_encoded_compactly(self, value, text):
        assert dumps(value, "fields") == text

    @each_case(
        ("value", "problem"),
        [
            ({1, 2}, "fields: expected a JSON value, got set"),
            ({"a": b"x"}, "fields.a: expected a JSON value, got bytes"),
            ({"a": [1, {"b": object()}]}, "fields.a[1].b: expected a JSON value, got object"),
            ([Shade.DARK], "fields[0]: expected a JSON value, got Shade"),
            ({"a": date(2026, 1, 1)}, "fields.a: expected a JSON value, got date"),
            ((1, 2j), "fields[1]: expected a JSON value, got complex"),
            ({"a": iter([])}, "fields.a: expected a JSON value, got list_iterator"),
            (float("nan"), "fields: expected a finite number, got nan"),
            ({"a": float("inf")}, "fields.a: expected a finite number, got inf"),
            ([Decimal("-Infinity")], "fields[0]: expected a finite number, got -Infinity"),
            (Decimal("NaN"), "fields: expected a finite number, got NaN"),
            ({1: 2}, "fields: expected a string as key, got int"),
            ({"a": {None: 2}}, "fields.a: expected a string as key, got NoneType"),
            ({"a": {b"k": 2}}, "fields.a: expected a string as key, got bytes"),
            ("\ud800", "fields: contains a lone surrogate"),
            ({"a": ["\udfff"]}, "fields: contains a lone surrogate"),
            ({"\ud800": 1}, "fields: contains a lone surrogate"),
            (10**4300, "fields: expected a number of at most 4300 digits"),
            (nested(100_000), "fields: nested too deeply, or contains itself"),
            (Geo("DE", {1}), "fields.radius: expected a JSON value, got set"),
            (Geo, "fields: expected a JSON value, got type"),
            (Campaign, "fields: expected a JSON value, got type"),
        ],
    )
    def test_unencodable_value_is_refused_with_its_path(self, value, problem):
        with pytest.raises(JSONError) as caught:
            dumps(value, "fields")
        assert str(caught.value) == problem

    def test_recursive_value_is_refused(self):
        ring: list[Any] = []
        ring.append({"again": ring})
        with pytest.raises(JSONError, match="contains itself"):
            dumps(ring, "fields")

    def test_bool_is_refused_as_a_number(self):
        with pytest.raises(JSONError, match="daily_budget: expected a finite number"):
            digits(True, "daily_budget")

    def test_non_number_has_no_digits(self):
        with pytest.raises(JSONError, match="daily_budget: expected a finite number, got str"):
            digits("120", "daily_budget")


def test_instances_with_fields_are_encoded_as_objects():
    @dataclasses.dataclass
    class Name:
        name: str
        kind: ClassVar[str] = "not a field"

    class Model:
        """Has the method by which a pydantic model gives its fields."""

        def model_dump(self, *, mode, by_alias):
            return {"mode": mode, "by_alias": by_alias}

    class Budget:
        """The same with decimals, which pydantic writes as text in JSON."""

        def model_dump(self, *, mode, by_alias):
            amount, day = Decimal("120.50"), date(2026, 3, 2)
            if mode == "json":
                amount, day = str(amount), day.isoformat()
            return {"daily": amount, "days": [{"amount": amount, "day": day}]}

    value = {"names": [Name("x")], "model": Model(), "budget": Budget()}
    expected = (
        '{"names":[{"name":"x"}],"model":{"mode":"json","by_alias":true},'
        '"budget":{"daily":120.50,"days":[{"amount":120.50,"day":"2026-03-02"}]}}'
    )
    assert jsontext.dumps(value, "x") == expected
    assert jsontext.dumps(jsontext.plain(value, "x"), "x") == expected
    with pytest.raises(jsontext.JSONError, match="expected a JSON value, got type"):
        jsontext.dumps(Name, "x")
