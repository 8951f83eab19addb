"""The approval dashboard: the two steps of a human, which no client can reach."""

from datetime import timedelta
from threading import RLock

import attrs

from adclient.testing.accounts import Accounts
from adclient.testing.clock import FakeClock
from adclient.testing.drafts import AuditEvent, DraftBook, FakeDraft
from adclient.testing.state import Account, Edit, Kind

_ARMED_FOR = timedelta(minutes=10)


class ApprovalRefused(Exception):
    """A step of the approval is not possible; the text says why."""


class Dashboard:
    """Where a human approves or rejects drafts.

    A draft takes effect after two steps: `arm` shows its diff once more, and `confirm`, within
    ten minutes, applies it. No request to the service gets here.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> client = fake.client()
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> fake.dashboard.arm(draft.draft_id, reviewer="Ines").diff.after
        'PAUSED'
        >>> fake.dashboard.confirm(draft.draft_id, reviewer="Ines").status
        'applied'
        >>> client.beta.list_campaigns(account_id="account_b204").data[0].status
        'PAUSED'
    """

    def __init__(self, book: DraftBook, accounts: Accounts, clock: FakeClock, lock: RLock) -> None:
        self._book = book
        self._accounts = accounts
        self._clock = clock
        self._lock = lock

    @property
    def events(self) -> tuple[AuditEvent, ...]:
        """The audit trail, oldest first."""
        with self._lock:
            self._book.all()
            return tuple(self._book.events)

    def pending(self) -> tuple[FakeDraft, ...]:
        """The drafts that wait for a human, oldest first."""
        with self._lock:
            return tuple(draft for draft in self._book.all() if draft.is_open)

    def arm(self, draft_id: str, *, reviewer: str) -> FakeDraft:
        """Make the first step.

        Args:
            draft_id: The draft.
            reviewer: The name of the human.

        Returns:
            The draft, with the diff that `confirm` would apply.

        Raises:
            ApprovalRefused: The draft is unknown or no longer open, or the reviewer has no name.
        """
        with self._lock:
            draft = attrs.evolve(
                self._open(draft_id, reviewer),
                status="armed",
                armed_at=self._clock.now(),
                reviewer=reviewer,
            )
            return self._book.record(draft, "armed", reviewer)

    def confirm(self, draft_id: str, *, reviewer: str) -> FakeDraft:
        """Make the second step, after which the live state is changed.

        Args:
            draft_id: The draft, armed at most ten minutes ago.
            reviewer: The name of the human.

        Returns:
            The draft: `applied`, or `apply_failed` if it would make a campaign or keyword that is
                there by now.

        Raises:
            ApprovalRefused: The draft is not armed any more, unknown or no longer open, or the
                reviewer has no name.
        """
        with self._lock:
            draft = self._open(draft_id, reviewer)
            if draft.armed_at is None:
                raise ApprovalRefused(f"{draft_id} must be armed before it is confirmed")
            if self._clock.now() - draft.armed_at > _ARMED_FOR:
                raise ApprovalRefused(f"{draft_id} was armed too long ago: arm it again")
            self._book.record(attrs.evolve(draft, reviewer=reviewer), "approved", reviewer)
            return self._applied(attrs.evolve(draft, reviewer=reviewer))

    def reject(self, draft_id: str, *, reviewer: str) -> FakeDraft:
        """Turn a draft down; nothing is changed.

        Args:
            draft_id: The draft.
            reviewer: The name of the human.

        Returns:
            The draft, `rejected`.

        Raises:
            ApprovalRefused: The draft is unknown or no longer open, or the reviewer has no name.
        """
        with self._lock:
            draft = self._open(draft_id, reviewer)
            draft = attrs.evolve(draft, status="rejected", reviewer=reviewer)
            return self._book.record(draft, "rejected", reviewer)

    def _open(self, draft_id: str, reviewer: str) -> FakeDraft:
        if not reviewer.strip():
            raise ApprovalRefused("a reviewer must be named")
        draft = next((draft for draft in self._book.all() if draft.draft_id == draft_id), None)
        if draft is None:
            raise ApprovalRefused(f"there is no draft {draft_id}")
        if not draft.is_open:
            raise ApprovalRefused(f"{draft_id} is {draft.status}")
        return draft

    def _applied(self, draft: FakeDraft) -> FakeDraft:
        account = self._accounts.get(draft.account_id)
        assert account is not None, "a draft is staged for a known account only"
        if _makes_a_double(account, draft):
            draft = attrs.evolve(draft, status="apply_failed")
            return self._book.record(draft, "apply_failed", "service")
        for edit in draft.edits:
            account.apply(edit)
        self._turn_stale(draft)
        return self._book.record(attrs.evolve(draft, status="applied"), "applied", "service")

    def _turn_stale(self, applied: FakeDraft) -> None:
        """What other open drafts say was before is true no more, where they touch the same."""
        for other in self._book.all():
            touches = any(a.overlaps(b) for a in applied.edits for b in other.edits)
            if other.is_open and other.draft_id != applied.draft_id and touches:
                self._book.record(attrs.evolve(other, status="stale"), "stale", "service")


def _makes_a_double(account: Account, draft: FakeDraft) -> bool:
    """Whether a draft would make a campaign or keyword that is there by now."""
    return any(_is_double(account, edit) for edit in draft.edits if edit.id is None)


_TOLD_APART_BY: dict[Kind, tuple[str, ...]] = {
    "campaign": ("name",),
    "keyword": ("text", "match_type"),
}


def _is_double(account: Account, made: Edit) -> bool:
    keys = _TOLD_APART_BY.get(made.kind, ())
    wanted = [(made.after or {}).get(key) for key in keys]
    there = ([entity.values.get(key) for key in keys] for entity in account.of(made.kind))
    return bool(keys) and wanted in there
