"""A ledger in memory, which tests can make slow or broken."""

import threading

import attrs

from adclient import LedgerError
from adclient.ledger import Entry
from adclient.policy import Usage


class MemoryLedger:
    def __init__(self, usage: Usage = Usage()) -> None:  # noqa: B008 (it is immutable)
        self.rows: list[Entry] = []
        self.usage = usage
        self.threads: set[int] = set()
        self.is_broken_from: str | None = None
        self.has_ended = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()
        self.may_reserve = threading.Event()
        self.may_reserve.set()

    def reserve(self, entry, check):
        self.threads.add(threading.get_ident())
        self.may_reserve.wait(10)
        if self.is_broken_from == "reserve":
            raise LedgerError("the disk is full")
        earlier = [row for row in self.rows if entry.change and row.change == entry.change]
        if earlier and earlier[-1].state not in ("refused", "not staged"):
            return earlier[-1]
        refusal = None if entry.state == "refused" else check(self.usage)
        if refusal is not None:
            entry = attrs.evolve(entry, state="refused", rule=refusal.rule, reason=refusal.reason)
        self.rows.append(entry)
        return entry

    def end(self, entry):
        self.threads.add(threading.get_ident())
        self.may_end.wait(10)
        if self.is_broken_from == "end":
            raise LedgerError("the disk is full")
        if any(row.entry_id == entry.entry_id and row.state == "under way" for row in self.rows):
            self.rows.append(entry)
        self.has_ended.set()

    @property
    def states(self) -> list[str]:
        return [row.state for row in self.rows]
