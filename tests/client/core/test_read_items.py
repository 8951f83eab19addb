"""Items, read into attrs classes of the caller's: which values fit, and what an error says."""

import dataclasses
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, Literal, TypeVar, get_args

import attrs
import pytest
from cases import each_case
from core_helpers import ITEM, Level, Shade, Status

from adclient._core.converters import Lenient
from adclient._core.typed import read_items
from adclient._values.json_values import copied
from adclient.errors import UnexpectedResponse
from adclient.models import JSON, Item

T = TypeVar("T")
PLAIN = {"frozen": True, "slots": True}


@attrs.define
class Generically(Generic[T]):
    inner: T


def with_field(cls):
    return attrs.make_class("WithField", {"value": attrs.field(type=cls)}, **PLAIN)


@attrs.define
class Money:
    amount: Decimal
    currency: str = "EUR"


Flag, One = Enum("Flag", {"ON": True}), Enum("One", {"FIRST": 1})


@attrs.define
class Node:
    name: str
    children: "list[Node]" = attrs.field(factory=list)


def read(value, cls, convert=None):
    row = copied(value)
    # A null stays in the row, as where it is allowed.
    named = {name: row.pop(name) if row.get(name) else None for name in ITEM}
    (item,) = read_items([Item(**named, extra=row)], cls, "beta.x", convert)
    # One by one, as those of a class that has code of its own.
    assert read_items([copied(value)], cls, "beta.x", convert) == [item]
    return item


def problem_with(value, cls):
    with pytest.raises(UnexpectedResponse) as caught:
        read_items([Item(**dict.fromkeys(ITEM), extra=value)], cls, "beta.x")
    return str(caught.value).partition(": the items do not fit ")[2].partition(": ")[2]


