"""A ledger in a file: what every ledger does, and its files of other versions and backups."""

import sqlite3
import sys
from contextlib import closing

import pytest
from cases import each_case
from ledger_tests import *  # noqa: F403
from ledger_tests import admit, stage

import adclient
from adclient import LedgerError
from adclient.ledger import SQLiteLedger, open_ledger

# A backup, as the page for teams describes it.


def test_backup_by_sqlite_is_a_ledger(ledger, where, tmp_path) -> None:
    stage(ledger, 1)
    head, path = ledger.verify(), str(tmp_path / "backup.db")
    with (
        closing(sqlite3.connect(where, isolation_level=None)) as writer,
        closing(sqlite3.connect(where)) as source,
        closing(sqlite3.connect(path)) as target,
    ):
        writer.execute("BEGIN IMMEDIATE")  # somebody else writes
        source.backup(target)
    backup = open_ledger(path)
    assert (backup.verify(), backup.entries()) == (head, ledger.entries())
    stage(ledger, 2)
    newer = ledger.verify()
    assert stage(backup, 3).entry_id == backup.entries()[-1].entry_id
    assert backup.verify(head=head) != head
    with pytest.raises(LedgerError, match="none of its 4 rows has the hash"):
        backup.verify(head=newer)


# What needs no file.


def test_entry_that_is_no_json_is_refused(ledger) -> None:
    with pytest.raises(
        LedgerError,
        match=r"drafts\.db: the entry cannot be recorded: entry\.arguments\.x: expected a",
    ):
        admit(ledger, arguments={"x": float("nan")})


def test_ledgers_are_loaded_by_their_names(where) -> None:
    assert repr(open_ledger(where)) == f"<SQLiteLedger {where}>"
    assert adclient.ledger.SQLiteLedger is SQLiteLedger
    assert not hasattr(adclient.ledger, "OracleLedger")


URLS = ["postgresql+psycopg://a:hunter2@db/ads", "sqlite:///drafts.db", "host=db password=hunter2"]


@each_case("url", *URLS)
def test_url_of_something_else_is_no_file(url) -> None:
    with pytest.raises(LedgerError, match="a file, or a URL that begins with postgresql://") as no:
        open_ledger(url)
    assert "hunter2" not in str(no.value)


def test_url_of_postgres_needs_its_driver(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'adclient\[postgres\]'"):
        open_ledger("postgresql://ads@db.example.com/ads")
