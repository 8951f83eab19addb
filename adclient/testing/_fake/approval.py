"""Drafts, and the two steps in which a human approves them, which no client can reach."""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime, timedelta
from itertools import islice
from threading import RLock
from typing import Literal, Self

import attrs

from adclient._values.json_values import copied
from adclient.models import HUMAN_TWO_STEP_APPROVE, PENDING_APPROVAL, Diff, Draft
from adclient.testing._fake.accounts import Account, Accounts, Edit, ProposedChange
from adclient.testing._fake.clock import FakeClock

DraftStatus = Literal["pending_approval", "armed", "applied", "rejected", "stale"]
EventKind = Literal["staged", "armed", "disarmed", "approved", "rejected", "stale", "applied"]
_ARMED_FOR = timedelta(minutes=10)
_LIFE = timedelta(hours=48)


@attrs.frozen(kw_only=True, repr=False)
class FakeDraft:
    """A draft as the approval dashboard shows it; a client receives only the id and the diff.

    Attributes:
        draft_id: The id that the client received.
        operation: The operation that staged it, such as `alpha.update_campaign_budget`.
        account_id: Its account.
        account_name: The name of that account.
        currency: The currency of that account, such as `USD`.
        target: The id of what it would change; None if it would create something, or change several
            things.
        target_name: The name of the target; None if there is no target.
        status: `pending_approval`, `armed`, `applied`, `rejected` or `stale`.
        diff: What it would change.
        created_at: When it was staged, by the fake's clock, in UTC.
        expires_at: When it becomes stale if nobody approves it: 48 hours later.
        armed_at: When the first step of its approval was last taken; None if it never was.
        reviewer: Who took the latest step.
        reason: Why it was rejected, if the reviewer gave a reason.
        edits: What approval would change, entity by entity.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
        >>> armed = fake.dashboard.arm(draft.draft_id, reviewer="Ines")
        >>> armed.is_open, armed.armed_until.isoformat()
        (True, '2026-03-02T09:10:00+00:00')
    """

    draft_id: str
    operation: str
    account_id: str
    account_name: str
    currency: str
    target: str | None
    target_name: str | None
    status: DraftStatus
    diff: Diff
    created_at: datetime
    expires_at: datetime
    armed_at: datetime | None = None
    reviewer: str | None = None
    reason: str | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def is_open(self) -> bool:
        """True while it can be approved or rejected."""
        return self.status in ("pending_approval", "armed")

    @property
    def armed_until(self) -> datetime | None:
        """The time, in UTC, until which it can be confirmed; None if it is not armed."""
        since = self.armed_at if self.status == "armed" else None
        return None if since is None else since + _ARMED_FOR

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        if not self.is_open:
            return self  # snapshots share what takes no further effect
        diff, edits = deepcopy((self.diff, self.edits), memo)
        return attrs.evolve(self, diff=diff, edits=edits)

    def __repr__(self) -> str:
        return f"<FakeDraft {self.draft_id}, {self.operation}, {self.diff!r}, {self.status}>"


@attrs.frozen(kw_only=True)
class AuditEvent:
    """One line of the audit trail.

    Attributes:
        seq: The number of the line, from 1.
        at: When it happened, by the fake's clock, in UTC.
        actor: Who did it: a reviewer, `client` or `service`.
        kind: What happened: `staged`, `armed`, `disarmed`, `approved`, `rejected`, `stale` or
            `applied`.
        draft_id: The draft that it happened to.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> draft = fake.client().delta.remove_auto_search_themes(account_id="account_d118")
        >>> event = fake.dashboard.events[0]
        >>> event.seq, event.kind, event.actor
        (1, 'staged', 'client')
    """

    seq: int
    at: datetime
    actor: str
    kind: EventKind
    draft_id: str

    def __deepcopy__(self, _: object) -> Self:
        return self  # snapshots share what never changes


def is_armed_by(draft: FakeDraft, reviewer: str) -> bool:
    """Check if a reviewer has armed a draft; case and spaces of the name do not matter."""
    names = (" ".join(name.casefold().split()) for name in (draft.reviewer or "", reviewer))
    return draft.status == "armed" and len(set(names)) == 1


def draft_body(draft: FakeDraft) -> Mapping[str, object]:
    """A draft as the interface shows it: four keys, with its status at creation."""
    return {
        "draft_id": draft.draft_id,
        "status": PENDING_APPROVAL,
        "diff": draft.diff.to_dict(),
        "requires": HUMAN_TWO_STEP_APPROVE,
    }


