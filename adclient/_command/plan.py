"""`adclient plan`: check plans, stage their changes, or turn back what one has staged."""

import argparse
import signal
from contextlib import closing

from adclient._command import EXIT_CODES, add_actions, connection, describe, tell
from adclient._command.ledger import WHERE, add_ledger, opened
from adclient._command.output import json_line
from adclient.ledger import open_ledger
from adclient.options import ENV_ACTOR, from_environment
from adclient.plan import Interrupted, Plan, PlanReport
from adclient.policy import Policy

_ACTORS = (ENV_ACTOR, "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
CODES = EXIT_CODES | {
    1: f"{EXIT_CODES[1]}, so a change is not staged or not tried",
    3: "a change is refused, or cannot be reverted",
    4: "a draft is stale, or over a limit",
    5: "the outcome of a change is unknown, or the ledger is damaged",
    130: "interrupted by Ctrl-C or SIGTERM, after a report",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    describe(parser, "Of several that apply, the highest is returned.\n\n", CODES)
    actions = add_actions(
        parser,
        check="print what a policy would refuse; nothing is sent",
        stage="stage each change once, however often this runs, and print a report",
        revert="write a plan that turns back the drafts of another one; nothing is sent",
    )
    add = actions.pop("revert").add_argument
    add("plan", metavar="PLAN", help="the id of the plan whose drafts are turned back")
    add("--ledger", metavar="WHERE", help=WHERE)
    add(
        "--output", "-o", metavar="FILE", help="the new plan; else it is written to standard output"
    )
    connection.add_service(add)
    for name, action in actions.items():
        add = action.add_argument
        add("plan", metavar="FILE", help="the plan, a TOML file")
        add("--policy", metavar="FILE", help="the policy, a TOML file")
        shape = action.add_mutually_exclusive_group().add_argument
        shape("--markdown", action="store_true", help="for a pull request")
        shape("--json", action="store_true", help="for programs")
        if name == "check":
            connection.add_service(add)
        else:
            add_ledger(action)
            connection.add_arguments(action)


def run(options: argparse.Namespace) -> int:
    """Do what is asked; the exit code."""
    if options.action == "revert":
        return _revert(options)
    plan = Plan.read(options.plan)
    if options.action == "check":
        connection.add_from_service(options)
    else:
        connection.require_ledger(options)
    policy = None if options.policy is None else Policy.read(options.policy)
    report = plan.check(policy) if options.action == "check" else _staged(plan, policy, options)
    _print(report, options)
    return report.exit_code


def _revert(options: argparse.Namespace) -> int:
    connection.require_ledger(options)
    with closing(open_ledger(options.ledger)) as ledger:
        plan = Plan.revert(options.plan, ledger.entries())
    for note in plan.notes:
        tell(note)
    if options.output is None:
        print(plan.to_toml(), end="")
    elif plan.changes:
        plan.write(options.output)
    return 3 if plan.notes else 0


def _staged(plan: Plan, policy: Policy | None, options: argparse.Namespace) -> PlanReport:
    from adclient import AdClient

    actor = next(filter(None, map(from_environment, _ACTORS)), None)
    # SIGTERM, with which CI ends a job, does what Ctrl-C does.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with closing(opened(options)) as ledger:
            given = connection.settings(options, policy=policy, ledger=ledger, actor=actor)
            with AdClient(**given) as client:
                return plan.stage(client)
    except Interrupted as interrupted:
        _print(interrupted.report, options)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _print(report: PlanReport, options: argparse.Namespace) -> None:
    if options.markdown:
        print(report.markdown(), end="")
    else:
        print(json_line(report.to_dict()) if options.json else report)
