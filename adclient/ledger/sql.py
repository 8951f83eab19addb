"""A ledger in an SQL database: the common part of `sqlite.py` and `postgres.py`."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args, overload

import attrs

from adclient._show.signatures import deferred
from adclient._tables.items import Items
from adclient._tasks.clock import monotonic
from adclient._values.json_values import is_choice
from adclient.errors import ConfigurationError, LedgerError
from adclient.ledger.database import LOCKED, IdleConnections, Mode, machine_time
from adclient.ledger.entry import WAIT_UNTIL, Check, DraftOutcome, Entry, State
from adclient.ledger.outcomes import Reading
from adclient.ledger.transaction import (
    COLUMNS,
    FIRST_HASH,
    MAY_BE_DRAFT,
    DatabaseConnection,
    DatabaseError,
    Transaction,
    actor_start,
    hash_after,
    key,
    utc_text,
)
from adclient.models import Draft
from adclient.options import check_count, check_type

if TYPE_CHECKING:
    from adclient import AdClient, AsyncAdClient
    from adclient.gate.databases import GateDatabase
else:
    _types = deferred("adclient.AdClient", "adclient.AsyncAdClient")
    AdClient, AsyncAdClient = _types.AdClient, _types.AsyncAdClient

_HASH = re.compile("[0-9A-Fa-f]{64}")
# Without LIKE, whose case and escapes differ between databases.
_BEGINS = "substr({}, 1, length(?)) = ?"
_ROWS = f"SELECT {COLUMNS}, hash FROM adclient_ledger ORDER BY number"  # noqa: S608
_UNKNOWN = "state IN ('under way', 'unknown', 'admitted')"  # the last one is of format 1


class SQLLedger(ABC):
    """The base of both ledgers.

    Rows are never changed: one is added when a write is reserved, when it ends, and when it is
    settled. A use takes the connection that is kept open for clients, or opens one of its own.
    """

    def __init__(self, shown: str, now: Callable[[], datetime] | None) -> None:
        self._shown = shown
        self._now = machine_time if now is None else now
        self._connections = IdleConnections()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._shown}>"

    @abstractmethod
    def _exists(self) -> bool:
        """Check if there is anything."""

    @abstractmethod
    def _connect(self, mode: Mode) -> DatabaseConnection:
        """Open a connection; what may be created need not exist."""

    @abstractmethod
    def _check_and_begin(self, connection: DatabaseConnection, mode: Mode) -> datetime | None:
        """Check that it is a ledger, or create it, and begin a transaction to write.

        What is written carries a ledger of an older format forward. Returns the time by the clock
        of the database, if it has one of its own.
        """

    @abstractmethod
    def _reason(self, error: Exception) -> str | None:
        """The reason in an error of the database, which may be `LOCKED`; None for another error."""

    def _damage(self, transaction: Transaction) -> str | None:  # noqa: ARG002
        """The damage that a check of the database itself finds, in words; None if none."""
        return None

    @abstractmethod
    def __gate__(self) -> "GateDatabase":
        """Where a `SharedGate` keeps its state."""

    def __kept_open__(self) -> AbstractContextManager[None]:
        """A block in which a connection stays open between uses."""
        return self._connections.kept()

    def __head__(self) -> str:
        """The hash of the last row, without a check of any row."""
        with self._transaction("read") as transaction:
            return transaction.last()[1]

    def reserve(self, entry: Entry, check: Check) -> Entry:
        """Record a write before it is sent, in one transaction with its check; see `Ledger`.

        Args:
            entry: The write; the ledger sets its time, `at`, and moves its `deadline` with it.
            check: Called with the usage that the ledger contains; returns a reason to refuse the
                write, or None.

        Returns:
            The entry as it was recorded, or an earlier one of the same change. The same write that
                was refused again has the id of its first refusal.

        Raises:
            LedgerError: The entry cannot be recorded; the write is then not sent.

        Examples:
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id="a")
            >>> ledger.reserve(entry, lambda usage: None)
            <Entry beta.pause_campaign, a, under way>
        """
        with self._transaction("create") as transaction:
            if entry.change is not None:
                # In the transaction of the reservation, so that no other process comes in between.
                earlier = transaction.entries(f"change = ? AND {MAY_BE_DRAFT}", key(entry.change))
                if earlier:
                    return earlier[0]
            if transaction.history(entry.entry_id):
                raise DatabaseError(f"it already has an entry {entry.entry_id}")
            refusal = None if entry.state == "refused" else check(transaction.usage(entry))
            if refusal is not None:
                entry = attrs.evolve(
                    entry, state="refused", rule=refusal.rule, reason=refusal.reason
                )
            now = transaction.now
            if entry.state == "refused":
                return transaction.append_refused(attrs.evolve(entry, at=now, deadline=None))
            # Moved to the clock that all share: those of two machines may differ.
            later = None if entry.deadline is None else entry.deadline - entry.at + now
            return transaction.append("reserved", attrs.evolve(entry, at=now, deadline=later))

    def end(self, entry: Entry) -> None:
        """Record how a write ended; see `Ledger`.

        An entry that was never reserved, or that has ended, is ignored. If a human has settled it
        meanwhile, only a draft is recorded.

        Args:
            entry: The write, with its final state.

        Raises:
            LedgerError: The end cannot be recorded.

        Examples:
            >>> import attrs
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id="a")
            >>> reserved = ledger.reserve(entry, lambda usage: None)
            >>> ledger.end(attrs.evolve(reserved, state="staged", draft_id="draft_7c2e"))
            >>> ledger.entries()[0].state
            'staged'
        """
        with self._transaction("write") as transaction:
            history = transaction.history(entry.entry_id)
            events = [event for event, _ in history]
            if not history or "ended" in events or history[-1][1].state == "refused":
                return
            if "settled" in events and entry.state != "staged":
                return  # a human has settled it meanwhile
            # A draft that comes after all undoes what a human has settled.
            ended = attrs.evolve(
                history[0][1],
                state=entry.state,
                deadline=None,
                draft_id=entry.draft_id,
                diff=entry.diff,
                reason=entry.reason,
                over_limit=entry.over_limit,
            )
            transaction.append("ended", ended, history[-1][1])

    def settle(self, entry: Entry | str, *, draft_id: str | Draft | None = None, by: str) -> Entry:
        """Record how a write of unknown outcome ended, once a human has found out.

        It also records that a draft over a limit was handled in the approval dashboard, so that its
        account is no longer blocked. Nothing is sent. A write that is under way may be settled with
        its draft, but not as `not staged`: its draft may be about to be staged.

        Args:
            entry: An entry, or its id.
            draft_id: The draft that was found in the dashboard, or its id. For an unknown outcome,
                None means that there is no draft, even if the entry has an id; a plan then stages
                the change again. For a draft over a limit, leave it out.
            by: The name of the human.

        Returns:
            The entry as it is now, `staged` or `not staged`.

        Raises:
            LedgerError: The ledger has no such entry, or nothing about it is left to settle.
            ConfigurationError: `entry`, `draft_id` or `by` has the wrong type, or is empty.

        Examples:
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id="a")
            >>> _ = ledger.reserve(entry, lambda usage: None)
            >>> ledger.settle(ledger.unknown()[0], draft_id="draft_7c2e", by="kim")
            <Entry beta.pause_campaign, a, staged, draft_7c2e>
        """
        entry_id = entry.entry_id if isinstance(entry, Entry) else entry
        check_type("entry", entry_id, str)
        draft_id = draft_id.draft_id if isinstance(draft_id, Draft) else draft_id
        return self.settle_all({entry_id: draft_id}, by=by)[0]

    def settle_all(self, drafts: Mapping[str, str | None], *, by: str) -> Items[Entry]:
        """Record how several writes ended, as `settle` does: all of them, or none after an error.

        Args:
            drafts: The id of the draft for the id of each entry; None as for `settle`.
            by: The name of the human.

        Returns:
            The entries as they are now.

        Raises:
            LedgerError: The ledger has no such entry, or nothing about it is left to settle.
            ConfigurationError: An argument or an id has the wrong type, or is an empty text.

        Examples:
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> for name in ("1", "2"):
            ...     entry = Entry(entry_id=name, operation="beta.pause_campaign", account_id="a")
            ...     _ = ledger.reserve(entry, lambda usage: None)
            >>> entries = ledger.settle_all({"1": "draft_7c2e", "2": None}, by="kim")
            >>> [entry.state for entry in entries]
            ['staged', 'not staged']
        """
        if not isinstance(drafts, Mapping):
            raise ConfigurationError("drafts must be a mapping", argument="drafts")
        given = [("by", by), *(("entry", entry_id) for entry_id in drafts)]
        given += [("draft_id", draft) for draft in drafts.values() if draft is not None]
        for name, text in given:
            if not isinstance(text, str) or not text.strip():
                raise ConfigurationError(f"{name} must be a text that is not empty", argument=name)
        with self._transaction("write") as transaction:
            return Items([transaction.settle(*each, by) for each in drafts.items()])

    def entries(
        self,
        *,
        account_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        state: State | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
        limit: int | None = None,
    ) -> Items[Entry]:
        """Read the entries of the ledger as they are now, in the order of their reservation.

        An argument of None selects nothing; entries must meet all others.

        Args:
            account_id: Only the entries of this account.
            since: Only the entries that were reserved or refused at this time or later, which needs
                a time zone.
            until: Only the entries that were reserved or refused before this time.
            state: Only the entries that are in this state now.
            plan_id: Only the entries of the plan with this id.
            actor: Only the entries of this actor.
            limit: Only so many of them, the newest.

        Returns:
            A list that is also a table.

        Raises:
            LedgerError: The ledger cannot be read.
            ConfigurationError: An argument has the wrong type, or a time has no time zone.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> from adclient.testing import FakeAdService
            >>> ledger = SQLiteLedger("drafts.db")
            >>> with FakeAdService().client(ledger=ledger) as client:
            ...     draft = client.delta.remove_auto_search_themes(account_id="account_d118")
            >>> ledger.entries()
            <Items of 1 × Entry>
            >>> ledger.entries()[0].draft_id == draft.draft_id
            True
        """
        for name, text in {"account_id": account_id, "plan_id": plan_id, "actor": actor}.items():
            check_type(name, text, str)
        for name, time in {"since": since, "until": until}.items():
            check_type(name, time, datetime)
            if time is not None and time.tzinfo is None:
                raise ConfigurationError(f"{name} must have a time zone", argument=name)
        if state is not None and not is_choice(state, get_args(State)):
            problem = f"state must be one of {', '.join(get_args(State))}"
            raise ConfigurationError(problem, argument="state")
        if limit is not None:
            limit = check_count("limit", limit, least=1)
        depends_on_time = state in ("under way", "unknown")
        conditions = {
            "account_id = ?": None if account_id is None else key(account_id),
            "at >= ?": None if since is None else utc_text(since),
            "at < ?": None if until is None else utc_text(until),
            "state = ?": None if depends_on_time else state,
            _UNKNOWN: "" if depends_on_time else None,
            _BEGINS.format("change"): None if plan_id is None else key(f"{plan_id}:"),
            _BEGINS.format("entry"): None if actor is None else actor_start(actor),
        }
        given = {sql: text for sql, text in conditions.items() if text is not None}
        values = [text for sql, text in given.items() for _ in range(sql.count("?"))]
        where = " AND ".join(given) or "1 = 1"
        if depends_on_time:  # there are few of them
            found = [entry for entry in self._entries(where, *values) if entry.state == state]
            return Items(found[-limit:] if limit else found)
        return self._entries(where, *values, limit=limit)

    @overload
    def outcomes(
        self, client: AdClient, entries: Iterable[Entry] | None = None
    ) -> Items[DraftOutcome]: ...
    @overload
    def outcomes(
        self, client: AsyncAdClient, entries: Iterable[Entry] | None = None
    ) -> Coroutine[Any, Any, Items[DraftOutcome]]: ...
    def outcomes(
        self,
        client: AdClient | AsyncAdClient,
        entries: Iterable[Entry] | None = None,
    ) -> Items[DraftOutcome] | Coroutine[Any, Any, Items[DraftOutcome]]:
        """Read what became of staged drafts; await it with an `AsyncAdClient`.

        Each account is listed once at most, however many drafts it has, to find the campaigns by
        their ids. Numbers are compared by value, so 120 equals 120.0 and `"120.00"`. A draft
        is never called approved: what was set in another way looks the same.

        Args:
            client: The `AdClient` or `AsyncAdClient` that reads.
            entries: The entries to read about, such as `ledger.entries(actor="kim")`, of which
                those that are staged count; None for all staged entries.

        Returns:
            The outcome of each draft, in a list that is also a table. An account that cannot be
                read is one of the outcomes.

        Raises:
            LedgerError: The ledger cannot be read.
            ConfigurationError: The client is closed, or `entries` has something else.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> from adclient.testing import FakeAdService
            >>> fake, ledger = FakeAdService(), SQLiteLedger("drafts.db")
            >>> with fake.client(ledger=ledger) as client:
            ...     draft = client.beta.pause_campaign(
            ...         account_id="account_b204", campaign_id="campaign_57a7"
            ...     )
            ...     approved = fake.dashboard.approve(draft)  # which only a human can do
            ...     print(ledger.outcomes(client)[0].text)
            seen live
        """
        given = self.entries(state="staged") if entries is None else [*entries]
        if not all(isinstance(entry, Entry) for entry in given):
            raise ConfigurationError("entries must be those of a ledger", argument="entries")
        reading = Reading([entry for entry in given if entry.state == "staged"], self._now())
        return reading.async_read(client) if hasattr(client, "aclose") else reading.read(client)

    def unknown(self) -> Items[Entry]:
        """Read the entries of unknown outcome: each may have staged a draft.

        They include those that are `under way`: wait for the `deadline` of these.

        Returns:
            A list that is also a table.

        Raises:
            LedgerError: The ledger cannot be read.

        Examples:
            >>> from adclient import OutcomeUnknown
            >>> from adclient.ledger import SQLiteLedger
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake, ledger = FakeAdService(), SQLiteLedger("drafts.db")
            >>> fake.faults.add(Fault.dropped(taken=True))
            >>> try:
            ...     client = fake.client(ledger=ledger)
            ...     client.delta.remove_auto_search_themes(account_id="account_d118")
            ... except OutcomeUnknown:
            ...     print(ledger.unknown()[0].state)
            unknown
        """
        return self._entries(_UNKNOWN)

    def verify(self, *, head: str | None = None) -> str:
        """Check that no row was changed or removed, nor added between others.

        Each row contains a hash of itself and of the row before. That detects accidents, not
        attackers who can write to the database: they can compute all hashes again. If you keep the
        returned hash elsewhere, such as in a pull request, you detect that as well, and a ledger
        that was replaced by an older copy of itself. Of a file, SQLite's own integrity check is
        done as well.

        Args:
            head: A hash that was returned earlier, or that a report of a plan contains. It must be
                that of one of the rows. None for no such check.

        Returns:
            The hash of the last row, as 64 hexadecimal digits.

        Raises:
            LedgerError: The ledger cannot be read, or is damaged; the message has the number of the
                first bad row. Or it has no row with the hash `head`.
            ConfigurationError: `head` is not a hash.

        Examples:
            >>> from adclient.ledger import Entry, SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> entry = Entry(entry_id="1", operation="beta.pause_campaign", account_id="a")
            >>> _ = ledger.reserve(entry, lambda usage: None)
            >>> head = ledger.verify()
            >>> len(head), ledger.verify(head=head) == head
            (64, True)
        """
        check_type("head", head, str)
        if head is not None and not _HASH.fullmatch(head):
            raise ConfigurationError("head must be 64 hexadecimal digits", argument="head")
        head = FIRST_HASH if head is None else head.lower()
        with self._transaction("read") as transaction:
            problem = self._damage(transaction)
            if problem is not None:
                raise DatabaseError(problem)
            number, last_hash, is_found = 0, FIRST_HASH, head == FIRST_HASH
            for number, (*row, row_hash) in enumerate(transaction.connection.execute(_ROWS), 1):
                last_hash = hash_after(last_hash, row)
                if row_hash != last_hash:  # which covers the number
                    raise DatabaseError(f"row {number} was changed, or is missing")
                is_found = is_found or last_hash == head
            if not is_found:
                problem = f"none of its {number} rows has the hash {head[:12]}…"
                raise DatabaseError(f"{problem}: rows were removed, or it is another ledger")
            return last_hash

    def create(self) -> None:
        """Create the ledger, unless it exists; without this, the first write of a client does.

        Raises:
            LedgerError: It cannot be created.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> ledger = SQLiteLedger("drafts.db")
            >>> ledger.create()
            >>> ledger.exists(), ledger.entries()
            (True, <Items of 0 × item>)
        """
        with self._transaction("create"):
            pass

    def exists(self) -> bool:
        """Check if the ledger exists; the first write of a client creates it.

        Returns:
            Whether there is anything, which may still turn out to be something else than a ledger.

        Raises:
            LedgerError: It cannot be determined.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> SQLiteLedger("misspelt.db").exists()
            False
        """
        with self._errors_explained():
            return self._exists()

    def close(self) -> None:
        """Close the connection that is kept open for clients; the next use opens another.

        To close the last client does that, too.

        Examples:
            >>> from adclient.ledger import SQLiteLedger
            >>> SQLiteLedger("drafts.db").close()
        """
        self._connections.close()

    def _entries(self, where: str, *values: str, limit: int | None = None) -> Items[Entry]:
        with self._transaction("read") as transaction:
            return Items(transaction.entries(where, *values, limit=limit))

    @contextmanager
    def _transaction(self, mode: Mode) -> Generator[Transaction]:
        """Use a connection alone in this block; what writes is one transaction."""
        with self._errors_explained():
            connection, now = self._opened(mode)
            with self._connections.using(connection):
                # Otherwise the caller has left, and would never end the reservation.
                if monotonic() > WAIT_UNTIL.get():
                    raise DatabaseError("the time of the call is over")
                yield Transaction(connection, now)
                if mode != "read":
                    connection.execute("COMMIT")

    def _opened(self, mode: Mode) -> tuple[DatabaseConnection, datetime]:
        """Begin a use, on a connection that was kept open or on a new one; also its time."""
        kept = self._connections.take()
        connection = kept or self._connect(mode)
        try:
            return connection, self._check_and_begin(connection, mode) or self._now()
        except BaseException as error:
            connection.close()
            # The server may have closed it long ago; nothing was done yet.
            is_lost = isinstance(error, Exception) and self._reason(error) not in (None, LOCKED)
            if kept is None or not is_lost:
                raise
            return self._opened(mode)

    @contextmanager
    def _errors_explained(self) -> Generator[None]:
        """Raise a `LedgerError` in place of an error of the database."""
        try:
            yield
        except Exception as error:
            reason = str(error) if isinstance(error, DatabaseError) else self._reason(error)
            if reason is None:
                raise
            explained = LedgerError(f"the ledger {self._shown}: {reason}")
            try:
                raise explained
            finally:
                explained.__context__ = None  # a driver's error could expose secrets
