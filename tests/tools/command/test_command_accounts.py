"""`adclient list` of many accounts: rows with their account, and accounts that fail."""

import io
import sys

import pytest
from cases import each_case
from run_command import run_command

from adclient.testing import Fault

READ = ["list", "beta.campaigns"]
IDS = ["account_b204", "account_b7e0"]
BOTH = [*READ, "--account", IDS[0], "-a", IDS[1]]


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


def test_rows_have_their_account(everything) -> None:
    # One that is named twice is read once.
    ran = run_command(*BOTH, "-a", IDS[0], terminals=["err"])
    assert ran.code == 0
    assert "over_accounts: 2 of 2 accounts, 0:00" in ran.err
    for account_id, expected in everything.items():
        assert [row for row in ran.rows if row["account_id"] == account_id] == expected
    assert len(ran.rows) == sum(map(len, everything.values()))
    assert [*ran.rows[0]][:2] == ["account_id", "id"]
    for shape in ("--csv", "--table"):  # which are written whole, at the end
        head, *rows = run_command(*BOTH, shape).out.splitlines()
        assert head.startswith("account_id")
        assert len(rows) >= len(ran.rows)


def test_failing_account_is_named_and_leaves_others(
    everything, fake, tmp_path, monkeypatch
) -> None:
    path = tmp_path / "accounts.txt"
    path.write_text(f"# all\n{IDS[0]}\r\n\n account_f403\n{IDS[1]}\n")
    typed = io.BytesIO(b"\xef\xbb\xbf" + path.read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed))
    for source in (str(path), "-"):
        ran = run_command(*READ, "--accounts-from", source, "--at-once", "1")
        assert ran.code == 3
        assert ran.rows == [row for account in everything.values() for row in account]
        error, summary = ran.err.splitlines()
        assert error.startswith("adclient: account_f403: beta.list_campaigns: 403 account_disc")
        assert summary == "adclient: 1 of 3 accounts failed"
    assert run_command(*READ, "-a", "account_f403", "-a", "account_0").code == 1
    fake.faults.add(Fault.refused(), account_id=IDS[0], times=None)
    ran = run_command(*BOTH, "--retries", "0")
    assert (ran.code, ran.rows) == (3, everything[IDS[1]])
    assert "Nothing was sent; check ADCLIENT_BASE_URL and the network" in ran.err


@each_case(("content", "code"), (None, 1), (b"\xffaccount", 2), (b"# none\n", 2))
def test_file_of_accounts_that_cannot_be_read_is_refused(content, code, fake, tmp_path) -> None:
    path = tmp_path / "accounts.txt"
    if content is not None:
        path.write_bytes(content)
    ran = run_command(*READ, "--accounts-from", str(path))
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (code, "", 1)
    assert not fake.requests
