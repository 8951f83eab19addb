"""`adclient list --parquet`: one file, or a folder with one for each account."""

import errno
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from cases import each_case
from pyarrow import parquet
from run_command import Ran, run_command

from adclient.testing import FakeAccount, FakeAdService, Fault

READ = ["list", "beta.campaigns"]
IDS = ["account_b204", "account_b7e0"]
BOTH = [*READ, "-a", IDS[0], "-a", IDS[1], "--parquet"]
MODELS = """
import attrs
import dataclasses
from datetime import UTC, datetime
from decimal import Decimal
from adclient import Campaign, Lenient

lenient = Lenient(zone=UTC)

@attrs.frozen(kw_only=True)
class Budgeted(Campaign):
    daily_budget: Decimal | None = None

@dataclasses.dataclass
class Row:
    id: str
    budget: Decimal | None = dataclasses.field(metadata={"name": "limits.daily"})
    changed: datetime
"""


@pytest.fixture(autouse=True)
def _models(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("budget_models.py").write_text(MODELS)


@pytest.fixture
def fake() -> Iterator[FakeAdService]:
    with FakeAdService(page_size=20).as_environment() as service:
        yield service


def test_file_keeps_types_and_is_whole_or_missing(fake) -> None:
    ads = ["list", "gamma.ads", "--account", "account_c3d8", "--parquet"]
    assert run_command(*ads, "ads.parquet") == Ran(0, "", "")
    table = parquet.read_table("ads.parquet")
    assert (table.num_rows, str(table.schema.field("spend").type)) == (126, "double")
    missing = run_command(*ads, "no/ads.parquet")
    assert missing.code == 1
    assert missing.err.startswith("adclient: ")
    fake.faults.add(Fault.status(403), call=3)
    failed = run_command(*ads, "half.parquet")
    assert (failed.code, failed.out, len(failed.err.splitlines())) == (1, "", 1)
    assert not Path("half.parquet").exists()


def test_each_account_is_a_part(fake) -> None:
    Path("accounts.txt").write_text("\n".join([IDS[0], "account_f403", IDS[1]]))
    Path("parts").mkdir()
    part = Path("parts", f"part-{IDS[0]}.parquet")
    part.write_bytes(b"that of an earlier run")
    assert run_command(*READ, "--accounts-from", "accounts.txt", "--parquet", "parts").code == 3
    assert sorted(path.name for path in Path("parts").iterdir()) == [
        f"part-{each}.parquet" for each in IDS
    ]
    table = parquet.read_table(part)
    assert table.column_names[:2] == ["account_id", "id"]
    assert table["id"].to_pylist() == [
        campaign.id for campaign in fake.client().beta.list_campaigns(account_id=IDS[0])
    ]
    assert set(table["account_id"].to_pylist()) == {IDS[0]}
    assert run_command(*READ, "-a", "account_f403", "-a", "account_0", *BOTH[-1:], "x").code == 1


def test_account_whose_part_cannot_be_written_leaves_the_others() -> None:
    budgets = {"misfit": 0.00000000001, "x" * 250: 1, "fits": 1}
    accounts = [
        FakeAccount(name, platform="beta", campaigns=[{"id": "c", "daily_budget": budget}])
        for name, budget in budgets.items()
    ]
    ids = [word for name in budgets for word in ("-a", name)]
    budgeted = [*READ, "--at-once", "1", "--class", "budget_models:Budgeted", "--parquet"]
    with FakeAdService(accounts=accounts).as_environment():
        several = run_command(*budgeted, "parts", *ids)
        one = run_command(*budgeted, "one.parquet", "-a", "misfit")
    assert (several.code, one.code) == (3, 1)
    assert [path.name for path in Path("parts").iterdir()] == ["part-fits.parquet"]
    misfit, too_long, _ = several.err.splitlines()
    assert misfit.startswith("adclient: misfit: items[0], Budgeted(")
    assert one.err == misfit.replace("misfit: ", "", 1) + "\n"
    assert too_long.startswith("adclient: xxx")


def test_values_are_converted_for_the_class_by_choice() -> None:
    rows = [{"id": "a", "limits": {"daily": "12.50"}, "changed": "2026-03-01 12:00"}]
    rows += [{"id": "b", "limits": {"daily": "-"}, "changed": 1772366400000}]
    account = FakeAccount("account_x", platform="beta", campaigns=rows)
    typed = [*READ, "-a", account.id, "--class", "budget_models:Row", "--parquet"]
    with FakeAdService(accounts=[account]).as_environment():
        assert "$.data[0].budget: expected a number, got text" in run_command(*typed, "no").err
        assert run_command(*typed, "rows", "--convert", "budget_models:lenient").code == 0
    table = parquet.read_table("rows")
    assert table["budget"].to_pylist() == [Decimal("12.5"), None]
    assert table["changed"].to_pylist() == [datetime(2026, 3, 1, 12, tzinfo=UTC)] * 2


@each_case(
    ("error", "code"),
    (KeyboardInterrupt(), 130),
    (OSError(errno.ENOSPC, "No space left on device"), 1),
)
def test_interrupt_or_full_disk_leaves_only_whole_parts(error, code, fake, monkeypatch) -> None:
    def write_half(path, items) -> None:
        written.append(path)
        Path(path).write_bytes(b"half of it")
        raise error

    written = []
    monkeypatch.setattr("adclient._command.output.write_parquet", write_half)
    folder = f"parts-{code}"
    assert run_command(*BOTH, folder).code == code
    assert len(written) == 1
    assert [path.name[0] for path in Path(folder).iterdir()] == ["."]
