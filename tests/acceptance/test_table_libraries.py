"""Items as tables of libraries that the other tests do without: polars and DuckDB."""

import doctest
from datetime import UTC, date, datetime
from decimal import Decimal

import attrs
import duckdb
import polars
import pyarrow
from cases import each_case
from pyarrow import dataset, parquet

from adclient import BusinessProfile, Campaign, Items, Page

EXTRAS = {"a": {"x": {"a": 1, "b": ["x"]}}, "b": {"x": None}, "c": {}}
ITEMS = Items(BusinessProfile(id=name, extra=extra) for name, extra in EXTRAS.items())


def test_polars_has_structs_decimals_and_the_default_columns() -> None:
    frame = ITEMS.to_polars()
    assert frame.schema["x"] == polars.Struct({"a": polars.Int64, "b": polars.List(polars.String)})
    assert frame["x"].struct.field("a").to_list() == [1, None, None]
    items = Items(BusinessProfile(id="a", extra={"x": value}) for value in (2**63, 1))
    assert items.to_polars()["x"].to_list() == [str(2**63), "1"]
    columns = dict.fromkeys(["id", "name", "status"], polars.String)
    assert Page(data=()).to_polars().schema == polars.Schema(columns)


@each_case("items", ITEMS, Page(data=ITEMS))
def test_polars_and_duckdb_read_the_arrow_stream(items) -> None:  # DuckDB looks for the variable
    assert polars.DataFrame(items).equals(ITEMS.to_polars())
    assert items.to_polars().equals(ITEMS.to_polars())
    found = duckdb.sql("SELECT id, x.a FROM items ORDER BY id").fetchall()
    assert found == [("a", 1), ("b", None), ("c", None)]


def test_docstring_example_runs() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(Items.to_polars, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0


# Parts of many accounts.


@attrs.frozen
class Day:
    on: date
    cost: Decimal | None = None


@attrs.frozen(kw_only=True)
class Spending(Campaign):
    spend: Decimal | None = attrs.field(default=None, metadata={"decimal": (12, 2)})
    changed: datetime | None = None
    best: Day | None = None
    days: list[Day] = attrs.field(factory=list)
    labels: dict[str, str] = attrs.field(factory=dict)


DAYS = [{"on": "2026-03-01"}, {"on": "2026-03-03", "cost": 0.25}]
WHOLE = {"spend": Decimal("1234567890.12"), "changed": "2026-03-01T12:00:00+02:00"}
WHOLE |= {"best": DAYS[1], "days": DAYS, "labels": {"team": "a"}, "undeclared": 1}
OTHER = {"spend": 2.5, "best": DAYS[0], "days": DAYS[:1], "undeclared": {"a": {}}}
NULLS = dict.fromkeys(["spend", "changed", "best"])
# The campaigns of accounts: none, only nulls, only what is empty, and anything.
ACCOUNTS = [[], [NULLS], [{"days": [], "labels": {}}], [OTHER], [WHOLE, OTHER, NULLS]]
ROWS = sum(map(len, ACCOUNTS))


def test_pyarrow_duckdb_and_polars_read_parts_as_one_table(tmp_path) -> None:
    (parts := tmp_path / "parts").mkdir()
    for number, rows in enumerate(ACCOUNTS):
        campaigns = [Campaign(id="c", name="N", status="ENABLED", extra=row) for row in rows]
        items = Page(data=campaigns).typed(Spending).data
        parquet.write_table(items.to_arrow(), parts / f"account_{number:03}.parquet")
    schema, most = Items(cls=Spending).schema, Decimal("1234567890.12")
    assert all(parquet.read_schema(part) == schema for part in parts.iterdir())
    table = dataset.dataset(parts).to_table()  # of the first part, which has no items
    assert (table.schema, table.num_rows) == (schema, ROWS)
    table.validate(full=True)
    assert pyarrow.compute.sum(table["spend"]).as_py() > most

    read = f"read_parquet('{parts}/*.parquet')"  # without union_by_name
    rows = duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {read})").fetchall()
    day = 'STRUCT("on" DATE, "cost" DECIMAL(38,9))'
    others = {"spend": "DECIMAL(12,2)", "changed": "TIMESTAMP WITH TIME ZONE"}
    others |= {"best": day, "days": f"{day}[]"}
    assert dict(rows) == dict.fromkeys(schema.names, "VARCHAR") | others
    query = "count(*), sum(spend), max(changed), count(best.cost), count(extra->>'undeclared')"
    (row,) = duckdb.sql(f"SELECT {query} FROM {read}").fetchall()
    count, spend, changed, costs, undeclared = row
    assert (count, spend > most, costs > 0, undeclared > 0) == (ROWS, True, True, True)
    assert changed.astimezone(UTC) == datetime(2026, 3, 1, 10, tzinfo=UTC)

    frame = polars.scan_parquet(parts / "*.parquet")  # with its strict defaults
    assert frame.collect_schema() == polars.DataFrame(Items(cls=Spending)).schema
    table = frame.collect()
    assert (table.height, table["spend"].sum() > most) == (ROWS, True)
    assert table["days"].explode().struct.field("on").max() == date(2026, 3, 3)
