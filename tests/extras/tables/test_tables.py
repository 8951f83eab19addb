"""Items as tables: whose columns are right for all rows, and lose nothing."""

import copy
import json
import pickle
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from operator import attrgetter
from types import SimpleNamespace

import httpx
import numpy
import pandas
import pyarrow
import pytest
from cases import each_case
from clients import SYNC, Service, a_page, sync_and_async, wait
from hypothesis import example, given, strategies as st

from adclient import (
    AsyncPage,
    BusinessProfile,
    InvalidRequest,
    Items,
    Page,
    PaginationError,
)


def items_of(*values, name="x") -> Items:
    return Items(
        BusinessProfile(id=f"id_{n}", extra={} if value is ... else {name: value})
        for n, value in enumerate(values)
    )


def arrow_of(table) -> pyarrow.Table:
    return pyarrow.RecordBatchReader.from_stream(table).read_all()


def column_of(*values) -> tuple[str, list]:
    """The type of the column that some values make, and what it holds; `...` did not come."""
    table = arrow_of(items_of(*values))
    return str(table.schema.field("x").type), table["x"].to_pylist()


D, BIG = Decimal, 2**63
NESTED = {"a": {"b": [1]}}
DEEP = [[[[[[[[[[1]]]]]]]]]]
MANY = {f"f{n}": n for n in range(65)}


@each_case(("values", "kind", "held"), [
        ([True, None, False], "bool", [True, None, False]),
        ([1, None, ...], "int64", [1, None, None]),
        ([..., 1], "int64", [None, 1]),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([2.5, 1], "double", [2.5, 1.0]),
        (["a", None], "string", ["a", None]),
        ([None], "null", [None]),
        ([-BIG, BIG - 1], "int64", [-BIG, BIG - 1]),
        ([BIG, 1], "decimal128(19, 0)", [D(BIG), D(1)]),
        ([10**38 - 1], "decimal128(38, 0)", [D(10**38 - 1)]),
        ([10**38, 1], "string", [str(10**38), "1"]),
        ([2**53, 0.5], "double", [2.0**53, 0.5]),
        ([2**53 + 1, 0.5], "decimal128(17, 1)", [D(2**53 + 1), D("0.5")]),
        ([D("0.12345678901234567890"), 12], "decimal128(22, 20)", [D("0.1234567890123456789"), 12]),
        ([0.1, D("1.25")], "decimal128(3, 2)", [D("0.1"), D("1.25")]),
        ([D("1e30"), D("1e-30")], "string", ["1E+30", "1E-30"]),
        ([D(0)], "decimal128(1, 0)", [D(0)]),
        ([D("1E+2")], "decimal128(3, 0)", [D(100)]),
        ([1e300, D(1)], "string", ["1e+300", "1"]),
        ([float("inf"), D(1)], "string", ["inf", "1"]),
        (["a", 1, None, True], "string", ['"a"', "1", None, "true"]),
        ([[1], {"a": 1}], "string", ["[1]", '{"a":1}']),
        ([True, 1], "string", ["true", "1"]),
        ([[], ["a", None]], "list<item: string>", [[], ["a", None]]),
        ([[]], "list<item: null>", [[]]),
        ([[1, 2.5], [1]], "list<item: double>", [[1.0, 2.5], [1.0]]),
        ([[1, "a", None]], "list<item: string>", [["1", '"a"', None]]),
        ([{"a": 1}, {"b": "x"}], "struct<a: int64, b: string>", [
            {"a": 1, "b": None}, {"a": None, "b": "x"},
        ]),
        ([{"a": [1, D("0.5")], "b": 1}, None],
         "struct<a: list<item: decimal128(2, 1)>, b: int64>", [
            {"a": [D(1), D("0.5")], "b": 1}, None,
        ]),
        ([{"a": 0.5}, {"a": D("0.25")}, {}], "struct<a: decimal128(2, 2)>", [
            {"a": D("0.50")}, {"a": D("0.25")}, {"a": None},
        ]),
        ([{}], "string", ["{}"]),
        ([{"\ud800": 1}], "string", ['{"\\ud800":1}']),
        ([NESTED], "struct<a: struct<b: list<item: int64>>>", [NESTED]),
        ([MANY], "string", [json.dumps(MANY, separators=(",", ":"))]),
        ([json.loads(json.dumps("\\ud800")), "a"], "string", ["\\ud800", "a"]),
        (["\ud800", "a"], "string", ["\\ud800", "a"]),
        ([["\ud800"], [{"a": "\ud800"}]], "list<item: string>",
         [['"\\ud800"'], ['{"a":"\\ud800"}']]),
        ([{"a": ["\ud800", 1]}, {"b": ["\udfff"]}],
         "struct<a: list<item: string>, b: list<item: string>>",
         [{"a": ['"\\ud800"', "1"], "b": None}, {"a": None, "b": ["\\udfff"]}]),
    ])  # fmt: skip
