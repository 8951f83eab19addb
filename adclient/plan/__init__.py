"""Plans: files of changes that a team reviews, and the reports on them."""

from adclient.errors import Interrupted
from adclient.plan.change import PlannedChange
from adclient.plan.plan import Plan
from adclient.plan.report import ChangeReport, PlanReport, Verdict

__all__ = ["ChangeReport", "Interrupted", "Plan", "PlanReport", "PlannedChange", "Verdict"]
