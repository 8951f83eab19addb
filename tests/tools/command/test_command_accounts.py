"""`adclient list` of many accounts: rows with their account, parts, and accounts that fail."""

import errno
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

from adclient._command import main
from adclient.testing import FakeAccount, FakeAdService

READ = ["list", "beta.campaigns"]
IDS = ["account_b204", "account_b7e0"]
BOTH = [*READ, "--account", IDS[0], "-a", IDS[1]]
MODELS = """
import attrs
from decimal import Decimal
from adclient import Campaign

@attrs.frozen(kw_only=True)
class Budgeted(Campaign):
    daily_budget: Decimal | None = None
"""


@pytest.fixture
def fake() -> Iterator[FakeAdService]:
    with FakeAdService(page_size=20).as_environment() as service:
        yield service


@pytest.fixture
def everything(fake) -> dict[str, list[dict]]:
    """The rows of each account."""
    client = fake.client()
    return {
        account_id: [
            {"account_id": account_id} | campaign.to_dict()
            for campaign in client.beta.list_campaigns(account_id=account_id)
        ]
        for account_id in IDS
    }


@pytest.fixture
def accounts(tmp_path, monkeypatch) -> str:
    """A file of accounts, one of which is not connected."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "accounts.txt").write_text(f"# all\n{IDS[0]}\r\n\n account_f403\n{IDS[1]}\n")
    return "accounts.txt"


def test_rows_have_their_account(fake, everything, capsys) -> None:
    assert main([*BOTH, "-a", IDS[0]]) == 0  # one that is named twice is read once
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for account_id, expected in everything.items():
        assert [row for row in rows if row["account_id"] == account_id] == expected
    assert len(rows) == sum(map(len, everything.values()))
    assert [*rows[0]][:2] == ["account_id", "id"]


@pytest.mark.parametrize("shape", ["--csv", "--table"])
def test_whole_tables_are_written_at_the_end(shape, fake, everything, capsys) -> None:
    assert main([*BOTH, shape]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("account_id")
    assert len(rows) >= sum(map(len, everything.values()))


def test_account_that_fails_is_named_and_leaves_the_others(
    fake, everything, accounts, capsys, monkeypatch
) -> None:
    for source in (accounts, "-"):
        type_in(monkeypatch, b"\xef\xbb\xbf" + Path(accounts).read_bytes())
        assert main([*READ, "--accounts-from", source, "--at-once", "1"]) == 3
        printed, told = capsys.readouterr()
        rows = [json.loads(line) for line in printed.splitlines()]
        assert rows == [row for account in everything.values() for row in account]
        error, summary = told.splitlines()
        assert error.startswith("adclient: account_f403: beta.list_campaigns: 403 account_disc")
        assert summary == "adclient: 1 of 3 accounts failed"


def type_in(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("shape", [["--json"], ["--parquet", "parts"]])
def test_exit_code_is_1_if_every_account_fails(shape, fake, accounts) -> None:
    assert main([*READ, "-a", "account_f403", "-a", "account_0", *shape]) == 1


def test_file_of_accounts_that_cannot_be_read_is_refused(
    fake, tmp_path, capsys, monkeypatch
) -> None:
    type_in(monkeypatch, b"\xffaccount_b204")
    assert main([*READ, "--accounts-from", "-"]) == 2
    path = tmp_path / "accounts.txt"
    assert main([*READ, "--accounts-from", str(path)]) == 1
    path.write_text("account_b204", "utf-16")
    assert main([*READ, "--accounts-from", str(path)]) == 2
    path.write_text("# none\n")
    assert main([*READ, "--accounts-from", str(path)]) == 2
    assert [*map(len, capsys.readouterr().err.splitlines())]
    assert not fake.requests


def test_each_account_is_a_part(fake, everything, accounts, tmp_path, capsys) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    part = folder / f"part-{IDS[0]}.parquet"
    part.write_bytes(b"that of an earlier run")
    assert main([*READ, "--accounts-from", accounts, "--parquet", str(folder)]) == 3
    assert sorted(path.name for path in folder.iterdir()) == [
        f"part-{each}.parquet" for each in IDS
    ]
    table = pyarrow.parquet.read_table(part)
    assert table.column_names[:2] == ["account_id", "id"]
    assert table.num_rows == len(everything[IDS[0]])
    assert set(table["account_id"].to_pylist()) == {IDS[0]}


def test_file_in_place_of_the_folder_is_an_error_before_anything_is_read(fake, accounts) -> None:
    assert main([*BOTH, "--parquet", accounts]) == 1
    assert not fake.requests


def test_account_whose_part_cannot_be_written_leaves_the_others(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "budget_models.py").write_text(MODELS)
    budgets = {"misfit": 0.00000000001, "x" * 250: 1, "fits": 1}
    connected = [
        FakeAccount(name, platform="beta", campaigns=[{"id": "c", "daily_budget": budget}])
        for name, budget in budgets.items()
    ]
    ids = [word for name in budgets for word in ("-a", name)]
    with FakeAdService(accounts=connected).as_environment():
        arguments = [*READ, *ids, "--at-once", "1", "--class", "budget_models:Budgeted"]
        assert main([*arguments, "--parquet", "parts"]) == 3
        alone = [*READ, "-a", "misfit", "--class", "budget_models:Budgeted"]
        assert main([*alone, "--parquet", "one.parquet"]) == 1
    assert [path.name for path in Path("parts").iterdir()] == ["part-fits.parquet"]
    misfit, too_long, _, one = capsys.readouterr().err.splitlines()
    assert misfit.startswith("adclient: misfit: items[0], Budgeted(")
    assert one == misfit.replace("misfit: ", "", 1)
    assert too_long.startswith("adclient: xxx")


def test_class_determines_the_columns_of_all_parts(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "budget_models.py").write_text(MODELS)
    empty = FakeAccount("account/1", platform="beta")
    one = FakeAccount("_2", platform="beta", campaigns=[{"id": "c"}])
    arguments = [*READ, "-a", "account/1", "-a", "_2", "--class", "budget_models:Budgeted"]
    with FakeAdService(accounts=[empty, one]).as_environment():
        assert main([*arguments, "--parquet", "parts"]) == 0
        assert main([*arguments[:4], *arguments[6:], "--parquet", "one.parquet"]) == 0
    names = ["part-_2.parquet", "part-account%2F1.parquet"]
    assert sorted(path.name for path in Path("parts").iterdir()) == names
    schemas = [pyarrow.parquet.read_schema(Path("parts") / name) for name in names]
    assert schemas[0] == schemas[1]
    assert str(schemas[0].field("daily_budget").type) == "decimal128(38, 9)"
    assert pyarrow.parquet.read_schema("one.parquet") == schemas[0].remove(0)


def test_interrupt_leaves_only_whole_parts(fake, tmp_path, monkeypatch) -> None:
    written = []

    def interrupted(path, items) -> None:
        written.append(path)
        Path(path).write_bytes(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr("adclient._command.output.write_parquet", interrupted)
    assert main([*BOTH, "--parquet", str(tmp_path)]) == 130
    assert len(written) == 1
    assert [path.name[0] for path in tmp_path.iterdir()] == ["."]


def test_full_disk_ends_the_run(fake, tmp_path, monkeypatch) -> None:
    def full(path, items) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("adclient._command.output.write_parquet", full)
    assert main([*BOTH, "--parquet", str(tmp_path)]) == 1


def test_bar_counts_accounts_on_a_terminal(fake, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(BOTH) == 0
    assert "2/2" in capsys.readouterr().err
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(BOTH) == 0
    assert capsys.readouterr().err == ""
