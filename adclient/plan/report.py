"""The report on a plan: for people, for a pull request, and as JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, Literal

import attrs

from adclient._show import diffs
from adclient._show.diffs import ROWS, more
from adclient._show.records import Table
from adclient._show.reports import JSONFields, ReportRecord, code
from adclient._show.signatures import public_in
from adclient._values.json_values import JSON
from adclient._values.redact import LINE, one_line
from adclient._values.text import WHOLE, ids_in_full, short
from adclient.models import Diff
from adclient.plan.change import MoneySum

Verdict = Literal[
    "allowed",
    "staged",
    "already staged",
    "not staged",
    "not tried",
    "refused",
    "stale",
    "over limit",
    "unknown",
    "under way",
]

VERDICTS: Final[Mapping[Verdict, tuple[int, str]]] = {
    "allowed": (0, "stage the plan"),
    "staged": (0, "approve in dashboard"),
    "already staged": (0, "see the dashboard"),
    "not staged": (1, "see the reason"),
    "not tried": (1, "stage it again"),
    "refused": (3, "see the reason"),  # 2 is a command line or a file that is wrong
    "stale": (4, "reject in dashboard"),
    "over limit": (4, "reject in dashboard"),
    "unknown": (5, "settle in ledger"),
    "under way": (7, "stage again later"),
}
"""The exit code of a command that ends with a verdict, and what is missing, in three words."""

_WORST_FIRST = (5, 4, 3, 1, 7, 0)

_NEXT = "nothing is changed until a human approves a draft, in two steps"


@public_in("adclient.plan")
@attrs.frozen(kw_only=True)
class ChangeReport(JSONFields):
    """The report on one change of a plan.

    Attributes:
        number: The place of the change in its file, from 1.
        operation: The method that it calls, such as `beta.pause_campaign`.
        account_id: The account of the change.
        target_id: The campaign, creative or ad that it names; None if it names none.
        arguments: The arguments of the call, as JSON values.
        why: The reason for the change; None if the plan has none.
        verdict: `allowed` or `refused` by the policy, if the plan was only checked. Otherwise
            `staged` by this run, or `already staged` by an earlier one; `stale`, if the draft found
            another value than the plan expects; `over limit`, if the draft exceeds a limit and
            should be rejected; `not staged`, if the call failed, so the next run repeats it; `not
            tried`, if the plan stopped before it; `under way`, if another run has begun to send it
            and its time is not over; or `unknown`, if it may have staged a draft, so no run repeats
            it.
        reason: What the verdict is based on.
        draft_id: The id of the draft; None if there is none.
        diff: The change that the draft would make; None if there is no draft.

    Examples:
        >>> from adclient.plan import ChangeReport
        >>> change = ChangeReport(
        ...     number=1, operation="delta.remove_auto_search_themes", account_id="account_d118",
        ...     verdict="unknown",
        ... )
        >>> change.missing
        'settle in ledger'
    """

    number: int
    operation: str
    account_id: str
    target_id: str | None = None
    arguments: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)
    why: str | None = None
    verdict: Verdict
    reason: str | None = None
    draft_id: str | None = None
    diff: Diff | None = None

    _json: ClassVar = (
        *("number", "operation", "account_id", "target_id", "arguments", "why"),
        *("verdict", "missing", "reason", "draft_id", "diff"),
    )

    @property
    def missing(self) -> str:
        """The next step, in three words."""
        return VERDICTS[self.verdict][1]


@public_in("adclient.plan")
@attrs.frozen(kw_only=True, repr=False)
class PlanReport(ReportRecord):
    """The report on a plan that was checked or staged; `print` shows it.

    Attributes:
        plan_id: The id of the plan.
        title: The title of the plan; None if it has none.
        changes: A report on each change, in the order of the file.
        money: The sums of the changes that are allowed or staged, for each account and each key of
            the policy's `money`.
        notes: What else a reviewer should know, such as drafts of changes that were edited since.
        ledger_head: The hash of the ledger's last row after the plan was staged. Keep it, such as
            in a pull request, to detect later that rows were removed.
        ledger_problem: Why there is no `ledger_head`; None if there is one, or if the plan was only
            checked.

    Examples:
        >>> from adclient.plan import ChangeReport, PlanReport
        >>> change = ChangeReport(
        ...     number=1, operation="delta.remove_auto_search_themes", account_id="account_d118",
        ...     verdict="staged", draft_id="draft_51c0",
        ... )
        >>> report = PlanReport(plan_id="2026-w47", changes=(change,))
        >>> report
        <PlanReport 2026-w47, 1 staged>
        >>> report.exit_code, report.changes[0].missing
        (0, 'approve in dashboard')
        >>> report.to_dict()["changes"][0]["draft_id"]
        'draft_51c0'
        >>> print(report.markdown().splitlines()[0])
        ### `Plan 2026-w47: 1 staged`
    """

    plan_id: str
    title: str | None = None
    changes: tuple[ChangeReport, ...]
    money: tuple[MoneySum, ...] = ()
    notes: tuple[str, ...] = ()
    ledger_head: str | None = None
    ledger_problem: str | None = None

    _json: ClassVar = (
        *("format_version", "plan_id", "title", "exit_code", "changes", "money", "notes"),
        *("ledger_head", "ledger_problem"),
    )

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this report: the worst one that applies.

        From the worst:

        - 5: the outcome of a change is unknown, or the ledger is damaged
        - 4: a draft is stale or over a limit
        - 3: the policy refused a change
        - 1: a call failed or was not tried, and the next run repeats it
        - 7: another run is sending a change
        - 0: every change is allowed, staged or already staged

        2 is not used here: a file or a command line is invalid.
        """
        if self.ledger_problem is not None:
            return VERDICTS["unknown"][0]
        return worst_of(VERDICTS[change.verdict][0] for change in self.changes)

    def _show(self) -> Table:
        return table_of([self])

    def __repr__(self) -> str:
        return f"<PlanReport {short(self.plan_id)}, {_counts_of(self.changes)}>"


