"""One write in a ledger, and the interface of ledgers."""

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

import attrs

from adclient._show.records import Card, PublicDir, Shown
from adclient._show.signatures import public_in
from adclient._values.json_values import JSON, ToJSON, copied
from adclient._values.text import short
from adclient.models import Diff
from adclient.policy import Refusal, Usage

State = Literal["under way", "staged", "not staged", "refused", "unknown"]

# A draft that changes several values has the first of these states that one of them has.
OutcomeState = Literal["overtaken", "not seen", "cannot be read", "seen live"]

# Until when a ledger may wait for others, on the clock of all deadlines. A context variable,
# because a ledger of the user may wrap the one that waits.
WAIT_UNTIL: ContextVar[float] = ContextVar("adclient_ledger_wait_until", default=math.inf)


@contextmanager
def waiting_until(end: float) -> Generator[None]:
    """Set the deadline in this block."""
    token = WAIT_UNTIL.set(end)
    try:
        yield
    finally:
        WAIT_UNTIL.reset(token)


@public_in("adclient.ledger")
@attrs.frozen(kw_only=True, repr=False)
class Entry(ToJSON, Shown):
    """One write in a ledger, from its reservation to its end.

    Attributes:
        entry_id: The id of the entry.
        at: When the write was reserved, or refused the last time, in UTC.
        state: `under way` from its reservation until its call ends, then `staged`, `not staged` or
            `unknown`; or `refused` by the policy. If the process ends before its call does, the
            ledger reads it as `unknown` after the `deadline`, or if `at` is in the future.
        deadline: Until when the write may be under way, by the clock of the ledger: the timeout of
            its call, and half a minute to record its end. None once it has ended.
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        account_id: The account of the write.
        arguments: The arguments of the call, as JSON values.
        change: The plan and the change that the write belongs to; None outside a plan.
        actor: Who made the call, as its client was told; None if nobody said so.
        why: The reason that the plan gives for the change, as one line of at most 200 characters.
        draft_id: The id of the draft; None if none is known.
        diff: The change that the draft would make, as it was received; None without a draft.
        rule: The rule of the policy that refused the write, if one did.
        reason: Why the write was refused or not staged, or why its outcome is unknown.
        refusals: How often the same write was refused; None if it was not.
        over_limit: The limit of the policy that the draft exceeds, in words; such a draft should be
            rejected. None if it exceeds none.
        settled_by: Who settled an unknown outcome, or a draft over a limit.

    Examples:
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.testing import FakeAdService
        >>> ledger = SQLiteLedger("drafts.db")
        >>> with FakeAdService().client(ledger=ledger) as client:
        ...     draft = client.delta.remove_auto_search_themes(account_id="account_d118")
        >>> entry = ledger.entries()[0]
        >>> entry.state, entry.may_be_draft, entry.is_unknown, entry.blocks
        ('staged', True, False, False)
        >>> entry.to_dict()["arguments"]
        {'account_id': 'account_d118'}
    """

    entry_id: str
    at: datetime = attrs.field(factory=lambda: datetime.now(UTC))
    state: State = "under way"
    deadline: datetime | None = None
    operation: str
    account_id: str
    arguments: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)
    change: str | None = None
    actor: str | None = None
    why: str | None = None
    draft_id: str | None = None
    diff: Diff | None = None
    rule: str | None = None
    reason: str | None = None
    refusals: int | None = None
    over_limit: str | None = None
    settled_by: str | None = None

    @property
    def is_unknown(self) -> bool:
        """True if a draft may exist that nobody knows of, as while the write is under way."""
        return self.state in ("under way", "unknown")

    @property
    def may_be_draft(self) -> bool:
        """True if a draft was staged, or may have been."""
        return self.state not in ("refused", "not staged")

    @property
    def blocks(self) -> bool:
        """True if the draft is over a limit and nobody has settled it, which blocks its account."""
        return self.over_limit is not None and self.settled_by is None

    def to_dict(self) -> dict[str, JSON]:
        """Convert the entry to JSON values.

        Returns:
            A dictionary of the attributes that are not None.
        """
        fields: dict[str, JSON] = {name: getattr(self, name) for name in attrs.fields_dict(Entry)}
        for name, time in {"at": self.at, "deadline": self.deadline}.items():
            fields[name] = None if time is None else time.isoformat(timespec="microseconds")
        # Not converted: a ledger refuses what is no JSON.
        fields["arguments"] = dict(self.arguments)
        fields["diff"] = None if self.diff is None else self.diff.to_dict()
        return {name: copied(value) for name, value in fields.items() if value is not None}

    def __repr__(self) -> str:
        what = self.draft_id or self.reason
        parts = [self.operation, self.account_id, self.state, *([what] if what else [])]
        return f"<Entry {', '.join(map(short, parts))}>"

    def _show(self) -> Card:
        fields = self.to_dict()
        for name in ("state", "arguments", "diff", "reason"):  # shown apart from the others
            fields.pop(name, None)
        arguments = ((n, value) for n, value in self.arguments.items() if n not in fields)
        notes = [*filter(None, [self.reason])]
        return Card("Entry", [*fields.items(), *arguments], self.diff, self.state, notes)


