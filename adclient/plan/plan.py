"""A plan: the changes of a file, checked against a policy, staged once each, and reverted."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Self

import attrs

from adclient import AdClient
from adclient._show.signatures import public_in
from adclient._show.tracebacks import forget_frames
from adclient._values import toml
from adclient._values.json_values import JSON, differ
from adclient._values.redact import one_line
from adclient._values.text import NOTE, ids_in_full, pair_in_full, short
from adclient._values.toml import Document, value_text
from adclient.errors import ConfigurationError
from adclient.ledger.entry import Entry
from adclient.options import check_type
from adclient.plan.change import (
    SETTABLE,
    PlannedChange,
    overlaps,
    read_change,
    read_changes,
    values_set,
)
from adclient.plan.report import ChangeReport, PlanReport, Verdict
from adclient.plan.staging import report_of, report_on, stage_all
from adclient.policy import Policy, rules

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,79}")


@public_in("adclient.plan")
@attrs.frozen(kw_only=True, repr=False)
class Plan:
    """The changes of a file, which a team reviews before they are staged.

    The TOML file has an `id`, perhaps a `title`, and a table `[[change]]` for each change: its
    `call`, one of the nine writes, with the arguments of that call; perhaps `why`, a reason; and
    perhaps `expect`, the value that should be found before the change.

    A change is staged once for the id of its plan, however often and by however many processes the
    plan is staged. A change whose call or arguments were edited is another one; the report names
    the earlier draft. To stage the same change again, such as after its draft was rejected, put it
    into a plan with another id.

    Attributes:
        id: The id of the plan: up to 80 letters, digits and `._/-`.
        title: What the plan is for; None if the file has no title.
        changes: The changes, in the order of the file.
        notes: The drafts that `revert` left out, which `write` writes as comments.

    Examples:
        >>> from pathlib import Path
        >>> from adclient.plan import Plan
        >>> from adclient.policy import Policy
        >>> size = Path("changes.toml").write_text('''
        ... id = "2026-w47"
        ... [[change]]
        ... call = "beta.pause_campaign"
        ... account_id = "account_b204"
        ... campaign_id = "campaign_57a7"
        ... why = "It has spent its budget."
        ... expect = "ENABLED"
        ... ''')
        >>> plan = Plan.read("changes.toml")
        >>> print(plan.check(Policy(accounts=["account_b204"])))
        Plan 2026-w47: 1 allowed
          1  allowed  beta.pause_campaign · account_b204, campaign_57a7 · It has spent its budget.
    """

    id: str
    title: str | None = None
    changes: tuple[PlannedChange, ...]
    notes: tuple[str, ...] = attrs.field(default=(), eq=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan and check all of it; nothing is sent.

        Args:
            path: A TOML file.

        Returns:
            The plan.

        Raises:
            ConfigurationError: The file cannot be read, or parts of it are invalid. The message has
                a line for each of these, with the file, the number of the change
                and what was expected.
        """
        return cls._of(toml.read(path))

    @classmethod
    def of(
        cls, plan_id: str, changes: Iterable[Mapping[str, object]], *, title: str | None = None
    ) -> Self:
        """Make a plan of changes, such as from a listing, and check all of it; nothing is sent.

        Args:
            plan_id: The id of the plan.
            changes: For each change what a table `[[change]]` of a file has: its `call`, the
                arguments of that call, and perhaps `why` and `expect`.
            title: What the plan is for; None for no title.

        Returns:
            The plan.

        Raises:
            ConfigurationError: Parts of it are invalid. The message has a line for each of these.

        Examples:
            >>> from adclient.plan import Plan
            >>> from adclient.testing import FakeAdService
            >>> page = FakeAdService().client().beta.list_campaigns(account_id="account_b204")
            >>> plan = Plan.of(
            ...     "2026-w47",
            ...     (
            ...         {
            ...             "call": "beta.pause_campaign",
            ...             "account_id": "account_b204",
            ...             "campaign_id": campaign.id,
            ...             "why": f"{campaign.name}: it has spent its budget",
            ...             "expect": campaign.status,
            ...         }
            ...         for campaign in page
            ...         if campaign.status == "ENABLED"
            ...     ),
            ... )
            >>> plan.write("changes.toml")
            >>> Plan.read("changes.toml") == plan
            True
        """
        given: object = changes
        document = toml.Document("the plan", {"id": plan_id, "title": title})
        if not isinstance(given, Iterable):
            raise document.error(f"expected changes to be a list, not {type(given).__name__}")
        document.values["change"] = [*changes]
        return cls._of(document)

    @classmethod
    def revert(cls, plan_id: str, entries: Iterable[Entry]) -> Self:
        """Make a plan that reverts the drafts that another plan has staged, the last one first.

        It sets what their diffs have as `before`, and expects their `after`: a draft that was never
        approved, or whose value was changed since, makes its change *stale*. Nothing is guessed:
        what is created or paused, and a draft whose outcome is unknown or whose diff does not show
        exactly what its call has set, is one of the `notes` instead.

        Args:
            plan_id: The id of the plan whose drafts are reverted.
            entries: All entries of its ledger.

        Returns:
            A plan to review, whose id ends with `-revert`; or with `-revert-2` and so on, if the
                ledger has drafts of such plans. It may have no changes, only notes.

        Raises:
            ConfigurationError: The plan has staged nothing, or its id is too long.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> from adclient.plan import Plan
            >>> from adclient.testing import FakeAdService
            >>> fake, ledger = FakeAdService(), SQLiteLedger("drafts.db")
            >>> budget = {"call": "alpha.update_campaign_budget", "account_id": "account_a91f"}
            >>> budget |= {"campaign_id": "campaign_4c10", "daily_budget": 120}
            >>> report = Plan.of("2026-w47", [budget]).stage(fake.client(ledger=ledger))
            >>> plan = Plan.revert("2026-w47", ledger.entries())
            >>> plan.id, plan.changes[0].call.arguments["daily_budget"], plan.changes[0].expect
            ('2026-w47-revert', 100, 120)
        """
        entries = [*entries]
        changes, notes = reverted(plan_id, entries)
        if not changes and not notes:
            problem = f"the ledger has no draft of a plan {short(plan_id)}"
            raise ConfigurationError(problem, argument="plan_id")
        new_id = unused_id(f"{plan_id}-revert", entries)
        # Without changes, it is no plan that could be read.
        plan = cls.of(new_id, changes) if changes else cls(id=new_id, changes=())
        return attrs.evolve(plan, notes=tuple(notes))

    @classmethod
    def _of(cls, document: toml.Document) -> Self:
        values = document.values
        document.check_keys(values, ("id", "title", "change"))
        plan_id, title, tables = values.get("id"), values.get("title"), values.get("change")
        if not isinstance(plan_id, str) or not _ID.fullmatch(plan_id):
            expected = "letters, digits and ._/-, at most 80, such as '2026-w47/budgets'"
            raise document.error(f"expected id to be {expected}")
        if title is not None and not isinstance(title, str):
            raise document.error("expected title to be a string")
        return cls(id=plan_id, title=title, changes=read_changes(document, plan_id, tables))

    def to_toml(self) -> str:
        """Format the plan as a file to review, which reads back as the same plan.

        Returns:
            TOML, in which the notes are comments.

        Raises:
            ConfigurationError: A value contains null, which TOML does not have.

        Examples:
            >>> from adclient.plan import Plan
            >>> themes = "delta.remove_auto_search_themes"
            >>> plan = Plan.of("2026-w47", [{"call": themes, "account_id": "account_d118"}])
            >>> print(plan.to_toml(), end="")
            id = "2026-w47"
            <BLANKLINE>
            [[change]]
            call = "delta.remove_auto_search_themes"
            account_id = "account_d118"
        """
        lines = [f"# {one_line(note, NOTE)}" for note in self.notes]
        lines += [""] if lines else []
        head: dict[str, object] = {"id": self.id}
        if self.title is not None:
            head["title"] = self.title
        tables = [head, *(change.to_dict() for change in self.changes)]
        for number, table in enumerate(tables):
            lines += ["", "[[change]]"] if number else []
            try:
                lines += [f"{name} = {toml.value_text(value)}" for name, value in table.items()]
            except ValueError as error:
                raise ConfigurationError(f"change {number}: {error}", argument="changes") from None
        return "\n".join([*lines, ""])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a file to review; an existing one is replaced.

        Args:
            path: The TOML file.

        Raises:
            ConfigurationError: A value contains null, which TOML does not have.
            OSError: The file cannot be written.

        Examples:
            >>> from adclient.plan import Plan
            >>> themes = "delta.remove_auto_search_themes"
            >>> plan = Plan.of("2026-w47", [{"call": themes, "account_id": "account_d118"}])
            >>> plan.write("changes.toml")
            >>> Plan.read("changes.toml") == plan
            True
        """
        Path(path).write_text(self.to_toml(), "utf-8", newline="\n")

    def check(self, policy: Policy | None = None) -> PlanReport:
        """Check the changes against a policy; nothing is sent.

        Rules that need a ledger, such as `drafts_per_day`, are checked when the plan is staged.

        Args:
            policy: The policy; None allows everything.

        Returns:
            A report with `allowed` or `refused` for each change.

        Raises:
            ConfigurationError: `policy` has the wrong type.
        """
        check_type("policy", policy, Policy)
        policy = policy or Policy()
        reports: list[ChangeReport] = []
        for change in self.changes:
            refusal = rules.refusal_of(policy, change.call)
            verdict: Verdict = "refused" if refusal else "allowed"
            reports.append(report_on(change, verdict, None if refusal is None else refusal.reason))
        return report_of(self, reports, policy)

    def stage(self, client: AdClient) -> PlanReport:
        """Stage every change that was not staged before, one after the other.

        A `SQLiteLedger` or `PostgresLedger` is verified first; if it is damaged, nothing is staged.
        A change that the policy or the service refuses does not stop the plan. An unknown outcome,
        no response, a 401 or 407, an error of the client's `token` or `auth` function, or a ledger
        that cannot record a change does, because later changes would most likely fail as well: they
        are `not tried`, and the next run stages them. A change of unknown outcome is never
        repeated. One that another run is sending is `under way`, and does not stop the plan.
        After Ctrl-C the next run continues.

        Args:
            client: A sync client with a ledger; its policy applies. There is no async form, because
                changes are staged one after the other: call this in a thread.

        Returns:
            A report with a verdict on each change.

        Raises:
            ConfigurationError: The client is closed, is an async one, or has no ledger.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> from adclient.plan import Plan
            >>> from adclient.testing import FakeAdService
            >>> def stage(path: str) -> int:
            ...     with FakeAdService().client(ledger=SQLiteLedger("drafts.db")) as client:
            ...         report = Plan.read(path).stage(client)
            ...     print(report)
            ...     return report.exit_code
        """
        try:
            return next(stage_all([self], client))
        except BaseException as error:
            forget_frames(error)
            raise

    def __repr__(self) -> str:
        return f"<Plan {self.id}, {len(self.changes)} changes>"


Table = dict[str, object]


def reverted(plan_id: str, entries: Iterable[Entry]) -> tuple[list[Table], list[str]]:
    """A change for each draft of a plan, the last one first, and a note on each that has none."""
    changes: list[Table] = []
    notes: list[str] = []
    changes_of = defaultdict[str, list[tuple[str, PlannedChange]]](list)  # by what they target
    for entry in reversed([*entries]):
        if not (entry.change or "").startswith(f"{plan_id}:") or not entry.may_be_draft:
            continue
        target = {name: value for name, value in entry.arguments.items() if name.endswith("_id")}
        try:
            change = _change(entry, target, _values_before(entry))
            later = changes_of[str(target)]
            if any(overlaps([*later, ("", change)])):
                raise ValueError("a later draft of the plan changes the same")
            later.append(("", change))
            changes.append(change.to_dict())
        except (ConfigurationError, ValueError) as error:
            problem = str(error).removeprefix("the plan, change 1: ")
            draft = f"draft {entry.draft_id}" if entry.draft_id else "perhaps a draft"
            what = f"{entry.operation}, {ids_in_full(*target.values())}"
            notes.append(one_line(f"{draft} is not reverted: {problem} ({what})", NOTE))
    return changes, notes


def unused_id(plan_id: str, entries: Iterable[Entry]) -> str:
    """The id, with a number if drafts of a plan with this id exist."""
    used = {(entry.change or "").partition(":")[0] for entry in entries if entry.may_be_draft}
    ids = chain([plan_id], (f"{plan_id}-{number}" for number in count(2)))
    return next(each for each in ids if each not in used)


def _values_before(entry: Entry) -> Mapping[str, JSON]:
    """The value before of each name that a call has set, if the diff shows exactly those.

    Raises:
        ValueError: They are not known, or the draft changes something else.
    """
    diff, given = entry.diff, values_set(entry.arguments)
    if entry.is_unknown:
        raise ValueError("its outcome is unknown")
    if entry.over_limit is not None:
        raise ValueError("it was over a limit, so it should have been rejected")
    if diff is None:
        raise ValueError("the ledger does not have its diff")
    if ".create_" in entry.operation or diff.before is None or diff.after is None:
        raise ValueError("what is created or removed cannot be reverted")
    if "keywords" in entry.arguments:
        raise ValueError("changes of keywords cannot be reverted")
    before, after = diff.before, diff.after
    if diff.field in given or not isinstance(before, dict) or not isinstance(after, dict):
        before, after = {diff.field: before}, {diff.field: after}  # else of several fields
    if not before.keys() == after.keys() == given.keys():
        shown, wanted = (short(", ".join(names)) for names in (before, given))
        raise ValueError(f"its diff shows {shown}, and its call has set {wanted or 'no value'}")
    for name, value in given.items():
        if differ(after[name], value):
            shown, wanted = pair_in_full(after[name], value)
            raise ValueError(f"its diff sets {short(name)} to {shown}, and its call to {wanted}")
    return before


def _change(entry: Entry, target: Mapping[str, JSON], before: Mapping[str, JSON]) -> PlannedChange:
    """The change that sets the values before, each where the call has set it.

    Raises:
        ConfigurationError: A plan cannot have it.
        ValueError: A file cannot have it.
    """
    own = {name: before[name] for name in SETTABLE if name in before and name in entry.arguments}
    fields = {name: before[name] for name in before if name not in own}
    table: Table = {"call": entry.operation, **target, **own}
    if fields:
        table["fields"] = fields
    table["why"] = f"reverts draft {entry.draft_id}"
    table["expect"] = None if entry.diff is None else entry.diff.after
    value_text(table)
    return read_change(Document("the plan", {}), "", 0, table)
