"""The connected accounts of a fake: those that users give it, and those of the story."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any, cast

import attrs

from adclient._values import jsontext
from adclient._values.json_values import is_object
from adclient.models import JSON
from adclient.testing._fake.account import KINDS, OTHER_READS, FakeAccount, Figures, Items, Kind
from adclient.testing._fake.data import load
from adclient.testing._fake.state import Account, unique_id

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
