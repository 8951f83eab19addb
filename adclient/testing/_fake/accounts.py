"""The accounts that users give to the fake service, and those of the story."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import cast, get_args

import attrs

from adclient._core.operations import READS
from adclient._values import jsontext
from adclient.models import JSON
from adclient.options import check_type
from adclient.testing._fake.data import load
from adclient.testing._fake.profile import check_choice, unknown
from adclient.testing._fake.state import (
    CURRENCIES,
    Access,
    Account,
    Currency,
    Kind,
    Platform,
    unique_id,
)

Items = Sequence[Mapping[str, object]]
Figures = Mapping[str, Mapping[str, Mapping[str, object]]]
KINDS = cast("tuple[Kind, ...]", get_args(Kind))
ENTITIES_OF: Mapping[str, Kind] = {"beta.list_campaigns": "campaign", "gamma.list_ads": "ad"}
"""The reads of entities; the other five return items of their own."""
_OTHERS = [name for name in READS if name not in ENTITIES_OF]
_IDS = "5a5a 5a5b a5d2 a91f b204 b7e0 c3d8 c95a d118 d4c4 d7f2 e000 f403"
STORY = {f"account_{each}" for each in _IDS.split()}


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
            if name not in _OTHERS:
                raise ValueError(f"reads: {unknown('read', name, _OTHERS)}")


@attrs.define(slots=False)
class Accounts:
    """The accounts that were added, and those of the story, each loaded when it is asked for."""

    seed: str
    has_story: bool
    _connected: dict[str, Account | None] = attrs.field(factory=dict[str, Account | None])

    def get(self, account_id: str) -> Account | None:
        """An account with its data, or None if no such account is connected."""
        if self.has_story and account_id in STORY and account_id not in self._connected:
            self._connected[account_id] = deepcopy(_story_account(account_id, self.seed))
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
        self._connected[given.id] = build_account(given, self.seed)

    def remove(self, account_id: str) -> None:
        """Disconnect an account, also one of the story."""
        self.live(account_id)
        self._connected[account_id] = None


# Most test suites make a new fake for each test, with the same seed.
@lru_cache(maxsize=100)
def _story_account(account_id: str, seed: str) -> Account:
    """An account of the story, to be copied."""
    given = FakeAccount(account_id, **load(f"accounts/{account_id}.json"))
    return build_account(given, seed, is_story=True)


def build_account(given: FakeAccount, seed: str, *, is_story: bool = False) -> Account:
    """A live account with copies of the given items."""
    reads = {name: _objects(name, given.reads.get(name, ())) for name in _OTHERS}
    for name, items in reads.items():  # an id is the only field that their class needs
        taken = {str(item.get("id")) for item in items}
        for number, item in enumerate(items):
            made = unique_id("item", f"{seed}:{given.id}:{name}:{number}", taken.__contains__)
            taken.add(str(item.setdefault("id", made)))
    account = Account(
        id=given.id,
        platform=given.platform,
        name=given.name or given.id,
        currency=CURRENCIES.get(given.currency) or Currency(given.currency),
        access=given.access,
        seed=seed,
        is_story=is_story,
        reads=reads,
        figures=_copied_figures(given.figures),
    )
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
    items = {f"{kind}s": [each.values for each in account.all(kind)] for kind in KINDS}
    return deepcopy(
        FakeAccount(
            account.id,
            platform=account.platform,
            name=account.name,
            currency=account.currency.code,
            access=account.access,
            reads=account.reads,
            figures=account.figures,
            **items,
        )
    )


def _objects(name: str, given: Items) -> list[dict[str, JSON]]:
    """Copies of JSON objects."""
    copies = copied_json({name: given}, "account")[name]
    if not isinstance(copies, list) or not all(isinstance(each, dict) for each in copies):
        raise ValueError(f"{name} must be a list of JSON objects")
    return cast("list[dict[str, JSON]]", copies)


def _copied_figures(given: Figures) -> dict[str, dict[str, dict[str, JSON]]]:
    copies = copied_json({"figures": given}, "account")["figures"]
    by_id = [*copies.values()] if isinstance(copies, dict) else [None]
    fields = [each for ids in by_id for each in (ids.values() if isinstance(ids, dict) else [None])]
    if not all(isinstance(each, dict) for each in fields):
        raise ValueError("figures must be JSON objects by date range and id")
    return cast("dict[str, dict[str, dict[str, JSON]]]", copies)


def copied_json(values: Mapping[str, object], name: str) -> dict[str, JSON]:
    """A copy of a JSON object; what is not JSON is refused."""
    try:
        return cast("dict[str, JSON]", jsontext.loads(jsontext.dumps(values, name).encode()))
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None
