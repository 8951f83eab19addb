"""A ledger in an SQL database: the common part of `sqlite.py` and `postgres.py`."""

from collections.abc import Coroutine, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args, overload

import attrs

from adclient._show.signatures import deferred
from adclient._tables.items import Items
from adclient._values.json_values import is_choice
from adclient._values.redact import one_line
from adclient.errors import ConfigurationError
from adclient.ledger.database import LedgerDatabase
from adclient.ledger.entry import Check, DraftOutcome, Entry, State, deadline_text
from adclient.ledger.outcomes import Reading
from adclient.ledger.transaction import MAY_BE_DRAFT, Transaction, actor_start, key, utc_text
from adclient.models import Draft
from adclient.options import check_count, check_type

if TYPE_CHECKING:
    from adclient import AdClient, AsyncAdClient
else:
    _types = deferred("adclient.AdClient", "adclient.AsyncAdClient")
    AdClient, AsyncAdClient = _types.AdClient, _types.AsyncAdClient

# Without LIKE, whose case and escapes differ between databases.
_BEGINS = "substr({}, 1, length(?)) = ?"
_UNKNOWN = "state IN ('under way', 'unknown', 'admitted')"  # the last one is of format 1


class SQLLedger(LedgerDatabase):
    """The base of both ledgers.

    Rows are never changed: one is added when a write is admitted, when it ends, and when it is
    settled.
    """

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
                raise self._error(f"it already has an entry {entry.entry_id}")
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

        An entry that was never admitted, or that has ended, is ignored. If a human has settled it
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
            return Items([self._settled(transaction, *each, by) for each in drafts.items()])

    def _settled(
        self, transaction: Transaction, entry_id: str, draft_id: str | None, by: str
    ) -> Entry:
        history = transaction.history(entry_id)
        if not history:
            raise self._error(f"it has no entry {entry_id}")
        before = history[-1][1]
        if before.state == "under way" and draft_id is None:
            problem = f"entry {entry_id} is under way until {deadline_text(before)} at the latest"
            raise self._error(one_line(f"{problem}: then look for its draft"))
        if before.is_unknown:
            state: State = "not staged" if draft_id is None else "staged"
            settled = attrs.evolve(
                before, state=state, deadline=None, draft_id=draft_id, settled_by=by
            )
        elif before.blocks:
            if draft_id not in (None, before.draft_id):
                raise self._error(f"the draft of entry {entry_id} is {before.draft_id}")
            settled = attrs.evolve(before, settled_by=by)
        else:
            how = f" by {before.settled_by}" if before.settled_by else ""
            problem = f"entry {entry_id} is {before.state}{how}: there is nothing to settle"
            raise self._error(one_line(problem))
        return transaction.append("settled", settled, before)

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
        """Read the entries of the ledger as they are now, in the order of their admission.

        An argument of None selects nothing; entries must meet all others.

        Args:
            account_id: Only the entries of this account.
            since: Only the entries that were admitted or refused at this time or later, which needs
                a time zone.
            until: Only the entries that were admitted or refused before this time.
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

    def _entries(self, where: str, *values: str, limit: int | None = None) -> Items[Entry]:
        with self._transaction("read") as transaction:
            return Items(transaction.entries(where, *values, limit=limit))
