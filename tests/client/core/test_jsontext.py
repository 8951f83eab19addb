import dataclasses
import json
import sys
from datetime import date
from decimal import Decimal
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar

import attrs
import pytest
from cases import each_case
from core_helpers import JSON_VALUE, Level, Mood, Shade
from hypothesis import example, given, strategies as st

from adclient._core import jsontext
from adclient._core.jsontext import DEEPEST, JSONError, digits, dumps, loads, plain
from adclient._values.json_values import copied, differ
from adclient.models import Campaign

NUMBER_TEXT = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)

ORJSON_LOADS = jsontext._orjson_loads()


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
        number, is_tiny = loads(text.encode()), abs(float(text)) < sys.float_info.min
        assert is_tiny or Decimal(str(number)) == Decimal(text)

    @each_case(
        ("text", "number_type"),
        [
            *[("-" + "9" * digits, int) for digits in (1, 15, 16, 17, 400, 4300)],
            *[(text, float) for text in ("0.1", "1e2", "-0.0", "1e-7", "1e300")],
            *[(text, float) for text in ("123456789012.25", "33.333333333333336")],
            *[(text, float) for text in ("0.30000000000000004", "-1.2345679012345678e-05")],
            *[(text, Decimal) for text in ("0.12345678901234567890123", "12345678901234567890.5")],
            *[(text, Decimal) for text in ("1e400", "1E+999999", "-0.123456789012345678e-3")],
            *[(text, Decimal) for text in ("9007199254740993.0", "9030819600902697E22")],
            *[(text, Decimal) for text in ("900719925474099.3", "-4503599627370497.55")],
        ],
    )
    def test_number_is_a_decimal_only_if_a_float_would_change_it(self, text, number_type):
        number = loads(text.encode())
        assert type(number) is number_type
        assert Decimal(repr(number) if number_type is float else number) == Decimal(text)

    def test_tiny_number_of_a_draft_is_a_decimal(self):
        assert repr(loads(b"-1e-400", unique=True)) == "Decimal('-1E-400')"

    def test_number_beyond_the_exponents_of_decimals(self):
        body = b"[0.5, 1e-" + b"9" * 19 + b"]"
        assert loads(body) == [0.5, 0.0]
        with pytest.raises(JSONError, match="the exponent of a number is too large"):
            loads(body, unique=True)

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
            (b"[1e" + b"9" * 19 + b"]", "the exponent of a number is too large"),
            (b"[0.5, " + b"9" * 5000 + b"]", "not JSON"),
            (b"[0.123456789.0123456789]", "not JSON"),
        ],
    )
    def test_invalid_document_is_refused_with_a_reason(self, body, why):
        with pytest.raises(JSONError, match=r"^\$: ") as caught:
            loads(body)
        assert why in str(caught.value)

    @pytest.mark.parametrize("unique", [False, True])
    def test_nesting_has_a_limit(self, unique):
        for opened, closed in (("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")):
            levels = DEEPEST // len(closed)
            body = f"{opened * levels}1{closed * levels}"
            assert str(loads(body.encode(), unique=unique)).count(opened[0]) == levels
            with pytest.raises(JSONError, match=r"^\$: nested too deeply$"):
                loads(f"[{body}]".encode(), unique=unique)

    def test_many_brackets_are_no_deep_nesting(self, monkeypatch):
        page = [{"a": [1, {}], "b": {}}] * 1000
        with monkeypatch.context() as patch:
            patch.setattr(jsontext, "is_deeper", pytest.fail)  # which would be slow
            assert loads(json.dumps(page).encode()) == page
            patch.setattr(jsontext, "_may_be_deep", pytest.fail)
            listing = {"data": [{"a": 1}] * 1000, "page": {}}
            assert loads(json.dumps(listing).encode()) == listing
        text = [{"a": [1, {}], "b": "]" * 10, "c": "[{" * 200}] * 200
        assert loads(json.dumps(text).encode()) == text
        hidden = f"[{json.dumps(text)},{'[' * DEEPEST}{']' * DEEPEST}]"
        with pytest.raises(JSONError, match="nested too deeply"):
            loads(hidden.encode())


