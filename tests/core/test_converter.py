"""JSON, read into classes of the caller's."""

import enum
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

import attrs
import pytest
from cases import each_case
from core_helpers import ITEM, JSON_VALUE, Level, Mood, Shade, Status, problem_with, structure
from hypothesis import given, strategies as st

from adclient._core import converter
from adclient._core.jsontext import JSONError
from adclient.models import JSON, Item

T = TypeVar("T")


class Dial(enum.Enum):
    ONE = 1


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


class TestStructure:
    @each_case(
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
            (set, ["a", 1], {"a", 1}),
            (tuple, ["a", 1], ("a", 1)),
            (dict[str, int], {"a": 1}, {"a": 1}),
            (dict[str, list[Money]], {"a": []}, {"a": []}),
            (Money, {"amount": 1.5, "currency": "USD"}, Money(Decimal("1.5"), "USD")),
            (Money, {"amount": 1, "unknown": 2}, Money(Decimal(1))),
            (Money | None, None, None),
            (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
            (int | float, Decimal("0.10000000000000001"), 0.1),
            (float | str | None, Decimal("0.10000000000000001"), 0.1),
            (list[float] | float, 3, 3.0),
            (list[float] | float, [3], [3.0]),
            (Decimal | int, Decimal("0.10000000000000001"), Decimal("0.10000000000000001")),
            (Decimal | int, 7, 7),
            (int | str | None, None, None),
            (str | list[int], [1], [1]),
            (Money | str | None, {"amount": 1}, Money(Decimal(1))),
            (dict, {"a": [1]}, {"a": [1]}),
            (Dial, 1, Dial.ONE),
            (JSON, {"a": [1, None]}, {"a": [1, None]}),
            (object, [1], [1]),
            (Any, "x", "x"),
        ],
    )
    def test_fitting_value_is_read(self, cls, value, read):
        found = structure({"value": value}, Field[cls]).value
        assert found == read
        assert type(found) is type(read)

    @each_case(
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
            (Status, "PAUSED", "does not fit Status: 'PAUSED' is not a valid Status"),
            (Mood, "wild", ""),
            (Level, 4, ""),
            (Level, "3", "expected a whole number, got text"),
            (Level, True, "expected a whole number, got true or false"),
            (Shade, ["dark"], ""),
            (Dial, True, ""),
            (Dial, 1.0, ""),
            (int | float, True, "expected int or float, got true or false"),
            (Decimal | int | None, True, "expected Decimal or int or null, got true or false"),
            (float | str, 10**400, ""),
            (str | list[int], 1, "expected an array, got a number"),
            (bytes, 3, "expected bytes, which JSON does not have, got a number"),
            (dict, [], "expected an object, got an array"),
            (dict, [["a", 1]], "expected an object, got an array"),
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
            (set, "abc", "expected an array, got text"),
            (dict[str, int], [["a", 1]], "expected an object"),
            (dict[str, int], "abc", "expected an object"),
            (dict[str, int], None, "expected an object"),
            (Money, None, "expected an object, got null"),
            (Money, [1], "expected an object, got an array"),
        ],
    )
    def test_misfit_raises_an_error_with_path_and_expected_type(self, cls, value, problem):
        found = problem_with({"value": value}, Field[cls])
        where, _, what = found.partition(": ")
        assert where == "$.value"
        assert problem in what
        assert "Union" not in what

    @each_case(
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
    )
    def test_nested_misfit_has_its_path(self, cls, value, problem):
        assert problem_with({"value": value}, Field[cls]) == problem

    def test_misfit_in_a_mapping_has_its_path(self):
        problem = problem_with({"value": {"a": 1, "b": "2"}}, Field[dict[str, int]])
        assert problem.startswith("$.value")
        assert "b" in problem.partition(": ")[0]
        assert problem.endswith("expected a whole number, got text")

    def test_key_like_a_path_does_not_garble_the_message(self):
        problem = problem_with({"value": {"a @ b": "2"}}, Field[dict[str, int]])
        assert problem.startswith("$.value")
        assert problem.endswith("expected a whole number, got text")

    def test_path_starts_with_the_given_prefix(self):
        with pytest.raises(JSONError, match=r"^\$\.data\[2\]\.amount: missing$"):
            structure({}, Money, "$.data[2]")

    def test_item_subclass_keeps_unknown_fields_in_extra(self):
        @attrs.frozen(kw_only=True)
        class Priced(Item):
            budget: Decimal
            note: str | None = None

        item = {**ITEM, "budget": 1.5, "note": None, "more": [1]}
        priced = structure(item, Priced)
        assert priced.budget == Decimal("1.5")
        assert priced.extra == {"note": None, "more": [1]}
        assert priced.to_dict() == item

    def test_item_subclass_may_have_a_field_called_response(self):
        @attrs.frozen(kw_only=True)
        class WithResponse(Item):
            response: str

        assert structure({**ITEM, "response": "yes"}, WithResponse).response == "yes"

    def test_null_is_not_replaced_by_a_default(self):
        @attrs.frozen(kw_only=True)
        class Defaulted(Item):
            spend: float = 0.0
            clicks: int | None = 7

        item = {**ITEM, "spend": 1.5, "clicks": None}
        found = structure(item, Defaulted)
        assert (found.spend, found.clicks) == (1.5, None)
        assert found.to_dict() == item
        problem = problem_with({**ITEM, "spend": None}, Defaulted)
        assert problem == "$.spend: expected a number, got null"

    @pytest.mark.parametrize("annotation", ["Nowhere", complex])
    def test_unreadable_field_type_raises_no_reader_error(self, annotation):
        cls = attrs.make_class("Odd", {"value": attrs.field(type=annotation)})
        with pytest.raises(converter.NoReaderError, match=r"complex|Nowhere"):
            structure({"value": 3}, cls)

    def test_deep_value_of_a_recursive_class_raises_json_error(self):
        value: dict[str, Any] = {"name": "leaf"}
        for _ in range(5000):
            value = {"name": "a", "children": [value]}
        assert problem_with(value, Node).startswith("$")

    def test_endlessly_generic_class_raises_json_error(self):
        class Endless(enum.Enum):
            ONLY = "only"

            @classmethod
            def _missing_(cls, value):
                return cls(value)

        with pytest.raises(JSONError, match="nested too deeply"):
            structure("x", Endless)

    def test_validator_message_is_kept(self):
        @attrs.define
        class Positive:
            amount: int = attrs.field(validator=attrs.validators.gt(0))

        assert "must be > 0" in problem_with({"amount": -1}, Positive)


@given(
    st.sampled_from(
        [str, int, float, bool, Decimal, datetime, date, list[str], dict[str, int], Money]
    ),
    JSON_VALUE,
)
def test_no_value_is_coerced(cls, value):
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
    except JSONError:
        return
    assert isinstance(value, fitting)
    assert not isinstance(value, bool) or cls is bool


def test_datetime_keeps_its_offset():
    read = structure({"value": "2026-11-20T08:30:00-03:00"}, Field[datetime]).value
    assert read.utcoffset() == timedelta(hours=-3)
