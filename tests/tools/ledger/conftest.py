"""A ledger of a test, in a file that is not there yet."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from ledger_tests import admit, assert_refuses_a_write, clock, ledger, open_it
from waiting import locked_database

__all__ = ["assert_refuses_a_write", "clock", "ledger", "open_it"]


@pytest.fixture
def where(tmp_path) -> str:
    return str(tmp_path / "drafts.db")


@pytest.fixture
def execute(where):
    """Execute SQL, as anybody with access can."""

    def execute(*statements: str) -> list[tuple]:
        with closing(sqlite3.connect(where)) as connection, connection:
            return [connection.execute(sql).fetchall() for sql in statements][-1]

    return execute


@pytest.fixture
def wipe(where):
    """Start again without a ledger."""

    def wipe() -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(where + suffix).unlink(missing_ok=True)

    return wipe


@pytest.fixture
def tamper(execute):
    """Execute SQL without the triggers."""

    def tamper(sql: str) -> None:
        names = ("update", "delete", "insert")
        execute(*(f"DROP TRIGGER IF EXISTS adclient_ledger_{name}" for name in names), sql)

    return tamper


@pytest.fixture
def locked(where, ledger):
    """A block in which somebody else writes."""
    admit(ledger, "of the past")
    return partial(locked_database, where, "BEGIN IMMEDIATE")
