"""A waiting draft as the approval page shows it."""

from datetime import datetime, timedelta

import attrs

from adclient.testing._approval.drafts import FakeDraft
from adclient.testing.server.diffs import Line, lines_of, visible


@attrs.frozen(kw_only=True)
class DraftView:
    """What a reviewer sees of a draft."""

    draft_id: str
    platform: str
    title: str
    account: str
    target: str | None
    lines: list[Line]
    age: str
    expires: str
    armed_by: str | None


def view_of(draft: FakeDraft, now: datetime) -> DraftView:
    """The view of a draft, at a time of the fake's clock."""
    platform, _, operation = draft.operation.partition(".")
    if draft.reverts is not None:
        operation = f"roll back {operation}"
    return DraftView(
        draft_id=draft.draft_id,
        platform=platform,
        title=operation.replace("_", " ").capitalize(),
        account=_label(draft.account_name, f"{draft.account_id}, {draft.currency}"),
        target=None if draft.target is None else _label(draft.target_name, draft.target),
        lines=lines_of(draft.diff),
        age=_duration(now - draft.created_at),
        expires=_duration(draft.expires_at - now),
        armed_by=draft.reviewer if draft.status == "armed" else None,
    )


def _label(name: str | None, id: str) -> str:
    return id if name is None else f"{visible(name)} ({id})"


def _duration(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def date_and_time(moment: datetime) -> str:
    """A moment as the page writes it."""
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
