"""Plans: files of changes that a team reviews, and the reports on them."""

from adclient.plan.change import MoneySum, PlannedChange
from adclient.plan.plan import Plan
from adclient.plan.report import ChangeReport, PlanReport, Verdict

__all__ = [
    "ChangeReport",
    "MoneySum",
    "Plan",
    "PlanReport",
    "PlannedChange",
    "Verdict",
]
