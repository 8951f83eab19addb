"""Items as tables: whose columns are right for all rows, and lose nothing."""

import copy
import json
import pickle
import re
import sys
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from operator import attrgetter
from types import SimpleNamespace

import attrs
import httpx
import numpy
import pandas
import pyarrow
import pytest
from cases import each_case
from clients import SYNC, Service, a_page, an_item, sync_and_async, wait

import adclient
from adclient import AsyncPage, BusinessProfile, Campaign, InvalidRequest, Items, Page
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService


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
MANY = {f"f{n}": n for n in range(201)}


@each_case(("values", "kind", "held"),
    ([True, None, False], "bool", [True, None, False]),
    ([1, None, ...], "int64", [1, None, None]),
    ([1, 2.5], "double", [1.0, 2.5]),
    ([-BIG, BIG - 1], "int64", [-BIG, BIG - 1]),
    ([BIG, 1], "string", [str(BIG), "1"]),
    ([2**53 + 1, 0.5], "string", [str(2**53 + 1), "0.5"]),
    ([D("0.12345678901234567890"), 12], "double", [0.12345678901234568, 12.0]),
    ([D("1e400"), 0.5], "string", ["1E+400", "0.5"]),
    ([10**400, 0.5], "string", [str(10**400), "0.5"]),
    (["a", 1, None, True], "string", ['"a"', "1", None, "true"]),
    ([[], ["a", None]], "list<item: string>", [[], ["a", None]]),
    ([[]], "list<item: null>", [[]]),
    ([[1, 2.5], [1]], "list<item: double>", [[1.0, 2.5], [1.0]]),
    ([[1, "a", None]], "string", ['[1,"a",null]']),
    ([{"a": [1, D("0.5")], "b": 1}, None],
     "struct<a: list<item: double>, b: int64>", [{"a": [1.0, 0.5], "b": 1}, None]),
    ([{"a": 0.5}, {"a": 1}, {}], "struct<a: double>", [{"a": 0.5}, {"a": 1.0}, {"a": None}]),
    ([{"": None, "\0": None}], "string", ['{"":null,"\\u0000":null}']),
    ([{"a": {}}], "string", ['{"a":{}}']),
    ([{"decimal": 2}], "struct<decimal: int64>", [{"decimal": 2}]),
    ([[D("0.1234567890123456789")]], "list<item: double>", [[0.12345678901234568]]),
    ([NESTED], "struct<a: struct<b: list<item: int64>>>", [NESTED]),
    ([MANY], "string", [json.dumps(MANY, separators=(",", ":"))]),
    (["\ud800", "a"], "string", ["\\ud800", "a"]),
    ([{"a": "\ud800"}, None], "string", ['{"a":"\\ud800"}', None]),
)  # fmt: skip
def test_column_type_follows_from_its_values_in_any_order(values, kind, held) -> None:
    assert column_of(*values) == (kind, held)
    reversed_kind, reversed_held = column_of(*reversed(values))
    # The fields of a struct have the order of the values.
    assert sorted(re.findall(r"\w+", reversed_kind)) == sorted(re.findall(r"\w+", kind))
    assert reversed_held[::-1] == held


def test_late_row_decides_the_columns_like_the_first() -> None:
    values = [*[..., 1] * 5_000, {"a": 1}, 0.5]  # more than are converted at once
    kind, held = column_of(*values)
    assert kind == "string"
    assert held == [*[None, "1"] * 5_000, '{"a":1}', "0.5"]
    late = Items([*items_of(*values), *items_of(2.5, name="y")]).to_arrow()
    assert late["y"].null_count == len(values)
    assert late["y"][-1].as_py() == 2.5


# The libraries.

ROWS = items_of({"a": 1, "b": ["x"]}, None, ...)


@pytest.fixture
def stand_in_for_polars(monkeypatch) -> None:
    """Polars is large; `tests/acceptance` tries the real one."""
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=pyarrow.table))


@pytest.mark.parametrize("table", [ROWS, Page(data=ROWS), AsyncPage(data=ROWS)])
def test_no_library_reads_items_as_a_column_of_objects(table) -> None:
    with pytest.raises(TypeError, match=rf"^{type(table).__name__} .* use to_pandas\(\)"):
        pandas.DataFrame(table)
    with pytest.raises(TypeError, match="use to_pandas"):
        numpy.asarray(table)
    if isinstance(table, AsyncPage):  # whose pages must be awaited
        with pytest.raises(TypeError, match=r"await listing\.to_arrow\(\)"):
            pyarrow.table(table)


