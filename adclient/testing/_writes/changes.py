"""A staged change: what its diff shows, and what approval would edit."""

import attrs

from adclient.models import JSON
from adclient.testing._accounts.state import Edit, Entity, Kind, Values, changed, leaf
from adclient.testing._wire.protocol import Refusal
from adclient.testing._writes.rules import refuse


@attrs.frozen(kw_only=True)
class Change:
    """What a write would change."""

    field: str
    before: JSON
    after: JSON
    edits: tuple[Edit, ...]
    target: str | None = None


def no_change() -> Refusal:
    """The refusal of a write after which all would be as it is."""
    return Refusal(422, "no_change", "this would change nothing")


def update(entity: Entity, wanted: Values) -> Change:
    """A change of an entity: one value shows as itself, several as the noun with what differs."""
    before, after = changed(entity.values, wanted)
    if not after:
        raise no_change()
    edit = Edit(kind=entity.kind, id=entity.id, before=before, after=after)
    field, old, new = leaf(before, after) or (entity.kind, before, after)
    return Change(field=field, before=old, after=new, edits=(edit,), target=entity.id)


def create(kind: Kind, values: dict[str, JSON], *children: Edit) -> Change:
    """A new entity, and what comes with it."""
    if "id" in values:
        raise refuse("id", "immutable_field", "the service gives ids itself")
    edit = Edit(kind=kind, after=values, children=children)
    return Change(field=kind, before=None, after=values, edits=(edit,))
