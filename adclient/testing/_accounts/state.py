"""The live state: accounts and what is in them, changed by approved drafts alone."""

from collections.abc import Mapping
from datetime import date
from typing import Literal, get_args

import attrs

from adclient._json import differ
from adclient.models import JSON
from adclient.testing._accounts.facts import Pace
from adclient.testing._accounts.ids import unique_id
from adclient.testing._accounts.money import USD, Currency
from adclient.testing._clock import FakeClock

Platform = Literal["alpha", "beta", "gamma", "delta"]
Access = Literal["open", "disconnected", "read_only", "drafting_paused"]
Kind = Literal["campaign", "ad_group", "creative", "ad", "keyword", "asset_group"]
Values = Mapping[str, JSON]


@attrs.define
class Entity:
    """A campaign, creative, ad, keyword or asset group."""

    kind: Kind
    id: str
    values: Values
    pace: Pace | None = None

    def text(self, key: str) -> str:
        """A value that is text; empty if it is not there."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def change(self, changes: Values, today: date) -> None:
        """Set values; what is paused or enabled stops or begins to spend after today."""
        was_enabled = self.is_enabled
        self.values = merged(self.values, changes)
        if self.pace is not None and self.is_enabled != was_enabled:
            self.pace = attrs.evolve(self.pace, switched=(*self.pace.switched, today))

    @property
    def is_enabled(self) -> bool:
        """Whether it runs."""
        return self.text("status") == "ENABLED"


@attrs.frozen(kw_only=True)
class Edit:
    """A part of a change: what one entity's values were, and shall be.

    `before` and `after` hold only the keys that change. Without `id` it makes an entity, without
    `after` it removes one. `children` are made or removed with it.
    """

    kind: Kind
    id: str | None = None
    before: Values | None = None
    after: Values | None = None
    children: tuple["Edit", ...] = ()

    @property
    def flat(self) -> tuple["Edit", ...]:
        """Itself, and the edits of its children."""
        return self, *(edit for child in self.children for edit in child.flat)

    def within(self, parents: Values) -> "Edit":
        """The same edit, of an entity that is made inside of others."""
        return attrs.evolve(self, after={**(self.after or {}), **parents})

    def overlaps(self, other: "Edit") -> bool:
        """Whether both touch the same value."""
        same = self.id is not None and (self.kind, self.id) == (other.kind, other.id)
        return same and bool(set(self.before or ()) & set(other.before or ()))


@attrs.define(kw_only=True)
class Account:
    """A connected ad account."""

    id: str
    platform: Platform
    name: str
    currency: Currency = USD
    access: Access = "open"
    seed: str = ""
    clock: FakeClock = attrs.field(factory=FakeClock)
    _entities: dict[tuple[Kind, str], Entity] = attrs.field(
        init=False, factory=dict[tuple[Kind, str], Entity]
    )
    _ids: set[str] = attrs.field(init=False, factory=set[str])
    _added: int = attrs.field(init=False, default=0)

    def of(self, kind: Kind) -> list[Entity]:
        """All entities of a kind, oldest first."""
        return [entity for entity in self._entities.values() if entity.kind == kind]

    def find(self, kind: Kind, entity_id: str) -> Entity | None:
        """One entity, or None if this account has no such one."""
        return self._entities.get((kind, entity_id))

    def add(
        self, kind: Kind, values: Values, *, id: str | None = None, pace: Pace | None = None
    ) -> Entity:
        """A new entity; its id follows from the seed and its place if none is given."""
        self._added += 1
        name = f"{self.seed}:{self.id}:{self._added}"
        entity = Entity(kind, id or unique_id(kind, name, self._ids), values, pace)
        self._ids.add(entity.id)
        self._entities[kind, entity.id] = entity
        return entity

    def named(self, entity_id: str) -> Entity | None:
        """One entity of any kind."""
        found = (self.find(kind, entity_id) for kind in get_args(Kind))
        return next((entity for entity in found if entity is not None), None)

    def name_of(self, entity_id: str) -> str | None:
        """What an entity is called; a keyword is its text."""
        entity = self.named(entity_id)
        return None if entity is None else entity.text("name") or entity.text("text") or None

    def fits(self, edit: Edit) -> bool:
        """Whether what an edit says was before is still so."""
        return all(self._fits_alone(one) for one in edit.flat)

    def apply(self, edit: Edit) -> Edit:
        """Make an approved change; the edit that would undo it."""
        if edit.id is None:
            return self._make(edit)
        if edit.after is None:
            del self._entities[edit.kind, edit.id]
            children = tuple(map(self.apply, edit.children))
            return Edit(kind=edit.kind, after=edit.before, children=children)
        self._entities[edit.kind, edit.id].change(edit.after, self.clock.today())
        return attrs.evolve(edit, before=edit.after, after=edit.before)

    def _fits_alone(self, edit: Edit) -> bool:
        if edit.id is None:
            return True
        entity = self.find(edit.kind, edit.id)
        return entity is not None and _holds(entity.values, edit.before or {})

    def _make(self, edit: Edit) -> Edit:
        made = self.add(edit.kind, edit.after or {})
        parents = {key: value for key, value in made.values.items() if key in _PARENTS}
        parents[f"{edit.kind}_id"] = made.id
        children = tuple(self._make(child.within(parents)) for child in edit.children)
        return Edit(kind=edit.kind, id=made.id, before=made.values, children=children)


_PARENTS = ("campaign_id", "ad_group_id")


def _holds(values: Values, expected: Values) -> bool:
    """Whether values hold what is expected of them; there may be more."""
    _, differing = changed(values, expected)
    return not differing


def merged(values: Values, changes: Values) -> dict[str, JSON]:
    """New values, with objects inside merged in the same way."""
    result = dict(values)
    for key, change in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(change, dict) and key not in WHOLE:
            result[key] = merged(old, change)
        else:
            result[key] = change
    return result


WHOLE = frozenset({"targeting", "assets"})
"""Objects that are replaced as a whole."""


def changed(values: Values, wanted: Values) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Before and after, holding only the keys whose values differ."""
    before: dict[str, JSON] = {}
    after: dict[str, JSON] = {}
    for key, new in wanted.items():
        old = values.get(key)
        if isinstance(old, dict) and isinstance(new, dict) and key not in WHOLE:
            inner_before, inner_after = changed(old, new)
            if inner_after:
                before[key], after[key] = inner_before, inner_after
        elif differ(old, new):
            before[key], after[key] = old, new
    return before, after


def leaf(before: Values, after: Values) -> tuple[str, JSON, JSON] | None:
    """The only changed value, with its name, such as `bid.amount`; None if there are several."""
    if len(after) != 1:
        return None
    ((key, new),) = after.items()
    old = before[key]
    if isinstance(old, dict) and isinstance(new, dict) and key not in WHOLE:
        inner = leaf(old, new)
        return None if inner is None else (f"{key}.{inner[0]}", *inner[1:])
    return key, old, new