class DraftStore:
    """All open drafts, the latest of the closed ones, and the audit trail."""

    def __init__(self, seed: str, clock: FakeClock, history: int) -> None:
        self._seed = seed
        self._clock = clock
        self._history = history
        self._drafts: dict[str, FakeDraft] = {}
        # In the order in which they expire, because the clock only goes forward. The first key of
        # a plain dict is slow to find once many before it were deleted.
        self._open: OrderedDict[str, None] = OrderedDict()
        self._closed: deque[str] = deque()
        self._events: deque[AuditEvent] = deque(maxlen=history)
        self.staged: int = 0

    def all(self) -> tuple[FakeDraft, ...]:
        """Every stored draft, oldest first."""
        self._expire()
        return tuple(map(self._current, self._drafts.values()))

    def open(self, limit: int | None = None) -> tuple[FakeDraft, ...]:
        """The open drafts, or the first of them, oldest first."""
        self._expire()
        return tuple(
            self._current(self._drafts[draft_id]) for draft_id in islice(self._open, limit)
        )

    def find(self, draft_id: str) -> FakeDraft | None:
        """One draft, as it is now."""
        self._expire()
        draft = self._drafts.get(draft_id)
        return None if draft is None else self._current(draft)

    def outdated(self, account: Account) -> list[FakeDraft]:
        """The open drafts of an account whose "before" is no longer true."""
        mine = [draft for draft in self.open() if draft.account_id == account.given.id]
        return [draft for draft in mine if not account.fits(draft.edits)]

    def events(self) -> tuple[AuditEvent, ...]:
        """The latest events, oldest first."""
        self._expire()
        return tuple(self._events)

    def stage(self, operation: str, account: Account, change: ProposedChange) -> FakeDraft:
        """Store a change as a draft that waits for approval."""
        now, target, given = self._clock.now(), change.target, account.given
        draft = FakeDraft(
            draft_id=nth_id("draft", self._seed, self.staged),
            operation=operation,
            account_id=given.id,
            account_name=given.name or given.id,
            currency=given.currency,
            target=None if target is None else target.id,
            target_name=None if target is None else target.name,
            status=PENDING_APPROVAL,
            # Copies, so that holders of a draft cannot change the live data.
            diff=Diff(field=change.field, before=copied(change.before), after=copied(change.after)),
            created_at=now,
            expires_at=now + _LIFE,
            edits=deepcopy(change.edits),
        )
        self.staged += 1
        self._open[draft.draft_id] = None
        return self.record(draft, "staged", "client")

    def record(
        self, draft: FakeDraft, kind: EventKind, actor: str, at: datetime | None = None
    ) -> FakeDraft:
        """Store a draft's new state, and add an event to the audit trail."""
        self._drafts[draft.draft_id] = draft
        if not draft.is_open and draft.draft_id in self._open:
            del self._open[draft.draft_id]
            self._closed.append(draft.draft_id)
            if len(self._closed) > self._history:
                del self._drafts[self._closed.popleft()]
        event = AuditEvent(
            seq=self._events[-1].seq + 1 if self._events else 1,
            at=at or self._clock.now(),
            actor=actor,
            kind=kind,
            draft_id=draft.draft_id,
        )
        self._events.append(event)
        return draft

    def _expire(self) -> None:
        """Close the drafts that nobody has approved for two days."""
        now = self._clock.now()
        while self._open:
            draft = self._drafts[next(iter(self._open))]
            if now < draft.expires_at:
                break
            self.record(attrs.evolve(draft, status="stale"), "stale", "service", draft.expires_at)

    def _current(self, draft: FakeDraft) -> FakeDraft:
        """A draft as it is now; the first step of its approval expires after ten minutes."""
        if draft.armed_until is None or self._clock.now() <= draft.armed_until:
            return draft
        return attrs.evolve(draft, status=PENDING_APPROVAL)


def nth_id(kind: str, seed: str, number: int) -> str:
    """An id for a number; different numbers have different ids."""
    start = int(hashlib.sha256(f"{kind}:{seed}".encode()).hexdigest()[:4], 16)
    lap, place = divmod(number, _LAP)
    digits = (start + place * _STRIDE) % _LAP
    return f"{kind}_{digits:04x}" + (f"{lap:x}" if lap else "")


# The stride is odd, so every four digits come once in a lap.
_LAP, _STRIDE = 0x10000, 0x9E37


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


@attrs.define(slots=False, eq=False, repr=False)
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

    _drafts: DraftStore
    _accounts: Accounts
    _clock: FakeClock
    _lock: RLock
    two_reviewers: bool

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
            draft = self._drafts.record(draft, "approved", reviewer)
            account = self._accounts.get(draft.account_id)
            if account is None or not account.fits(draft.edits):
                return self._close(draft, "stale")
            for edit in draft.edits:
                account.apply(edit)
            applied = self._close(draft, "applied")
            for other in self._drafts.outdated(account):
                self._close(other, "stale")
            return applied

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

    def _close(self, draft: FakeDraft, status: Literal["applied", "stale"]) -> FakeDraft:
        return self._drafts.record(attrs.evolve(draft, status=status), status, "service")
