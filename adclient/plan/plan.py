"""A plan: the changes of a file, checked against a policy, and staged once each."""

import os
import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Self

import attrs

from adclient._display.signatures import public_in
from adclient._display.tracebacks import forget_frames
from adclient._limits import rules
from adclient._sync.client import AdClient
from adclient._sync.engine import Engine
from adclient._values import toml
from adclient._values.json_values import is_array
from adclient.errors import ConfigurationError
from adclient.ledger.entry import Entry, Ledger
from adclient.ledger.sql import SQLLedger
from adclient.options import check_type
from adclient.plan.change import PlannedChange, read_change
from adclient.plan.report import ChangeReport, Interrupted, PlanReport
from adclient.plan.staging import damage_of, interrupted_reports, report_on, staged
from adclient.policy import Policy

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

    Examples:
        >>> from pathlib import Path
        >>> from adclient import Plan, Policy
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
          1  allowed  beta.pause_campaign · account_b204 campaign_57a7 · It has spent its budget.
    """

    id: str
    title: str | None = None
    changes: tuple[PlannedChange, ...]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan and check all of it; nothing is sent.

        Args:
            path: A TOML file.

        Returns:
            The plan.

        Raises:
            ConfigurationError: The file cannot be read, or parts of it are invalid. The message has
                a line for each of these, with the file, the line and what was expected.
        """
        document = toml.read(path)
        values = document.values
        document.check_keys(values, ("id", "title", "change"))
        plan_id, title, tables = values.get("id"), values.get("title"), values.get("change")
        if not isinstance(plan_id, str) or not _ID.fullmatch(plan_id):
            expected = "letters, digits and ._/-, at most 80, such as '2026-w47/budgets'"
            raise document.error(f"expected id to be {expected}", "id")
        if title is not None and not isinstance(title, str):
            raise document.error("expected title to be a string", "title")
        if not is_array(tables) or not tables:
            raise document.error("expected a table [[change]] for each change", "change")
        changes: dict[str, PlannedChange] = {}
        problems: list[str] = []
        for index, table in enumerate(tables):
            try:
                change = read_change(document, plan_id, index, table)
                if change.key in changes:
                    line = document.line_of("change", changes[change.key].number - 1)
                    problem = f"expected each change once; this is the same as that in line {line}"
                    raise document.error(problem, "change", index)
                changes[change.key] = change
            except ConfigurationError as error:
                problems.append(str(error))
        if problems:
            raise ConfigurationError("\n".join(problems), argument="path")
        return cls(id=plan_id, title=title, changes=tuple(changes.values()))

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
        refusals = [rules.refusal_of(policy or Policy(), change.call) for change in self.changes]
        return self._report(
            report_on(change, "refused", refusal.reason)
            if refusal
            else report_on(change, "allowed")
            for change, refusal in zip(self.changes, refusals, strict=True)
        )

    def stage(self, client: AdClient) -> PlanReport:
        """Stage every change that was not staged before, one after the other.

        A `SQLiteLedger` or `PostgresLedger` is verified first; if it is damaged, nothing is staged.
        A change that the policy or the service refuses does not stop the plan. An unknown outcome,
        no response, a 401 or 407, an error of the client's `token` or `auth` function, or a ledger
        that cannot record a change does, because later changes would most likely fail as well: they
        are `not tried`, and the next run stages them. A change of unknown outcome is never
        repeated.

        Args:
            client: A sync client with a ledger; its policy applies. There is no async form, because
                changes are staged one after the other: call this in a thread.

        Returns:
            A report with a verdict on each change.

        Raises:
            ConfigurationError: The client is closed, is an async one, or has no ledger.
            Interrupted: Ctrl-C was pressed. It is a `KeyboardInterrupt` with a partial `report`.

        Examples:
            >>> from adclient import Plan, SQLiteLedger
            >>> from adclient.testing import FakeAdService
            >>> def stage(path: str) -> int:
            ...     with FakeAdService().client(ledger=SQLiteLedger("drafts.db")) as client:
            ...         report = Plan.read(path).stage(client)
            ...     print(report)
            ...     return report.exit_code
        """
        given: object = client
        if not isinstance(given, AdClient):
            problem = f"a plan is staged by an AdClient, not {type(given).__name__}"
            raise ConfigurationError(problem, argument="client")
        engine: Engine = attrgetter("_engine")(client)  # private to callers, but not to this module
        guard = engine.guard
        if guard is None or guard.ledger is None:
            problem = "a plan needs a client with a ledger, which records what was staged"
            raise ConfigurationError(f"{problem}: pass ledger= to AdClient", argument="ledger")
        engine.check_open()
        reports: list[ChangeReport] = []
        try:
            stopped = damage_of(guard.ledger)
            for change in self.changes:
                if stopped is None:
                    report, stopped = staged(engine, guard, change)
                else:
                    report = report_on(change, "not tried", stopped)
                reports.append(report)
            return self._report(reports, guard.ledger)
        except BaseException as interrupt:
            forget_frames(interrupt)
            if not isinstance(interrupt, KeyboardInterrupt):
                raise
            reports += interrupted_reports(guard.ledger, self.changes[len(reports) :])
            raise Interrupted(self._report(reports, guard.ledger)) from interrupt

    def __repr__(self) -> str:
        return f"<Plan {self.id}, {len(self.changes)} changes>"

    def _report(self, changes: Iterable[ChangeReport], ledger: Ledger | None = None) -> PlanReport:
        report = PlanReport(plan_id=self.id, title=self.title, changes=tuple(changes))
        if not isinstance(ledger, SQLLedger):  # others need not be readable
            return report
        try:
            notes = tuple(self._notes(ledger.entries()))
            return attrs.evolve(report, notes=notes, ledger_head=ledger.verify())
        except Exception as error:  # the drafts are staged anyway
            return attrs.evolve(report, ledger_problem=str(error))

    def _notes(self, entries: Iterable[Entry]) -> Iterator[str]:
        """A note for each draft that a change of this plan staged before it was edited."""
        keys = {change.key for change in self.changes}
        for entry in entries:
            is_of_plan = entry.change is not None and entry.change.startswith(f"{self.id}:")
            is_rejected = entry.over_limit is not None and entry.settled_by is not None
            is_draft = entry.is_unknown or (entry.state == "staged" and not is_rejected)
            if is_of_plan and is_draft and entry.change not in keys:
                what = f"draft {entry.draft_id}" if entry.state == "staged" else "perhaps a draft"
                where = f"{entry.operation}, {entry.account_id}, {entry.at:%Y-%m-%d}"
                yield f"{what} was staged by a change that was edited or removed since ({where})"
