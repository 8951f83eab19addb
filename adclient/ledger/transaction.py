"""A transaction of a ledger, and the rows that it reads and adds."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol, cast

import attrs

from adclient._values import jsontext
from adclient._values.json_values import JSON, differ, is_deeper
from adclient._values.redact import one_line
from adclient.errors import LedgerError
from adclient.ledger.entry import Entry, State, deadline_text, read_at
from adclient.models import Diff
from adclient.policy import Usage, rules

FIRST_HASH = "0" * 64
_DEEPEST = 200  # levels, which any reader can decode
_LONGEST_REFUSED = 8_192  # characters of an entry: a model may repeat a call
MAY_BE_DRAFT = "state NOT IN ('refused', 'not staged')"
_DRAFTS = f"account_id = ? AND {MAY_BE_DRAFT}"

_ENTRIES = """
SELECT entry FROM adclient_ledger AS this WHERE {} AND NOT EXISTS (
    SELECT 1 FROM adclient_ledger AS later
    WHERE later.entry_id = this.entry_id AND later.number > this.number
) ORDER BY at DESC, number DESC LIMIT {}
"""
_ALL = 2**62


class DatabaseError(LedgerError):
    """A database or a row of it cannot be used; the message does not name the database."""


# The columns of which the hash of a row is made, in this order.
COLUMNS = (
    "number, event, recorded_at, entry_id, account_id, change, state, at, day, drafts_of_day, "
    "blocks, entry"
)
# Both databases read these statements.
SCHEMA = (
    # `drafts_of_day` is the number of drafts of that day after this row, so that no query has to
    # count them. `blocks` is 1 for a draft that blocks its account. Times are in UTC.
    """
    CREATE TABLE IF NOT EXISTS adclient_ledger (
        number BIGINT NOT NULL PRIMARY KEY, event TEXT NOT NULL, recorded_at TEXT NOT NULL,
        entry_id TEXT NOT NULL, account_id TEXT NOT NULL, change TEXT, state TEXT NOT NULL,
        at TEXT NOT NULL, day TEXT NOT NULL, drafts_of_day BIGINT NOT NULL,
        blocks BIGINT NOT NULL, entry TEXT NOT NULL, hash TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS adclient_ledger_entry ON adclient_ledger (entry_id, number)",
    "CREATE INDEX IF NOT EXISTS adclient_ledger_day ON adclient_ledger (day, number)",
    "CREATE INDEX IF NOT EXISTS adclient_ledger_change ON adclient_ledger (change) "
    "WHERE change IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS adclient_ledger_blocks ON adclient_ledger (account_id) "
    "WHERE blocks = 1",
    # A ledger that is older than this index is searched by its days.
    "CREATE INDEX IF NOT EXISTS adclient_ledger_account ON adclient_ledger (account_id, day) "
    f"WHERE {MAY_BE_DRAFT}",
)


class DatabaseConnection(Protocol):
    """A connection in autocommit mode; its statements have a `?` for each value."""

    def execute(self, sql: str, values: Sequence[str | int | None] = (), /) -> Any:
        """Execute one statement; a cursor."""
        ...

    def close(self) -> None:
        """Close it, which rolls back what is not committed."""
        ...


