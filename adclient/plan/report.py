"""The report on a plan: for people, for a pull request, and as JSON."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, Literal

import attrs

from adclient._show import diffs
from adclient._show.diffs import ROWS, more
from adclient._show.records import Record, Table
from adclient._show.signatures import public_in
from adclient._values.json_values import JSON, ToJSON, copied_fields
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

FORMAT_VERSION: Final = "1.0"

_LONGEST = 65_536  # characters of a comment on GitHub
_LONGEST_CHANGE = 5_000  # characters of one change in it
_HEAD = """\
| # | verdict | missing | call | account and target | before -> after | draft | reason | why |
|--:|---|---|---|---|---|---|---|---|"""
_CLOSING = "- nothing is changed until a human approves a draft, in two steps"


@public_in("adclient.plan")
@attrs.frozen(kw_only=True)
class ChangeReport:
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

    @property
    def missing(self) -> str:
        """The next step, in three words."""
        return VERDICTS[self.verdict][1]


@public_in("adclient.plan")
@attrs.frozen(kw_only=True, repr=False)
class PlanReport(ToJSON, Record):
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
        ### Plan `2026-w47`
    """

    plan_id: str
    title: str | None = None
    changes: tuple[ChangeReport, ...]
    money: tuple[MoneySum, ...] = ()
    notes: tuple[str, ...] = ()
    ledger_head: str | None = None
    ledger_problem: str | None = None

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

    def to_dict(self) -> dict[str, JSON]:
        """Convert the report to JSON values.

        Returns:
            A dictionary of the attributes that are not None, with a `format_version`. Its number
                before the dot changes when fields are renamed or removed.
        """
        report: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            **attrs.asdict(self, recurse=False),
            "exit_code": self.exit_code,
            "changes": list(map(_fields_of, self.changes)),
            "money": [attrs.asdict(each) for each in self.money],
            "notes": list(self.notes),
        }
        return {name: value for name, value in report.items() if value is not None}

    def markdown(self) -> str:
        """Format the report for a comment on a pull request, with the most severe verdicts first.

        Returns:
            Markdown. All text of the plan and the service is formatted as code, so that it cannot
                imitate the report or mention somebody.
        """
        return markdown_of([self])

    @property
    def _by_severity(self) -> list[ChangeReport]:
        return sorted(self.changes, key=_severity)

    def __str__(self) -> str:
        numbers = max((len(str(change.number)) for change in self.changes), default=0)
        verdicts = max((len(change.verdict) for change in self.changes), default=0)
        lines = [f"Plan {self.plan_id}: {_counts_of(self.changes)}"]
        for change in self._by_severity:
            what = " · ".join(filter(None, _cells(change)))
            lines.append(f"  {change.number:>{numbers}}  {change.verdict:<{verdicts}}  {what}")
        return "\n".join([*lines, *_remarks([self])])

    def __repr__(self) -> str:
        return f"<PlanReport {short(self.plan_id)}, {_counts_of(self.changes)}>"

    def _show(self) -> Table:
        names = ("#", "verdict", "call", "account", "change", "draft", "reason", "why")
        all_rows: list[dict[str, object]] = [
            dict(zip(names, (change.number, change.verdict, *_cells(change)), strict=True))
            for change in self._by_severity
        ]
        # Few columns fit on a page: first what differs, and none that is empty.
        order = ("#", "verdict", "change", "account", "reason", "draft", "why", "call")
        columns = [name for name in order if any(row[name] for row in all_rows)]
        rows = [{name: row[name] for name in columns} for row in all_rows]
        about = [self.plan_id, _counts_of(self.changes)]
        notes = _lines_below([self])  # not the head of the ledger: it differs each time
        return Table("PlanReport", rows, len(rows), about, notes, limit=WHOLE)


def worst_of(codes: Iterable[int]) -> int:
    """The exit code of several reports or changes."""
    return min(codes, key=_WORST_FIRST.index, default=0)


