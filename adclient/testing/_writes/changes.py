"""A change that can be staged: what its diff shows, and what approval would edit."""

import attrs

from adclient.models import JSON
from adclient.testing._accounts.state import Edit, Entity, Kind, Values, changed, leaf
from adclient.testing._http.responses import invalid_value, no_change
from adclient.testing._writes.rules import check_immutable


@attrs.frozen(kw_only=True)
class ProposedChange:
    """What a write would change."""

    field: str
    before: JSON
    after: JSON
    edits: tuple[Edit, ...]
    target: str | None = None


def update(entity: Entity, wanted: Values) -> ProposedChange:
    """A change of an entity; if several values change, the field is the kind of the entity."""
    check_immutable(wanted, {"id": entity.id}, "id")
    before, after = changed(entity.values, wanted)
    if not after:
        raise no_change()
    edit = Edit(kind=entity.kind, id=entity.id, before=before, after=after)
    field, old, new = leaf(before, after) or (entity.kind, before, after)
    return ProposedChange(field=field, before=old, after=new, edits=(edit,), target=entity.id)


def create(kind: Kind, values: dict[str, JSON], *children: Edit) -> ProposedChange:
    """A new entity and its children."""
    if "id" in values:
        raise invalid_value("id", "immutable_field", "the service assigns ids")
    edit = Edit(kind=kind, after=values, children=children)
    return ProposedChange(field=kind, before=None, after=values, edits=(edit,))
