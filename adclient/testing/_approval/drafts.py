"""A draft as the dashboard sees it, and the audit trail."""

from datetime import datetime
from typing import Literal

import attrs

from adclient.models import HUMAN_TWO_STEP_APPROVE, JSON, PENDING_APPROVAL, Diff
from adclient.testing._accounts.state import Edit

DraftStatus = Literal[
    "pending_approval", "armed", "applied", "rejected", "stale", "apply_failed", "rolled_back"
]
EventKind = Literal[
    "staged", "armed", "approved", "rejected", "stale", "applied", "apply_failed", "rolled_back"
]


@attrs.frozen(kw_only=True, repr=False)
class FakeDraft:
    """A draft as the approval dashboard sees it; a client sees four of these fields once.

    Attributes:
        draft_id: The id that the client received.
        operation: The operation that staged it, such as `alpha.update_campaign_budget`.
        account_id: Its account.
        account_name: The name of that account.
        currency: The currency of that account, such as `USD`.
        target: The id of what it would change; None if it creates something, or changes several.
        target_name: The name of the target.
        status: `pending_approval`, `armed`, `applied`, `rejected`, `stale`, `apply_failed` or
            `rolled_back`.
        diff: What it would change.
        created_at: When it was staged, by the fake's clock.
        expires_at: When it becomes stale if nobody approves it.
        armed_at: When the first step of its approval was last made.
        reviewer: Who made the latest step.
        edits: What approval would change, entity by entity.
        inverse: What would undo it, once it is applied.
        reverts: The id of the draft that it undoes, if it is a rollback.
        fingerprint: Equal for drafts of one account that would make the same change.
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
    edits: tuple[Edit, ...] = ()
    inverse: tuple[Edit, ...] = ()
    reverts: str | None = None
    fingerprint: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it can still be approved or rejected."""
        return self.status in ("pending_approval", "armed")

    def __repr__(self) -> str:
        return f"<FakeDraft {self.draft_id}, {self.operation}, {self.diff!r}, {self.status}>"


@attrs.frozen(kw_only=True)
class AuditEvent:
    """One line of the audit trail.

    Attributes:
        seq: Its number, from 1.
        at: When it happened, by the fake's clock.
        actor: Who did it: a reviewer, `client` or `service`.
        kind: What happened: `staged`, `armed`, `approved`, `rejected`, `stale`, `applied`,
            `apply_failed` or `rolled_back`.
        draft_id: The draft that it happened to.
        hash: A hash of this line and of `prev_hash`.
        prev_hash: The hash of the line before, so that no line can be changed unnoticed.
    """

    seq: int
    at: datetime
    actor: str
    kind: EventKind
    draft_id: str
    hash: str
    prev_hash: str


def draft_body(draft: FakeDraft, *, extras: bool = False) -> dict[str, JSON]:
    """A draft as the interface shows it: four keys, with its status at creation.

    With `extras` there are unknown keys, in another order.
    """
    diff = draft.diff.to_dict()
    body: dict[str, JSON] = {
        "draft_id": draft.draft_id,
        "status": PENDING_APPROVAL,
        "diff": diff,
        "requires": HUMAN_TWO_STEP_APPROVE,
    }
    if not extras:
        return body
    diff = {"note": None, **dict(reversed(diff.items()))}
    return {"reviewers": ["ads-team"], **dict(reversed(body.items())), "diff": diff}