def markdown_of(reports: Sequence[PlanReport]) -> str:
    """One comment on some plans; what would make it too long for GitHub is left out."""
    are_many = len(reports) > 1
    changes = [(each, report) for report in reports for each in report.changes]
    changes.sort(key=lambda pair: _severity(pair[0]))
    heading = f"### {len(reports)} plans"
    if not are_many:
        names = reports[0].plan_id, _line(reports[0].title or "")
        heading = f"### Plan {': '.join(_code(name) for name in names if name)}"
    rows: list[str] = []
    for change, report in changes:
        number = f"{_code(report.plan_id)} {change.number}" if are_many else str(change.number)
        call, ids, what, *others = map(_code, _cells(change))
        what = what if len(what) <= _LONGEST_CHANGE else "too long: see the report as JSON"
        cells = number, f"**{change.verdict}**", change.missing, call, ids, what, *others
        rows.append(f"| {' | '.join(cells)} |\n")
    above = f"{heading}\n\n{_counts_of(change for change, _ in changes)}.\n\n{_HEAD}\n"
    below = "".join(f"- {_code(line)}\n" for line in _remarks(reports))
    left = "\n{} of {} rows are left out; the report as JSON has all.\n"
    room = _LONGEST - len(f"{above}{left}{below}{_CLOSING}") - 20
    shown = [row for row, end in zip(rows, accumulate(map(len, rows)), strict=True) if end <= room]
    left = left.format(len(rows) - len(shown), len(rows)) if len(shown) < len(rows) else ""
    return f"{above}{''.join(shown)}{left}\n{below}{_CLOSING}\n"


def _lines_below(reports: Sequence[PlanReport]) -> list[str]:
    """The lines below the changes, without the head of the ledger; no kind hides another one."""
    kinds: dict[str, list[tuple[str, object]]] = {
        "problems": [
            (each.plan_id, each.ledger_problem) for each in reports if each.ledger_problem
        ],
        "notes": [(each.plan_id, note) for each in reports for note in each.notes],
        "sums": [(each.plan_id, total) for each in reports for total in each.money],
    }
    lines: list[str] = []
    for kind, texts in kinds.items():
        for plan_id, text in texts[:ROWS]:
            lines.append(_line(f"{plan_id}: {text}" if len(reports) > 1 else str(text)))
        lines += more(len(texts), kind)
    return lines


def _remarks(reports: Sequence[PlanReport]) -> list[str]:
    """The lines below the changes, and the newest head of the ledger."""
    heads = [each.ledger_head for each in reports if each.ledger_head]
    return _lines_below(reports) + [f"head of the ledger: {_line(head)}" for head in heads[-1:]]


def _line(text: str) -> str:
    """A text as one line, in which nothing is invisible."""
    return short(one_line(text), LINE)


def _counts_of(changes: Iterable[ChangeReport]) -> str:
    counts = Counter(change.verdict for change in sorted(changes, key=_severity))
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no changes"


def _severity(change: ChangeReport) -> int:
    """A key that sorts the most severe verdicts first."""
    return _WORST_FIRST.index(VERDICTS[change.verdict][0])


def _fields_of(change: ChangeReport) -> dict[str, JSON]:
    fields: dict[str, Any] = {
        **attrs.asdict(change, recurse=False),
        "missing": change.missing,
        "arguments": copied_fields(change.arguments),
        "diff": None if change.diff is None else change.diff.to_dict(),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _cells(change: ChangeReport) -> tuple[str, ...]:
    """Call, account, change, draft, reason and why, each as one printable line."""
    ids = ids_in_full(change.account_id, change.target_id)
    what = diffs.one_line(change.diff, change.arguments)
    draft, texts = ids_in_full(change.draft_id), (change.reason, change.why)
    return (change.operation, ids, what, draft, *(_line(text or "") for text in texts))


def _code(text: str) -> str:
    """A line as code spans, where Markdown has no other syntax, mentions or links.

    Characters that could end a span or a table cell are entities between two spans, and so are
    blanks that could be lost.
    """
    parts = re.findall(r"[^|`\\ ]+(?: [^|`\\ ]+)*|.", text)
    entities = {char: f"&#{ord(char)};" for char in "|`\\"} | {" ": "&nbsp;"}
    return "".join(entities.get(part, f"`{part}`") for part in parts)
