"""The rehearsal of a plan on a copy of a fake: its changes are staged, and approved in order."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import attrs

from adclient.ledger.sqlite import SQLiteLedger
from adclient.plan import ChangeReport, Plan, PlanReport
from adclient.plan.staging import report_of
from adclient.policy import Policy, PolicyWarning
from adclient.testing._approval.dashboard import Dashboard

if TYPE_CHECKING:
    from adclient.testing._service import FakeAdService


def rehearsed(fake: "FakeAdService", plan: Plan, policy: Policy | None) -> PlanReport:
    """The report on a plan that is staged on a fake, which this changes."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        # They say which draft to reject, but outside of the rehearsal there is none.
        warnings.simplefilter("ignore", PolicyWarning)
        ledger = SQLiteLedger(Path(folder) / "rehearsal.db")
        with fake.client(policy=policy, ledger=ledger) as client:
            report = plan.stage(client)
    # Outside of the rehearsal there is no draft of these ids.
    numbers = {f"draft {c.draft_id}": f"change {c.number}" for c in report.changes if c.draft_id}
    collisions = _collisions(fake.dashboard, [c for c in report.changes if c.verdict == "staged"])
    changes: list[ChangeReport] = []
    for change in report.changes:
        if change.number in collisions:
            reason = f"change {collisions[change.number]} changes the same"
            change = attrs.evolve(change, verdict="stale", reason=reason)
        elif change.verdict == "staged":
            change = attrs.evolve(change, verdict="allowed")
        text = change.reason or ""
        for draft, number in numbers.items():
            text = text.replace(draft, number)
        changes.append(attrs.evolve(change, draft_id=None, reason=text or None))
    return report_of(plan, changes, policy or Policy())


def _collisions(dashboard: Dashboard, changes: list[ChangeReport]) -> dict[int, int]:
    """Approve drafts in order; the change that makes another one stale, by the number of that."""
    collisions: dict[int, int] = {}
    for place, change in enumerate(changes):
        if change.number in collisions:
            continue
        dashboard.arm(change.draft_id or "", reviewer="one")
        dashboard.confirm(change.draft_id or "", reviewer="another")
        for other in changes[place + 1 :]:
            if dashboard.draft(other.draft_id or "").status == "stale":
                collisions.setdefault(other.number, change.number)
    return collisions
