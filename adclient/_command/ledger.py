"""`adclient ledger`: what a ledger holds, and what a human found out about it."""

import argparse
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import get_args

from adclient._command import add_actions, connection, describe, output
from adclient._show import diffs
from adclient._values.json_values import JSON
from adclient._values.text import NOTE, ids_in_full, short
from adclient.errors import ConfigurationError
from adclient.ledger import Entry, SQLiteLedger, State, open_ledger
from adclient.ledger.sql import SQLLedger

WHERE = (
    "the file of the ledger, or a postgresql:// URL; a password in it shows in the process list, "
    "unlike one in PGPASSWORD or ~/.pgpass"
)
_FIRST = ("entry_id", "state", "draft_id", "text", "diff", "operation", "account_id", "actor", "at")
# A table has these on a line below each entry, or leaves them to JSON and CSV.
_BELOW = {"operation", "account_id", "arguments", "diff", "over_limit", "reason"}
_NO_COLUMNS = _BELOW | {"change", "rule", "refusals", "deadline"}
_FILTERS = ("account_id", "plan_id", "actor", "since", "until", "state", "limit")
_SHORT = 12  # of an id in a table; `settle` takes the beginning of one


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the ledger of a command that writes."""
    parser.add_argument("--ledger", metavar="WHERE", help=WHERE)
    parser.add_argument(
        "--new-ledger",
        action="store_true",
        help="create the ledger if it does not exist; else that is an error, since with a misspelt "
        "name everything would be staged again",
    )


def prepare(ledger: SQLLedger, options: argparse.Namespace) -> None:
    """Create the ledger of a command that writes, or make sure that it exists."""
    if options.new_ledger:
        ledger.create()
    elif not ledger.exists():
        where = options.ledger if isinstance(ledger, SQLiteLedger) else ledger
        raise ConfigurationError(f"--ledger: {where} does not exist; --new-ledger creates it")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    describe(parser, "adclient ledger show --ledger drafts.db")
    actions = add_actions(
        parser,
        show=(
            "list the entries, the oldest first",
            "adclient ledger show --ledger drafts.db --since 2026-03-01 --state refused",
        ),
        outcomes=(
            "read what became of the staged drafts, as far as the service shows it",
            "adclient ledger outcomes --ledger drafts.db --plan 2026-w47",
        ),
        unknown=(
            "list the entries of unknown outcome, which may have staged a draft",
            "adclient ledger unknown --ledger drafts.db",
        ),
        settle=(
            "record what a human found out about entries, in the approval dashboard",
            "adclient ledger settle 4f1c --ledger drafts.db --draft draft_51c0 --by kim",
        ),
        verify=(
            "check that no entry was changed or lost, and print the hash of the last row",
            "adclient ledger verify --ledger drafts.db",
        ),
    )
    for name, action in actions.items():
        add = action.add_argument
        add("--ledger", metavar="WHERE", help=WHERE)
        if name in ("show", "outcomes"):
            add("--account", "-a", dest="account_id", metavar="ID", help="only of this account")
            add("--plan", dest="plan_id", metavar="ID", help="only those of the plan with this id")
            add("--actor", metavar="NAME", help="only those of this person or program")
            add("--since", type=_moment, metavar="TIME", help="only from 2026-03-01 on, say (UTC)")
            add("--until", type=_moment, metavar="TIME", help="only those before this time")
            add("--limit", type=int, metavar="N", help="only the newest N")
        if name == "outcomes":
            connection.add_arguments(action)
        else:
            connection.add_service(add)
        if name != "verify":
            output.add_arguments(action)
    states = get_args(State)
    about = f"only those in this state: {', '.join(states)}"
    actions["show"].add_argument("--state", choices=states, metavar="STATE", help=about)
    actions["outcomes"].set_defaults(state="staged")
    add = actions["settle"].add_argument
    add("entry", metavar="ENTRY", nargs="+", help="the id of an entry, or its beginning")
    outcome = actions["settle"].add_mutually_exclusive_group()
    outcome.add_argument(
        "--draft", metavar="ID", help="this draft was staged; by default, that of each entry"
    )
    outcome.add_argument("--not-staged", action="store_true", help="no draft was staged")
    add("--by", required=True, metavar="NAME", help="the name of that human")
    actions["verify"].add_argument(
        "--head",
        metavar="HASH",
        help="a hash from an earlier report: an error if no row has it, as in an older copy",
    )


def run(options: argparse.Namespace) -> int:
    """Do what is asked; the exit code."""
    connection.require_ledger(options)
    seen: dict[str, dict[str, JSON]] = {}
    ledger = open_ledger(options.ledger)
    match options.action:
        case "verify":
            print(ledger.verify(head=options.head))
            return 0
        case "unknown":
            entries = ledger.unknown()
        case "settle":
            drafts = _drafts_to_settle(ledger.entries(), options)
            entries = ledger.settle_all(drafts, by=options.by)
        case action:
            entries = ledger.entries(**{name: getattr(options, name) for name in _FILTERS})
            if action == "outcomes":
                from adclient import AdClient

                with AdClient(**connection.settings(options)) as client:
                    for each in ledger.outcomes(client, entries):
                        found = {"state": each.state, "text": each.text, "seen": each.seen}
                        seen[each.entry.entry_id] = found
    shape = output.shape_of(options)
    rows: list[Mapping[str, JSON]] = []
    below: list[str] = []
    for entry in entries:
        fields = entry.to_dict() | seen.get(entry.entry_id, {})
        if shape == "table":
            fields["entry_id"] = entry.entry_id[:_SHORT]
            fields["state"] = fields.pop("text", entry.state)
            fields["at"] = f"{entry.at:%Y-%m-%d %H:%M}"
            ids = {"account_id": entry.account_id, **entry.arguments}  # long ones are not stored
            target = ids_in_full(*(each for name, each in ids.items() if name.endswith("_id")))
            what = diffs.one_line(entry.diff, entry.arguments)
            reason = short(entry.over_limit or entry.reason or "", NOTE)
            below.append(" · ".join(filter(None, (entry.operation, target, what, reason))))
            fields = {name: value for name, value in fields.items() if name not in _NO_COLUMNS}
        elif shape == "csv" and entry.diff is not None:
            fields["diff"] = ", ".join(diffs.lines(entry.diff))
        rows.append({**{name: fields[name] for name in _FIRST if name in fields}, **fields})
    output.write(rows, shape, below=below)
    return 0


def _drafts_to_settle(
    entries: Collection[Entry], options: argparse.Namespace
) -> dict[str, str | None]:
    """The draft of each entry that is settled; None if none was staged."""
    if options.draft is not None and len(options.entry) > 1:
        raise ConfigurationError("--draft is for one ENTRY; without it, each keeps its own draft")
    drafts: dict[str, str | None] = {}
    for start in options.entry:
        entry = _entry_by_id(entries, start)
        draft_id = entry.draft_id if options.draft is None else options.draft
        if options.not_staged == (draft_id is not None):
            problem = (
                f"its draft is {draft_id}" if draft_id else "--draft or --not-staged is missing"
            )
            raise ConfigurationError(f"{start}: {problem}")
        drafts[entry.entry_id] = draft_id
    return drafts


def _entry_by_id(entries: Collection[Entry], start: str) -> Entry:
    """The entry with this id, or the only one whose id begins like this."""
    matches = [entry for entry in entries if entry.entry_id == start] or [
        entry for entry in entries if start and entry.entry_id.startswith(start)
    ]
    if len(matches) != 1:
        raise ConfigurationError(f"{len(matches)} entries have an id that begins with {start}")
    return matches[0]


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: before the year 1 in UTC
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-03-01") from None
