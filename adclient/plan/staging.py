"""Stages the changes of a plan, each once, and reports on each."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs

from adclient import AdClient
from adclient._show.diffs import MISSING
from adclient._values.json_values import differ
from adclient._values.redact import LINE, one_line
from adclient._values.text import pair_in_full, short
from adclient.errors import (
    AdClientError,
    ConfigurationError,
    LedgerError,
    PolicyRefused,
    TransportError,
)
from adclient.extend import parts_of, run
from adclient.ledger.entry import Entry, deadline_text, read_at
from adclient.ledger.sql import SQLLedger
from adclient.models import Diff
from adclient.plan.change import PlannedChange, sums_of
from adclient.plan.report import ChangeReport, PlanReport, Verdict
from adclient.policy import Policy
from adclient.policy.guard import AlreadyReserved, Guard, RecordedCall, guard_of

if TYPE_CHECKING:
    from adclient.plan.plan import Plan


_SUMMED = ("allowed", "staged", "already staged")  # the others should not go live


def stage_all(plans: Iterable["Plan"], client: AdClient) -> Iterator[PlanReport]:
    """Stage plans one after the other until one stops; `Plan.stage` describes what is raised."""
    given: object = client
    if not isinstance(given, AdClient):
        problem = f"a plan is staged by an AdClient, not {type(given).__name__}"
        raise ConfigurationError(problem, argument="client")
    guard = guard_of(client)
    if guard.ledger is None:
        problem = "a plan needs a client with a ledger, which records what was staged"
        raise ConfigurationError(f"{problem}: pass ledger= to AdClient", argument="ledger")
    parts_of(client).check_open()
    # Others need not be readable.
    ledger = guard.ledger if isinstance(guard.ledger, SQLLedger) else None
    damage: str | None = None
    try:
        if ledger is not None and ledger.exists():
            ledger.verify()
    except LedgerError as error:
        damage = str(error)
    stopped = damage
    for plan in plans:
        reports: list[ChangeReport] = []
        for change in plan.changes:
            if stopped is None:
                report, is_last = _staged(client, guard, change)
                if is_last:
                    stopped = f"plan {plan.id} stopped at change {change.number}"
            else:
                report = report_on(change, "not tried", stopped)
            reports.append(report)
        whole = report_of(plan, reports, guard.policy, None if damage else ledger)
        if damage is not None:
            whole = attrs.evolve(whole, ledger_problem=damage)
        stopped = stopped or whole.ledger_problem
        yield whole


def report_of(
    plan: "Plan", changes: Sequence[ChangeReport], policy: Policy, ledger: SQLLedger | None = None
) -> PlanReport:
    """The report on a plan, from those on its changes and from the ledger."""
    pairs = zip(plan.changes, changes, strict=True)
    summed = [(change, each.diff) for change, each in pairs if each.verdict in _SUMMED]
    money = sums_of(summed, policy)
    report = PlanReport(plan_id=plan.id, title=plan.title, changes=tuple(changes), money=money)
    if ledger is None:
        return report
    keys = {change.key for change in plan.changes}
    notes: list[str] = []
    try:
        for entry in ledger.entries(plan_id=plan.id):
            is_rejected = entry.over_limit is not None and not entry.blocks
            if entry.may_be_draft and not is_rejected and entry.change not in keys:
                what = f"draft {entry.draft_id}" if entry.state == "staged" else "perhaps a draft"
                how = "was staged by a change that was edited or removed since"
                where = f"{entry.operation}, {entry.account_id}, {entry.at:%Y-%m-%d}"
                notes.append(f"{what} {how} ({where})")
        return attrs.evolve(report, notes=tuple(notes), ledger_head=ledger.__head__())
    except Exception as error:  # the drafts are staged anyway
        return attrs.evolve(report, ledger_problem=str(error))


def _staged(client: AdClient, guard: Guard, change: PlannedChange) -> tuple[ChangeReport, bool]:
    """Stage one change unless the ledger has it; also return whether the plan must stop."""
    why = short(one_line(change.why or ""), LINE) or None
    call = RecordedCall.of(change.call, change.key, why)
    operation = call.operation.full_name
    try:
        run(client, call)
    except AlreadyReserved as reserved:
        entry = reserved.entry
        if not isinstance(guard.ledger, SQLLedger):  # which has read it by its own clock
            entry = read_at(datetime.now(UTC), entry)
        settled = f", settled by {entry.settled_by}" if entry.settled_by else ""
        reason = f"staged on {entry.at:%Y-%m-%d}{settled}"
        return _report_on_entry(change, entry, "already staged", reason), False
    except PolicyRefused as error:
        return report_on(change, "refused", str(error).removeprefix(f"{operation}: ")), False
    except AdClientError as error:
        verdict: Verdict = "unknown" if error.outcome_unknown else "not staged"
        reason = str(error).removeprefix(f"{operation}: ")
        report = report_on(change, verdict, reason, draft_id=error.draft_id)
        # Would the next change most likely raise it as well?
        is_last = isinstance(error, TransportError | LedgerError) or error.status in (401, 407)
        return report, is_last or error.outcome_unknown
    except Exception as error:  # of the caller's token function; its text may contain secrets
        return report_on(change, "not staged", type(error).__name__), True
    return _report_on_entry(change, call.ended[0], "staged"), False


def _report_on_entry(
    change: PlannedChange, entry: Entry, verdict: Verdict, reason: str | None = None
) -> ChangeReport:
    """The report on a change that the ledger has; `verdict` holds for a draft that may go live."""
    diff = entry.diff
    if entry.state == "under way":
        verdict = "under way"
        reason = f"another run has until {deadline_text(entry)} to send it"
    elif entry.is_unknown:
        verdict = "unknown"
        reason = entry.reason or "another run was interrupted while it was sending it"
    elif entry.blocks:
        verdict, reason = "over limit", entry.over_limit
    elif diff is not None and change.expect is not MISSING and differ(diff.before, change.expect):
        before, expected = pair_in_full(diff.before, change.expect)
        verdict, reason = "stale", f"it was {before}, and the plan expects {expected}"
    return report_on(change, verdict, reason, draft_id=entry.draft_id, diff=diff)


def report_on(
    change: PlannedChange,
    verdict: Verdict,
    reason: str | None = None,
    *,
    draft_id: str | None = None,
    diff: Diff | None = None,
) -> ChangeReport:
    """The report on a change with a verdict."""
    call = change.call
    return ChangeReport(
        number=change.number,
        operation=call.operation.full_name,
        account_id=call.account_id,
        target_id=call.target_id,
        arguments=call.arguments,
        why=change.why,
        verdict=verdict,
        reason=reason,
        draft_id=draft_id,
        diff=diff,
    )
