"""Items as tables of libraries that the other tests do without: polars and DuckDB."""

import doctest
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path

import attrs
import duckdb
import polars
import pyarrow
import pytest
from pyarrow import dataset, parquet

from adclient import BusinessProfile, Campaign, Items, Page

ITEMS = Items(
    [
        BusinessProfile(id="a", extra={"x": {"a": 1, "b": ["x"]}}),
        BusinessProfile(id="b", extra={"x": None}),
        BusinessProfile(id="c"),
    ]
)


def test_nested_values_become_structs() -> None:
    frame = ITEMS.to_polars()
    assert frame.schema["x"] == polars.Struct({"a": polars.Int64, "b": polars.List(polars.String)})
    assert frame["x"].struct.field("a").to_list() == [1, None, None]


def test_numbers_beyond_64_bits_keep_their_digits() -> None:
    items = Items(BusinessProfile(id="a", extra={"x": value}) for value in (2**63, 0.1))
    assert items.to_polars()["x"].to_list() == [Decimal(2**63), Decimal("0.1")]


@pytest.mark.parametrize("table", [Page(data=()), Items()])
def test_empty_listing_has_the_default_columns(table) -> None:
    assert table.to_polars().schema == polars.Schema(
        dict.fromkeys(["id", "name", "status"], polars.String)
    )


@pytest.mark.parametrize("items", [ITEMS, Page(data=ITEMS)])
def test_polars_and_duckdb_read_the_arrow_stream(items) -> None:  # DuckDB looks for the variable
    assert polars.DataFrame(items).equals(ITEMS.to_polars())
    assert items.to_polars().equals(ITEMS.to_polars())
    found = duckdb.sql("SELECT id, x.a FROM items ORDER BY id").fetchall()
    assert found == [("a", 1), ("b", None), ("c", None)]


