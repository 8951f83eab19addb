"""Plans and ledgers for the tests of plans."""

import threading
from pathlib import Path

from memory_ledger import MemoryLedger

from adclient import LedgerError, Plan

FIRST, SECOND, THIRD = "campaign_57a7", "campaign_cb1a", "campaign_1dce"


class AuditedLedger(MemoryLedger):
    """A ledger in memory that can be read, and used by several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.is_damaged = False

    def reserve(self, entry, check):
        with self._lock:
            return super().reserve(entry, check)

    def end(self, entry):
        with self._lock:
            super().end(entry)

    def entries(self):
        return list({row.entry_id: row for row in self.rows}.values())

    def verify(self) -> str:
        if self.is_damaged:
            raise LedgerError("row 3 was changed")
        return f"head{len(self.rows)}"


def pause(campaign: str = FIRST, more: str = "") -> str:
    return f"""
[[change]]
call = "beta.pause_campaign"
account_id = "account_b204"
campaign_id = "{campaign}"
{more}
"""


def budget(amount: str = "120", more: str = "") -> str:
    return f"""
[[change]]
call = "alpha.update_campaign_budget"
account_id = "account_a91f"
campaign_id = "campaign_4c10"
daily_budget = {amount}
{more}
"""


def plan_of(folder: Path, *changes: str, plan_id: str = "w47", title: str = "") -> Plan:
    path = folder / "changes.toml"
    path.write_text(f'id = "{plan_id}"\n{title}\n{"".join(changes)}', "utf-8")
    return Plan.read(path)
