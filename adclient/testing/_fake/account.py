"""The accounts that users give to the fake service."""

from collections.abc import Mapping, Sequence
from typing import Literal, cast, get_args

import attrs

from adclient._core.operations import READS
from adclient.options import check_type
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