@attrs.frozen
class Transaction:
    """Reads and adds rows in one transaction, which began at `now`."""

    connection: DatabaseConnection
    now: datetime

    def history(self, entry_id: str) -> list[tuple[str, Entry]]:
        """The events of an entry, each with the entry as it was then."""
        sql = "SELECT event, entry FROM adclient_ledger WHERE entry_id = ? ORDER BY number"
        rows = self.connection.execute(sql, [key(entry_id)]).fetchall()
        return [(event, _entry_from(text, self.now)) for event, text in rows]

    def entries(self, where: str, *values: str, limit: int | None = None) -> list[Entry]:
        """The last entries whose last row meets a condition, in the order of their reservation."""
        sql = _ENTRIES.format(where, _ALL if limit is None else min(limit, _ALL))
        rows = self.connection.execute(sql, values).fetchall()
        return [_entry_from(text, self.now) for [text] in reversed(rows)]

    def usage(self, entry: Entry) -> Usage:
        """The usage that a write is checked against."""
        account, today = key(entry.account_id), utc_text(self.now)[:10]
        over_limit = self.entries("account_id = ? AND blocks = 1", account)
        return Usage(
            drafts_today=self._drafts_of(today),
            over_limit=over_limit[0].draft_id if over_limit else None,
            drafts_of_account=lambda: len(self.entries(f"{_DRAFTS} AND day = ?", account, today)),
            repeated=partial(self._repeated, entry),
        )

    def _repeated(self, entry: Entry, seconds: float) -> str | None:
        """The newest equal write within a time that is a draft or may be, in words."""
        since = utc_text(self.now - timedelta(seconds=seconds))
        recent = f"{_DRAFTS} AND day >= ? AND at >= ?"
        for each in reversed(self.entries(recent, key(entry.account_id), since[:10], since)):
            is_same = each.operation == entry.operation
            if is_same and not differ(_values_of(each), _values_of(entry)):
                what = f"draft {each.draft_id}" if each.draft_id else f"entry {each.entry_id}"
                return f"{what} of {each.at:%Y-%m-%d %H:%M} UTC is {each.state}"
        return None

    def append_refused(self, entry: Entry) -> Entry:
        """Record a refused write; the same one again is only counted.

        Its id is a digest of what makes it the same, by which it is found.
        """
        same = attrs.evolve(entry, entry_id="", at=datetime.min, why=None, reason=None)
        text = _text_of(same)
        entry_id = hashlib.sha256(text.encode()).hexdigest()[:32]
        entry = attrs.evolve(entry, entry_id=entry_id, refusals=1)
        if len(text) > _LONGEST_REFUSED:
            reason = f"{entry.reason} (its arguments are too long to be kept)"
            entry = attrs.evolve(entry, arguments={}, reason=reason)
        for earlier in self.entries("entry_id = ?", entry_id):
            entry = attrs.evolve(entry, refusals=_whole(earlier.refusals) + 1)
            return self.append("repeated", entry, earlier)
        return self.append("reserved", entry)

    def settle(self, entry_id: str, draft_id: str | None, by: str) -> Entry:
        """Record what a human found out about a write."""
        history = self.history(entry_id)
        if not history:
            raise DatabaseError(f"it has no entry {entry_id}")
        before = history[-1][1]
        if before.state == "under way" and draft_id is None:
            problem = f"entry {entry_id} is under way until {deadline_text(before)} at the latest"
            raise DatabaseError(one_line(f"{problem}: then look for its draft"))
        if before.is_unknown:
            state: State = "not staged" if draft_id is None else "staged"
            settled = attrs.evolve(
                before, state=state, deadline=None, draft_id=draft_id, settled_by=by
            )
        elif before.blocks:
            if draft_id not in (None, before.draft_id):
                raise DatabaseError(f"the draft of entry {entry_id} is {before.draft_id}")
            settled = attrs.evolve(before, settled_by=by)
        else:
            how = f" by {before.settled_by}" if before.settled_by else ""
            problem = f"entry {entry_id} is {before.state}{how}: there is nothing to settle"
            raise DatabaseError(one_line(problem))
        return self.append("settled", settled, before)

    def last(self) -> tuple[Any, str]:
        """The number and the hash of the last row."""
        sql = "SELECT number, hash FROM adclient_ledger ORDER BY number DESC LIMIT 1"
        return self.connection.execute(sql).fetchone() or (0, FIRST_HASH)

    def append(self, event: str, entry: Entry, before: Entry | None = None) -> Entry:
        """Add a row for an entry, which was different before if there was one."""
        last, last_hash = self.last()
        at = utc_text(entry.at)
        change_of_count = entry.may_be_draft - (before is not None and before.may_be_draft)
        row: dict[str, str | int | None] = {  # in the order of `COLUMNS`
            "number": _whole(last) + 1,
            "event": event,
            "recorded_at": utc_text(self.now),
            "entry_id": key(entry.entry_id),
            "account_id": key(entry.account_id),
            "change": None if entry.change is None else key(entry.change),
            "state": entry.state,
            "at": at,
            "day": at[:10],
            "drafts_of_day": self._drafts_of(at[:10]) + change_of_count,
            "blocks": int(entry.blocks),
            "entry": _text_of(entry),
        }
        names, marks = ", ".join(row), "?, " * len(row)
        sql = f"INSERT INTO adclient_ledger ({names}, hash) VALUES ({marks}?)"  # noqa: S608
        self.connection.execute(sql, [*row.values(), hash_after(last_hash, row.values())])
        return entry

    def _drafts_of(self, day: str) -> int:
        sql = "SELECT drafts_of_day FROM adclient_ledger WHERE day = ? ORDER BY number DESC LIMIT 1"
        [drafts] = self.connection.execute(sql, [day]).fetchone() or (0,)
        return _whole(drafts)