def test_column_type_follows_from_its_values(values, kind, held) -> None:
    assert column_of(*values) == (kind, held)


def test_value_of_the_greatest_depth_is_accepted() -> None:
    """Responses that are nested more deeply are refused when they are read."""
    value: list = []
    for _ in range(99):  # in the 100 levels of a list
        value = [value]
    kind, (held,) = column_of(value)
    assert kind.startswith("list<item: list<")
    for _ in range(8):
        (held,) = held
    assert held == "[" * 92 + "]" * 92


def test_value_that_is_not_json_becomes_a_short_text() -> None:
    _, held = column_of({"amount": Money()}, Money(), "12 EUR")
    assert held == ["{amount: 12 EUR}", "12 EUR", '"12 EUR"']


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.lists(JSON_VALUE, min_size=1, max_size=6))
@example([{"": None, "\0": None}])
@example([1.5, True])
@example([{"a": [True]}, {"a": [1.5]}])
def test_order_of_values_does_not_matter(values) -> None:
    kind, held = column_of(*values, ...)
    assert len(held) == len(values) + 1
    assert [value is None for value in held[:-1]] == [value is None for value in values]
    reversed_kind, reversed_held = column_of(..., *reversed(values))
    assert sorted_fields(kind) == sorted_fields(reversed_kind)
    if "struct" not in kind:
        assert repr(reversed_held[::-1]) == repr(held)


def test_late_row_decides_the_columns_like_the_first() -> None:
    values = [*[..., 1] * 5_000, {"a": 1}, 0.5]  # more than are converted at once
    kind, held = column_of(*values)
    assert kind == "string"
    assert held == [*[None, "1"] * 5_000, '{"a":1}', "0.5"]
    late = Items([*items_of(*values), *items_of(2.5, name="y")]).to_arrow()
    assert late["y"].null_count == len(values)
    assert late["y"][-1].as_py() == 2.5


def sorted_fields(kind: str) -> list[str]:
    """The parts of the text of a type; the fields of a struct have the order of the values."""
    return sorted(re.findall(r"\w+", kind))


# The columns.


def test_promised_columns_come_first_and_are_strings() -> None:
    items = Items([BusinessProfile(id="a", extra={"x": 1, "name": None})])
    schema = arrow_of(items).schema
    assert [(field.name, str(field.type)) for field in schema] == [
        ("id", "string"), ("name", "string"), ("status", "string"), ("x", "int64"),
    ]  # fmt: skip


def test_column_name_is_escaped_where_libraries_refuse_it() -> None:
    for name, spelt in (("\ud800", "\\ud800"), ("a\0b", "a\\x00b")):
        items = items_of(1, name=name)
        assert arrow_of(items).column_names[-1] == spelt
        assert items.to_pandas().iloc[0, -1] == 1


def test_object_with_nul_in_a_name_becomes_json_text() -> None:
    kind, (held,) = column_of({"": None, "\0": None})
    assert kind == "string"
    assert json.loads(held) == {"": None, "\0": None}


class Money:
    def __str__(self) -> str:
        return "12 EUR"


# The libraries.

ROWS = items_of({"a": 1, "b": ["x"]}, None, ...)


def test_to_pandas_has_arrow_dtypes() -> None:
    frame = Items([*items_of(1, None, 3)]).to_pandas()
    assert str(frame["x"].dtype) == "int64[pyarrow]"
    assert frame["x"].isna().tolist() == [False, True, False]
    assert frame["x"].sum() == 4
    nested = ROWS.to_pandas()["x"]
    assert nested.struct.field("b").dropna().iloc[0] == ["x"]
    assert items_of(BIG, 0.1).to_pandas()["x"].tolist() == [D(BIG), D("0.1")]


@pytest.fixture
def stand_in_for_polars(monkeypatch) -> None:
    """Polars is large; `tests/acceptance` tries the real one."""
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=pyarrow.table))


@pytest.mark.usefixtures("stand_in_for_polars")
@pytest.mark.parametrize("table", [ROWS, Page(data=ROWS)])
def test_to_polars_receives_the_arrow_table(table) -> None:
    assert table.to_polars().equals(table.to_arrow())


@pytest.mark.parametrize("table", [items_of(1, 2), Page(data=items_of(1, 2))])
def test_arrow_stream_is_readable_by_pyarrow(table) -> None:
    assert pyarrow.table(table).equals(table.to_arrow())
    assert pyarrow.table(table)["x"].to_pylist() == [1, 2]
    schema = pyarrow.schema(
        [("id", "string"), ("name", "string"), ("status", "string"), ("x", "int32")]
    )
    assert pyarrow.table(table, schema=schema)["x"].type == "int32"


@pytest.mark.parametrize("table", [ROWS, Page(data=ROWS), AsyncPage(data=ROWS)])
def test_no_library_reads_items_as_a_column_of_objects(table) -> None:
    with pytest.raises(TypeError, match=rf"^{type(table).__name__} .* use to_pandas\(\)"):
        pandas.DataFrame(table)
    with pytest.raises(TypeError, match="use to_pandas"):
        numpy.asarray(table)