def worst_of(codes: Iterable[int]) -> int:
    """The exit code of several reports or changes."""
    return min(codes, key=_WORST_FIRST.index, default=0)


def table_of(reports: Sequence[PlanReport]) -> Table:
    """What one comment on some plans shows, the most severe verdicts first."""
    are_many = len(reports) > 1
    pairs = [(change, report) for report in reports for change in report.changes]
    pairs.sort(key=lambda pair: _severity(pair[0]))
    all_rows = [
        {
            "#": str(change.number),
            "verdict": change.verdict,
            "missing": change.missing,
            "plan": report.plan_id if are_many else "",
            "call": change.operation,
            "account and target": ids_in_full(change.account_id, change.target_id),
            "before -> after": diffs.one_line(change.diff, change.arguments),
            "draft": ids_in_full(change.draft_id),
            "reason": _line(change.reason or ""),
            "why": _line(change.why or ""),
        }
        for change, report in pairs
    ]
    columns = [name for name in next(iter(all_rows), ()) if any(row[name] for row in all_rows)]
    rows = [{name: row[name] for name in columns} for row in all_rows]
    notes: list[str] = []
    kinds: dict[str, list[tuple[PlanReport, Sequence[object]]]] = {
        "problems": [(each, [each.ledger_problem or ""]) for each in reports],
        "notes": [(each, each.notes) for each in reports],
        "sums": [(each, each.money) for each in reports],
    }
    for kind, found in kinds.items():  # no kind hides another one
        texts = [(each.plan_id, str(text)) for each, own in found for text in own if text]
        notes += [_line(f"{name}: {text}" if are_many else text) for name, text in texts[:ROWS]]
        notes += more(len(texts), kind)
    heads = [each.ledger_head for each in reports if each.ledger_head]
    head = [f"head of the ledger: {_line(head)}" for head in heads[-1:]]
    name = f"{len(reports)} plans" if are_many else f"Plan {reports[0].plan_id}"
    return Table(
        f"{name}: {_counts_of(change for change, _ in pairs)}",
        rows,
        len(rows),
        [_line(each.title) for each in reports if each.title][: not are_many],
        notes,
        limit=WHOLE,
        lead=2,
        wide=("missing",),
        code="".join(head),  # not in HTML: it differs each time a notebook runs
        details={"Next": [_NEXT, *(f"keep {code(line)}" for line in head)]},
    )


def _line(text: str) -> str:
    """A text as one line, in which nothing is invisible."""
    return short(one_line(text), LINE)


def _counts_of(changes: Iterable[ChangeReport]) -> str:
    counts = Counter(change.verdict for change in sorted(changes, key=_severity))
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no changes"


def _severity(change: ChangeReport) -> int:
    """A key that sorts the most severe verdicts first."""
    return _WORST_FIRST.index(VERDICTS[change.verdict][0])
