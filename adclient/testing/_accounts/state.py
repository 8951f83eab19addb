"""The live state: accounts and their entities, which only approved drafts change."""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date
from typing import Literal, cast

import attrs

from adclient._values.json_values import differ
from adclient.models import JSON
from adclient.testing._accounts.metrics import Delivery, Metrics, of_day
from adclient.testing._clock import FakeClock
from adclient.testing._http.responses import http_error, not_found

Platform = Literal["alpha", "beta", "gamma", "delta"]
Access = Literal["open", "disconnected", "read_only", "drafting_paused"]
Kind = Literal["campaign", "ad_group", "creative", "ad", "keyword", "asset_group"]
Values = Mapping[str, JSON]


@attrs.frozen
class Currency:
    """A currency, with the smallest daily budget in it."""

    code: str
    min_budget: int
    digits: int = 2

    @property
    def minor(self) -> int:
        """How many of its smallest units make one."""
        return int(10**self.digits)

    def amount(self, minor: int) -> int | float:
        """An amount of smallest units as JSON shows it."""
        return round(minor / self.minor, self.digits) if self.digits else minor


CURRENCIES = {
    "USD": Currency("USD", 20),
    "EUR": Currency("EUR", 20),
    "GBP": Currency("GBP", 15),
    "JPY": Currency("JPY", 2500, digits=0),
}


@attrs.define
class Entity:
    """A campaign, ad group, creative, ad, keyword or asset group."""

    kind: Kind
    id: str
    values: Values
    delivery: Delivery | None = None

    def text(self, key: str) -> str:
        """A value that is text; empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str | None:
        """Its name; that of a keyword is its text."""
        return self.text("name") or self.text("text") or None

    def change(self, changes: Values, today: date) -> None:
        """Set values; pausing or enabling takes effect on spend after today."""
        was_spending = self._may_spend
        self.values = merged(self.values, changes)
        if self.delivery is not None and self._may_spend != was_spending:
            switched = (*self.delivery.switched, today)
            self.delivery = attrs.evolve(self.delivery, switched=switched)

    @property
    def is_enabled(self) -> bool:
        """True if its status is `ENABLED`."""
        return self.text("status") == "ENABLED"

    @property
    def _may_spend(self) -> bool:
        return self.is_enabled and self.text("serving") != "REJECTED"

    def update(self, wanted: Values) -> "ProposedChange":
        """A change of values; if several differ, the field of its diff is the kind of entity."""
        if wanted.get("id", self.id) != self.id:
            raise http_error("immutable_field", "id")
        before, after = changed(self.values, wanted)
        if not after:
            raise http_error("no_change")
        edit = Edit(kind=self.kind, id=self.id, before=before, after=after)
        field, old, new = leaf(before, after) or (self.kind, before, after)
        return ProposedChange(field=field, before=old, after=new, edits=(edit,), target=self.id)


@attrs.frozen(kw_only=True)
class Edit:
    """The part of a change that concerns one entity.

    `before` and `after` hold only the keys that change. Without `id` it creates an entity, without
    `after` it removes one.
    """

    kind: Kind
    id: str | None = None
    before: Values | None = None
    after: Values | None = None

    def overlaps(self, other: "Edit") -> bool:
        """Check if both change the same value, or one an object and the other a part of it."""
        if self.id is None or (self.kind, self.id) != (other.kind, other.id):
            return False
        return any(
            mine[: len(theirs)] == theirs[: len(mine)]
            for mine in self.leaves()
            for theirs in other.leaves()
        )

    def leaves(self) -> dict[tuple[str, ...], JSON]:
        """The values before the edit, by their paths."""
        return _leaves(self.before or {}, self.after or {})


@attrs.frozen(kw_only=True)
class ProposedChange:
    """The change of a write: the diff to show, and the edits that approval makes."""

    field: str
    before: JSON
    after: JSON
    edits: tuple[Edit, ...]
    target: str | None = None


@attrs.frozen(kw_only=True)
class WasteShare:
    """The share of a campaign's metrics that a finding of wasted spend takes up.

    `entity_type` and `name` identify what the finding is about; a campaign or asset group has an
    `entity_id`, because it can be renamed.
    """

    entity_type: str
    name: str
    campaign_id: str
    reason: str
    spend_share: float
    clicks_share: float
    conversions_share: float
    match_type: str | None = None
    entity_id: str | None = None
    is_automated: bool = False


@attrs.define(kw_only=True)
class Account:
    """A connected ad account."""

    id: str
    platform: Platform
    name: str
    seed: str
    clock: FakeClock
    currency: Currency = CURRENCIES["USD"]
    access: Access = "open"
    waste: list[WasteShare] = attrs.field(factory=list[WasteShare])
    profile: Sequence[dict[str, JSON]] = ()
    _entities: dict[str, Entity] = attrs.field(init=False, factory=dict[str, Entity])
    _ids: set[str] = attrs.field(init=False, factory=set[str])
    _added: int = attrs.field(init=False, default=0)

    def all(self, kind: Kind) -> list[Entity]:
        """All entities of a kind, oldest first."""
        return [entity for entity in self._entities.values() if entity.kind == kind]

    def find(self, kind: Kind, entity_id: str) -> Entity | None:
        """One entity, or None."""
        entity = self._entities.get(entity_id)
        return entity if entity is not None and entity.kind == kind else None

    def find_any(self, entity_id: str) -> Entity | None:
        """One entity of any kind, or None."""
        return self._entities.get(entity_id)

    def get(self, kind: Kind, entity_id: str) -> Entity:
        """One entity; entities of other accounts are refused like unknown ones."""
        entity = self.find(kind, entity_id)
        if entity is None:
            raise not_found(f"{kind}_id", kind, entity_id)
        return entity

    def metrics(self, entity: Entity, days: Iterable[date]) -> Metrics:
        """The sum of an entity's daily metrics."""
        delivery = entity.delivery
        if delivery is None:
            return Metrics()
        key = self.seed, entity.id, delivery
        minor = self.currency.minor
        return Metrics.total(of_day(*key, day, minor) for day in days if delivery.runs_on(day))

    def add(
        self, kind: Kind, values: Values, *, id: str | None = None, delivery: Delivery | None = None
    ) -> Entity:
        """A new entity; without `id`, its id follows from the seed and its number."""
        self._added += 1
        name = f"{self.seed}:{self.id}:{self._added}"
        entity = Entity(kind, id or unique_id(kind, name, self._ids), values, delivery)
        self._ids.add(entity.id)
        self._entities[entity.id] = entity
        return entity

    def fits(self, edits: Sequence[Edit]) -> bool:
        """True if the live values are still those before the edits."""
        pairs = [(e, self.find(e.kind, e.id)) for e in edits if e.id is not None]
        return all(
            entity is not None
            and not any(
                differ(_at(entity.values, path), old) for path, old in each.leaves().items()
            )
            for each, entity in pairs
        )

    def apply(self, edit: Edit) -> None:
        """Apply an approved edit."""
        if edit.id is None:
            self.add(edit.kind, edit.after or {})
        elif edit.after is None:
            del self._entities[edit.id]
        else:
            self._entities[edit.id].change(edit.after, self.clock.today())


