"""The drafts that were staged, and the trail of what became of them."""

import hashlib
from datetime import datetime, timedelta
from typing import Literal

import attrs

from adclient.models import HUMAN_TWO_STEP_APPROVE, JSON, PENDING_APPROVAL, Diff
from adclient.testing.changes import Change
from adclient.testing.clock import FakeClock
from adclient.testing.ids import unique_id
from adclient.testing.state import Edit

DraftStatus = Literal["pending_approval", "armed", "applied", "rejected", "stale", "apply_failed"]
EventKind = Literal["staged", "armed", "approved", "rejected", "stale", "applied", "apply_failed"]
OPEN: tuple[DraftStatus, ...] = ("pending_approval", "armed")
_LIFE = timedelta(hours=48)


@attrs.frozen(kw_only=True)
class FakeDraft:
    """A draft as the approval dashboard sees it; a client sees four of these fields once.

    Attributes:
        draft_id: The id that the client was given.
        operation: The operation that staged it, such as `alpha.update_campaign_budget`.
        account_id: The account that it is for.
        target: The id of what it would change; None if it makes something, or changes several.
        status: `pending_approval`, `armed`, `applied`, `rejected`, `stale` or `apply_failed`.
        diff: What it would change.
        created_at: When it was staged, by the fake's clock.
        expires_at: When it turns stale if nobody approves it.
        armed_at: When the first step of its approval was made.
        reviewer: Who made the latest step.
        edits: What approval would change, entity by entity.
    """

    draft_id: str
    operation: str
    account_id: str
    target: str | None
    status: DraftStatus
    diff: Diff
    created_at: datetime
    expires_at: datetime
    armed_at: datetime | None = None
    reviewer: str | None = None
    edits: tuple[Edit, ...] = attrs.field(default=(), repr=False)

    @property
    def is_open(self) -> bool:
        """Whether it can still be approved or rejected."""
        return self.status in OPEN


@attrs.frozen(kw_only=True)
class AuditEvent:
    """One line of the audit trail.

    Attributes:
        seq: Its number, from 1.
        at: When it happened, by the fake's clock.
        actor: Who did it: a reviewer, `client` or `service`.
        kind: What happened, such as `staged` or `applied`.
        draft_id: The draft that it happened to.
        hash: A hash of this line and of `prev_hash`.
        prev_hash: The hash of the line before, so that none can be changed unseen.
    """

    seq: int
    at: datetime
    actor: str
    kind: EventKind
    draft_id: str
    hash: str
    prev_hash: str


class DraftBook:
    """Keeps the drafts and their trail; approval is the dashboard's business."""

    def __init__(self, seed: str, clock: FakeClock) -> None:
        self._seed = seed
        self._clock = clock
        self._drafts: dict[str, FakeDraft] = {}
        self.events: list[AuditEvent] = []

    def stage(self, operation: str, account_id: str, change: Change) -> FakeDraft:
        """Take a change up as a draft that waits for approval."""
        now = self._clock.now()
        draft = FakeDraft(
            draft_id=unique_id("draft", f"{self._seed}:{len(self._drafts)}", self._drafts),
            operation=operation,
            account_id=account_id,
            target=change.target,
            status=PENDING_APPROVAL,
            diff=Diff(field=change.field, before=change.before, after=change.after),
            created_at=now,
            expires_at=now + _LIFE,
            edits=change.edits,
        )
        self.record(draft, "staged", "client")
        return draft

    def all(self) -> tuple[FakeDraft, ...]:
        """Every draft, oldest first; one that waited too long has turned stale."""
        for draft in list(self._drafts.values()):
            if draft.is_open and self._clock.now() >= draft.expires_at:
                self.record(attrs.evolve(draft, status="stale"), "stale", "service")
        return tuple(self._drafts.values())

    def record(self, draft: FakeDraft, kind: EventKind, actor: str) -> FakeDraft:
        """Keep a draft's new state, and write a line of the trail."""
        self._drafts[draft.draft_id] = draft
        previous = self.events[-1].hash if self.events else ""
        seq, at = len(self.events) + 1, self._clock.now()
        line = f"{previous}:{seq}:{at.isoformat()}:{actor}:{kind}:{draft.draft_id}"
        self.events.append(
            AuditEvent(
                seq=seq,
                at=at,
                actor=actor,
                kind=kind,
                draft_id=draft.draft_id,
                hash=hashlib.sha256(line.encode()).hexdigest(),
                prev_hash=previous,
            )
        )
        return draft


def on_the_wire(draft: FakeDraft) -> dict[str, JSON]:
    """A draft as the interface shows it: four keys, with its status at creation."""
    return {
        "draft_id": draft.draft_id,
        "status": PENDING_APPROVAL,
        "diff": draft.diff.to_dict(),
        "requires": HUMAN_TWO_STEP_APPROVE,
    }
