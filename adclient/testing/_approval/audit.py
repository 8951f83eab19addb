"""The audit trail: what happened to the drafts, line by line."""

import hashlib
from collections import deque
from datetime import datetime

from adclient.testing._approval.drafts import AuditEvent, EventKind


class AuditTrail:
    """A chain of events of which the latest are kept."""

    def __init__(self, history: int) -> None:
        self._written = 0
        self._last_hash = ""
        self.events: deque[AuditEvent] = deque(maxlen=history)

    def write(self, kind: EventKind, actor: str, draft_id: str, at: datetime) -> None:
        """Add a line, chained to the one before."""
        self._written += 1
        previous = self._last_hash
        line = f"{previous}:{self._written}:{at.isoformat()}:{actor}:{kind}:{draft_id}"
        self._last_hash = hashlib.sha256(line.encode()).hexdigest()
        self.events.append(
            AuditEvent(
                seq=self._written,
                at=at,
                actor=actor,
                kind=kind,
                draft_id=draft_id,
                hash=self._last_hash,
                prev_hash=previous,
            )
        )
