"""Answers with more in them than the interface names, for clients that must bear it."""

from adclient.models import JSON

UNKNOWN_STATUS = "UNDER_POLICY_REVIEW"
NAMELESS = 1
"""Which ad of a listing has no name."""


def extra_page(page: dict[str, JSON]) -> dict[str, JSON]:
    """A page whose envelope has unknown keys, in another order."""
    inner = page["page"]
    assert isinstance(inner, dict)
    return {
        "meta": {"took_ms": 12},
        "page": {"total": None, **inner},
        "data": page["data"],
    }


def extra_item(item: dict[str, JSON], place: int, *, is_ad: bool) -> dict[str, JSON]:
    """An item with an unknown key; of every three one has an unknown status."""
    extra = dict(reversed(item.items()))
    extra["x_labels"] = [{"text": "new", "weight": None}]
    if place % 3 == 2:
        extra["status"] = UNKNOWN_STATUS
    if is_ad and place == NAMELESS:
        del extra["name"]
    return extra


def extra_draft(draft: dict[str, JSON]) -> dict[str, JSON]:
    """A draft and a diff with unknown keys, in another order."""
    diff = draft["diff"]
    assert isinstance(diff, dict)
    extra: dict[str, JSON] = {"reviewers": ["ads-team"], **dict(reversed(draft.items()))}
    extra["diff"] = {"note": None, **dict(reversed(diff.items()))}
    return extra
