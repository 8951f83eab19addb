import contextlib
import enum
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Integral
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

import attrs
import pytest
from core_helpers import DRAFT, LISTING, structure
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adclient._core import converter, wire
from adclient._core.listing import Listing, PageInfo
from adclient._core.wire import WireError, digits, dumps, loads
from adclient._json import copied
from adclient.models import JSON, Ad, Campaign, Draft, Item, Objective, WastedSpend

# Text that UTF-8 can carry; numbers that a float carries exactly, or that are whole.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WHOLE = st.integers(-(10**40), 10**40)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | WHOLE | FLOAT | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)
NUMBER_TEXT = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)


def nested(depth, inner=None):
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.usefixtures("decoder")
class TestLoads:
    @given(JSON_VALUE)
    def test_reads_what_json_writes(self, value):
        read = loads(json.dumps(value, ensure_ascii=False).encode())
        assert read == value
        assert json.dumps(read) == json.dumps(value)

    @given(NUMBER_TEXT)
    def test_numbers_keep_their_digits(self, text):
        number = loads(text.encode())
        assert Decimal(str(number)) == Decimal(text)

    @pytest.mark.parametrize("digits", [1, 15, 16, 17, 400, 4300])
    def test_whole_numbers_of_any_size(self, digits):
        number = loads(b"-" + b"9" * digits)
        assert type(number) is int
        assert number == -int("9" * digits)

    @pytest.mark.parametrize(
        "text",
        ["0.1", "120.5", "1e2", "-0.0", "1e-7", "123456789012.25", "33.333333333333336", "1e300"],
    )
    def test_a_float_is_a_float_where_it_keeps_every_digit(self, text):
        number = loads(text.encode())
        assert type(number) is float
        assert number == float(text)

    @pytest.mark.parametrize(
        "text",
        [
            "0.12345678901234567890123",
            "12345678901234567890.5",
            "0.1000000000000000055511151231257827",
            "1e400",
            "-1e-400",
            "1E+999999",
            "9007199254740993.0",
            "900719925474099.3",
            "-4503599627370497.55",
        ],
    )
    def test_a_number_that_a_float_would_change_is_a_decimal(self, text):
        number = loads(text.encode())
        assert type(number) is Decimal
        assert number == Decimal(text)

    def test_a_byte_order_mark_is_skipped(self):
        assert loads(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}

    @pytest.mark.parametrize(
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
        ],
        ids=lambda value: repr(value[:20]),
    )
    def test_refuses_what_is_not_json(self, body, why):
        with pytest.raises(WireError, match=r"^\$: ") as caught:
            loads(body)
        assert why in str(caught.value)

    @pytest.mark.parametrize("exponent", ["9" * 19, "-" + "9" * 19, "9" * 400])
    def test_an_exponent_beyond_all_bounds_is_an_error_of_ours(self, exponent):
        with pytest.raises(WireError):
            loads(b"[1e" + exponent.encode() + b"]")

    @given(st.binary(max_size=100))
    def test_any_bytes_give_a_value_or_our_error(self, body):
        with contextlib.suppress(WireError):
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
    except WireError as error:
        return str(error)


def by_json(body):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "_fast_loads", lambda: None)
        return outcome_of(body)