def hash_after(last_hash: str, row: Iterable[object]) -> str:
    """The hash of a row, in a chain whose last hash is given."""
    # `repr`: a damaged database may contain bytes.
    return hashlib.sha256(json.dumps([last_hash, *row], default=repr).encode()).hexdigest()


def key(text: str) -> str:
    """A text that any database can compare: an id may contain a NUL, or a lone surrogate."""
    return text.encode("unicode_escape").decode("ascii")


def actor_start(actor: str) -> str:
    """How the JSON of an entry of an actor begins: there is no column for it."""
    text = jsontext.dumps({"actor": actor}, "actor", errors="backslashreplace")
    return f"{text[:-1]},"


def utc_text(moment: datetime) -> str:
    """A moment as text that sorts by time."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # on the first or last day that Python has: no entry is there
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="microseconds")


def _whole(value: object) -> int:
    """Check a number that is used in a sum; in a damaged database, it may be anything."""
    if isinstance(value, int) and 0 <= value < 2**62:
        return value
    raise DatabaseError("a row is damaged; verify() finds it")


def _values_of(entry: Entry) -> JSON:
    """The ids and values of a write; an empty object, such as `targeting`, sets nothing."""
    return {**rules.flattened({n: value for n, value in entry.arguments.items() if value != {}})}


def _text_of(entry: Entry) -> str:
    """An entry as JSON text; a database takes no lone surrogates, so they are escaped."""
    fields = entry.to_dict()
    if entry.actor is not None:
        fields = {"actor": entry.actor, **fields}  # the first, for `actor_start`
    try:
        if is_deeper(fields, _DEEPEST):
            raise jsontext.JSONError("it is nested too deeply")
        return jsontext.dumps(fields, "entry", errors="backslashreplace")
    except jsontext.JSONError as error:
        if entry.diff is None:
            raise DatabaseError(f"the entry cannot be recorded: {error}") from None
        # A response may be nested too deeply for readers; its draft is recorded anyway.
        return _text_of(attrs.evolve(entry, diff=None))


def _entry_from(text: str, now: datetime) -> Entry:
    """The entry in a row as it is now."""
    try:
        fields = cast("dict[str, Any]", jsontext.loads(text.encode()))
        fields["at"] = datetime.fromisoformat(fields["at"])
        if "deadline" in fields:
            fields["deadline"] = datetime.fromisoformat(fields["deadline"])
        diff = fields.get("diff")
        if diff is not None:
            named = {name: diff.pop(name) for name in ("field", "before", "after")}
            fields["diff"] = Diff(**named, extra=diff)
        return read_at(now, Entry(**fields))
    except (jsontext.JSONError, TypeError, ValueError, LookupError, AttributeError):
        raise DatabaseError(
            "an entry is damaged, which verify() finds, or of a newer adclient"
        ) from None
