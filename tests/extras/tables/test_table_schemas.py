"""Tables of a class of the caller: the class alone determines the schema."""

import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NewType, Optional

import attrs
import httpx
import numpy
import pandas
import pyarrow
import pytest
from cases import each_case
from clients import a_page, sync_and_async, wait

from adclient import Campaign, Items

D = Decimal


class Level(Enum):
    HIGH = "HIGH"


class Rank(IntEnum):
    FIRST = 1


@attrs.frozen
class Period:
    start: date
    levels: frozenset[Level] = frozenset()
    note: str | None = None


@attrs.frozen
class Node:
    name: str
    children: "list[Node]"


@attrs.frozen
class Nothing:
    pass


@attrs.frozen
class Spend:
    id: str
    spend: Decimal
    period: Period | None = None
    days: tuple[Period, ...] = ()
    limit: float = 5.0


@attrs.frozen(kw_only=True)
class Priced(Campaign):
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    tags: list[str] = attrs.field(factory=list)


Ident = NewType("Ident", str)


def class_of(annotation: object, **settings) -> type:
    return attrs.make_class("Row", {"x": attrs.field(type=annotation, **settings)})


def table_of(annotation: object, *values: object, **settings) -> pyarrow.Table:
    """The table of items of a class with one field."""
    cls = class_of(annotation, **settings)
    table = Items([cls(value) for value in values], cls=cls).to_arrow()
    table.validate(full=True)
    assert table.schema == Items(cls=cls).schema == Items(cls=cls).to_arrow().schema
    return table


PERIOD = Period(date(2026, 3, 1), frozenset(Level))
STRUCT = "struct<start: date32[day], levels: list<item: string>, note: string>"
HELD = {"start": date(2026, 3, 1), "levels": ["HIGH"], "note": None}
NOON = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))


@each_case(("annotation", "value", "kind", "held"),
    (str, "\ud800", "string", "\\ud800"),
    (Ident, "a", "string", "a"),
    (Literal["a", "b"], "a", "string", "a"),
    (Level, Level.HIGH, "string", "HIGH"),
    (Rank, Rank.FIRST, "string", "1"),
    (int, 2**63 - 1, "int64", 2**63 - 1),
    (int | float, 1, "double", 1.0),
    (Decimal, D("1.5"), "decimal128(38, 9)", D("1.5")),
    (int | float | Decimal, 0.1, "decimal128(38, 9)", D("0.1")),
    (int, numpy.int64(3), "int64", 3),
    (Decimal, numpy.float32(19.99), "decimal128(38, 9)", D("19.99")),
    (date, date(2026, 3, 1), "date32[day]", date(2026, 3, 1)),
    (datetime, NOON, "timestamp[us, tz=UTC]", datetime(2026, 3, 1, 10, tzinfo=UTC)),
    (list[int | None], [1, None], "list<item: int64>", [1, None]),
    (tuple[int, ...], (1, 2), "list<item: int64>", [1, 2]),
    (tuple[int, str], (1, "a"), "list<item: string>", ["1", '"a"']),
    (set[int], {9, 10}, "list<item: int64>", [10, 9]),
    (Period, PERIOD, STRUCT, HELD),
    (list[Period], [PERIOD], f"list<item: {STRUCT}>", [HELD]),
    (Node, Node("a", [Node("b", [])]),
     "struct<name: string, children: list<item: string>>",
     {"name": "a", "children": ['{"name":"b","children":[]}']}),
    (Nothing, Nothing(), "string", "{}"),
    (dict[str, Decimal], {"a": D("1.50")}, "string", '{"a":1.50}'),
    (dict[str, float], {"a": float("nan")}, "string", "{a: nan}"),
    (int | str, "a", "string", '"a"'),
)  # fmt: skip
def test_annotation_determines_the_column(annotation, value, kind, held) -> None:
    table = table_of(annotation, value)
    assert (str(table.schema.field("x").type), table["x"].to_pylist()) == (kind, [held])
    assert not table.schema.field("x").nullable
    optional = table_of(Optional[annotation], None, value)  # noqa: UP045  (not all have `|`)
    assert optional["x"].to_pylist() == [None, held]
    assert optional.schema.field("x") == table.schema.field("x").with_nullable(True)
    assert table_of(annotation).schema == table.schema