_REPLACED_WHOLE = frozenset({"targeting", "assets"})


def merged(values: Values, changes: Values) -> dict[str, JSON]:
    """Values with changes; nested objects are merged, too."""
    result = dict(values)
    for key, new in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and key not in _REPLACED_WHOLE:
            new = merged(old, new)
        result[key] = new
    return result


def _leaves(before: Values, after: Values) -> dict[tuple[str, ...], JSON]:
    leaves: dict[tuple[str, ...], JSON] = {}
    for key, old in before.items():
        new = after.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and key not in _REPLACED_WHOLE:
            leaves |= {(key, *path): value for path, value in _leaves(old, new).items()}
        else:
            leaves[(key,)] = old
    return leaves


def _at(value: JSON | Values, path: tuple[str, ...]) -> JSON:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return cast(JSON, value)


def changed(values: Values, wanted: Values) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Before and after, with only the keys whose values differ."""
    before: dict[str, JSON] = {}
    after: dict[str, JSON] = {}
    for key, new in wanted.items():
        old = values.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and key not in _REPLACED_WHOLE:
            inner_before, inner_after = changed(old, new)
            if inner_after:
                before[key], after[key] = inner_before, inner_after
        elif differ(old, new):
            before[key], after[key] = old, new
    return before, after


def leaf(before: Values, after: Values) -> tuple[str, JSON, JSON] | None:
    """The only changed value and its path, such as `bid.amount`; None if there are several."""
    if len(after) != 1:
        return None
    ((key, new),) = after.items()
    old = before[key]
    if isinstance(old, dict) and isinstance(new, dict) and key not in _REPLACED_WHOLE:
        inner = leaf(old, new)
        return None if inner is None else (f"{key}.{inner[0]}", *inner[1:])
    return key, old, new


def unique_id(kind: str, name: str, taken: Container[str]) -> str:
    """An id such as `campaign_57a7`, made from a name; longer only if the short one is taken."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()
    candidates = (f"{kind}_{digest[:length]}" for length in range(4, len(digest) + 1))
    return next(candidate for candidate in candidates if candidate not in taken)
