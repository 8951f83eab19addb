"""Keeps the drafts. What it costs to find one does not grow with how many there were."""

import hashlib
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

import attrs

from adclient._core import jsontext
from adclient._json import copied
from adclient.models import PENDING_APPROVAL, Diff
from adclient.testing._accounts.ids import nth_id
from adclient.testing._accounts.state import Account, Edit, Kind
from adclient.testing._approval.audit import AuditTrail
from adclient.testing._approval.drafts import EventKind, FakeDraft
from adclient.testing._clock import FakeClock
from adclient.testing._writes.changes import Change

ARMED_FOR = timedelta(minutes=10)
_LIFE = timedelta(hours=48)
_Place = tuple[str, Kind, str]


class DraftBook:
    """All open drafts and the latest of the others; approval is the dashboard's business."""

    def __init__(self, seed: str, clock: FakeClock, history: int) -> None:
        self._seed = seed
        self._clock = clock
        self._history = history
        self._drafts: dict[str, FakeDraft] = {}
        # Both are in the order in which they end, because the clock only goes forward.
        self._open: OrderedDict[str, None] = OrderedDict()
        self._armed: OrderedDict[str, None] = OrderedDict()
        self._closed: deque[str] = deque()
        self._open_in: Counter[str] = Counter()
        self._touching: dict[_Place, dict[str, None]] = {}
        self._same: dict[str, str] = {}
        self.staged: int = 0
        self.trail: AuditTrail = AuditTrail(history)

    def all(self) -> tuple[FakeDraft, ...]:
        """Every draft that is kept, oldest first."""
        self.refresh()
        return tuple(self._drafts.values())

    def open(self, limit: int | None = None) -> tuple[FakeDraft, ...]:
        """The open drafts, or the first of them, oldest first."""
        self.refresh()
        return tuple(self._drafts[draft_id] for draft_id in islice(self._open, limit))

    def count_open(self) -> int:
        """How many drafts are open."""
        self.refresh()
        return len(self._open)

    def open_in(self, account_id: str) -> int:
        """How many drafts of an account are open."""
        self.refresh()
        return self._open_in[account_id]

    def find(self, draft_id: str) -> FakeDraft | None:
        """One draft, as it is now."""
        self.refresh()
        return self._drafts.get(draft_id)

    def same_as(self, account_id: str, change: Change) -> FakeDraft | None:
        """The open draft that would make the same change."""
        self.refresh()
        draft_id = self._same.get(_fingerprint(account_id, change))
        return None if draft_id is None else self._drafts[draft_id]

    def rivals_of(self, draft: FakeDraft) -> list[FakeDraft]:
        """The other open drafts that touch a value that this one touches."""
        near = {i: None for place in _places(draft) for i in self._touching.get(place, ())}
        others = [self._drafts[draft_id] for draft_id in near if draft_id != draft.draft_id]
        return [
            other
            for other in others
            if any(a.overlaps(b) for a in _all(draft) for b in _all(other))
        ]

    def stage(
        self,
        operation: str,
        account: Account,
        change: Change,
        *,
        actor: str = "client",
        reverts: str | None = None,
    ) -> FakeDraft:
        """Take a change up as a draft that waits for approval."""
        now = self._clock.now()
        draft = FakeDraft(
            draft_id=nth_id("draft", self._seed, self.staged),
            operation=operation,
            account_id=account.id,
            account_name=account.name,
            currency=account.currency.code,
            target=change.target,
            target_name=None if change.target is None else account.name_of(change.target),
            status=PENDING_APPROVAL,
            # A copy: whoever holds the draft shall not hold the live data.
            diff=Diff(field=change.field, before=copied(change.before), after=copied(change.after)),
            created_at=now,
            expires_at=now + _LIFE,
            edits=change.edits,
            reverts=reverts,
            fingerprint=_fingerprint(account.id, change),
        )
        self.staged += 1
        self._add(draft)
        return self.record(draft, "staged", actor)

    def record(
        self, draft: FakeDraft, kind: EventKind, actor: str, at: datetime | None = None
    ) -> FakeDraft:
        """Keep a draft's new state, and write a line of the trail, of now or of a time before."""
        self._keep(draft)
        self.trail.write(kind, actor, draft.draft_id, at or self._clock.now())
        return draft

    def refresh(self) -> None:
        """Let end what the clock has ended: drafts after two days, a first step after minutes."""
        now = self._clock.now()
        for draft in self._first(self._open):
            if now < draft.expires_at:
                break
            self.record(attrs.evolve(draft, status="stale"), "stale", "service", draft.expires_at)
        for draft in self._first(self._armed):
            if draft.armed_at is None or now - draft.armed_at <= ARMED_FOR:
                break
            self._keep(attrs.evolve(draft, status=PENDING_APPROVAL))

    def _first(self, ids: OrderedDict[str, None]) -> Iterator[FakeDraft]:
        """Again and again the first of some drafts, for as long as there is one."""
        while ids:
            yield self._drafts[next(iter(ids))]

    def _add(self, draft: FakeDraft) -> None:
        self._open[draft.draft_id] = None
        self._open_in[draft.account_id] += 1
        self._same[draft.fingerprint] = draft.draft_id
        for place in _places(draft):
            self._touching.setdefault(place, {})[draft.draft_id] = None

    def _keep(self, draft: FakeDraft) -> None:
        self._drafts[draft.draft_id] = draft
        self._armed.pop(draft.draft_id, None)
        if draft.status == "armed":
            self._armed[draft.draft_id] = None
        if not draft.is_open and draft.draft_id in self._open:
            self._close(draft)

    def _close(self, draft: FakeDraft) -> None:
        """Take a draft off the lists of open ones, and forget the oldest of the others."""
        del self._open[draft.draft_id]
        self._open_in[draft.account_id] -= 1
        if self._same.get(draft.fingerprint) == draft.draft_id:
            del self._same[draft.fingerprint]
        for place in _places(draft):
            touching = self._touching[place]
            touching.pop(draft.draft_id, None)
            if not touching:
                del self._touching[place]
        self._closed.append(draft.draft_id)
        if len(self._closed) > self._history:
            del self._drafts[self._closed.popleft()]


def _places(draft: FakeDraft) -> set[_Place]:
    """What a draft would change."""
    return {(draft.account_id, edit.kind, edit.id) for edit in _all(draft) if edit.id is not None}


def _all(draft: FakeDraft) -> list[Edit]:
    return [edit for part in draft.edits for edit in part.flat]


def _fingerprint(account_id: str, change: Change) -> str:
    """The same for drafts of one account that make the same change."""
    asked = [account_id, change.target, change.field, change.before, change.after]
    return hashlib.sha256(jsontext.dumps(asked, "draft").encode()).hexdigest()