@each_case(("annotation", "value", "problem"),
    (Decimal, D("0.1234567891"), "x: expected decimal128(38, 9), got 0.1234567891"),
    (int, 2**63, f"x: expected int64, got {2**63}"),
    (int | float, 2**53 + 1, f"x: expected double, got {2**53 + 1}"),
    (datetime, datetime(2026, 3, 1),
     "x: expected timestamp[us, tz=UTC], got 2026-03-01 00:00:00"),
    (str, None, "x: expected string, got null"),
    (Level, "HIGH", "x: expected string, got HIGH"),
    *[(int, value, f"x: expected int64, got {value}") for value in (1.5, D("19.99"))],
    *[(Decimal, value, f"x: expected decimal128(38, 9), got {value}")
      for value in (D("NaN"), Fraction(1, 3))],
    *[(cls, True, f"x: expected {kind}, got true")
      for cls, kind in ((int, "int64"), (float, "double"), (Decimal, "decimal128(38, 9)"))],
    *[(date, value, f"x: expected date32[day], got {value}") for value in (1.5, NOON)],
    (datetime, pandas.Timestamp(1, tz="UTC"),
     "x: expected timestamp[us, tz=UTC], got 1970-01-01 00:00:00.000000001+00:00"),
    (str, b"a", "x: expected string, got b'a'"),
    (list[str], "ab", "x: expected list<item: string>, got ab"),
    (Period, {"start": 1}, f"x: expected {STRUCT}, got {{start: 1}}"),
    (list[int], [1, 2**63], f"x[]: expected int64, got [1, {2**63}]"),
    (list[Period], [Period("soon")], "x[].start: expected date32[day], got soon"),
)  # fmt: skip
def test_value_that_does_not_fit_is_named(annotation, value, problem) -> None:
    cls = class_of(annotation)
    good = {Decimal: D(1), datetime: NOON, str: "a", Level: Level.HIGH, Period: PERIOD}
    good |= {int: 1, int | float: 1, float: 0.5, date: date(2026, 3, 1)}
    fitting = good.get(annotation, [])
    items = Items([*map(cls, [fitting] * 5), cls(value), cls(fitting), cls(value)])
    with pytest.raises(ValueError, match=r"^items\[5\], Row\(x=") as caught:
        items.to_arrow()
    assert str(caught.value).endswith(problem)
    assert caught.value.__suppress_context__


@sync_and_async
async def test_typed_class_determines_every_table_of_a_listing(client_kind) -> None:
    answers = {
        "none": a_page(),
        "null": a_page("a", spend=None),
        "all": a_page("ab", spend=1.5, tags=["x"], clicks=1),
    }
    transport = httpx.MockTransport(lambda request: answers[request.url.params["account_id"]])
    tables = []
    async with client_kind.open(transport=transport) as client:
        for account in answers:
            listing = client.beta.list_campaigns(account_id=account)
            tables.append(await wait(listing.typed(Priced).to_arrow()))
            page = (await wait(client.beta.list_campaigns(account_id=account))).typed(Priced)
            items = await wait(page.collect())
            for same in (items, items[:0], page.data, pickle.loads(pickle.dumps(page)).data):
                tables.append(same.to_arrow())
    assert {table.schema for table in tables} == {Items(cls=Priced).schema}
    table = pyarrow.concat_tables(tables)  # which refuses different types
    assert table["spend"].unique().to_pylist() == [None, D("1.50")]
    object.__setattr__(items[0], "spend", D(2))  # as an item of a class that is not frozen
    assert items.to_arrow()["spend"].to_pylist() == [D(2), D("1.50")]


def test_items_of_one_class_need_no_cls() -> None:
    items = Items([Spend("a", D("1.50"), PERIOD), Spend("b", D(2), None, (PERIOD,))])
    assert items.schema == Items(cls=Spend).schema
    assert items.to_arrow()["days"].to_pylist() == [[], [HELD]]
    expected = {"id": "a", "spend": D("1.50"), "period": HELD, "days": [], "limit": 5.0}
    assert items.to_records()[0] == expected


if TYPE_CHECKING:
    from ipaddress import IPv4Address


@attrs.frozen
class Unresolved:
    id: str
    host: "IPv4Address | None" = None


@attrs.define
class Late:
    id: str
    x: int | None = attrs.field(init=False)


def test_class_whose_fields_lack_a_type_does_not_determine_its_table(monkeypatch) -> None:
    untyped = attrs.make_class("Untyped", {"id": attrs.field(), "n": attrs.field(default=1)})
    for item in (untyped("a"), Unresolved("a")):
        assert Items([item]).to_arrow().to_pylist()[0]["id"] == "a"
    monkeypatch.setitem(globals(), "IPv4Address", str)  # defined later, as in a notebook
    assert Items([Unresolved("a")]).schema.field("host").type == pyarrow.string()
    assert Items([], cls=class_of(str)).schema.field("x").type == pyarrow.string()
    assert Items([Late("a")]).to_arrow()["x"].to_pylist() == [None]  # it was never set
    assert Items(cls=dict).schema.names == ["id", "name", "status"]