@public_in("adclient.ledger")
@attrs.frozen(kw_only=True, repr=False)
class DraftOutcome(PublicDir):
    """What the reads of the service show of a staged draft; they never show if it was approved.

    Attributes:
        entry: The entry of the draft.
        state: `seen live` if the value is the one after the change, `not seen` if it is still the
            one before, `overtaken` if it is another one, or `cannot be read`.
        seen: The value that was read, or of several the one that determines the state; None if
            nothing was read.
        text: The state in words, such as `overtaken by 140` or `not seen for 9 days`.

    Examples:
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.testing import FakeAdService
        >>> ledger, ids = SQLiteLedger("drafts.db"), {"account_id": "account_b204"}
        >>> with FakeAdService().client(ledger=ledger) as client:
        ...     draft = client.beta.pause_campaign(**ids, campaign_id="campaign_57a7")
        ...     outcome = ledger.outcomes(client)[0]
        >>> outcome.state, outcome.seen
        ('not seen', 'ENABLED')
    """

    entry: Entry
    state: OutcomeState
    seen: JSON = attrs.field(default=None, hash=False)
    text: str

    def __repr__(self) -> str:
        return f"<DraftOutcome {short(self.entry.draft_id)}, {self.text}>"


def read_at(now: datetime, entry: Entry) -> Entry:
    """An entry as it is at a time: one that is under way is unknown after its deadline."""
    if entry.state not in ("under way", "admitted"):  # the word of format 1
        return entry
    # A clock that was wrong may have set a deadline that is years away, but then `at` as well.
    is_open = (entry.deadline or now) > now and entry.at - now < timedelta(minutes=5)
    return entry if is_open else attrs.evolve(entry, state="unknown")


def deadline_text(entry: Entry) -> str:
    """The deadline of an entry that is under way."""
    assert entry.deadline is not None
    return f"{entry.deadline.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


Check = Callable[[Usage], Refusal | None]
"""Returns why a write is refused, given the usage in the ledger; None if it may be sent."""


class Ledger(Protocol):
    """The interface of a ledger; implement it to record the writes of a client elsewhere.

    Each write is recorded before it is sent, and again when it has ended. Both methods may block:
    async clients call them in a thread. `SQLiteLedger` and `PostgresLedger` are ledgers.

    Examples:
        >>> from adclient.ledger import Entry, Ledger, SQLiteLedger
        >>> from adclient.testing import FakeAdService
        >>> class Printing:  # a ledger that adds something to another one
        ...     def __init__(self, ledger: Ledger) -> None:
        ...         self._ledger = ledger
        ...     def reserve(self, entry, check):
        ...         print("asks to be sent:", entry.operation)
        ...         return self._ledger.reserve(entry, check)
        ...     def end(self, entry):
        ...         print("has ended:", entry.state)
        ...         self._ledger.end(entry)
        >>> with FakeAdService().client(ledger=Printing(SQLiteLedger("drafts.db"))) as client:
        ...     draft = client.delta.remove_auto_search_themes(account_id="account_d118")
        asks to be sent: delta.remove_auto_search_themes
        has ended: staged
    """

    __module__: str = "adclient.ledger"  # its public name, which pickles and tracebacks show

    def reserve(self, entry: Entry, check: Check) -> Entry:
        """Record a write before it is sent, in one transaction with its check.

        If the ledger contains an entry of the same `change` that was neither refused nor ended
        `not staged`, nothing is recorded.

        Args:
            entry: The write, in the state `under way`; or `refused`, which is only recorded.
            check: Called with the usage that the ledger contains; returns a reason to refuse the
                write, or None. It must not be called for a refused entry.

        Returns:
            The entry as it was recorded, `under way` or `refused`; or the earlier one, which is
                `unknown` if it is still under way after its `deadline`, or has none.

        Raises:
            LedgerError: The entry cannot be recorded; the write is then not sent.
        """
        ...

    def end(self, entry: Entry) -> None:
        """Record how a write ended; an entry that was never reserved is ignored.

        Args:
            entry: The write, with its final state.

        Raises:
            LedgerError: The end cannot be recorded; the client then issues a `LedgerWarning`.
        """
        ...


@public_in("adclient.ledger")
class LedgerWarning(UserWarning):
    """A write ended, and the ledger could not record how; the text names the draft, if any.

    A `SharedGate` issues it as well, if it could not record a pause or the end of a request.

    Examples:
        >>> import warnings
        >>> from adclient.ledger import LedgerWarning
        >>> warnings.filterwarnings("error", category=LedgerWarning)  # after the draft is staged
    """