@each_case(("cls", "value", "found"),
    *[(str, "", ""), (bool, False, False), (int, 10**30, 10**30), (float, 7, 7.0)],
    (float, Decimal("0.1000000000000000055511151231257827"), 0.1),
    *[(Decimal, 7, Decimal(7)), (Decimal, 7.1, Decimal("7.1"))],
    (Decimal, Decimal("1e400"), Decimal("1e400")),
    (datetime, "2026-11-20T08:30:00Z", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    (date, "2026-11-20", date(2026, 11, 20)),
    *[(Status, "ENABLED", Status.ENABLED), (Level, 3, Level.HIGH), (Shade, "dark", Shade.DARK)],
    *[(Literal["a", 1], "a", "a"), (int | None, None, None), (int | None, 3, 3)],
    *[(Decimal | int, 3, 3), (int | Decimal | None, 1.5, Decimal("1.5"))],
    *[(Literal[Status.ENABLED], "ENABLED", Status.ENABLED), (Flag, True, Flag.ON)],
    *[(float | str | None, "x", "x"), (float | str | None, 1.5, 1.5)],
    *[(str | list[int], [1], [1]), (list[int], [1, 2], [1, 2])],
    (list[Money], [{"amount": 1}], [Money(Decimal(1))]),
    *[(tuple[int, ...], [1, 2], (1, 2)), (tuple[str, int], ["a", 1], ("a", 1))],
    *[(set[str], ["a", "b", "a"], {"a", "b"}), (frozenset[int], [1], frozenset({1}))],
    *[(dict, {"a": [1]}, {"a": [1]}), (JSON, {"a": [1, None]}, {"a": [1, None]})],
    (Money, {"amount": 1.5, "unknown": 2}, Money(Decimal("1.5"))),
    *[(Money | None, None, None), (Money | str | None, {"amount": 1}, Money(Decimal(1)))],
    (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
    *[(Generically[int], {"inner": 1}, Generically(1)), (object, [1], [1]), (Any, "x", "x")],
)  # fmt: skip
def test_fitting_value_is_read(cls, value, found):
    got = read({"value": value}, with_field(cls)).value
    assert got == found
    assert type(got) is type(found)


@each_case(("cls", "value", "problem"),
    (bool, "false", ": expected true or false, got text"),
    (int, 7.0, ": expected a whole number, got a number"),
    (int, None, ": expected a whole number, got null"),
    (int | None, "3", ": expected a whole number, got text"),
    (float, "7", ": expected a number, got text"),
    (float, Decimal("1e400"), ": a float cannot hold it"),
    (Decimal, "7", ": expected a number, got text"),
    *[(str, 5, ": expected text, got a number"), (str, [], ": expected text, got an array")],
    (datetime, "yesterday", ": Invalid isoformat string: 'yesterday'"),
    (Status, "PAUSED", ": 'PAUSED' is not a valid Status"),
    (Literal["a"], "b", ": 'b' is none of 'a'"),
    *[(cls, True, ": expected a whole number, got true") for cls in (int | None, Level)],
    *[(Literal[1], True, ": True is none of 1"), (One, True, ": True is not a valid One")],
    (Decimal | int, "7", ": expected a number, got text"),
    *[(cls, "abc", ": expected an array, got text") for cls in (list[str], set[str])],
    (list[int], [1, "2"], "[1]: expected a whole number, got text"),
    (list[Money], [{}], "[0].amount: missing"),
    (dict[str, int], {"a": "2"}, ".a: expected a whole number, got text"),
    (Money, None, ": expected an object, got null"),
    (Money | None, {"amount": "1"}, ".amount: expected a number, got text"),
    (Node, {"name": "a", "children": [{"name": 1}]}, ".children[0].name: expected text, got"),
)  # fmt: skip
def test_misfit_raises_an_error_with_path_and_expected_type(cls, value, problem):
    assert problem_with({"value": value}, with_field(cls)).startswith(f"$.data[0].value{problem}")


@each_case("value", "abc", [["a", 1]], ["a", "b"])
@each_case("cls", int | float, dict[str, int], tuple[str, int])
def test_other_misfit_has_its_path(cls, value):
    assert problem_with({"value": value}, with_field(cls)).startswith("$.data[0].value")


def test_item_subclass_keeps_unknown_fields_in_extra():
    @attrs.frozen(kw_only=True)
    class Priced(Item):
        budget: Decimal
        response: str
        note: str | None = "none"

    priced = read({**ITEM, "budget": 1.5, "response": "r", "note": None, "extra": [1]}, Priced)
    assert (priced.budget, priced.response, priced.note) == (Decimal("1.5"), "r", None)
    assert priced.extra == {"extra": [1]}
    named = attrs.make_class(
        "Named", {"name": attrs.field(type=str | None, default="none")}, **PLAIN
    )
    assert (read({"name": None}, named).name, read({}, named).name) == (None, "none")
    # A default does not replace a null.
    problem = problem_with({**ITEM, "budget": None, "response": "r"}, Priced)
    assert problem == "$.data[0].budget: expected a number, got null"


@each_case("annotation", "Nowhere", complex, complex | None, list[complex])
def test_class_with_an_unreadable_field_raises_type_error(annotation):
    with pytest.raises(TypeError, match=r"typed\(\) cannot read WithField: .*(complex|Nowhere)"):
        read({"value": [3]}, with_field(annotation))


# Conversions, by choice.

CEST = timezone(timedelta(hours=2))
NOON = datetime(2026, 3, 1, 12, tzinfo=CEST)


@each_case(("cls", "value", "found"),
    *[(int, "7", 7), (float, " 7.5 ", 7.5), (Decimal, "0.10", Decimal("0.1")), (str, "7", "7")],
    *[(bool, "true", True), (int | str, "7", "7"), (list[int], ["1", 2], [1, 2])],
    *[(cls | None, value, None) for cls in (float, str, Status, date) for value in ("-", "")],
    *[(Money | None, {"amount": "1"}, Money(Decimal(1))), (int | None, None, None)],
    *[(datetime, text, NOON) for text in ("2026-03-01 12:00", "2026-03-01T12:00+02:00")],
    *[(datetime, 1772359200 * 1000**power, NOON) for power in range(3)],
    *[(datetime, "1772359200", NOON), (datetime | None, "20260301T12", NOON)],
    *[(date, value, date(2026, 3, 1)) for value in ("2026-03-01", "20260301", 1772359200)],
    *[(cls, value, None) for cls in (int, datetime) for value in ("-", "soon", True, [1])],
    *[(int, "7.5", None), (int, "true", None), (datetime, 10**400, None), (str, 7, None)],
)  # fmt: skip
def test_lenient_reads_what_services_often_send(cls, value, found):
    row, lenient = with_field(cls), Lenient(zone=CEST)
    if found is None and type(None) not in get_args(cls):
        with pytest.raises(UnexpectedResponse):
            read({"value": value}, row, lenient)
        return
    got = read({"value": value}, row, lenient).value
    assert (got, type(got)) == (found, type(found))


def test_lenient_without_a_zone_leaves_times_without_one():
    row = with_field(datetime)
    assert read({"value": "2026-03-01 12:00"}, row, Lenient()).value == datetime(2026, 3, 1, 12)
    assert read({"value": 1772359200}, row, Lenient()).value.tzinfo == UTC


@attrs.frozen
class Renamed:
    cost: int = attrs.field(metadata={"name": "metrics.cost_micros"})
    tag: str = attrs.field(default="none", metadata={"name": "labelText"})


@dataclasses.dataclass
class Plain:
    cost: int = dataclasses.field(metadata={"name": "metrics.cost_micros"})
    at: date | None = None


def test_field_is_read_under_the_name_in_its_metadata():
    received = {"cost": 1, "metrics": {"cost_micros": 2}, "labelText": "x", "tag": "y"}
    assert read(received, Renamed) == Renamed(2, "x")
    assert read({**received, "at": "2026-03-01"}, Plain) == Plain(2, date(2026, 3, 1))
    assert read({"metrics.cost_micros": 3, "tag": "y"}, Renamed) == Renamed(3, "none")
    for metrics in ({}, None, [1]):
        assert problem_with({"metrics": metrics}, Plain) == "$.data[0].cost: missing"

    def of_cents(value, cls):
        return Decimal(value) / 100 if cls is Decimal else value

    assert read({"value": 150}, with_field(Decimal), of_cents).value == Decimal("1.5")