# Pieces of JSON, put together into what is whole, odd or broken.
PIECES = ["0", "-0", "1.5", "e", "E-5", "1e99", "12345678901234", "9" * 16, "[", "]", "{"]
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
    @given(WRITTEN | BROKEN | st.binary(max_size=50))
    @example(b'{"a": 1, "b": 2, "a": 3}')
    @example(b"-0")
    @example(b'"\\ud83d"')
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

    @pytest.mark.skipif(ORJSON_LOADS is None, reason="there is no orjson for this Python")
    def test_numbers_that_are_kept_and_digits_in_text_are_decoded_by_orjson(self, monkeypatch):
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: ORJSON_LOADS)
        monkeypatch.setattr(jsontext, "_decoder", pytest.fail)
        value = {
            "numbers": [33.333333333333336, 0.012345678901234568, -9007199254740993],
            "id": "12021000000000000123",
            "at": "2026-02-01",
        }
        assert loads(json.dumps(value).encode()) == value

    def test_body_above_the_limit_is_decoded_by_json(self, monkeypatch):
        monkeypatch.setattr(jsontext, "_ORJSON_LIMIT", 4)
        monkeypatch.setattr(jsontext, "_orjson_loads", lambda: lambda body: len(body))
        assert [loads(b"[12]"), loads(b"[123]")] == [4, [123]]


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
            (Mood.CALM, '"calm"'),
            ('é😀\n"\\\u2028\x00', '"é😀\\n\\"\\\\\u2028\\u0000"'),
            ({}, "{}"),
            ([], "[]"),
            ((1, (2, [3])), "[1,[2,[3]]]"),
            ({"b": 1, "a": None}, '{"b":1,"a":null}'),
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
            (Geo("DE", {1}), "fields.radius: expected a JSON value, got set"),
            (Geo, "fields: expected a JSON value, got type"),
            (Campaign, "fields: expected a JSON value, got type"),
        ],
    )
    def test_unencodable_value_is_refused_with_its_path(self, value, problem):
        with pytest.raises(JSONError) as caught:
            dumps(value, "fields")
        assert str(caught.value) == problem

    def test_value_that_contains_itself_or_is_too_deep_is_refused(self):
        ring: list[Any] = []
        ring.append({"again": ring})
        for value in (ring, nested(100_000)):
            for refuse in (dumps, plain):
                with pytest.raises(JSONError, match=r"^x: nested too deeply, or contains itself$"):
                    refuse(value, "x")

    def test_argument_may_be_half_as_deep_as_a_response(self):
        value = nested(DEEPEST // 2)
        assert plain(value, "x") == value
        with pytest.raises(JSONError, match="nested too deeply"):
            plain([value], "x")

    @each_case(("value", "got"), [(True, "True"), ("120", "str")])
    def test_other_values_have_no_digits(self, value, got):
        with pytest.raises(JSONError, match=f"^x: expected a finite number, got {got}$"):
            digits(value, "x")


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
    assert dumps(value, "x") == expected
    assert dumps(plain(value, "x"), "x") == expected
    with pytest.raises(JSONError, match="expected a JSON value, got type"):
        dumps(Name, "x")


def containers_in(value):
    if isinstance(value, list | dict):
        yield id(value)
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers_in(inner)


@given(JSON_VALUE)
def test_copy_is_equal_and_shares_nothing(value):
    copy = copied(value)
    assert repr(copy) == repr(value)
    assert not set(containers_in(copy)) & set(containers_in(value))
    assert not differ(copy, value)


@each_case(
    ("one", "other", "different"),
    [
        (100, 100.0, False),
        (1, True, True),
        ({"a": [1]}, {"a": [True]}, True),
        ({"a": None}, {"b": None}, True),
        ([1, 2], [1], True),
        ([1, 2], [2, 1], True),
        ({}, [], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
    ],
)
def test_true_and_1_differ_and_null_is_not_absence(one, other, different):
    assert differ(one, other) is different
