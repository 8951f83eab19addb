"""The values that calls return: drafts, and the items of listings."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NoReturn, cast

import attrs

from adclient._show import diffs
from adclient._show.records import Card, Shown
from adclient._values.json_values import (
    JSON as JSON,  # also a public name of this module
    ObjectLike as ObjectLike,  # and this
    ToJSON,
    as_json,
    as_mapping,
    copied,
    copied_fields,
    walks,
)
from adclient._values.text import short

PENDING_APPROVAL: Final = "pending_approval"
"""The `status` of a draft when it is staged, the only one that the interface names."""

HUMAN_TWO_STEP_APPROVE: Final = "human_two_step_approve"
"""The `requires` of a draft: approval by a human, in two steps, before it takes effect."""

ENABLED: Final = "ENABLED"
"""The only item `status` that the interface names; the service may use others."""

LAST_30_DAYS: Final = "LAST_30_DAYS"
"""The only `date_range` that the interface names; the service may accept others."""


@attrs.frozen(kw_only=True, repr=False)
class ResponseInfo:
    """The metadata of a response: its call, its status and its headers.

    Attributes:
        operation: The method that was called, such as `alpha.update_campaign_budget`; None for a
            value that your code made.
        account_id: The ad account of the call; None for a value that your code made.
        target_id: The campaign, creative or ad that the call named; None if it named none.
        status: The HTTP status: 201 for a write, 200 for a read; 0 for a value that your code made.
        headers: The response headers, with names in lower case, and found in any case.
        request_id: The service's id of the request, from one of the headers that
            `Conventions.request_id_headers` names; None if there is none.
        attempts: How many requests were sent to get this response.
        elapsed: Seconds from the start of the call to the response.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> page = client.gamma.list_ads(account_id="account_c3d8")
        >>> page.response.status, page.response.operation
        (200, 'gamma.list_ads')
    """

    operation: str | None = None
    account_id: str | None = None
    target_id: str | None = None
    status: int = 0
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], hash=False)
    request_id: str | None = None
    attempts: int = 1
    elapsed: float = 0.0

    def __repr__(self) -> str:
        return f"<ResponseInfo {self.status}, attempt {self.attempts}, {self.elapsed:.3f} s>"


@attrs.frozen(kw_only=True, repr=False)
class Result:
    """The base of what a call returns, a `Draft` or a `Page`.

    Attributes:
        response: Metadata of the response; ignored by `==`.

    Examples:
        >>> from adclient.models import Result
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> isinstance(client.gamma.list_ads(account_id="account_c3d8"), Result)
        True
    """

    response: ResponseInfo = attrs.field(factory=ResponseInfo, eq=False)


class _Received(ToJSON, Shown):
    """The base of a draft and its diff: fields by the names of the interface, and others."""

    __slots__ = ()

    @walks
    def to_dict(self) -> dict[str, JSON]:
        """Return it as it was received.

        Returns:
            The body of the response, or the object `diff` in it, as JSON values.
        """
        fields = as_mapping(self)
        named = {k: as_json(v) for k, v in fields.items() if k not in _NOT_NAMED}
        return {**named, **copied_fields(cast("Mapping[str, JSON]", fields["extra"]))}


_NOT_NAMED = ("extra", "response")


@attrs.frozen(kw_only=True, repr=False)
class Diff(_Received):
    """The change that a draft would make: one field, before and after.

    `str(diff)` has a line for each value inside that changes, at most 20.

    Attributes:
        field: The name of the changed field.
        before: The value before the change. The interface shows numbers; it may be any JSON.
        after: The value after the change; likewise any JSON.
        extra: Fields of the diff that the interface does not name.

    Examples:
        >>> from adclient import Diff
        >>> diff = Diff(field="daily_budget", before=100, after=120)
        >>> diff.change, diff.percent
        (20, 20.0)
        >>> print(diff)
        daily_budget: 100 -> 120
        >>> diff.to_dict()
        {'field': 'daily_budget', 'before': 100, 'after': 120}
    """

    field: str
    before: JSON = attrs.field(hash=False)
    after: JSON = attrs.field(hash=False)
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    @property
    def change(self) -> int | float | Decimal | None:
        """`after` minus `before`, exact up to 60 digits; None unless both are finite numbers."""
        return diffs.amount(self.before, self.after)

    @property
    def percent(self) -> float | None:
        """The change in percent of `before`; None unless both are numbers and `before` is not 0."""
        return diffs.percent(self.before, self.after)

    def __str__(self) -> str:
        return "\n".join(diffs.lines(self))

    def __repr__(self) -> str:
        return f"<Diff {', '.join(diffs.lines(self))}>"

    def _show(self) -> Card:
        return Card("Diff", diff=self)


@attrs.frozen(kw_only=True, repr=False)
class Draft(Result, _Received):
    """A change that was staged and waits for approval by a human: what every write returns.

    Nothing has changed in the ad account. Only a human can make a draft take effect, in two
    steps, in the approval dashboard. No operation reads a draft again, so `status` stays the same.

    Attributes:
        draft_id: The id of the draft, also in the approval dashboard, such as `draft_35ea`.
        status: The status when the draft was staged: `pending_approval`.
        diff: The change that the draft would make.
        requires: The approval that it needs: `human_two_step_approve`.
        extra: Fields of the draft that the interface does not name.
        response: Metadata of the response; ignored by `==`.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> draft = client.alpha.update_campaign_budget(
        ...     account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        ... )
        >>> draft.status, draft.requires
        ('pending_approval', 'human_two_step_approve')
        >>> print(draft.diff)
        daily_budget: 100 -> 120
        >>> draft.to_dict()["diff"]
        {'field': 'daily_budget', 'before': 100, 'after': 120}
    """

    draft_id: str
    status: str
    diff: Diff
    requires: str
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    def __repr__(self) -> str:
        target = self.response.target_id
        name = short(self.draft_id) + (f" of {short(target)}" if target else "")
        further = dict.fromkeys([*self.extra, *self.diff.extra])  # such as warnings
        also = f"; also sent: {short(', '.join(further))}" if further else ""
        return f"<Draft {name}, {', '.join(diffs.lines(self.diff))}, {self._state()}{also}>"

    def _state(self) -> str:
        """The state in words; an unknown status is shown as received."""
        if self.status == PENDING_APPROVAL:
            return "staged, waiting for approval"
        return f"status {short(self.status)} when staged"

    def _show(self) -> Card:
        response = self.response
        call = {
            "operation": response.operation,
            "account": response.account_id,
            "target": response.target_id,
        }
        rows: list[tuple[str, object]] = [row for row in call.items() if row[1] is not None]
        rows += [("requires", self.requires), *self.diff.extra.items(), *self.extra.items()]
        return Card(f"Draft {self.draft_id}", rows, self.diff, self._state())


def _refuse_change(record: object, name: str, _: object) -> NoReturn:
    from adclient._advice import frozen

    raise frozen(record, name)


# In place of what attrs has made, whose error has no name and no advice.
for _record in (Diff, Draft):
    type.__setattr__(_record, "__setattr__", _refuse_change)


@attrs.frozen(kw_only=True, repr=False, getstate_setstate=False)
class Item(ToJSON, Shown):
    """One item of a listing: an element of `data` in the response to a read.

    Attributes:
        id: The id of the item.
        name: Its name; None if the service sent none.
        status: Its status, such as `ENABLED`, the only one that the interface names; None if the
            service sent none.
        extra: Fields of the item that the interface does not name, as JSON values.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> page = client.beta.list_campaigns(account_id="account_b204")
        >>> campaign = page.data[0]
        >>> campaign.status, campaign.extra["objective"]
        ('ENABLED', 'SALES')
        >>> sorted(campaign.to_dict())[:3]
        ['clicks', 'conversions', 'cpa']
    """

    id: str
    name: str | None
    status: str | None
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    @walks
    def to_dict(self) -> dict[str, JSON]:
        """Return the item as it was received, or its fields if it is one of a class of yours.

        Returns:
            The element of `data`, as JSON values.
        """
        # A null that was received is in `extra`, unlike a missing field.
        named = {k: as_json(v) for k, v in as_mapping(self).items() if k != "extra"}
        fields = {name: value for name, value in named.items() if value is not None}
        return fields | {k: copied(v) for k, v in self.extra.items() if k not in fields}

    def __repr__(self) -> str:
        parts = [self.id] if self.name is None else [self.id, self.name]
        if self.status is not None:
            parts.append(self.status)
        if more := len(self.extra.keys() - attrs.fields_dict(type(self)).keys()):
            parts.append(f"{more} extra field{'s' * (more > 1)}")
        return f"<{type(self).__name__} {', '.join(map(short, parts))}>"

    def _show(self) -> Card:
        return Card(type(self).__name__, [*self.to_dict().items()])

    def __getstate__(self) -> object:
        return object.__getstate__(self)  # pickle's old protocols refuse slots without this method

    # The state that attrs gives to a class with slots would lack the fields of a subclass without.
    def __setstate__(self, state: tuple[Mapping[str, object] | None, Mapping[str, object]]) -> None:
        for part in state:
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)


@attrs.frozen(kw_only=True, repr=False, getstate_setstate=False)
class ListedItem(Item):
    """An item of a list of campaigns or ads, which always has a name and a status."""

    name: str
    status: str


@attrs.frozen(kw_only=True, repr=False, getstate_setstate=False)
class AnalysisItem(Item):
    """An item of an analysis or a search, which may lack a name and a status.

    The interface does not say what its fields mean.
    """

    name: str | None = None
    status: str | None = None


# The kinds add no fields, so they inherit everything; a decorator on each would slow the import.


class Campaign(ListedItem):
    """A campaign, from `client.beta.list_campaigns`."""

    __slots__ = ()


class Ad(ListedItem):
    """An ad, from `client.gamma.list_ads`."""

    __slots__ = ()


class CreativeFatigue(AnalysisItem):
    """A report on the fatigue of a creative, from `client.beta.detect_creative_fatigue`."""

    __slots__ = ()


class TargetingOption(AnalysisItem):
    """An option for targeting, from `client.gamma.search_targeting`."""

    __slots__ = ()


class Objective(AnalysisItem):
    """A campaign objective and its explanation, from `client.alpha.explain_objectives`."""

    __slots__ = ()


class WastedSpend(AnalysisItem):
    """A report on wasted spend, from `client.delta.analyze_wasted_spend`."""

    __slots__ = ()


class BusinessProfile(AnalysisItem):
    """A fact about the business behind an account, from `client.delta.infer_business_profile`."""

    __slots__ = ()
