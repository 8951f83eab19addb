"""The live state: accounts and their entities, which only approved drafts change."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Self, cast

import attrs

from adclient._values.json_values import differ
from adclient.models import JSON
from adclient.testing._fake.account import FakeAccount, Kind

Values = Mapping[str, JSON]
_WHOLE = ("targeting", "assets")  # objects that are replaced, and not merged


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
        """The entity with other values; objects are merged, but for targeting and assets."""
        return Entity(self.kind, _set(self.values, [*_pairs(self.values, changes)]))

    def update(self, wanted: Values) -> "ProposedChange":
        """A change of values; if several differ, the field of its diff is the kind of entity."""
        pairs = [*_pairs(self.values, wanted)]
        pairs = [pair for pair in pairs if differ(pair[1], pair[2])] or pairs
        before = _set({}, [(path, new, old) for path, old, new in pairs])
        after = _set({}, pairs)
        edits = (Edit(kind=self.kind, id=self.id, before=before, after=after),)
        if len(pairs) != 1:
            return ProposedChange(self.kind, before, after, edits, target=self)
        [(path, old, new)] = pairs
        return ProposedChange(".".join(path), old, new, edits, target=self)


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


@attrs.frozen
class ProposedChange:
    """The change of a write: the diff to show, and the edits that approval makes."""

    field: str
    before: JSON
    after: JSON
    edits: tuple[Edit, ...]
    target: Entity | None = None


@attrs.define
class Account:
    """A connected ad account: what was given, and its entities, which are replaced, never changed.

    The reads of an account of the story follow its live data.
    """

    given: FakeAccount
    is_story: bool
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
        seed = f"{self.given.id}:{self._added}"
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
        return all(edit.id is None or self._fits(edit, edit.id) for edit in edits)

    def _fits(self, edit: Edit, entity_id: str) -> bool:
        entity = self.find(edit.kind, entity_id)
        pairs = _pairs(edit.after or {}, edit.before or {})
        return entity is not None and not any(
            differ(_value_at(dict(entity.values), path), before) for path, _, before in pairs
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


Pair = tuple[tuple[str, ...], JSON, JSON]


def _pairs(old: Values, new: Values, path: tuple[str, ...] = ()) -> Iterator[Pair]:
    """The path of each new value, with the old one; objects are compared value by value."""
    for key, value in new.items():
        before, inner = old.get(key), (*path, key)
        if isinstance(before, dict) and isinstance(value, dict) and key not in _WHOLE:
            yield from _pairs(before, value, inner)
        else:
            yield inner, before, value


def _set(values: Values, pairs: Sequence[Pair]) -> dict[str, JSON]:
    """A copy of values with the new ones of pairs."""
    result = deepcopy(dict(values))
    for (*path, key), _, new in pairs:
        inside = result
        for name in path:
            inside = cast("dict[str, JSON]", inside.setdefault(name, {}))
        inside[key] = new
    return result


def _value_at(value: JSON, path: Sequence[str]) -> JSON:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def unique_id(kind: str, name: str, is_taken: Callable[[str], bool]) -> str:
    """An id such as `campaign_57a7`, made from a name; longer only if the short one is taken."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()
    candidates = (f"{kind}_{digest[:length]}" for length in range(4, len(digest) + 1))
    return next(candidate for candidate in candidates if not is_taken(candidate))
