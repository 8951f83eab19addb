"""The live state: accounts and their entities, which only approved drafts change."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Literal, Self

import attrs

from adclient._values.json_values import differ
from adclient.models import JSON

Platform = Literal["alpha", "beta", "gamma", "delta"]
Access = Literal["open", "disconnected", "read_only", "drafting_paused"]
Kind = Literal["campaign", "creative", "ad", "keyword", "asset_group"]
Values = Mapping[str, JSON]


@attrs.frozen
class Currency:
    """A currency, with the smallest daily budget in it."""

    code: str
    min_budget: int = 0
    digits: int = 2


CURRENCIES = {
    "USD": Currency("USD", 20),
    "EUR": Currency("EUR", 20),
    "GBP": Currency("GBP", 15),
    "JPY": Currency("JPY", 2500, digits=0),
}


@attrs.frozen
class Entity:
    """A campaign, creative, ad, keyword or asset group, as it is at one time."""

    kind: Kind
    values: Values

    def text(self, key: str) -> str:
        """A value that is text; empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    @property
    def id(self) -> str:
        """Its id, which never changes."""
        return self.text("id")

    @property
    def name(self) -> str:
        """Its name; that of a keyword is its text."""
        return self.text(_name_field(self.kind))

    def changed(self, changes: Values) -> "Entity":
        """The entity with other values."""
        return Entity(self.kind, merged(self.values, changes))

    def update(self, wanted: Values) -> "ProposedChange":
        """A change of values; if several differ, the field of its diff is the kind of entity."""
        before, after = changed(self.values, wanted)
        if not after:
            before, after = changed(self.values, wanted, also_equal=True)
        edit = Edit(kind=self.kind, id=self.id, before=before, after=after)
        field, old, new = leaf(before, after) or (self.kind, before, after)
        return ProposedChange(field=field, before=old, after=new, edits=(edit,), target=self)


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


@attrs.frozen(kw_only=True)
class ProposedChange:
    """The change of a write: the diff to show, and the edits that approval makes."""

    field: str
    before: JSON
    after: JSON
    edits: tuple[Edit, ...]
    target: Entity | None = None


@attrs.define(kw_only=True)
class Account:
    """A connected ad account: its entities, which are replaced and never changed, and its reads.

    `reads` holds the items of reads that return no entities, and `figures` what others show beside
    the values of an entity, by date range and id. The reads of the story follow its live data.
    """

    id: str
    platform: Platform | None
    name: str
    currency: Currency
    access: Access
    seed: str
    is_story: bool
    reads: Mapping[str, Sequence[dict[str, JSON]]]
    figures: Mapping[str, Mapping[str, dict[str, JSON]]]
    _entities: dict[tuple[Kind, str], Entity] = attrs.field(factory=dict[tuple[Kind, str], Entity])
    _added: int = 0

    def __deepcopy__(self, _: object) -> Self:
        return attrs.evolve(self, entities=dict(self._entities))

    def all(self, kind: Kind) -> list[Entity]:
        """All entities of a kind, oldest first."""
        return [entity for entity in self._entities.values() if entity.kind == kind]

    def find(self, kind: Kind, entity_id: str) -> Entity | None:
        """One entity, or None."""
        return self._entities.get((kind, entity_id))

    def with_id(self, entity_id: str) -> list[Entity]:
        """The entities of any kind that have an id."""
        return [entity for entity in self._entities.values() if entity.id == entity_id]

    def add(self, kind: Kind, values: Values) -> Entity:
        """Add an entity; the id, name and status that it lacks follow from its number."""
        self._added += 1
        seed = f"{self.seed}:{self.id}:{self._added}"
        made: Values = {
            "id": unique_id(kind, seed, lambda taken: (kind, taken) in self._entities),
            _name_field(kind): f"{kind.replace('_', ' ').capitalize()} {self._added}",
            "status": "ENABLED",
        }
        lacking = {key: value for key, value in made.items() if key not in values}
        return self.put(Entity(kind, {**lacking, **values}))

    def put(self, entity: Entity) -> Entity:
        """Store an entity, in place of what it was before."""
        self._entities[entity.kind, entity.id] = entity
        return entity

    def fits(self, edits: Sequence[Edit]) -> bool:
        """True if the live values are still those before the edits."""
        pairs = [(e, self.find(e.kind, e.id)) for e in edits if e.id is not None]
        return all(
            entity is not None and _fits(entity.values, edit.before or {}, edit.after or {})
            for edit, entity in pairs
        )

    def apply(self, edit: Edit) -> None:
        """Apply an approved edit, whose values others may hold."""
        edit = deepcopy(edit)
        if edit.id is None:
            self.add(edit.kind, edit.after or {})
        elif edit.after is None:
            del self._entities[edit.kind, edit.id]
        else:
            self.put(self._entities[edit.kind, edit.id].changed(edit.after))


def _name_field(kind: Kind) -> str:
    return "text" if kind == "keyword" else "name"


def _is_merged(key: str) -> bool:
    """Check if an object is changed in part; the other ones are replaced as a whole."""
    return key not in ("targeting", "assets")


def merged(values: Values, changes: Values) -> dict[str, JSON]:
    """Values with changes; nested objects are merged, too."""
    result = dict(values)
    for key, new in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and _is_merged(key):
            new = merged(old, new)
        result[key] = new
    return result


def _fits(values: JSON | Values, before: Values, after: Values) -> bool:
    """Check if values are those before a change; of merged objects only the changed parts count."""
    live = values if isinstance(values, Mapping) else {}
    return all(
        _fits(live.get(key), old, new)
        if isinstance(old, dict) and isinstance(new := after.get(key), dict) and _is_merged(key)
        else not differ(live.get(key), old)
        for key, old in before.items()
    )


def changed(
    values: Values, wanted: Values, *, also_equal: bool = False
) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Before and after, with only the keys whose values differ, or with all that are wanted."""
    before: dict[str, JSON] = {}
    after: dict[str, JSON] = {}
    for key, new in wanted.items():
        old = values.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and _is_merged(key):
            inner_before, inner_after = changed(old, new, also_equal=also_equal)
            if inner_after:
                before[key], after[key] = inner_before, inner_after
        elif also_equal or differ(old, new):
            before[key], after[key] = old, new
    return before, after


def leaf(before: Values, after: Values) -> tuple[str, JSON, JSON] | None:
    """The only changed value and its path, such as `bid.amount`; None if there are several."""
    if len(after) != 1:
        return None
    ((key, new),) = after.items()
    old = before[key]
    if isinstance(old, dict) and isinstance(new, dict) and _is_merged(key):
        inner = leaf(old, new)
        return None if inner is None else (f"{key}.{inner[0]}", *inner[1:])
    return key, old, new


def unique_id(kind: str, name: str, is_taken: Callable[[str], bool]) -> str:
    """An id such as `campaign_57a7`, made from a name; longer only if the short one is taken."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()
    candidates = (f"{kind}_{digest[:length]}" for length in range(4, len(digest) + 1))
    return next(candidate for candidate in candidates if not is_taken(candidate))
