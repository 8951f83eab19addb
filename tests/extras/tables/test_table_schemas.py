"""Tables of a class of the caller: the class alone determines the schema."""

import copy
import pickle
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NewType, Optional, TypeVar

import attrs
import httpx
import pyarrow
import pytest
from cases import each_case
from clients import a_page, sync_and_async, wait

from adclient import JSON, BusinessProfile, Campaign, Items, Page
from adclient.ledger import Entry

D = Decimal


class Level(Enum):
    HIGH = "HIGH"


class Code(StrEnum):
    ONE = "one"


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


@each_case(("annotation", "value", "kind", "held"), [
        (str, "a", "string", "a"),
        (str, "\ud800", "string", "\\ud800"),
        (Ident, "a", "string", "a"),
        (Annotated[str, "an id"], "a", "string", "a"),
        (Literal["a", "b"], "a", "string", "a"),
        (Level, Level.HIGH, "string", "HIGH"),
        (Code, Code.ONE, "string", "one"),
        (Rank, Rank.FIRST, "string", "1"),
        (bool, True, "bool", True),
        (int, 2**63 - 1, "int64", 2**63 - 1),
        (float, 1.5, "double", 1.5),
        (int | float, 1, "double", 1.0),
        (Decimal, D("1.5"), "decimal128(38, 9)", D("1.5")),
        (int | Decimal, 1, "decimal128(38, 9)", D(1)),
        (int | float | Decimal, 0.1, "decimal128(38, 9)", D("0.1")),
        (date, date(2026, 3, 1), "date32[day]", date(2026, 3, 1)),
        (datetime, NOON, "timestamp[us, tz=UTC]", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (list[str], ["a"], "list<item: string>", ["a"]),
        (list[str], [], "list<item: string>", []),
        (Sequence[Decimal], [D(1)], "list<item: decimal128(38, 9)>", [D(1)]),
        (list[int | None], [1, None], "list<item: int64>", [1, None]),
        (list[list[int]], [[1], []], "list<item: list<item: int64>>", [[1], []]),
        (tuple[int, ...], (1, 2), "list<item: int64>", [1, 2]),
        (tuple[int, float], (1, 2.5), "list<item: double>", [1.0, 2.5]),
        (tuple[int, str], (1, "a"), "list<item: string>", ["1", '"a"']),
        (list, [1, "a"], "list<item: string>", ["1", '"a"']),
        (set[int], {9, 10}, "list<item: int64>", [10, 9]),
        (Period, PERIOD, STRUCT, HELD),
        (list[Period], [PERIOD], f"list<item: {STRUCT}>", [HELD]),
        (Node, Node("a", [Node("b", [])]),
         "struct<name: string, children: list<item: string>>",
         {"name": "a", "children": ['{"name":"b","children":[]}']}),
        (Nothing, Nothing(), "string", "{}"),
        (dict[str, Decimal], {"a": D("1.50")}, "string", '{"a":1.50}'),
        (Mapping[str, date], {"a": date(2026, 3, 1)}, "string", '{"a":"2026-03-01"}'),
        (int | str, "a", "string", '"a"'),
        (bool | int, True, "string", "true"),
        (Period | list[int], [1], "string", "[1]"),
    ])  # fmt: skip
def test_annotation_determines_the_column(annotation, value, kind, held) -> None:
    table = table_of(annotation, value)
    assert (str(table.schema.field("x").type), table["x"].to_pylist()) == (kind, [held])
    assert not table.schema.field("x").nullable
    optional = table_of(Optional[annotation], None, value)  # noqa: UP045  (not all have `|`)
    assert optional["x"].to_pylist() == [None, held]
    assert optional.schema.field("x") == table.schema.field("x").with_nullable(True)
    assert table_of(annotation).schema == table.schema


@each_case(("annotation", "value"), [(object, {"a": [1]}), (Any, {"a": [1]}), (JSON, {"a": [1]})])
def test_any_json_is_nullable_json_text(annotation, value) -> None:
    table = table_of(annotation, value, None, "a")
    assert table.schema.field("x") == pyarrow.field("x", pyarrow.string())
    assert table["x"].to_pylist() == ['{"a":[1]}', None, '"a"']


@each_case(("annotation", "value", "kind"), [
        (Decimal, D("1.5"), "decimal128(12, 2)"),
        (Decimal | None, D("1.5"), "decimal128(12, 2)"),
        (float, 1.5, "decimal128(12, 2)"),
        (int, 1, "decimal128(12, 2)"),
        (list[Decimal], [D("1.5")], "list<item: decimal128(12, 2)>"),
        (str, "a", "string"),
    ])  # fmt: skip
def test_metadata_sets_the_decimal(annotation, value, kind) -> None:
    table = table_of(annotation, value, metadata={"decimal": (12, 2)})
    assert str(table.schema.field("x").type) == kind
    assert table["x"].to_pylist() == [value]


@each_case(("annotation", "value", "problem"), [
        (Decimal, D("0.1234567891"), "x: expected decimal128(38, 9), got 0.1234567891"),
        (Decimal, D("NaN"), "x: expected decimal128(38, 9), got NaN"),
        (int, 2**63, f"x: expected int64, got {2**63}"),
        (int | float, 2**53 + 1, f"x: expected double, got {2**53 + 1}"),
        (datetime, datetime(2026, 3, 1),
         "x: expected timestamp[us, tz=UTC], got 2026-03-01 00:00:00"),
        (str, 5, "x: expected string, got 5"),
        (str, None, "x: expected string, got null"),
        (Level, "HIGH", "x: expected string, got HIGH"),
        (list[int], [1, 2**63], f"x[]: expected int64, got [1, {2**63}]"),
        (list[Period], [Period("soon")], "x[].start: expected date32[day], got soon"),
        (Period, Period("soon"), "x.start: expected date32[day], got soon"),
        (list[int], 5, "x: expected list<item: int64>, got 5"),
    ])  # fmt: skip
def test_value_that_does_not_fit_is_named(annotation, value, problem) -> None:
    cls = class_of(annotation)
    good = {Decimal: D(1), datetime: NOON, str: "a", Level: Level.HIGH, Period: PERIOD}
    fitting = good.get(annotation, [] if annotation not in (int, int | float) else 1)
    items = Items([*map(cls, [fitting] * 5), cls(value), cls(fitting), cls(value)])
    with pytest.raises(ValueError, match=r"^items\[5\], Row\(x=") as caught:
        items.to_arrow()
    assert str(caught.value).endswith(problem)
    assert caught.value.__suppress_context__


@sync_and_async
async def test_typed_class_determines_every_table_of_a_listing(client_kind) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        account = request.url.params["account_id"]
        return {"none": a_page(), "null": a_page("a", spend=None)}.get(
            account, a_page("ab", spend=1.5, tags=["x"], clicks=1)
        )

    tables = []
    async with client_kind.open(transport=httpx.MockTransport(respond)) as client:
        for account in ("none", "null", "all"):
            page = (await wait(client.beta.list_campaigns(account_id=account))).typed(Priced)
            items = await wait(page.collect())
            tables += [page.data.to_arrow(), items.to_arrow(), await wait(page.to_arrow())]
            for same in (items[:0], items + items, pickle.loads(pickle.dumps(items))):
                tables.append(same.to_arrow())
            for same in (copy.copy(page), pickle.loads(pickle.dumps(page))):
                tables += [same.data.to_arrow(), await wait(same.to_arrow())]
            if client_kind.name != "sync":
                listing = client.beta.list_campaigns(account_id=account).typed(Priced)
                tables.append(await listing.to_arrow())
    schema = Items(cls=Priced).schema
    assert str(schema.field("spend").type) == "decimal128(12, 2)"
    assert {table.schema for table in tables} == {schema}
    table = pyarrow.concat_tables(tables)  # which refuses different types
    assert table["spend"].unique().to_pylist() == [None, D("1.50")]


def test_undeclared_fields_are_json_in_one_column() -> None:
    profile = Campaign(id="a", name="b", status="c", extra={"spend": 1, "x": D("0.10"), "y": "é"})
    data = Page(data=[profile]).typed(Priced).data
    assert data.schema.names == ["id", "name", "status", "spend", "tags", "extra"]
    assert data.to_arrow()["extra"].to_pylist() == ['{"x":0.10,"y":"é"}']
    assert data.to_records()[0].keys() == {"id", "name", "status", "spend", "tags", "x", "y"}


def test_items_of_one_class_need_no_cls() -> None:
    items = Items([Spend("a", D("1.50"), PERIOD), Spend("b", D(2), None, (PERIOD,))])
    assert items.schema == Items(cls=Spend).schema
    assert items.to_arrow()["days"].to_pylist() == [[], [HELD]]
    assert items.to_records()[0] == {
        "id": "a",
        "spend": D("1.50"),
        "period": HELD,
        "days": [],
        "limit": 5.0,
    }


def test_library_class_declares_no_fields_beside_its_own() -> None:
    data = Page(data=[Campaign(id="a", name="b", status="c", extra={"x": 1})]).typed(Campaign).data
    assert data.schema.names == ["id", "name", "status", "x"]


def test_items_of_several_classes_are_inferred() -> None:
    items = Items([Spend("a", D("1.50"), PERIOD)], cls=Spend) + Items([BusinessProfile(id="b")])
    table = items.to_arrow()
    assert items.schema == table.schema
    assert str(table.schema.field("spend").type) == "decimal128(3, 2)"
    assert table["period"].to_pylist() == [{**HELD, "start": "2026-03-01"}, None]
    assert Items([], cls=None).schema.names == ["id", "name", "status"]


def test_field_that_was_never_set_is_null() -> None:
    @attrs.define
    class Late:
        x: int | None = attrs.field(init=False)

    assert Items([Late()]).to_arrow()["x"].to_pylist() == [None]


def test_ledger_entries_have_one_schema() -> None:
    schema = Items(cls=Entry).schema
    assert str(schema.field("at").type) == "timestamp[us, tz=UTC]"
    assert schema.field("arguments") == pyarrow.field("arguments", pyarrow.string(), nullable=False)
    assert str(schema.field("diff").type).startswith("struct<field: string, before: string")


if TYPE_CHECKING:
    from ipaddress import IPv4Address

T = TypeVar("T")


@attrs.frozen
class Unresolved:
    id: str
    host: "IPv4Address | None" = None


@attrs.frozen
class Generically(Generic[T]):
    id: T


def test_class_whose_fields_lack_a_type_does_not_determine_its_table() -> None:
    untyped = attrs.make_class("Untyped", {"id": attrs.field(), "n": attrs.field(default=1)})
    for item in (untyped("a"), Unresolved("a"), Generically("a")):
        assert Items([item]).to_arrow().to_pylist()[0]["id"] == "a"
    typed = attrs.make_class("Typed", {"id": attrs.field(type=str)})
    assert Items([], cls=typed).schema.field("id").type == pyarrow.string()
