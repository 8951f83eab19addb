"""What the type checkers make of policies, ledgers, plans and the fake. It is never run.

What functions return by their annotation alone: tests/architecture/public_api.txt.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import assert_type

from adclient import JSON, AdClient, AsyncAdClient, Conventions, Items
from adclient.conform import CHECKS, ConformResult, conform
from adclient.gate import SharedGate
from adclient.ledger import (
    Check,
    DraftOutcome,
    Entry,
    Ledger,
    PostgresLedger,
    SQLiteLedger,
    open_ledger,
)
from adclient.plan import Plan
from adclient.policy import Policy
from adclient.testing import FakeAdService


class MemoryLedger:
    """A ledger of the user's."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def reserve(self, entry: Entry, check: Check) -> Entry:
        self.entries.append(entry)
        return entry

    def end(self, entry: Entry) -> None:
        self.entries.append(entry)


policy = Policy(accounts=["a"], money={"daily_budget": Decimal(500)}, drafts_per_day=20)
Policy(account={"a": Policy(drafts_per_day=2)}, no_repeat_within="1h")
assert_type(policy.money, Mapping[str, Decimal] | None)
own: Ledger = MemoryLedger()
ledger = SQLiteLedger("drafts.db")
client = AdClient("https://ads.example.com", policy=policy, ledger=ledger)
AsyncAdClient("https://ads.example.com", policy=policy, ledger=PostgresLedger("postgresql://"))
AdClient("https://ads.example.com", gate=SharedGate(ledger, name="token", per_second=5))
AsyncAdClient("https://ads.example.com", gate=SharedGate(PostgresLedger("postgresql://")))
AdClient(ledger=MemoryLedger(), conventions=Conventions(cursor_parameter="page"))
assert_type(open_ledger("drafts.db").entries(account_id="a"), Items[Entry])
assert_type(ledger.settle_all({"1": None}, by="kim"), Items[Entry])
assert_type(ledger.outcomes(client, ledger.entries(state="staged", limit=5)), Items[DraftOutcome])


async def read_outcomes() -> None:
    async with AsyncAdClient(ledger=ledger, actor="kim") as reader:
        assert_type(await ledger.outcomes(reader), Items[DraftOutcome])


assert_type(Plan.read("plan.toml").check().to_dict(), dict[str, JSON])
assert_type(FakeAdService(seed="s", page_size=2).client(timeout=5), AdClient)
checked = conform(client, account_id="a", stage_drafts=["b"])
assert_type(checked[CHECKS[0]], ConformResult)