class TestTwoDecoders:
    @given(WRITTEN | BROKEN | NUMBER_TEXT.map(str.encode) | st.binary(max_size=50))
    @settings(max_examples=600)
    @example(b'{"a": 1, "b": 2, "a": 3}')
    @example(b"-0")
    @example(b'"\\ud83d"')
    @example(b"[1e-400]")
    @example(b"[1E-400]")
    @example(b"1e400")
    @example(b"[18446744073709551616]")
    @example(b"\xef\xbb\xbf12345678901234567890.5")
    def test_they_give_the_same(self, body):
        assert outcome_of(body) == by_json(body)

    @pytest.mark.parametrize("offset", range(4))
    @pytest.mark.parametrize(
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
    @pytest.mark.parametrize(
        "number", ["0.123456789012345", "12345678901234.5", "1234567890123456"]
    )
    def test_a_long_number_is_found_anywhere(self, place, number, offset, monkeypatch):
        body = (" " * offset + place % number).encode()
        monkeypatch.setattr(wire, "_fast_loads", lambda: pytest.fail)
        assert repr(json.loads(body)) == outcome_of(body)

    def test_digits_in_a_text_are_no_number(self, monkeypatch):
        monkeypatch.setattr(wire, "_fast_loads", lambda: json.loads)
        monkeypatch.setattr(wire, "_decoder", pytest.fail)
        assert loads(b'{"id": "12021000000000000123", "at": "2026-02-01"}') == {
            "id": "12021000000000000123",
            "at": "2026-02-01",
        }

    def test_a_very_long_body_is_left_to_json(self, monkeypatch):
        monkeypatch.setattr(wire, "_LONGEST_FAST", 4)
        monkeypatch.setattr(wire, "_fast_loads", lambda: lambda body: len(body))
        assert [loads(b"[12]"), loads(b"[123]")] == [4, [123]]

    @pytest.mark.parametrize("depth", [900, 1_000, 1_024, 1_025, 2_000])
    def test_how_deep_is_too_deep_is_the_decoder_s_to_say(self, depth):
        try:
            value = loads(b"[" * depth + b"]" * depth)
        except WireError as error:
            assert str(error) == "$: nested too deeply"  # noqa: PT017  both ends are right
        else:
            for _ in range(depth - 1):
                (value,) = value
            assert value == []


class Status(enum.StrEnum):
    ENABLED = "ENABLED"


class Mood(str, enum.Enum):  # noqa: UP042  the older way to write it
    CALM = "calm"


class Level(enum.IntEnum):
    HIGH = 3


class Shade(enum.Enum):
    DARK = "dark"


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
    def test_round_trip(self, value):
        text = dumps(value, "fields")
        assert loads(text.encode()) == value
        assert json.dumps(loads(text.encode())) == json.dumps(value)

    @given(NUMBER_TEXT)
    def test_decimals_keep_their_digits(self, text):
        assert dumps(Decimal(text), "fields") == str(Decimal(text))
        assert Decimal(str(loads(dumps(Decimal(text), "x").encode()))) == Decimal(text)

    @given(st.integers(-(10**200), 10**200))
    def test_whole_numbers_keep_their_digits(self, number):
        assert dumps(number, "fields") == str(number)

    @pytest.mark.parametrize(
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
        ids=lambda value: repr(value)[:30],
    )
    def test_values(self, value, text):
        assert dumps(value, "fields") == text

    @pytest.mark.parametrize(
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
            ({1: 2}, "fields: expected text as a key, got int"),
            ({"a": {None: 2}}, "fields.a: expected text as a key, got NoneType"),
            ({"a": {b"k": 2}}, "fields.a: expected text as a key, got bytes"),
            ("\ud800", "fields: holds a text with a lone surrogate"),
            ({"a": ["\udfff"]}, "fields: holds a text with a lone surrogate"),
            ({"\ud800": 1}, "fields: holds a text with a lone surrogate"),
            (10**4300, "fields: expected a number of at most 4300 digits"),
            (nested(100_000), "fields: nested too deeply, or holds itself"),
            (Geo("DE", {1}), "fields.radius: expected a JSON value, got set"),
            (Geo, "fields: expected a JSON value, got type"),
            (Campaign, "fields: expected a JSON value, got type"),
        ],
        ids=lambda value: repr(value)[:30] if isinstance(value, str) else "",
    )
    def test_refuses(self, value, problem):
        with pytest.raises(WireError) as caught:
            dumps(value, "fields")
        assert str(caught.value) == problem

    def test_refuses_what_holds_itself(self):
        ring: list[Any] = []
        ring.append({"again": ring})
        with pytest.raises(WireError, match="holds itself"):
            dumps(ring, "fields")

    def test_a_bool_is_no_number(self):
        with pytest.raises(WireError, match="daily_budget: expected a finite number"):
            digits(True, "daily_budget")

    def test_what_is_no_number_has_no_digits(self):
        with pytest.raises(WireError, match="daily_budget: expected a finite number, got str"):
            digits("120", "daily_budget")


def items_of(cls, *items):
    return structure({"data": list(items), "page": {"next": None}}, Listing[cls]).data


def problem_with(value, cls):
    with pytest.raises(WireError) as caught:
        structure(value, cls)
    return str(caught.value)