@pytest.mark.parametrize(
    ("missing", "method", "extra"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("pyarrow", "to_pandas", "pandas"),
        ("polars", "to_polars", "polars"),
        ("pyarrow", "to_polars", "polars"),
        ("pyarrow", "to_arrow", "arrow"),
        ("pyarrow", "schema", "arrow"),
        ("pyarrow", "__arrow_c_stream__", "arrow"),
    ],
)
@pytest.mark.usefixtures("stand_in_for_polars")
def test_missing_library_is_named_with_its_extra(missing, method, extra, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("table", "infer", "columns", "arrays"):
        monkeypatch.delitem(sys.modules, f"adclient._tables.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        attrgetter(method)(ROWS)()
    how = f"pip install 'adclient[{extra}]', or '.[{extra}]' in a checkout"
    assert str(caught.value) == f"this needs {missing}: {how}"
    assert caught.value.name == missing
    assert caught.value.__suppress_context__


# The whole listing.


@pytest.mark.usefixtures("stand_in_for_polars")
@sync_and_async
async def test_tables_cover_what_iterating_covers(client_kind) -> None:
    pages = {None: ("ab", "c1"), "c1": ("cd", "c2"), "c2": ("e", None)}
    cursors: list[str | None] = []

    def respond(request: httpx.Request) -> httpx.Response:
        cursors.append(request.url.params.get("cursor"))
        return a_page(*pages[cursors[-1]])

    async with client_kind.open(transport=httpx.MockTransport(respond)) as client:
        page = await wait(client.beta.list_campaigns(account_id="a"))
        listings = [page]
        if client_kind is not SYNC:  # an async listing is one before its first page is there
            listings.append(client.beta.list_campaigns(account_id="a"))
        for listing in listings:
            assert [record["name"] for record in await wait(listing.to_records())] == [*"abcde"]
            assert (await wait(listing.to_pandas()))["name"].tolist() == [*"abcde"]
            assert (await wait(listing.to_arrow()))["name"].to_pylist() == [*"abcde"]
            assert (await wait(listing.to_polars()))["name"].to_pylist() == [*"abcde"]
            cursors.clear()
            few = await wait(listing.to_arrow(limit=3))
            assert few["name"].to_pylist() == [*"abc"]
            assert "c2" not in cursors
        if client_kind is SYNC:
            assert pyarrow.table(page)["name"].to_pylist() == [*"abcde"]
        for method in ("to_records", "to_arrow", "to_pandas", "to_polars"):
            with pytest.raises(InvalidRequest, match="limit"):
                await wait(getattr(page, method)(limit=-1))
    assert [item.name for item in page.data] == ["a", "b"]
    assert page.data.to_pandas()["name"].tolist() == ["a", "b"]
    assert pyarrow.table(page.data)["name"].to_pylist() == ["a", "b"]


@sync_and_async
async def test_table_of_a_page_without_its_client_never_lacks_the_later_pages(client_kind) -> None:
    service = Service(a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport) as client:
        page = copy.copy(await wait(client.beta.list_campaigns(account_id="a")))
    with pytest.raises(PaginationError, match=r"cursor=page\.next; page\.data has the items"):
        await wait(page.to_pandas())
    assert page.data.to_pandas()["name"].tolist() == ["a", "b"]


def test_arrow_stream_of_what_must_be_awaited_is_refused() -> None:
    with pytest.raises(TypeError, match=r"await listing\.to_arrow\(\)"):
        pyarrow.table(AsyncPage(data=ROWS))


def test_items_are_a_collection_and_no_list() -> None:
    items = items_of(1, 2, 3)
    assert not isinstance(items, list | tuple | Sequence)
    assert items == list(items)
    assert items == tuple(items)
    assert items != items[:2]
    assert items != "abc"
    assert hash(items) == hash(Items(list(items)))
    assert items[1] in items
    assert items[0].id == "id_0"
    assert type(items[:2]) is Items
    assert items[:2].to_pandas().shape == (2, 4)
    assert [item.id for item in items[::-1]] == ["id_2", "id_1", "id_0"]
    for other in (copy.copy(items), copy.deepcopy(items), pickle.loads(pickle.dumps(items))):
        assert type(other) is Items
        assert other == items
    for more in (items + items[:1], items + [*items][:1]):
        assert type(more) is Items
        assert len(more) == 4
    with pytest.raises(AttributeError, match=r"'append'; use list\(items\), which is a list$"):
        items.append(items[0])
    with pytest.raises(AttributeError, match=r"no attribute 'to_panda'$"):
        items.to_panda()
    assert not hasattr(items, "__dict__")


def test_html_reads_only_the_rows_it_shows() -> None:
    beyond = object()  # which is no item
    assert "1 more rows are not shown" in Items([*items_of(*range(20)), beyond])._repr_html_()
