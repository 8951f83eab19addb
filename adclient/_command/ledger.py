"""`adclient ledger`: what a ledger holds, and what a human found out about it."""

import argparse
from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import UTC, datetime

from adclient._command import add_actions, connection, output
from adclient._values.json_values import JSON
from adclient.errors import ConfigurationError
from adclient.ledger import Entry, open_ledger
from adclient.ledger.sql import SQLLedger

_WHERE = (
    "the file of the ledger, or a postgresql:// URL; a password in it shows in the process list, "
    "unlike one in PGPASSWORD or ~/.pgpass"
)
_FIRST = ("entry_id", "state", "draft_id", "operation", "account_id", "over_limit", "at")
_SHORT = 12  # of an id in a table; `settle` takes the beginning of one


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the ledger of a command that writes."""
    parser.add_argument("--ledger", metavar="WHERE", help=_WHERE)
    parser.add_argument(
        "--new-ledger",
        action="store_true",
        help="create the ledger if it does not exist; else that is an error, since with a misspelt "
        "name everything would be staged again",
    )


def opened(options: argparse.Namespace) -> SQLLedger:
    """The ledger of a command that writes."""
    ledger = open_ledger(options.ledger)
    if options.new_ledger:
        ledger.create()
    elif not ledger.exists():
        raise ConfigurationError(f"--ledger: {ledger!r} does not exist; --new-ledger creates it")
    return ledger


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    actions = add_actions(
        parser,
        show="list the entries, the oldest first",
        unknown="list the entries of unknown outcome, which may have staged a draft",
        settle="record what a human found out about an entry, in the approval dashboard",
        verify="check that no entry was changed or lost, and print the hash of the last row",
    )
    for name, action in actions.items():
        action.add_argument("--ledger", metavar="WHERE", help=_WHERE)
        connection.add_service(action.add_argument)
        if name != "verify":
            output.add_arguments(action)
    add = actions["show"].add_argument
    add("--account", "-a", metavar="ID", help="only those of this account")
    add("--since", type=_moment, metavar="TIME", help="only later ones, such as 2026-03-01 (UTC)")
    add = actions["settle"].add_argument
    add("entry", metavar="ENTRY", help="the id of the entry, or its beginning")
    outcome = actions["settle"].add_mutually_exclusive_group(required=True)
    outcome.add_argument(
        "--draft", metavar="ID", help="this draft was staged, or is no longer over a limit"
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
    entries: Collection[Entry]
    connection.require_ledger(options)
    with closing(open_ledger(options.ledger)) as ledger:
        match options.action:
            case "show":
                entries = ledger.entries(account_id=options.account, since=options.since)
            case "unknown":
                entries = ledger.unknown()
            case "settle":
                entry = _entry_by_id(ledger.entries(), options.entry)
                if options.not_staged and entry.draft_id is not None:
                    raise ConfigurationError(f"{options.entry}: its draft is {entry.draft_id}")
                entries = [ledger.settle(entry, draft_id=options.draft, by=options.by)]
            case _:
                print(ledger.verify(head=options.head))
                return 0
    shape = output.shape_of(options)
    rows: list[Mapping[str, JSON]] = []
    for entry in entries:
        fields = entry.to_dict()
        if shape == "table":
            fields["entry_id"] = entry.entry_id[:_SHORT]
        rows.append({**{name: fields[name] for name in _FIRST if name in fields}, **fields})
    output.write(rows, shape)
    return 0


def _entry_by_id(entries: Collection[Entry], start: str) -> Entry:
    """The entry with this id, or the only one whose id begins like this."""
    matches = [entry for entry in entries if entry.entry_id == start] or [
        entry for entry in entries if start and entry.entry_id.startswith(start)
    ]
    if len(matches) != 1:
        raise ConfigurationError(f"{len(matches)} entries have an id that begins with {start!r}")
    return matches[0]


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: before the year 1 in UTC
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-03-01") from None
