"""The arguments of every step of the approval: a draft and a reviewer."""

from inspect import isawaitable

from adclient.models import Draft
from adclient.testing._approval.drafts import FakeDraft

_MAX_NAME = 80
_NOT_HUMAN = ("client", "service")


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


def id_of(draft: object) -> str:
    """The id of a draft, which may be passed instead."""
    if isinstance(draft, Draft | FakeDraft):
        return draft.draft_id
    if not isinstance(draft, str):
        advice = "; await it first" * isawaitable(draft)
        raise TypeError(f"expected a draft or its id, not {type(draft).__name__}{advice}")
    return draft


def check_reviewer(reviewer: str) -> None:
    """Refuse a step that no human would answer for."""
    if not any(map(str.isalnum, reviewer)) or reviewer in _NOT_HUMAN:
        raise ApprovalRefused("a reviewer must be named")
    if not reviewer.isprintable() or len(reviewer) > _MAX_NAME:
        raise ApprovalRefused(f"a name is one line of at most {_MAX_NAME} characters")