MISSING = [("pandas", "to_pandas", "pandas"), ("pyarrow", "to_pandas", "pandas")]
MISSING += [("polars", "to_polars", "polars"), ("pyarrow", "to_arrow", "arrow")]


@pytest.mark.parametrize(("missing", "method", "extra"), MISSING)
@pytest.mark.usefixtures("stand_in_for_polars")
def test_missing_library_is_named_with_its_extra(missing, method, extra, monkeypatch) -> None:
    ROWS.to_arrow()  # pyarrow looks for pandas once, and takes the None below for it
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("table", "columns"):
        monkeypatch.delitem(sys.modules, f"adclient._tables.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        attrgetter(method)(ROWS)()
    how = f"pip install 'adclient[{extra}]', or '.[{extra}]' in a checkout"
    assert str(caught.value) == f"this needs {missing}: {how}"
    assert caught.value.name == missing
    assert caught.value.__suppress_context__


@attrs.frozen
class Spend:
    id: str
    spend: Decimal
    day: date


@each_case(
    "step",
    lambda frame: frame.describe(),
    lambda frame: frame.nlargest(1, "spend"),
    lambda frame: frame["spend"].cumsum(),
    lambda frame: frame.groupby("id").sum(numeric_only=True),
    lambda frame: frame.merge(frame, on="id"),
    lambda frame: frame.pivot_table(index="id", values="spend"),
)
def test_first_steps_of_an_analysis_work(step) -> None:
    rows = [{"spend": Decimal("0.014492753623188405797"), "n": BIG - 1}, {"spend": 2.5, "n": 1}]
    items = Items(BusinessProfile(id=f"id_{n}", extra=row) for n, row in enumerate(rows))
    declared = Items([Spend("a", Decimal("1.50"), date(2026, 3, 1))])
    numpy = {"types": "numpy"}
    for frame in (items.to_pandas(), items.to_pandas(**numpy), declared.to_pandas(**numpy)):
        assert len(step(frame))
    assert [str(kind) for kind in items.to_pandas().dtypes[3:]] == ["double[pyarrow]", "Int64"]
    assert declared.to_pandas()["spend"].tolist() == [Decimal("1.50")]
    kinds = declared.to_pandas(types="numpy").dtypes
    assert (str(kinds["spend"]), str(kinds["day"])[:10]) == ("float64", "datetime64")


@pytest.mark.usefixtures("stand_in_for_polars")
def test_fields_of_objects_are_columns_by_choice() -> None:
    items = items_of({"a": {"b": 1}, "c": [{"d": 1}]}, None)
    for method in (items.to_arrow, items.to_polars, Page(data=items).to_arrow):
        table = method(flat=True)
        assert table.column_names[3:] == ["x.a.b", "x.c"]
        assert table["x.a.b"].to_pylist() == [1, None]
    assert items.to_pandas(flat=True).columns[3] == "x.a.b"
    for wrong in ({"types": "arrows"}, {"flat": "yes"}):
        with pytest.raises(InvalidRequest, match="|".join(wrong)):
            items.to_pandas(**wrong)


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
        # An async listing is one before its first page is there.
        for listing in (page, client.beta.list_campaigns(account_id="a")):
            assert [record["name"] for record in await wait(listing.to_records())] == [*"abcde"]
            assert (await wait(listing.to_pandas()))["name"].tolist() == [*"abcde"]
            assert (await wait(listing.to_arrow()))["name"].to_pylist() == [*"abcde"]
            assert (await wait(listing.to_polars()))["name"].to_pylist() == [*"abcde"]
            cursors.clear()
            assert (await wait(listing.to_arrow(limit=3)))["name"].to_pylist() == [*"abc"]
            assert "c2" not in cursors
        if client_kind is SYNC:
            assert pyarrow.table(page)["name"].to_pylist() == [*"abcde"]
        for method in ("to_records", "to_arrow", "to_pandas", "to_polars"):
            with pytest.raises(InvalidRequest, match="limit"):
                await wait(getattr(page, method)(limit=-1))
    assert pyarrow.table(page.data)["name"].to_pylist() == ["a", "b"]


@sync_and_async
async def test_table_of_a_page_without_its_client_never_lacks_the_later_pages(client_kind) -> None:
    service = Service(a_page("ab", "c1"))
    async with client_kind.open(transport=service.transport) as client:
        page = copy.copy(await wait(client.beta.list_campaigns(account_id="a")))
    with pytest.raises(
        adclient.PaginationError, match=r"cursor=page\.next; page\.data has the items"
    ):
        await wait(page.to_pandas())
    assert page.data.to_pandas()["name"].tolist() == ["a", "b"]


def test_items_are_a_collection_and_no_list() -> None:
    items = items_of(1, 2, 3)
    assert not isinstance(items, list | tuple | Sequence)
    assert items == list(items)
    assert items == tuple(items)
    assert items != items[:2]
    assert (items == "abc") is False
    assert hash(items) == hash(Items(list(items)))
    assert items[1] in items
    assert items[0].id == "id_0"
    assert type(items[:2]) is Items
    assert items[:2].to_pandas().shape == (2, 4)
    assert [item.id for item in items[::-1]] == ["id_2", "id_1", "id_0"]
    assert [*reversed(items)] == [*items[::-1]]
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    copies = [pickle.loads(pickle.dumps(items, protocol)) for protocol in protocols]
    copies += [copy.copy(items), copy.deepcopy(items)]
    assert copies == [items] * len(copies)
    longer = [items + items[:1], items + [*items][:1]]
    assert [*map(len, longer)] == [4, 4]
    assert {type(other) for other in copies + longer} == {Items}
    with pytest.raises(AttributeError, match=r"'append'; use list\(items\), which is a list$"):
        items.append(items[0])


CAMPAIGNS = [Campaign(**an_item("a"), extra={"spend": 1}), Campaign(**an_item("b"))]


def table_of(items: Items) -> dict[str, list]:
    table = items.to_arrow()
    assert table.schema == items.schema == pyarrow.table(items).schema
    assert list(items.to_pandas().columns) == table.column_names
    return table.to_pydict()


def test_tables_begin_with_the_account() -> None:
    items = Items(CAMPAIGNS, account_id="account_x")
    assert list(table_of(items)) == ["account_id", "id", "name", "status", "spend"]
    assert table_of(items)["account_id"] == ["account_x"] * 2
    assert items.schema.field(0) == pyarrow.field("account_id", pyarrow.string(), nullable=False)
    assert [list(record)[:2] for record in items.to_records()] == [["account_id", "id"]] * 2
    assert [record["account_id"] for record in items.to_records()] == ["account_x"] * 2
    shown = items._repr_html_()
    assert shown.index(">account_id<") < shown.index(">id<")
    assert shown.count("account_x") == 2
    assert list(table_of(Items(account_id="account_x"))) == ["account_id", "id", "name", "status"]


@attrs.frozen
class Own:
    id: str
    account_id: int


@attrs.frozen(kw_only=True)
class Kept(Campaign):
    spend: int = 0


def test_schema_of_a_class_is_the_same_for_all_accounts() -> None:
    schema = Items(cls=Kept, account_id="account_x").schema
    items = Items([Kept(**an_item("a"), extra={"account_id": "sub"})], account_id="account_y")
    assert items.schema == schema
    assert schema.names == ["account_id", *Items(cls=Kept).schema.names]
    assert table_of(items)["account_id"] == ["account_y"]
    assert items.to_records()[0]["account_id"] == "sub"  # a field that the class does not declare


@each_case(
    ("items", "column", "kind"),
    ([Campaign(**an_item("a"), extra={"account_id": 7}), CAMPAIGNS[1]], [7, None], "int64"),
    ([Own(id="a", account_id=7)], [7], "int64"),
    ([Campaign(**an_item("a"), extra={"account_id": "sub"})], ["sub"], "string"),
)
def test_field_of_the_items_wins_over_the_account(items, column, kind) -> None:
    found = Items(items, account_id="account_x")
    assert table_of(found)["account_id"] == column
    assert str(found.schema.field("account_id").type) == kind
    assert found.to_records() == Items(items).to_records()


# Ledgers.


def test_entries_and_outcomes_are_tables(tmp_path) -> None:
    ledger = SQLiteLedger(tmp_path / "drafts.db")
    with FakeAdService().client(ledger=ledger, actor="kim") as client:
        draft = client.beta.pause_campaign(account_id="account_b204", campaign_id="campaign_57a7")
        outcomes = ledger.outcomes(client).to_pandas()
    entries = ledger.entries().to_pandas()
    assert outcomes["state"].tolist() == ["not seen"]
    [row] = entries[["state", "draft_id", "actor"]].values.tolist()
    assert row == ["staged", draft.draft_id, "kim"]
