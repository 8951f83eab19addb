"""Items as tables of libraries that the other tests do without: polars and DuckDB."""

import doctest
from decimal import Decimal

import duckdb
import polars
import pytest

from adclient import BusinessProfile, Items, Page

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