GOOD = {"id": "a", "name": "b", "status": "c"}
THREE = {"data": [GOOD, {**GOOD, "spend": 1.5}, GOOD], "page": {"next": "more"}}
# A class, a body that fits it, and the way to one place in the body.
SPOTS = [
    *[(Draft, DRAFT, name) for name in DRAFT],
    *[(Draft, DRAFT, "diff", name) for name in ("field", "before", "after")],
    *[
        (Listing[cls], THREE, *way)
        for cls in (Campaign, Objective)
        for way in [
            ("data",),
            ("page",),
            ("page", "next"),
            *[("data", index) for index in range(3)],
            *[("data", index, name) for index in range(3) for name in GOOD],
        ]
    ],
]


class TestModels:
    def test_a_draft(self):
        draft = structure(DRAFT, Draft)
        assert draft.draft_id == "draft_7c2e"
        assert draft.status == "pending_approval"
        assert (draft.diff.field, draft.diff.before, draft.diff.after) == ("daily_budget", 100, 120)
        assert draft.requires == "human_two_step_approve"
        assert draft.response.status == 0
        assert draft.to_dict() == DRAFT

    def test_a_listing(self):
        listing = structure(LISTING, Listing[Campaign])
        assert listing.data == (Campaign(id="campaign_57a7", name="Spring", status="ENABLED"),)
        assert listing.page == PageInfo(next=None)

    @pytest.mark.parametrize("cursor", [None, "c", 7, 1.5, {"a": [1]}, [1], True])
    def test_a_continuation_may_be_anything(self, cursor):
        assert structure({"data": [], "page": {"next": cursor}}, Listing[Ad]).page.next == cursor

    @pytest.mark.parametrize("value", [None, 1, 1.5, "a", True, [1, {"b": 2}], {"c": None}])
    def test_a_diff_may_hold_anything(self, value):
        diff = {"field": "f", "before": value, "after": value}
        assert structure({**DRAFT, "diff": diff}, Draft).diff.before == value

    def test_the_path_to_what_does_not_fit(self):
        body = {
            "data": [{**GOOD}, {**GOOD}, {**GOOD}, {**GOOD, "id": None}],
            "page": {"next": None},
        }
        assert problem_with(body, Listing[Campaign]) == "$.data[3].id: expected text, got null"

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"data": None}, "$.data: expected an array, got null"),
            ({"data": {}}, "$.data: expected an array, got an object"),
            ({"data": "abc"}, "$.data: expected an array, got text"),
            ({"data": [None]}, "$.data[0]: expected an object, got null"),
            ({"data": [[]]}, "$.data[0]: expected an object, got an array"),
            ({"data": [{"name": "b", "status": "c"}]}, "$.data[0].id: missing"),
            ({"data": [{"id": "a", "status": "c"}]}, "$.data[0].name: missing"),
            ({"data": [{**GOOD, "id": 7}]}, "$.data[0].id: expected text, got a number"),
            (
                {"data": [{**GOOD, "name": True}]},
                "$.data[0].name: expected text, got true or false",
            ),
            ({"data": [{**GOOD, "status": []}]}, "$.data[0].status: expected text, got an array"),
            ({"data": [{**GOOD, "status": {}}]}, "$.data[0].status: expected text, got an object"),
            ({"page": None}, "$.page: expected an object, got null"),
            ({"page": {}}, "$.page.next: missing"),
            ({"page": "x"}, "$.page: expected an object, got text"),
        ],
    )
    def test_a_listing_that_does_not_fit(self, change, problem):
        assert problem_with({**LISTING, **change}, Listing[Campaign]) == problem

    @pytest.mark.parametrize("missing", ["data", "page"])
    def test_a_listing_without_a_part(self, missing):
        body = {name: value for name, value in LISTING.items() if name != missing}
        assert problem_with(body, Listing[Campaign]) == f"$.{missing}: missing"

    @pytest.mark.parametrize("missing", ["draft_id", "status", "diff", "requires"])
    def test_a_draft_without_a_part(self, missing):
        body = {name: value for name, value in DRAFT.items() if name != missing}
        assert problem_with(body, Draft) == f"$.{missing}: missing"

    @pytest.mark.parametrize("missing", ["field", "before", "after"])
    def test_a_diff_without_a_part(self, missing):
        diff = {name: value for name, value in DRAFT["diff"].items() if name != missing}
        assert problem_with({**DRAFT, "diff": diff}, Draft) == f"$.diff.{missing}: missing"

    @pytest.mark.parametrize(
        ("body", "got"),
        [(None, "null"), ([], "an array"), ("x", "text"), (7, "a number"), (True, "true or false")],
    )
    def test_a_body_that_is_no_object(self, body, got):
        assert problem_with(body, Draft) == f"$: expected an object, got {got}"
        assert problem_with(body, Listing[Ad]) == f"$: expected an object, got {got}"

    def test_unknown_fields_are_kept(self):
        item = {**GOOD, "budget": {"amount": 5}, "extra": 1, "response": 2, "page": 3}
        body = {"data": [item], "page": {"next": None, "total": 9}, "took": 1}
        listing = structure(body, Listing[Campaign])
        (campaign,) = listing.data
        assert campaign.extra == {"budget": {"amount": 5}, "extra": 1, "response": 2, "page": 3}
        assert campaign.to_dict() == item
        assert listing.page.extra == {"total": 9}
        assert listing.extra == {"took": 1}

    @pytest.mark.parametrize("cls", [Objective, WastedSpend])
    def test_a_finding_needs_only_an_id(self, cls):
        only_id, nulls = items_of(cls, {"id": "a"}, {"id": "a", "name": None, "status": None})
        assert only_id.name is nulls.name is None
        assert only_id.to_dict() == {"id": "a"}
        assert nulls.to_dict() == {"id": "a", "name": None, "status": None}

    def test_a_finding_s_optional_fields_are_not_coerced(self):
        body = {"data": [{"id": "a", "name": 7}], "page": {"next": None}}
        assert problem_with(body, Listing[Objective]).startswith("$.data[0].name: expected text")

    @given(st.dictionaries(TEXT | st.sampled_from(["extra", "response", "id", "name"]), JSON_VALUE))
    def test_to_dict_gives_back_what_came(self, extra):
        finding = {**extra, "id": "a", "name": None}
        finding.pop("status", None)
        (found,) = items_of(Objective, finding)
        assert found.to_dict() == finding
        (campaign,) = items_of(Campaign, {**extra, **GOOD})
        assert campaign.to_dict() == {**extra, **GOOD}
        diff = {**extra, **DRAFT["diff"]}
        assert structure({**extra, **DRAFT, "diff": diff}, Draft).to_dict() == {
            **extra,
            **DRAFT,
            "diff": diff,
        }

    @given(JSON_VALUE)
    def test_any_body_gives_a_model_or_our_error(self, value):
        for cls in (Draft, Listing[Campaign], Listing[Objective]):
            with contextlib.suppress(WireError):
                structure(value, cls)

    @given(st.sampled_from(SPOTS), st.none() | JSON_VALUE, st.booleans())
    def test_a_body_with_one_odd_spot_is_read_as_the_converter_reads_it(self, spot, value, is_gone):
        cls, body, *path, name = spot
        body = parent = copied(body)
        for step in path:
            parent = parent[step]
        if is_gone:
            del parent[name]
        else:
            parent[name] = value
        with contextlib.suppress(WireError):
            structure(body, cls)

    @pytest.mark.parametrize("status", ["ENABLED", "PAUSED", "", "a status of tomorrow"])
    def test_a_status_may_be_any_text(self, status):
        assert structure({**DRAFT, "status": status}, Draft).status == status


