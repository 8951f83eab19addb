"""What the service gives back: drafts, and the items of its listings."""

import decimal
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import attrs

from adclient import _notebook
from adclient._json import JSON as JSON  # as a name of this module, too
from adclient._json import copied, copied_fields, differences

PENDING_APPROVAL: Final = "pending_approval"
"""The `status` of a draft when it has been staged."""

HUMAN_TWO_STEP_APPROVE: Final = "human_two_step_approve"
"""What a draft `requires` before it takes effect."""

ENABLED: Final = "ENABLED"
"""The one `status` of an item that the interface names; a service may use others."""

LAST_30_DAYS: Final = "LAST_30_DAYS"
"""The one `date_range` that the interface names; a service may know others."""

# Enough digits for any amount, few enough that a hostile exponent costs nothing.
_ARITHMETIC = decimal.Context(prec=60, traps=[])


@attrs.frozen(kw_only=True, repr=False)
class ResponseInfo:
    """How an answer came: what was called, and what HTTP told beside the body.

    Attributes:
        operation: The method that was called, such as `alpha.update_campaign_budget`; None for a
            value that did not come over the wire.
        account_id: The ad account of the call.
        target_id: The campaign, creative or ad that the call named, if it named one.
        status: The HTTP status; 0 for a value that did not come over the wire.
        headers: The response headers, with names in lower case.
        request_id: The service's id of the request, if a header held one.
        attempts: How many requests were sent to get this answer.
        elapsed: Seconds from the start of the call to the answer.

    Example:
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
    """What every answer of the service has in common: it tells how it came."""

    response: ResponseInfo = attrs.field(factory=ResponseInfo, eq=False)


@attrs.frozen(kw_only=True, repr=False)
class Diff(_notebook.HTMLRepr):
    """What a draft would change: one field, before and after.

    Attributes:
        field: The name of the changed field.
        before: The value before the change, of any JSON type.
        after: The value after the change, of any JSON type.
        extra: Fields of the diff that the interface does not name.

    Example:
        >>> from adclient import Diff
        >>> diff = Diff(field="daily_budget", before=100, after=120)
        >>> diff.change, diff.percent
        (20, 20.0)
        >>> print(diff)
        daily_budget: 100 → 120
    """

    field: str
    before: JSON = attrs.field(hash=False)
    after: JSON = attrs.field(hash=False)
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    @property
    def change(self) -> int | float | Decimal | None:
        """`after` minus `before`, exact in decimal; None unless both are finite numbers."""
        before, after = _exact(self.before), _exact(self.after)
        if before is None or after is None:
            return None
        if isinstance(self.before, int) and isinstance(self.after, int):
            return self.after - self.before
        change = _ARITHMETIC.subtract(after, before)
        if isinstance(self.before, Decimal) or isinstance(self.after, Decimal):
            return change if change.is_finite() else None
        return _finite(change)

    @property
    def percent(self) -> float | None:
        """The change in percent of `before`; None unless both are numbers and `before` is not 0."""
        before, after = _exact(self.before), _exact(self.after)
        if before is None or after is None or before == 0:
            return None
        change = _ARITHMETIC.subtract(after, before)
        ratio = _ARITHMETIC.divide(change, _ARITHMETIC.abs(before))
        return _finite(_ARITHMETIC.multiply(ratio, Decimal(100)))

    def to_dict(self) -> dict[str, JSON]:
        """The diff as it came over the wire."""
        return {
            "field": self.field,
            "before": copied(self.before),
            "after": copied(self.after),
            **copied_fields(self.extra),
        }

    def __str__(self) -> str:
        return _in_words(self)

    def __repr__(self) -> str:
        return f"<Diff {_in_words(self)}>"

    def _repr_html_(self) -> str:
        return _notebook.card("Diff", _rows(self))


@attrs.frozen(kw_only=True, repr=False)
class Draft(Result, _notebook.HTMLRepr):
    """A change that was staged and waits for a human's approval.

    Nothing has changed in the ad account. Only a human can make a draft take effect, in two
    steps, in the approval dashboard outside this library. `status` is what it was at creation.

    Attributes:
        draft_id: The id under which the approval dashboard knows the draft.
        status: `pending_approval` at creation.
        diff: What the draft would change.
        requires: Which approval it needs: `human_two_step_approve`.
        extra: Fields of the draft that the interface does not name.
        response: How the answer came; not part of equality.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> draft = client.alpha.update_campaign_budget(
        ...     account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        ... )
        >>> draft.status, draft.requires
        ('pending_approval', 'human_two_step_approve')
        >>> print(draft.diff)
        daily_budget: 100 → 120
    """

    draft_id: str
    status: str
    diff: Diff
    requires: str
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    def to_dict(self) -> dict[str, JSON]:
        """The draft as it came over the wire."""
        return {
            "draft_id": self.draft_id,
            "status": self.status,
            "diff": self.diff.to_dict(),
            "requires": self.requires,
            **copied_fields(self.extra),
        }

    def __repr__(self) -> str:
        draft_id = _notebook.short(self.draft_id)
        return f"<Draft {draft_id}, {_in_words(self.diff)}, {self._state()}>"

    def _state(self) -> str:
        """What may be said of the draft: a status that we do not know is told as it is."""
        if self.status == PENDING_APPROVAL:
            return "staged, waiting for approval"
        return f"status {_notebook.short(self.status)} when staged"

    def _repr_html_(self) -> str:
        response = self.response
        call = [
            ("operation", response.operation),
            ("account", response.account_id),
            ("target", response.target_id),
        ]
        known = [(name, value) for name, value in call if value is not None]
        rows = [*known, *_rows(self.diff), ("requires", self.requires)]
        return _notebook.card(f"Draft {self.draft_id}", rows, state=self._state())


@attrs.frozen(kw_only=True, repr=False)
class Item(_notebook.HTMLRepr):
    """One item of a listing: what the interface names, and in `extra` all else that came.

    Attributes:
        id: The item's id.
        name: Its name, or None if none came.
        status: Its status, or None if none came.
        extra: The fields that the interface does not name, as JSON.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> client = FakeAdService().client()
        >>> page = client.beta.list_campaigns(account_id="account_b204")
        >>> campaign = page.data[0]
        >>> campaign.status, campaign.extra["objective"]
        ('ENABLED', 'SALES')
    """

    id: str
    name: str | None
    status: str | None
    extra: Mapping[str, JSON] = attrs.field(factory=dict[str, JSON], hash=False)

    def to_dict(self) -> dict[str, JSON]:
        """The item as it came over the wire."""
        # A null stays in `extra`, which is how it is told apart from a field that did not come.
        named = {
            field.name: getattr(self, field.name)
            for field in attrs.fields(type(self))
            if field.name != "extra"
        }
        present = {name: copied(value) for name, value in named.items() if value is not None}
        beside = {name: copied(value) for name, value in self.extra.items() if name not in present}
        return {**present, **beside}

    def __repr__(self) -> str:
        parts = [self.id] if self.name is None else [self.id, self.name]
        if self.status is not None:
            parts.append(self.status)
        return f"<{type(self).__name__} {', '.join(map(_notebook.short, parts))}>"

    def _repr_html_(self) -> str:
        return _notebook.card(type(self).__name__, list(self.to_dict().items()))


@attrs.frozen(kw_only=True, repr=False)
class Campaign(Item):
    """A campaign, as `client.beta.list_campaigns` lists it."""

    name: str
    status: str


@attrs.frozen(kw_only=True, repr=False)
class Ad(Item):
    """An ad, as `client.gamma.list_ads` lists it."""

    name: str
    status: str


@attrs.frozen(kw_only=True, repr=False)
class Finding(Item):
    """An item of an analysis, of which the interface promises no more than an id."""

    name: str | None = None
    status: str | None = None


@attrs.frozen(kw_only=True, repr=False)
class CreativeFatigue(Finding):
    """A finding about a creative's fatigue; what it means is the service's to say."""


@attrs.frozen(kw_only=True, repr=False)
class TargetingOption(Finding):
    """An option that `client.gamma.search_targeting` found."""


@attrs.frozen(kw_only=True, repr=False)
class Objective(Finding):
    """An objective that `client.alpha.explain_objectives` explains."""


@attrs.frozen(kw_only=True, repr=False)
class WastedSpend(Finding):
    """A finding about wasted spend; what it means is the service's to say."""


@attrs.frozen(kw_only=True, repr=False)
class BusinessProfile(Finding):
    """A fact about the business behind an account; what it means is the service's to say."""


def _in_words(diff: Diff) -> str:
    """The places that differ, the first of them written out."""
    places = list(differences(diff.field, diff.before, diff.after))
    if not places:
        return f"{_notebook.short(diff.field)} stays as it is"
    place, before, after = map(_notebook.short, places[0])
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{place}: {before} → {after}{more}"


def _rows(diff: Diff) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [
        (place, _notebook.Change(before, after))
        for place, before, after in differences(diff.field, diff.before, diff.after)
    ]
    if not rows:
        rows = [(diff.field, "stays as it is")]
    if diff.change is not None:
        percent = "" if diff.percent is None else f" ({diff.percent:+.4g} %)"
        rows.append(("change", f"{diff.change:+}{percent}"))
    return rows


def _exact(value: JSON) -> Decimal | None:
    """A number as an exact decimal; a float counts as the digits that it prints."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return exact if exact.is_finite() else None


def _finite(value: Decimal) -> float | None:
    close = float(value)
    return close if math.isfinite(close) else None