def test_docstring_example_runs() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(Items.to_polars, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0


# Parts of many accounts.


class Goal(Enum):
    SALES = "SALES"
    LEADS = "LEADS"


@attrs.frozen
class Day:
    on: date
    clicks: int | None = None
    cost: Decimal | None = None


@attrs.frozen(kw_only=True)
class Spending(Campaign):
    goal: Goal | None = None
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    roas: int | float | None = None
    changed: datetime | None = None
    tags: list[str] | None = None
    best: Day | None = None
    days: list[Day] = attrs.field(factory=list)
    labels: dict[str, str] = attrs.field(factory=dict)


def campaign(rng: random.Random, number: int) -> Campaign:
    """Return a campaign, whose fields are null, whole, with a point, or absent by chance."""
    day = rng.choice([{"on": "2026-03-01"}, {"on": "2026-03-02", "clicks": 1, "cost": 0.25}])
    values = {
        "goal": [None, "SALES", "LEADS"],
        "spend": [None, 5, 2.5, Decimal("1234567890.12")],
        "roas": [None, 3, 0.25],
        "changed": [None, "2026-03-01T12:00:00+02:00"],
        "tags": [None, [], ["spring", "é"]],
        "best": [None, day],
        "days": [[], [day, {"on": "2026-03-03", "clicks": None}]],
        "labels": [{}, {"team": "a"}],
        "undeclared": [None, 1, 0.5, "text", [1], {"a": {}}],
    }
    kept = [name for name in values if rng.random() < 0.7]
    extra = {name: rng.choice(values[name]) for name in kept}
    return Campaign(id=f"id_{number}", name="Name", status="ENABLED", extra=extra)


def accounts() -> list[list[Campaign]]:
    """Return the campaigns of 300 accounts: none, only nulls, only empty lists, or anything."""
    rng = random.Random(0)
    nulls = dict.fromkeys(["goal", "spend", "roas", "changed", "tags", "best"])
    empty = {"tags": [], "days": [], "labels": {}}
    found = []
    for number in range(300):
        match number % 5:
            case 0:
                campaigns = []
            case 1 | 2:
                extra = nulls if number % 5 == 1 else empty
                campaigns = [Campaign(id=f"id_{number}", name="N", status="ENABLED", extra=extra)]
            case _:
                campaigns = [campaign(rng, number) for _ in range(rng.randint(1, 20))]
        found.append(campaigns)
    return found


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> Path:
    """The folder of a Parquet file for each account."""
    folder = tmp_path_factory.mktemp("parts")
    for number, campaigns in enumerate(accounts()):
        items = Page(data=campaigns).typed(Spending).data
        parquet.write_table(items.to_arrow(), folder / f"account_{number:03}.parquet")
    return folder


ROWS = sum(map(len, accounts()))


def test_parts_have_the_schema_of_their_class(parts) -> None:
    schema = Items(cls=Spending).schema
    assert all(parquet.read_schema(part) == schema for part in parts.iterdir())
    table = dataset.dataset(parts).to_table()  # of the first part, which has no items
    assert table.schema == schema
    assert table.num_rows == ROWS
    table.validate(full=True)
    assert pyarrow.compute.sum(table["spend"]).as_py() > Decimal("1234567890.12")


def test_duckdb_reads_parts_as_one_table(parts) -> None:
    read = f"read_parquet('{parts}/*.parquet')"  # without union_by_name
    types = dict(
        duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {read})").fetchall()
    )
    assert types == {
        "id": "VARCHAR",
        "name": "VARCHAR",
        "status": "VARCHAR",
        "goal": "VARCHAR",
        "spend": "DECIMAL(12,2)",
        "roas": "DOUBLE",
        "changed": "TIMESTAMP WITH TIME ZONE",
        "tags": "VARCHAR[]",
        "best": 'STRUCT("on" DATE, clicks BIGINT, "cost" DECIMAL(38,9))',
        "days": 'STRUCT("on" DATE, clicks BIGINT, "cost" DECIMAL(38,9))[]',
        "labels": "VARCHAR",
        "extra": "VARCHAR",
    }
    assert list(types)[:4] == ["id", "name", "status", "goal"]
    assert list(types)[-1] == "extra"
    query = "count(*), sum(spend), max(changed), count(best.cost), count(extra->>'undeclared')"
    (row,) = duckdb.sql(f"SELECT {query} FROM {read}").fetchall()
    count, spend, changed, costs, undeclared = row
    assert count == ROWS
    assert spend > Decimal("1234567890.12")
    assert changed.astimezone(UTC) == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert costs
    assert undeclared


def test_polars_reads_parts_as_one_table(parts) -> None:
    frame = polars.scan_parquet(parts / "*.parquet")  # with its strict defaults
    assert frame.collect_schema() == polars.DataFrame(Items(cls=Spending)).schema
    table = frame.collect()
    assert table.height == ROWS
    assert table["spend"].sum() > Decimal("1234567890.12")
    assert table["days"].explode().struct.field("on").max() == date(2026, 3, 3)


def test_schema_follows_the_rules_of_spark() -> None:
    """Spark takes the schema of any part for all, and converts no types.

    It refuses parts in which a column is int64 in one and double in another, or decimals of
    different digits; types that it lacks: null, empty structs, decimals of more than 38 digits,
    timestamps finer than microseconds. Parts of one class have equal schemas, so that only the
    latter remain.
    """
    schema = Items(cls=Spending).schema
    assert not [field.name for field in schema if not is_of_spark(field.type)]
    assert not is_of_spark(
        Items([BusinessProfile(id="a", extra={"x": None})]).schema.field("x").type
    )


def is_of_spark(kind: pyarrow.DataType) -> bool:
    match kind:
        case pyarrow.ListType():
            return is_of_spark(kind.value_type)
        case pyarrow.StructType():
            return kind.num_fields > 0 and all(is_of_spark(field.type) for field in kind)
        case pyarrow.TimestampType():
            return kind.unit == "us"
        case pyarrow.Decimal128Type():
            return kind.precision <= 38
    scalars = [pyarrow.bool_(), pyarrow.int64(), pyarrow.float64(), pyarrow.string()]
    return kind in [*scalars, pyarrow.date32()]
