"""The accounts that users give to the fake service."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import attrs

from adclient._core.operations import READS
from adclient._values import jsontext
from adclient.options import check_type
from adclient.testing._accounts.state import (
    CURRENCIES,
    Access,
    Account,
    Currency,
    Kind,
    Platform,
    unique_id,
)
from adclient.testing._profile import check_choice
from adclient.testing._reads.pages import Row
from adclient.testing._reads.reads import read_entities, read_rows

Items = Sequence[Mapping[str, object]]
_LISTED: Mapping[str, Kind] = {"beta.list_campaigns": "campaign", "gamma.list_ads": "ad"}
_OTHERS = [name for name in READS if name not in _LISTED]


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
                raise ValueError(f"reads: {name!r} is not one of {', '.join(_OTHERS)}")


def build_account(given: FakeAccount, seed: str) -> Account:
    """A live account with copies of the given items."""
    account = Account(
        id=given.id,
        platform=given.platform,
        name=given.name or given.id,
        currency=CURRENCIES.get(given.currency) or Currency(given.currency),
        access=given.access,
        seed=seed,
        reads={name: read_entities(kind) for name, kind in _LISTED.items()}
        | {name: read_rows(_with_ids(given, name, seed)) for name in _OTHERS},
    )
    for kind in cast("tuple[Kind, ...]", get_args(Kind)):
        for place, values in enumerate(_objects(f"{kind}s", getattr(given, f"{kind}s"))):
            item_id = values.get("id")
            is_free = isinstance(item_id, str) and item_id and not account.find(kind, item_id)
            if "id" in values and not is_free:
                raise ValueError(f"{kind}s[{place}].id must be a text that no other {kind} has")
            account.add(kind, values)
    return account


def _with_ids(given: FakeAccount, name: str, seed: str) -> list[Row]:
    """The rows of a read, each with an id, the only field that their class needs."""
    listed = _objects(name, given.reads.get(name, ()))
    taken = {str(row.get("id")) for row in listed}
    for number, row in enumerate(listed):
        if "id" not in row:
            made = unique_id("item", f"{seed}:{given.id}:{name}:{number}", taken.__contains__)
            taken.add(made)
            row["id"] = made
    return listed


def _objects(name: str, given: Items) -> list[Row]:
    """Copies of JSON objects."""
    copies = copied_json({name: given}, "account")[name]
    if not isinstance(copies, list) or not all(isinstance(each, dict) for each in copies):
        raise ValueError(f"{name} must be a list of JSON objects")
    return cast("list[Row]", copies)


def copied_json(values: Mapping[str, object], name: str) -> Row:
    """A copy of a JSON object; what is not JSON is refused."""
    try:
        return cast("Row", jsontext.loads(jsontext.dumps(values, name).encode()))
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None
