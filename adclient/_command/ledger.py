"""`adclient ledger`: what a ledger holds, and what a human found out about it."""

import argparse
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from adclient._command import Parser, connection, output
from adclient._show import diffs
from adclient._values.json_values import JSON
from adclient._values.text import NOTE, ids_in_full, short
from adclient.errors import ConfigurationError
from adclient.ledger import Entry, SQLiteLedger, State, open_ledger
from adclient.ledger.sql import SQLLedger

LEDGER = """\
--ledger WHERE  the file of the ledger, or a postgresql:// URL; a password in it shows in the
    process list, unlike one in PGPASSWORD or ~/.pgpass
"""
NEW_LEDGER = """\
--new-ledger  create the ledger if it does not exist; else that is an error, since with a misspelt
    name everything would be staged again
"""
_FIRST = ("entry_id", "state", "draft_id", "text", "diff", "operation", "account_id", "actor", "at")
# A table has others on a line below each entry, or leaves them to JSON and CSV.
_COLUMNS = ("entry_id", "state", "draft_id", "actor", "at", "why", "settled_by", "seen")
_FILTERS = ("account_id", "plan_id", "actor", "since", "until", "state", "limit")
_STATES = get_args(State)
_NARROWED = f"""\
{LEDGER}\
--account -a ID  only of this account
--plan ID  only those of the plan with this id
--actor NAME  only those of this person or program
--since TIME  only from 2026-03-01 on, say (UTC)
--until TIME  only those before this time
--limit N  only the newest N
"""
_ACTIONS = f"""\
show: list the entries, the oldest first
adclient ledger show --ledger drafts.db --since 2026-03-01 --state refused
{_NARROWED}{connection.SERVICE}\
--state STATE  only those in this state: {", ".join(_STATES)}
{output.SHAPES}
outcomes: read what became of the staged drafts, as far as the service shows it
adclient ledger outcomes --ledger drafts.db --plan 2026-w47
{_NARROWED}{output.SHAPES}{connection.CONNECTION}
unknown: list the entries of unknown outcome, which may have staged a draft
adclient ledger unknown --ledger drafts.db
{LEDGER}{connection.SERVICE}{output.SHAPES}
settle: record what a human found out about entries, in the approval dashboard
adclient ledger settle 4f1c --ledger drafts.db --draft draft_51c0 --by kim
ENTRY...  the id of an entry, or its beginning
{LEDGER}{connection.SERVICE}\
| --draft ID  this draft was staged; by default, that of each entry
| --not-staged  no draft was staged
! --by NAME  the name of that human
{output.SHAPES}
verify: check that no entry was changed or lost, and print the hash of the last row
adclient ledger verify --ledger drafts.db
{LEDGER}{connection.SERVICE}\
--head HASH  a hash from an earlier report: an error if no row has it, as in an older copy
"""
_SHORT = 12  # of an id in a table; `settle` takes the beginning of one


def prepare(ledger: SQLLedger, options: argparse.Namespace) -> None:
    """Create the ledger of a command that writes, or make sure that it exists."""
    if options.new_ledger:
        ledger.create()
    elif not ledger.exists():
        where = options.ledger if isinstance(ledger, SQLiteLedger) else ledger
        raise ConfigurationError(f"--ledger: {where} does not exist; --new-ledger creates it")


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe("adclient ledger show --ledger drafts.db\n")
    parser.add_actions(_ACTIONS, {"TIME": _moment, "STATE": _STATES})


def run(options: argparse.Namespace) -> int:
    """Do what is asked; the exit code."""
    connection.add_from_service(options, needs_ledger=True)
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
            # `outcomes` has no --state: it reads those of staged drafts.
            given: dict[str, Any] = {each: getattr(options, each, "staged") for each in _FILTERS}
            entries = ledger.entries(**given)
            if action == "outcomes":
                with connection.open_client(options) as client:
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
        elif shape == "csv" and entry.diff is not None:
            fields["diff"] = ", ".join(diffs.lines(entry.diff))
        names = _COLUMNS if shape == "table" else (*_FIRST, *fields)
        rows.append({name: fields[name] for name in names if name in fields})
    output.write(rows, shape, below=below)
    return 0


def _drafts_to_settle(
    entries: Collection[Entry], options: argparse.Namespace
) -> dict[str, str | None]:
    """The draft of each entry that is settled; None if none was staged."""
    if options.draft_id is not None and len(options.entry) > 1:
        raise ConfigurationError("--draft is for one ENTRY; without it, each keeps its own draft")
    drafts: dict[str, str | None] = {}
    for start in options.entry:
        matches = [entry for entry in entries if start and entry.entry_id.startswith(start)]
        # An id that begins others names its own entry.
        matches = [entry for entry in matches if entry.entry_id == start] or matches
        if len(matches) != 1:
            raise ConfigurationError(f"{len(matches)} entries have an id that begins with {start}")
        [entry] = matches
        draft_id = entry.draft_id if options.draft_id is None else options.draft_id
        if options.not_staged == (draft_id is not None):
            known = f"its draft is {draft_id}" if draft_id else ""
            raise ConfigurationError(f"{start}: {known or '--draft or --not-staged is missing'}")
        drafts[entry.entry_id] = draft_id
    return drafts


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: before the year 1 in UTC
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-03-01") from None
