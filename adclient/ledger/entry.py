"""One write in a ledger, and what a client needs of a ledger."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal, Protocol

import attrs

from adclient import _diffs, _notebook
from adclient._json import JSON, copied
from adclient.models import Diff
from adclient.policy import Refusal, Usage

State = Literal["admitted", "staged", "not staged", "refused", "unknown"]


@attrs.frozen(kw_only=True, repr=False)
class Entry(_notebook.HTMLRepr):
    """One write in a ledger, from its admission to its end.

    Attributes:
        entry_id: The id of the entry.
        at: When the write was admitted or refused, in UTC.
        state: `admitted` before the request is sent, and forever if the process ended then;
            afterwards `staged`, `not staged`, `refused` by the policy, or `unknown`.
        operation: The method that was called, such as `alpha.update_campaign_budget`.
        account_id: The account of the write.
        arguments: The arguments of the call, as JSON.
        change: The plan and the change that the write belongs to; None outside a plan.
        draft_id: The id of the draft, if one is known.
        diff: The change that the draft would make, as it was received.
        rule: The rule of the policy that refused the write.
        reason: Why the write was refused, not staged, or of unknown outcome.
        over_limit: What limit of the policy the draft exceeds; it should be rejected.
        settled_by: Who settled an unknown outcome, or a draft that was over a limit.
    """

    __module__ = "adclient.ledger"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name

    entry_id: str
    at: datetime = attrs.field(factory=lambda: datetime.now(UTC))
    state: State = "admitted"
    operation: str
    account_id: str
    arguments: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)
    change: str | None = None
    draft_id: str | None = None
    diff: Diff | None = None
    rule: str | None = None
    reason: str | None = None
    over_limit: str | None = None
    settled_by: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether a draft may have been staged, and nobody knows; true as well during the call."""
        return self.state in ("admitted", "unknown")

    def to_dict(self) -> dict[str, JSON]:
        """The entry as JSON, without what it does not have."""
        fields: dict[str, JSON] = {name: getattr(self, name) for name in attrs.fields_dict(Entry)}
        fields["at"] = self.at.isoformat(timespec="microseconds")
        fields["arguments"] = dict(self.arguments)
        fields["diff"] = None if self.diff is None else self.diff.to_dict()
        return {name: copied(value) for name, value in fields.items() if value is not None}

    def __repr__(self) -> str:
        what = self.draft_id or self.reason
        parts = [self.operation, self.account_id, self.state, *([what] if what else [])]
        return f"<Entry {', '.join(map(_notebook.short, parts))}>"

    def _repr_html_(self) -> str:
        fields = self.to_dict()
        for name in ("state", "arguments", "diff", "reason"):  # shown apart from the others
            fields.pop(name, None)
        arguments = ((n, value) for n, value in self.arguments.items() if n not in fields)
        rows, more = _notebook.first_rows([*fields.items(), *arguments])
        notes = [*filter(None, [self.reason]), *more]
        if self.diff is not None:
            changes, remarks = _diffs.rows(self.diff)
            rows, notes = [*rows, *changes], [*notes, *remarks]
        return _notebook.card("Entry", rows, state=self.state, notes=notes)


Check = Callable[[Usage], Refusal | None]
"""Why a write is refused, given what the ledger holds; None if it is admitted."""


class Ledger(Protocol):
    """A record of all writes: each is recorded before it is sent, and again when it has ended.

    This is what a client needs of a ledger; `SQLiteLedger` is one. Both methods may block: async
    clients call them in a thread.
    """

    __module__: str = "adclient.ledger"  # its public name, which pickles and tracebacks show

    def reserve(self, entry: Entry, check: Check) -> Entry:
        """Record a write before it is sent, in one transaction with its check.

        Args:
            entry: The write, with its state `admitted`; or `refused`, which is only recorded.
            check: Called with what the ledger holds; must not be called for a refused entry.

        Returns:
            The entry as it was recorded: `admitted`, or `refused` with the reason of the check.
            If the ledger holds an entry of the same `change` that was neither refused nor ended
            `not staged`, that one, and nothing is recorded.

        Raises:
            LedgerError: The entry cannot be recorded; the write is then not sent.

        Example:
            >>> from adclient import Entry, Ledger
            >>> class Logged:  # a ledger that adds something to another one
            ...     def __init__(self, ledger: Ledger) -> None:
            ...         self._ledger = ledger
            ...     def reserve(self, entry, check):
            ...         print("asks for admission:", entry.operation)
            ...         return self._ledger.reserve(entry, check)
            ...     def end(self, entry):
            ...         self._ledger.end(entry)
        """
        ...

    def end(self, entry: Entry) -> None:
        """Record how a write ended. An entry that was never admitted is ignored.

        Args:
            entry: The write, with its final state.

        Returns:
            Nothing.

        Raises:
            LedgerError: The end cannot be recorded; the caller of the client gets a warning.

        Example:
            See `reserve`.
        """
        ...


class LedgerWarning(UserWarning):
    """The ledger could not record how a call ended; the text names the draft, if there is one."""

    __module__ = "adclient.ledger"  # its public name, which pickles and tracebacks show
    __firstlineno__ = None  # so `??` does not look for it in the file of that name