T = TypeVar("T")


@attrs.define
class Field(Generic[T]):
    value: T


@attrs.define
class Money:
    amount: Decimal
    currency: str = "EUR"


@attrs.define
class Node:
    name: str
    children: "list[Node]" = attrs.field(factory=list)


DAY = date(2026, 11, 20)
MOMENT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


class TestCallersClasses:
    @pytest.mark.parametrize(
        ("cls", "value", "read"),
        [
            (str, "", ""),
            (bool, False, False),
            (int, -7, -7),
            (int, 10**30, 10**30),
            (float, 7.5, 7.5),
            (float, 7, 7.0),
            (float, Decimal("0.1000000000000000055511151231257827"), 0.1),
            (Decimal, 7, Decimal(7)),
            (Decimal, 7.1, Decimal("7.1")),
            (Decimal, Decimal("1e400"), Decimal("1e400")),
            (datetime, "2026-11-20T08:30:00Z", MOMENT),
            (datetime, "2026-11-20T09:30:00+01:00", MOMENT),
            (date, "2026-11-20", DAY),
            (Status, "ENABLED", Status.ENABLED),
            (Mood, "calm", Mood.CALM),
            (Level, 3, Level.HIGH),
            (Shade, "dark", Shade.DARK),
            (Literal["a", 1], "a", "a"),
            (Literal["a", 1], 1, 1),
            (Literal[Shade.DARK], "dark", Shade.DARK),
            (int | None, None, None),
            (int | None, 3, 3),
            (str | None, "x", "x"),
            (list[int], [1, 2], [1, 2]),
            (list[Money], [{"amount": 1}], [Money(Decimal(1))]),
            (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
            (tuple[str, int], ["a", 1], ("a", 1)),
            (set[str], ["a", "b", "a"], {"a", "b"}),
            (frozenset[int], [1], frozenset({1})),
            (dict[str, int], {"a": 1}, {"a": 1}),
            (dict[str, list[Money]], {"a": []}, {"a": []}),
            (Money, {"amount": 1.5, "currency": "USD"}, Money(Decimal("1.5"), "USD")),
            (Money, {"amount": 1, "unknown": 2}, Money(Decimal(1))),
            (Money | None, None, None),
            (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
            (JSON, {"a": [1, None]}, {"a": [1, None]}),
            (object, [1], [1]),
            (Any, "x", "x"),
        ],
        ids=lambda value: repr(sorted(value) if isinstance(value, set | frozenset) else value)[:40],
    )
    def test_values_that_fit(self, cls, value, read):
        found = structure({"value": value}, Field[cls]).value
        assert found == read
        assert type(found) is type(read)

    @pytest.mark.parametrize(
        ("cls", "value", "problem"),
        [
            (bool, "false", "expected true or false, got text"),
            (bool, 1, "expected true or false, got a number"),
            (bool, None, "expected true or false, got null"),
            (int, 7.9, "expected a whole number, got a number"),
            (int, 7.0, "expected a whole number, got a number"),
            (int, "7", "expected a whole number, got text"),
            (int, True, "expected a whole number, got true or false"),
            (int, None, "expected a whole number, got null"),
            (float, "7", "expected a number, got text"),
            (float, True, "expected a number, got true or false"),
            (float, 10**400, ""),
            (float, Decimal("1e400"), ""),
            (Decimal, True, "expected a number, got true or false"),
            (Decimal, None, "expected a number, got null"),
            (str, 5, "expected text, got a number"),
            (str, Decimal("1e400"), "expected text, got a number"),
            (str, None, "expected text, got null"),
            (str, ["a"], "expected text, got an array"),
            (datetime, "2026-11-20T08:30:00", "the time has no zone"),
            (datetime, "2026-11-20", "the time has no zone"),
            (datetime, "yesterday", ""),
            (datetime, 1795161000, "expected text, got a number"),
            (date, "2026-11-20T08:30:00Z", ""),
            (date, 20261120, "expected text, got a number"),
            (Status, "PAUSED", ""),
            (Mood, "wild", ""),
            (Level, 4, ""),
            (Level, "3", "expected a whole number, got text"),
            (Level, True, "expected a whole number, got true or false"),
            (Shade, ["dark"], ""),
            (Literal["a"], "b", ""),
            (Literal["a"], None, ""),
            (Literal[1], True, ""),
            (Literal[1], 1.0, ""),
            (int | None, "3", "expected a whole number, got text"),
            (list[str], "abc", "expected an array, got text"),
            (list[str], {"a": 1}, "expected an array, got an object"),
            (list[str], None, "expected an array, got null"),
            (tuple[str, ...], "abc", "expected an array, got text"),
            (tuple[str, int], ["a"], ""),
            (tuple[str, int], ["a", 1, 2], ""),
            (set[str], "abc", "expected an array, got text"),
            (dict[str, int], [["a", 1]], "expected an object"),
            (dict[str, int], "abc", "expected an object"),
            (dict[str, int], None, "expected an object"),
            (Money, None, "expected an object, got null"),
            (Money, [1], "expected an object, got an array"),
        ],
        ids=lambda value: repr(sorted(value) if isinstance(value, set | frozenset) else value)[:40],
    )
    def test_values_that_do_not_fit(self, cls, value, problem):
        found = problem_with({"value": value}, Field[cls])
        where, _, what = found.partition(": ")
        assert where == "$.value"
        assert problem in what
        assert "Union" not in what

    @pytest.mark.parametrize(
        ("cls", "value", "problem"),
        [
            (list[int], [1, "2"], "$.value[1]: expected a whole number, got text"),
            (tuple[int, ...], [1, None], "$.value[1]: expected a whole number, got null"),
            (list[Money], [{}], "$.value[0].amount: missing"),
            (Money | None, {"amount": "1"}, "$.value.amount: expected a number, got text"),
            (
                Node,
                {"name": "a", "children": [{"name": 1}]},
                "$.value.children[0].name: expected text, got a number",
            ),
        ],
        ids=str,
    )
    def test_the_path_leads_to_the_inside(self, cls, value, problem):
        assert problem_with({"value": value}, Field[cls]) == problem

    def test_the_path_leads_into_a_mapping(self):
        problem = problem_with({"value": {"a": 1, "b": "2"}}, Field[dict[str, int]])
        assert problem.startswith("$.value")
        assert "b" in problem.partition(": ")[0]
        assert problem.endswith("expected a whole number, got text")

    def test_a_key_cannot_garble_the_path(self):
        problem = problem_with({"value": {"a @ b": "2"}}, Field[dict[str, int]])
        assert problem.startswith("$.value")
        assert problem.endswith("expected a whole number, got text")

    def test_a_path_may_start_elsewhere(self):
        with pytest.raises(WireError, match=r"^\$\.data\[2\]\.amount: missing$"):
            structure({}, Money, "$.data[2]")

    def test_a_class_of_the_caller_s_may_keep_what_it_does_not_name(self):
        @attrs.frozen(kw_only=True)
        class Priced(Item):
            budget: Decimal
            note: str | None = None

        item = {**GOOD, "budget": 1.5, "note": None, "more": [1]}
        priced = structure(item, Priced)
        assert priced.budget == Decimal("1.5")
        assert priced.extra == {"note": None, "more": [1]}
        assert priced.to_dict() == item

    def test_a_class_of_the_caller_s_may_name_a_field_response(self):
        @attrs.frozen(kw_only=True)
        class Answered(Item):
            response: str

        assert structure({**GOOD, "response": "yes"}, Answered).response == "yes"

    def test_too_deep_for_a_class_that_holds_itself(self):
        value: dict[str, Any] = {"name": "leaf"}
        for _ in range(5000):
            value = {"name": "a", "children": [value]}
        assert problem_with(value, Node).startswith("$")

    def test_a_class_that_never_comes_to_an_end(self):
        class Endless(enum.Enum):
            ONLY = "only"

            @classmethod
            def _missing_(cls, value):
                return cls(value)

        with pytest.raises(WireError, match="nested too deeply"):
            structure("x", Endless)

    def test_an_attrs_validator_s_complaint_is_kept(self):
        @attrs.define
        class Positive:
            amount: int = attrs.field(validator=attrs.validators.gt(0))

        assert "must be > 0" in problem_with({"amount": -1}, Positive)


@settings(max_examples=50)
@given(
    st.sampled_from(
        [str, int, float, bool, Decimal, datetime, date, list[str], dict[str, int], Money]
    ),
    JSON_VALUE,
)
def test_nothing_is_ever_coerced(cls, value):
    fitting = {
        str: str,
        int: int,
        float: (int, float),
        bool: bool,
        Decimal: (int, float),
        datetime: str,
        date: str,
        list[str]: list,
        dict[str, int]: dict,
        Money: dict,
    }[cls]
    try:
        structure({"value": value}, Field[cls])
    except WireError:
        return
    assert isinstance(value, fitting)
    assert not isinstance(value, bool) or cls is bool


def test_offsets_of_times_are_kept():
    read = structure({"value": "2026-11-20T08:30:00-03:00"}, Field[datetime]).value
    assert read.utcoffset() == timedelta(hours=-3)


def test_there_is_one_converter():
    assert converter.converter() is converter.converter()
