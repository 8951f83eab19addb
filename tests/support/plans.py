"""Plans, and a team that stages them, for the tests of plans."""

from pathlib import Path

import attrs

from adclient.ledger import SQLiteLedger
from adclient.plan import Plan, PlanReport
from adclient.testing import FakeAdService

FIRST, SECOND, THIRD = "campaign_57a7", "campaign_cb1a", "campaign_1dce"


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


def write_plan(path: Path, *changes: str, plan_id: str = "w47", title: str = "") -> None:
    path.write_text(f'id = "{plan_id}"\n{title}\n{"".join(changes)}', "utf-8")


def plan_of(folder: Path, *changes: str, **options: str) -> Plan:
    write_plan(folder / "changes.toml", *changes, **options)
    return Plan.read(folder / "changes.toml")


def verdicts(report: PlanReport) -> list[str]:
    return [change.verdict for change in report.changes]


@attrs.define
class Team:
    """Whoever stages plans with one service and one ledger."""

    folder: Path
    fake: FakeAdService = attrs.field(factory=FakeAdService)

    @property
    def ledger(self) -> SQLiteLedger:
        return SQLiteLedger(self.folder / "drafts.db")

    def stage(self, *changes: str, plan_id="w47", title="", **options) -> PlanReport:
        plan = plan_of(self.folder, *changes, plan_id=plan_id, title=title)
        with self.fake.client(**{"ledger": self.ledger, **options}) as client:
            return plan.stage(client)

    def settle(self, number: int = 0, draft_id: str | None = None) -> None:
        self.ledger.settle(self.ledger.entries()[number], draft_id=draft_id, by="kim")
