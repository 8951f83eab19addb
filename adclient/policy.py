"""Limits that hold whatever a caller asks for, above all if the caller is a model."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import NamedTuple

import attrs


def _texts(value: Collection[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _amounts(value: Mapping[str, int | float | Decimal] | None) -> Mapping[str, Decimal] | None:
    return None if value is None else {key: Decimal(str(each)) for key, each in value.items()}


@attrs.frozen(kw_only=True)
class Policy:
    """What a client may do; every other call is refused before anything is sent.

    A rule that is absent does not apply. One that is present refuses what it cannot judge.

    Args:
        accounts: The ids of the accounts that may be named, in reads as well.
        operations: The operations that may be called, such as `beta.pause_campaign`, `beta.*` or
            `*.list_*`.
        fields: What a write may set: keys of its `fields`, and `daily_budget`, `targeting` and
            `keywords`. Those of `money` are allowed as well.
        money: The highest amount of each key that is money, in the currency of the account. The
            key is compared wherever it occurs, however deep; what is no number from 0 to that
            amount is refused. A write may then set only these keys, and those of `fields`.
        change_at_most: How much a draft may change a key of `money`, in percent of its value
            before. The value before is known from the draft alone, so this is judged when it is
            staged: a `PolicyWarning` then names the draft, which should be rejected, and further
            writes to its account are refused until somebody settles it in the ledger.
        drafts_per_day: How many drafts may be staged from midnight to midnight UTC, by all users of
            the ledger together. One whose outcome is unknown counts.

    Raises:
        ConfigurationError: A rule has the wrong type, or a value that cannot be meant.

    Example:
        >>> from adclient import PolicyRefused, Policy
        >>> from adclient.testing import FakeAdService
        >>> policy = Policy(accounts=["account_a91f"], money={"daily_budget": 150})
        >>> client = FakeAdService().client(policy=policy)
        >>> try:
        ...     client.alpha.update_campaign_budget(
        ...         account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=999
        ...     )
        ... except PolicyRefused as refused:
        ...     print(refused.rule, refused.message.partition(": ")[2], sep=": ")
        money: daily_budget is 999, not 0 to 150 as money allows; nothing was sent
    """

    accounts: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    operations: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    fields: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    money: Mapping[str, Decimal] | None = attrs.field(default=None, converter=_amounts)
    change_at_most: Decimal | None = attrs.field(default=None)
    drafts_per_day: int | None = attrs.field(default=None)


class Usage(NamedTuple):
    """What a ledger holds when a write asks to be admitted.

    Attributes:
        drafts_today: How many drafts were, or may have been, staged since midnight UTC.
        over_limit: A draft of the same account that is over a limit and that nobody has settled.
    """

    drafts_today: int = 0
    over_limit: str | None = None


class Refusal(NamedTuple):
    """Why a policy refuses a call.

    Attributes:
        rule: The rule, such as `money`.
        reason: One sentence that names the rule and the value.
    """

    rule: str
    reason: str


class PolicyWarning(UserWarning):
    """A draft was staged that is over a limit of the policy: reject it in the dashboard."""
