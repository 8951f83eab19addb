"""The approval dashboard: the two steps of a human, which no client can reach."""

from threading import RLock
from typing import Literal

import attrs

from adclient.models import PENDING_APPROVAL, Draft
from adclient.testing._approval.drafts import AuditEvent, DraftStore, FakeDraft, is_armed_by
from adclient.testing._fake.accounts import Accounts
from adclient.testing._fake.clock import FakeClock


class ApprovalRefused(Exception):
    """A step of the approval is not possible; the message is the reason.

    Examples:
        >>> from adclient.testing import ApprovalRefused, FakeAdService
        >>> try:
        ...     FakeAdService().dashboard.arm("draft_0000", reviewer="Ines")
        ... except ApprovalRefused as refused:
        ...     print(refused)
        there is no draft draft_0000
    """


class Dashboard:
    """The approval dashboard, in which a human approves or rejects drafts.

    A draft takes effect after two steps: `arm` shows its diff again, and `confirm`, within ten
    minutes, applies it; `approve` takes both. No request to the service can do either.

    Attributes:
        two_reviewers: Whether the two steps need two people, as set in `Profile`.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> client = fake.client()
        >>> draft = client.beta.pause_campaign(
        ...     account_id="account_b204", campaign_id="campaign_57a7"
        ... )
        >>> fake.dashboard.waiting
        1
        >>> fake.dashboard.arm(draft, reviewer="Ines").diff.after
        'PAUSED'
        >>> fake.dashboard.confirm(draft, reviewer="Ines").status
        'applied'
        >>> [event.kind for event in fake.dashboard.events]
        ['staged', 'armed', 'approved', 'applied']
    """

    def __init__(
        self,
        drafts: DraftStore,
        accounts: Accounts,
        clock: FakeClock,
        lock: RLock,
        two_reviewers: bool,
    ) -> None:
        self.two_reviewers: bool = two_reviewers
        self._drafts = drafts
        self._accounts = accounts
        self._clock = clock
        self._lock = lock

    def __repr__(self) -> str:
        return f"<Dashboard, {self.waiting} waiting>"

    @property
    def events(self) -> tuple[AuditEvent, ...]:
        """The audit trail, oldest first."""
        with self._lock:
            return self._drafts.events()

    @property
    def waiting(self) -> int:
        """The number of drafts that wait for a human."""
        with self._lock:
            return len(self._drafts.open())

    def pending(self, limit: int | None = None) -> tuple[FakeDraft, ...]:
        """Return the drafts that wait for a human, oldest first.

        Args:
            limit: How many drafts to return at most; None for all.

        Returns:
            The drafts, as they are now.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> [waiting.draft_id == draft.draft_id for waiting in fake.dashboard.pending()]
            [True]
        """
        with self._lock:
            return self._drafts.open(limit)

    def draft(self, draft_id: str | Draft | FakeDraft) -> FakeDraft:
        """Return one draft as it is now.

        Args:
            draft_id: The draft, or its id.

        Returns:
            The draft, open or closed.

        Raises:
            ApprovalRefused: There is no such draft, or none that is still stored.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> fake.dashboard.draft(draft.draft_id).operation
            'delta.remove_auto_search_themes'
        """
        with self._lock:
            given = draft_id if isinstance(draft_id, str) else draft_id.draft_id
            draft = self._drafts.find(given)
            if draft is None:
                raise ApprovalRefused(f"there is no draft {given}")
            return draft

    def arm(self, draft_id: str | Draft | FakeDraft, *, reviewer: str) -> FakeDraft:
        """Take the first step of an approval.

        Args:
            draft_id: The draft, or its id.
            reviewer: The name of the human.

        Returns:
            The draft, with the diff that `confirm` would apply.

        Raises:
            ApprovalRefused: The draft is unknown or closed, or the reviewer has no name.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> fake.dashboard.arm(draft.draft_id, reviewer="Ines").status
            'armed'
        """
        with self._lock:
            draft, now = self._open(draft_id, reviewer), self._clock.now()
            draft = attrs.evolve(draft, status="armed", armed_at=now, reviewer=reviewer)
            return self._drafts.record(draft, "armed", reviewer)

    def confirm(self, draft_id: str | Draft | FakeDraft, *, reviewer: str) -> FakeDraft:
        """Take the second step, which changes the live state.

        Args:
            draft_id: A draft that was armed at most ten minutes ago, or its id.
            reviewer: The name of the human.

        Returns:
            The draft, which is `applied`, or `stale` if the live data no longer matches the
                "before" of its diff.

        Raises:
            ApprovalRefused: The draft is unknown, closed or not armed, the reviewer has no name, or
                armed it where two people are needed.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> armed = fake.dashboard.arm(draft.draft_id, reviewer="Ines")
            >>> fake.dashboard.confirm(draft.draft_id, reviewer="Tove").status
            'applied'
        """
        with self._lock:
            draft = self._open(draft_id, reviewer)
            if draft.armed_at is None:
                raise ApprovalRefused(f"{draft.draft_id} must be armed before it is confirmed")
            if draft.status != "armed":
                raise ApprovalRefused(f"{draft.draft_id} was armed too long ago: arm it again")
            if self.two_reviewers and is_armed_by(draft, reviewer):
                raise ApprovalRefused(
                    f"{draft.draft_id} was armed by you: another person must confirm it"
                )
            draft = attrs.evolve(draft, reviewer=reviewer)
            return self._apply(self._drafts.record(draft, "approved", reviewer))

    def approve(self, draft: str | Draft | FakeDraft, *, reviewer: str = "reviewer") -> FakeDraft:
        """Take both steps of an approval at once, in the name of one human.

        Args:
            draft: The draft, or its id.
            reviewer: The name of the human.

        Returns:
            The draft, as `confirm` returns it.

        Raises:
            ApprovalRefused: The draft is unknown or closed, the reviewer has no name, or two people
                are needed: then use `arm` and `confirm`.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> fake.dashboard.approve(draft).status
            'applied'
        """
        with self._lock:
            self._open(draft, reviewer)
            if self.two_reviewers:
                raise ApprovalRefused("two people are needed: one calls arm, another confirm")
            self.arm(draft, reviewer=reviewer)
            return self.confirm(draft, reviewer=reviewer)

    def disarm(self, draft_id: str | Draft | FakeDraft, *, reviewer: str) -> FakeDraft:
        """Undo the first step; the draft waits for approval again.

        Args:
            draft_id: The draft, or its id.
            reviewer: The name of the human, who need not be the one who armed it.

        Returns:
            The draft, `pending_approval`.

        Raises:
            ApprovalRefused: The draft is unknown, closed or not armed, or the reviewer has no name.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> armed = fake.dashboard.arm(draft.draft_id, reviewer="Ines")
            >>> fake.dashboard.disarm(draft.draft_id, reviewer="Tove").status
            'pending_approval'
        """
        with self._lock:
            draft = self._open(draft_id, reviewer)
            if draft.status != "armed":
                raise ApprovalRefused(f"{draft.draft_id} is not armed")
            draft = attrs.evolve(draft, status=PENDING_APPROVAL, armed_at=None, reviewer=reviewer)
            return self._drafts.record(draft, "disarmed", reviewer)

    def reject(
        self, draft_id: str | Draft | FakeDraft, *, reviewer: str, reason: str | None = None
    ) -> FakeDraft:
        """Reject a draft; nothing changes.

        Args:
            draft_id: The draft, or its id.
            reviewer: The name of the human.
            reason: Why, as the approval page shows it.

        Returns:
            The draft, `rejected`, with the reason.

        Raises:
            ApprovalRefused: The draft is unknown or closed, or the reviewer has no name.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
            >>> rejected = fake.dashboard.reject(draft, reviewer="Ines", reason="Too early")
            >>> rejected.status, rejected.reason
            ('rejected', 'Too early')
        """
        with self._lock:
            draft = self._open(draft_id, reviewer)
            draft = attrs.evolve(draft, status="rejected", reviewer=reviewer, reason=reason)
            return self._drafts.record(draft, "rejected", reviewer)

    def _open(self, draft_id: str | Draft | FakeDraft, reviewer: str) -> FakeDraft:
        if not any(map(str.isalnum, reviewer)):
            raise ApprovalRefused("a reviewer must be named")
        draft = self.draft(draft_id)
        if not draft.is_open:
            raise ApprovalRefused(f"{draft.draft_id} is {draft.status}")
        return draft

    def _apply(self, draft: FakeDraft) -> FakeDraft:
        account = self._accounts.get(draft.account_id)
        if account is None or not account.fits(draft.edits):
            return self._close(draft, "stale")
        for edit in draft.edits:
            account.apply(edit)
        applied = self._close(draft, "applied")
        for other in self._drafts.outdated(account):
            self._close(other, "stale")
        return applied

    def _close(self, draft: FakeDraft, status: Literal["applied", "stale"]) -> FakeDraft:
        return self._drafts.record(attrs.evolve(draft, status=status), status, "service")
