"""What the type checkers make of policies, ledgers, plans and the fake. It is never run."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import assert_type

from adclient import (
    JSON,
    AdClient,
    AsyncAdClient,
    Conventions,
    Entry,
    Items,
    Ledger,
    Plan,
    PlanReport,
    Policy,
    PostgresLedger,
    SharedGate,
    SQLiteLedger,
)
from adclient.conform import CHECKS, ConformReport, ConformResult, conform
from adclient.doctor import Report, examine
from adclient.ledger import Check, DraftOutcome, open_ledger
from adclient.plan import ChangeReport
from adclient.testing import Dashboard, FakeAdService, FakeClock, FakeDraft, Fault, RecordedRequest


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
assert_type(Policy.read(Path("policy.toml")), Policy)
agency = Policy(account={"a": Policy(drafts_per_day=2)}, no_repeat_within="1h")
assert_type(agency.for_account("a"), Policy)
assert_type(policy.money, Mapping[str, Decimal] | None)
own: Ledger = MemoryLedger()
ledger = SQLiteLedger("drafts.db")
client = AdClient("https://ads.example.com", policy=policy, ledger=ledger)
AsyncAdClient("https://ads.example.com", policy=policy, ledger=PostgresLedger("postgresql://"))
AdClient("https://ads.example.com", gate=SharedGate(ledger, name="token", per_second=5))
AsyncAdClient("https://ads.example.com", gate=SharedGate(PostgresLedger("postgresql://")))
AdClient(ledger=MemoryLedger(), conventions=Conventions(cursor_parameter="page"))
assert_type(open_ledger("drafts.db").entries(account_id="a"), Items[Entry])
assert_type(ledger.settle(ledger.unknown()[0], by="kim"), Entry)
assert_type(ledger.verify(), str)
assert_type(ledger.settle_all({"1": None}, by="kim"), Items[Entry])
assert_type(ledger.outcomes(client, ledger.entries(state="staged", limit=5)), Items[DraftOutcome])
assert_type(client.with_options(actor="kim"), AdClient)


async def read_outcomes() -> None:
    async with AsyncAdClient(ledger=ledger, actor="kim") as reader:
        assert_type(await ledger.outcomes(reader), Items[DraftOutcome])


plan = Plan.read("plan.toml")
assert_type(plan.check(policy), PlanReport)
assert_type(plan.stage(client).changes, tuple[ChangeReport, ...])
assert_type(plan.check().to_dict(), dict[str, JSON])

report = examine(account_id="a")
assert_type(report, Report)
assert_type(report.conventions(), Conventions)

service = FakeAdService(seed="s", page_size=2)
assert_type(service.client(timeout=5), AdClient)
assert_type(service.async_client(), AsyncAdClient)
assert_type(service.clock, FakeClock)
assert_type(service.drafts, tuple[FakeDraft, ...])
assert_type(service.requests[0], RecordedRequest)
assert_type(service.dashboard, Dashboard)
assert_type(service.dashboard.approve(service.drafts[0]), FakeDraft)
service.faults.add(Fault.status(503))

checked = conform(service.client(), account_id="a", stage_drafts=["b"])
assert_type(checked, ConformReport)
assert_type(checked[CHECKS[0]], ConformResult)
assert_type(checked.exit_code, int)
