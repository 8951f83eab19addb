"""Ad accounts: those that users give to a fake, and their live state, which drafts change."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, Literal, Self, cast, get_args

import attrs

from adclient._core.operations import READS
from adclient._values import jsontext
from adclient._values.json_values import differ, is_object
from adclient.models import JSON
from adclient.options import check_type
from adclient.testing._fake import load
from adclient.testing._fake.profile import check_choice, unknown

Platform = Literal["alpha", "beta", "gamma", "delta"]
Access = Literal["open", "disconnected", "read_only", "drafting_paused"]
Kind = Literal["campaign", "creative", "ad", "keyword", "asset_group"]
Items = Sequence[Mapping[str, object]]
Figures = Mapping[str, Mapping[str, Mapping[str, object]]]
KINDS = cast("tuple[Kind, ...]", get_args(Kind))
ENTITIES_OF: Mapping[str, Kind] = {"beta.list_campaigns": "campaign", "gamma.list_ads": "ad"}
"""The reads of entities; the others return items of their own."""
OTHER_READS = [name for name in READS if name not in ENTITIES_OF]


@attrs.frozen(kw_only=True)
class FakeAccount:
    """An ad account of your own for a `FakeAdService`.

    Its items are plain objects with any fields, which reads return as they are, in this order. An
    `id`, `name` or `status` that is missing is made up; a keyword has a `text` instead of a name,
    and what is in `reads` needs only an `id`. Approved drafts change, add and remove items.

    Attributes:
        id: The `account_id`.
        platform: `alpha`, `beta`, `gamma` or `delta`; None for an account of all four.
        name: The name that the approval page shows; None for the id.
        currency: The code of its currency.
        access: `open`, `disconnected` (every call is refused), `read_only` (writes are refused), or
            `drafting_paused` (writes are refused for now).
        campaigns: The campaigns, which `beta.list_campaigns` returns.
        ads: The ads, which `gamma.list_ads` returns.
        creatives: The creatives, which no read returns.
        keywords: The keywords, which no read returns.
        asset_groups: The asset groups with their `search_themes`, which no read returns.
        reads: What the other five reads return, by their names, such as
            `alpha.explain_objectives`. No draft changes it.
        figures: What `campaigns` and `ads` have in a `date_range` beside their own fields: by the
            range, then by the id of the item. A read without a range is of `LAST_30_DAYS`, and so
            is one of a range that is not here.

    Raises:
        ValueError: An argument is invalid; the message names it. Items are checked when the account
            is connected.

    Examples:
        >>> from adclient.testing import FakeAccount, FakeAdService
        >>> campaign = {"id": "c1", "name": "Spring", "status": "ENABLED", "cost_micros": 12_500}
        >>> account = FakeAccount("account_1", platform="beta", campaigns=[campaign])
        >>> client = FakeAdService(accounts=[account]).client()
        >>> client.beta.list_campaigns(account_id="account_1").data[0].extra["cost_micros"]
        12500

        A job that forgets its `date_range` gets other figures:

        >>> weeks = {"LAST_7_DAYS": {"c1": {"clicks": 9}}, "LAST_30_DAYS": {"c1": {"clicks": 40}}}
        >>> account = FakeAccount("account_1", campaigns=[{"id": "c1"}], figures=weeks)
        >>> client = FakeAdService(accounts=[account]).client()
        >>> client.beta.list_campaigns(account_id="account_1").data[0].extra
        {'clicks': 40}
    """

    id: str = attrs.field(kw_only=False)
    platform: Platform | None = None
    name: str | None = None
    currency: str = "USD"
    access: Access = "open"
    campaigns: Items = ()
    ads: Items = ()
    creatives: Items = ()
    keywords: Items = ()
    asset_groups: Items = ()
    reads: Mapping[str, Items] = attrs.field(factory=dict[str, Items])
    figures: Figures = attrs.field(factory=dict[str, Mapping[str, Mapping[str, object]]])

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise ValueError("id must be a text that is not empty")
        check_type("name", self.name, str)
        if not isinstance(self.currency, str):
            raise ValueError("currency must be a text")
        if self.platform is not None:
            check_choice("platform", self.platform, Platform)
        check_choice("access", self.access, Access)
        if not isinstance(self.reads, Mapping):
            raise ValueError("reads must be items by the names of reads")
        for name in self.reads:
            if name not in OTHER_READS:
                raise ValueError(f"reads: {unknown('read', name, OTHER_READS)}")


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


_IDS = "5a5a 5a5b a5d2 a91f b204 b7e0 c3d8 c95a d118 d4c4 d7f2 e000 f403"
STORY = {f"account_{each}" for each in _IDS.split()}


@attrs.define(slots=False)
class Accounts:
    """The accounts that were added, and those of the story, each loaded when it is asked for."""

    has_story: bool
    _connected: dict[str, Account | None] = attrs.field(factory=dict[str, Account | None])

    def get(self, account_id: str) -> Account | None:
        """An account with its data, or None if no such account is connected."""
        if self.has_story and account_id in STORY and account_id not in self._connected:
            self._connected[account_id] = deepcopy(_story_account(account_id))
        return self._connected.get(account_id)

    def live(self, account_id: str) -> Account:
        """An account that is connected."""
        account = self.get(account_id)
        if account is None:
            raise ValueError(f"there is no account {account_id}")
        return account

    def add(self, given: FakeAccount) -> None:
        """Connect an account."""
        if not isinstance(given, FakeAccount):
            raise ValueError(f"account must be a FakeAccount, not {type(given).__name__}")
        if self.get(given.id) is not None:
            raise ValueError(f"there is already an account {given.id}")
        self._connected[given.id] = build_account(given)

    def remove(self, account_id: str) -> None:
        """Disconnect an account, also one of the story."""
        self.live(account_id)
        self._connected[account_id] = None


@cache  # most test suites make a new fake for each test
def _story_account(account_id: str) -> Account:
    """An account of the story, to be copied."""
    given = FakeAccount(account_id, **load(f"accounts/{account_id}.json"))
    return build_account(given, is_story=True)


def build_account(given: FakeAccount, *, is_story: bool = False) -> Account:
    """A live account with copies of the given items."""
    reads = {name: _objects(name, given.reads.get(name, ())) for name in OTHER_READS}
    for name, items in reads.items():  # an id is the only field that their class needs
        taken = {str(item.get("id")) for item in items}
        for number, item in enumerate(items):
            made = unique_id("item", f"{given.id}:{name}:{number}", taken.__contains__)
            taken.add(str(item.setdefault("id", made)))
    figures = copied_json({"figures": given.figures}, "account")["figures"]
    by_id = figures.values() if is_object(figures) else [None]
    if not all(is_object(ids) and all(map(is_object, ids.values())) for ids in by_id):
        raise ValueError("figures must be JSON objects by date range and id")
    copies = attrs.evolve(given, reads=reads, figures=cast("Figures", figures))
    account = Account(copies, is_story)
    for kind in KINDS:
        for place, values in enumerate(_objects(f"{kind}s", getattr(given, f"{kind}s"))):
            add_entity(account, kind, values, f"{kind}s[{place}]")
    return account


def add_entity(account: Account, kind: Kind, values: Mapping[str, JSON], name: str) -> str:
    """Add an entity with values of a user, and return its id."""
    item_id = values.get("id")
    is_free = isinstance(item_id, str) and item_id and not account.find(kind, item_id)
    if "id" in values and not is_free:
        raise ValueError(f"{name}.id must be a text that no other {kind} has")
    return account.add(kind, values).id


def current(account: Account) -> FakeAccount:
    """A live account as it is now, which could be given to another fake."""
    items: dict[str, Any] = {
        f"{kind}s": [each.values for each in account.all(kind)] for kind in KINDS
    }
    return deepcopy(attrs.evolve(account.given, **items))


def _objects(name: str, given: Items) -> list[dict[str, JSON]]:
    """Copies of JSON objects."""
    copies = copied_json({name: given}, "account")[name]
    if not isinstance(copies, list) or not all(isinstance(each, dict) for each in copies):
        raise ValueError(f"{name} must be a list of JSON objects")
    return cast("list[dict[str, JSON]]", copies)


def copied_json(values: Mapping[str, object], name: str) -> dict[str, JSON]:
    """A copy of a JSON object; what is not JSON is refused."""
    try:
        return cast("dict[str, JSON]", jsontext.loads(jsontext.dumps(values, name).encode()))
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None
