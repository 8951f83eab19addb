"""The policy and the ledger of a client: they admit each call, and record how each write ends."""

from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Self
from uuid import uuid4

import attrs

from adclient._tasks.clock import LONGEST_END, REPORTING, monotonic
from adclient._values.redact import one_line
from adclient._values.text import name_of
from adclient.errors import AdClientError, ConfigurationError, PolicyRefused
from adclient.extend import Call, parts_of, warn
from adclient.ledger.entry import Entry, Ledger, LedgerWarning, State, waiting_until
from adclient.models import Diff, Draft, Result
from adclient.options import check_methods, check_type
from adclient.policy import Policy, PolicyWarning, rules

_UNREADABLE = Diff(field="", before=None, after=None)  # which shows nothing

if TYPE_CHECKING:
    from adclient import AdClient, AsyncAdClient


class AlreadyReserved(Exception):
    """The ledger has a write for the same change of a plan, so this one was not sent."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.entry = entry


@attrs.frozen(eq=False, repr=False)
class RecordedCall(Call):
    """A call whose caller reads how it was recorded; that of a change in a plan says why.

    `ended` has its entry once it has ended, if its client has a ledger.
    """

    change: str | None = None
    why: str | None = None
    ended: list[Entry] = attrs.field(factory=list[Entry])

    @classmethod
    def of(cls, call: Call, change: str | None = None, why: str | None = None) -> Self:
        """The call with what a ledger records besides."""
        return cls(**attrs.asdict(call, recurse=False), change=change, why=why)

    @property
    def over_limit(self) -> str | None:
        """The limit of the policy that its draft exceeds, in words."""
        return self.ended[0].over_limit if self.ended else None


@attrs.frozen(eq=False)
class Guard:
    """The policy and the ledger of one client: its `adclient.extend.CallGuard`."""

    policy: Policy
    ledger: Ledger | None
    kept_open: ExitStack = attrs.field(factory=ExitStack)  # what the ledger keeps for this client

    @property
    def shown(self) -> dict[str, str]:
        """The rules and the ledger, for display."""
        shown = {} if self.policy == Policy() else {"policy": repr(self.policy)}
        if self.ledger is not None:
            shown["ledger"] = name_of(self.ledger)
        return shown

    def admit(self, call: Call, actor: str | None) -> "LedgerRecord | None":
        """The record of a call in the ledger, also of one that `reserve` refuses; None without one.

        Raises:
            PolicyRefused: The policy does not allow the call, and no ledger has to record that.
        """
        refusal, name = rules.refusal_of(self.policy, call), call.operation.full_name
        if self.ledger is None or not call.operation.is_write:
            if refusal is not None:
                raise _refused(name, *refusal)
            return None
        rule, reason = refusal or (None, None)
        recorded = call if isinstance(call, RecordedCall) else RecordedCall.of(call)
        entry = Entry(
            entry_id=uuid4().hex,
            state="refused" if refusal else "under way",
            operation=name,
            account_id=call.account_id,
            arguments=call.arguments,
            change=recorded.change,
            actor=actor,
            why=recorded.why,
            rule=rule,
            reason=reason,
        )
        return LedgerRecord(self.policy, self.ledger, entry, recorded.ended)


@attrs.frozen(eq=False)
class LedgerRecord:
    """One write in a ledger: an `adclient.extend.Record`."""

    policy: Policy
    ledger: Ledger
    entry: Entry
    ended: list[Entry]

    def reserve(self, seconds: float) -> None:
        """Record the write before it is sent. Our ledgers wait at most so many seconds.

        Raises:
            PolicyRefused: The policy does not allow it.
            LedgerError: The ledger cannot record it.
            AlreadyReserved: The change of the plan was made before.
        """
        deadline = datetime.now(UTC) + timedelta(seconds=seconds + LONGEST_END)
        check = partial(rules.refusal_of_usage, self.policy, self.entry)
        with waiting_until(monotonic() + seconds):
            recorded = self.ledger.reserve(attrs.evolve(self.entry, deadline=deadline), check)
        # A refused one has the id of its first refusal.
        if recorded.state != "refused" and recorded.entry_id != self.entry.entry_id:
            raise AlreadyReserved(recorded)
        if "refused" in (self.entry.state, recorded.state):  # whatever the ledger says of the first
            raise _refused(recorded.operation, recorded.rule, recorded.reason)

    def end(self, result: Result | BaseException, attempts: int) -> None:
        """Record how the write ended, without an error: the caller must receive the draft."""
        state: State = "staged"
        draft_id, diff, reason = None, None, None
        if isinstance(result, Draft):
            draft_id, diff = result.draft_id, result.diff
        else:
            # Other errors, such as a cancellation, show nothing about the draft. Their text may
            # contain secrets, such as that of an error of the caller's token function.
            is_unknown, reason = attempts > 0, type(result).__name__
            if isinstance(result, AdClientError):
                is_unknown, draft_id = result.outcome_unknown, result.draft_id
                reason = one_line(f"{reason}: {result}")
            state = "unknown" if is_unknown else "not staged"
        over_limit = None
        if state != "not staged" and draft_id is not None:
            try:
                over_limit = rules.excess_of(self.policy, self.entry, diff or _UNREADABLE)
            except Exception as error:  # nothing that a service sends may lose the draft
                over_limit = f"change_at_most could not be checked: {one_line(repr(error))}"
        ended = attrs.evolve(
            self.entry,
            state=state,
            draft_id=draft_id,
            diff=diff,
            reason=reason,
            over_limit=over_limit,
        )
        self.ended.append(ended)
        # Even if it had to wait until it could begin: a late record is better than none.
        try:
            with waiting_until(monotonic() + LONGEST_END - REPORTING):
                self.ledger.end(ended)
        except Exception as error:
            what = f"draft {ended.draft_id}" if ended.draft_id else "the end of a call"
            problem = f"the ledger could not record {what}, so its entry {ended.entry_id}"
            warn(f"{ended.operation}: {problem} becomes unknown: {error}", LedgerWarning)
        if ended.over_limit is not None:
            what = f"over your limit: reject {ended.draft_id} in the approval dashboard"
            warn(f"{ended.operation}: {what}: {ended.over_limit}", PolicyWarning)


def resolve_guard(policy: Policy | None, ledger: Ledger | None) -> Guard:
    """Check the policy and the ledger of a new client."""
    check_type("policy", policy, Policy)
    policy = policy or Policy()
    if ledger is None:
        tables = policy, *(policy.account or {}).values()
        for rule in ("change_at_most", "drafts_per_day", "no_repeat_within"):
            if any(getattr(table, rule) is not None for table in tables):
                problem = f"policy: {rule} needs a ledger; pass ledger="
                raise ConfigurationError(problem, argument="ledger")
    check_methods("ledger", ledger, "SQLiteLedger", "reserve", "end")
    guard = Guard(policy, ledger)
    guard.kept_open.enter_context(getattr(ledger, "__kept_open__", nullcontext)())
    return guard


def guard_of(client: "AdClient | AsyncAdClient") -> Guard:
    """The policy and the ledger of a client, which may have neither."""
    guard = parts_of(client).guard
    return guard if isinstance(guard, Guard) else Guard(Policy(), None)


def _refused(operation: str, rule: str | None, reason: str | None) -> PolicyRefused:
    text = f"{operation}: {reason}; nothing was sent"
    return PolicyRefused(text, operation=operation, rule=rule or "")
