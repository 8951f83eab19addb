"""`adclient plan`: check plans, stage their changes, or revert what one has staged."""

import argparse
import signal
from collections.abc import Sequence
from pathlib import Path

from adclient._command import EXIT_CODES, Parser, connection
from adclient._command.ledger import LEDGER, NEW_LEDGER, prepare
from adclient._command.output import json_line
from adclient._command.terminal import YELLOW, show, tell
from adclient._show.reports import markdown_of
from adclient.errors import ConfigurationError
from adclient.ledger import open_ledger
from adclient.options import ENV_ACTOR, from_environment
from adclient.plan import Plan, PlannedChange, PlanReport
from adclient.plan.change import overlaps
from adclient.plan.report import table_of, worst_of
from adclient.plan.staging import stage_all
from adclient.policy import Policy

# CI ends a job with any of them; SIGBREAK is of Windows.
_SIGNALS = [number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGBREAK")]
_ACTORS = (ENV_ACTOR, "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
CODES = EXIT_CODES | {
    1: f"{EXIT_CODES[1]}, so a change is not staged or not tried",
    3: "a change is refused, or cannot be reverted",
    4: "a draft is stale, or over a limit",
    5: "the outcome of a change is unknown, or the ledger is damaged",
    7: "another run is sending a change: stage the plan again later",
    130: "interrupted by Ctrl-C or SIGTERM; the next run continues",
}
_HELP = """\
adclient plan check changes.toml --policy policy.toml
adclient plan stage changes.toml --policy policy.toml --ledger drafts.db

Of several exit codes that apply, the worst is returned: 5, 4, 3, 1, then 7.
"""
_PLANS = """\
FILE...  a plan, a TOML file
--policy FILE  the policy, a TOML file
| --markdown  one comment for a pull request
| --json  for programs, one line for each plan
"""
_ACTIONS = f"""\
check: print what a policy would refuse; nothing is sent
adclient plan check changes.toml --policy policy.toml
{_PLANS}{connection.SERVICE}
stage: stage each change once, however often this runs, and print a report
adclient plan stage changes.toml --ledger drafts.db --new-ledger
{_PLANS}{LEDGER}{NEW_LEDGER}{connection.CONNECTION}
revert: write a plan that reverts the drafts of another one; nothing is sent
adclient plan revert 2026-w47 --ledger drafts.db --output revert.toml
PLAN  the id of the plan whose drafts are reverted
{LEDGER}\
--output -o FILE  a new file for the plan; else it is printed
{connection.SERVICE}"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP, CODES)
    parser.add_actions(_ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Do what is asked; the exit code."""
    if options.action == "revert":
        connection.add_from_service(options, needs_ledger=True)
        if options.output is not None and Path(options.output).exists():
            raise ConfigurationError(f"{options.output} exists already")
        reverting = Plan.revert(options.plan_id, open_ledger(options.ledger).entries())
        for note in reverting.notes:
            tell(note, YELLOW)
        if options.output is None:
            print(reverting.to_toml(), end="")
        elif reverting.changes:
            reverting.write(options.output)
        return 3 if reverting.notes else 0
    plans = _read(options.file)
    connection.add_from_service(options, needs_ledger=options.action == "stage")
    policy = None if options.policy is None else Policy.read(options.policy)
    reports: list[PlanReport] = []
    before = {number: signal.signal(number, _interrupt) for number in _SIGNALS}
    try:
        if options.action == "check":
            reports += [plan.check(policy) for plan in plans]
        else:
            actor = next(filter(None, map(from_environment, _ACTORS)), None)
            ledger = open_ledger(options.ledger)
            given = {"policy": policy, "ledger": ledger, "actor": actor}
            with connection.open_client(options, **given) as client:
                prepare(ledger, options)  # not before: an address may be wrong
                for report in stage_all(plans, client):
                    reports.append(report)  # each at once: an interrupt must lose none
    except KeyboardInterrupt:
        for plan in plans[len(reports) :]:
            tell(f"plan {plan.id} was not finished; stage it again")
        raise
    finally:
        if options.markdown and reports:
            print(markdown_of(table_of(reports)), end="")
        else:
            for report in reports:
                print(json_line(report.to_dict())) if options.json else show(str(report))
        for number, handler in before.items():
            signal.signal(number, handler)
    return worst_of(report.exit_code for report in reports)


def _read(paths: Sequence[str]) -> list[Plan]:
    """Read all plans; an error has a line for each problem of each of them."""
    plans: dict[str, Plan] = {}
    changes: list[tuple[str, PlannedChange]] = []
    problems: list[str] = []
    for path in paths:
        try:
            plan = Plan.read(path)
            if plan.id in plans:
                raise ConfigurationError(f"{path}: another file has the id {plan.id} as well")
            plans[plan.id] = plan
            changes += ((f"change {each.number} of {path}", each) for each in plan.changes)
        except ConfigurationError as error:
            problems.append(str(error))
    problems += overlaps(changes)
    if problems:
        raise ConfigurationError("\n".join(problems))
    return [*plans.values()]


def _interrupt(*_: object) -> None:
    """Interrupt as Ctrl-C does, once: CI repeats the signal, which must not end the report."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
