"""A ledger in memory, which notes the latest state of each entry."""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from threading import RLock
from typing import NoReturn

import attrs

from adclient._tables.items import Items
from adclient.errors import ConfigurationError
from adclient.ledger.database import Mode
from adclient.ledger.entry import Entry, read_at
from adclient.ledger.rows import SCHEMA, Transaction
from adclient.ledger.sqlite import SQLiteLedger


@attrs.frozen
class _NotingTransaction(Transaction):
    latest: dict[str, Entry]

    def append(self, event: str, entry: Entry, before: Entry | None = None) -> Entry:
        entry = super().append(event, entry, before)
        self.latest[entry.entry_id] = entry
        return entry


class MemoryLedger(SQLiteLedger):
    """A ledger in memory, as fast as a check with thousands of writes needs it.

    `read` has the ids of the entries that `unknown` has returned. If `is_dead`, the process that
    uses it was killed: it records no end.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__("never-created.db", now=now)
        self._shown = "in memory"
        self._lock = RLock()
        self.database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in SCHEMA:
            self.database.execute(statement)
        self._latest: dict[str, Entry] = {}
        self.read: set[str] = set()
        self.is_dead: bool = False

    @property
    def latest(self) -> list[Entry]:
        """All entries as they are now, in the order of their reservations."""
        now, entries = self._now(), [*self._latest.values()]  # a copy: other threads may add some
        return [read_at(now, entry) for entry in entries]

    def end(self, entry: Entry) -> None:
        """Record the end of a write of a process that lives."""
        if not self.is_dead:
            super().end(entry)

    def unknown(self) -> Items[Entry]:
        """Read the entries of unknown outcome, of which the job then knows."""
        entries = super().unknown()
        self.read |= {entry.entry_id for entry in entries}
        return entries

    def __gate__(self) -> NoReturn:
        problem = "the ledger of check_job is in memory: make a SharedGate of another one"
        raise ConfigurationError(problem, argument="ledger")

    @contextmanager
    def _transaction(self, mode: Mode) -> Generator[Transaction]:
        with self._lock, self._errors_explained(), self.database:  # which commits, or rolls back
            if mode != "read":
                self.database.execute("BEGIN")
            yield _NotingTransaction(self.database, self._now(), self._latest)

    def _exists(self) -> bool:
        return True
