"""Tables of the items of one account begin with the account; and tables of ledgers."""

import attrs
import pyarrow
from cases import each_case
from clients import an_item

from adclient import Campaign, Items
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService

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
