"""Strategies of Hypothesis for tests of code that stages drafts; they need the extra `hypothesis`.

`accounts` are what it works on, `changes` what it may stage, and `faults` what may happen to it.
"""

from collections.abc import Mapping
from itertools import product
from typing import cast, get_args

from adclient._show.tracebacks import needs
from adclient.models import JSON
from adclient.testing._fake.accounts import FakeAccount, Items, Platform
from adclient.testing._fake.faults import Fault
from adclient.testing._fake.pages import PagingFault
from adclient.testing._fake.responses import BodyFault

__all__ = ["accounts", "changes", "faults"]

with needs("hypothesis"):
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy

_NAMES = ("Spring", "Été · 春", "A name with 'quotes', \"more\" and a comma", "x" * 200)
_COUNTRIES = ("US", "DE", "JP")
# Whether there is a campaign, an ad and so on, and which: one draw for each is quick.
_PLACES = st.tuples(*[st.sampled_from([None, *product(("ENABLED", "PAUSED"), _NAMES)])] * 6)
# Those whose responses a service can send: where it takes a write, no status denies that.
_FAULTS = (
    Fault.dropped(taken=True),
    Fault.dropped(),
    Fault.no_response(taken=True),
    Fault.no_response(),
    Fault.refused(),
    Fault.status(503, taken=True),
    Fault.status(500),
    Fault.status(429, headers={"Retry-After": "2"}),
    Fault.slow(40),
    Fault.slow_body(40),
    Fault.redirect(),
    # A huge body takes long to make.
    *(Fault.in_body(what) for what in get_args(BodyFault) if what != "huge"),
    *map(Fault.in_page, get_args(PagingFault)),
)


def accounts(
    account_id: str | None = None, *, platform: Platform | None = None
) -> SearchStrategy[FakeAccount]:
    """Generate accounts of the fake, each with up to three items of each kind.

    The ids of the items are `campaign_1`, `campaign_2`, `creative_1`, `ad_1`, `keyword_1`,
    `asset_group_1` and so on, so a job may name them; any of them may be missing.

    Args:
        account_id: The id of every account; None for any.
        platform: The platform of every account; None for accounts of all four.

    Returns:
        A strategy of accounts.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.properties import accounts
        >>> from hypothesis import given
        >>> @given(accounts("account_1"))
        ... def test_campaigns_are_counted(account):
        ...     client = FakeAdService(accounts=[account]).client()
        ...     listed = client.beta.list_campaigns(account_id="account_1")
        ...     assert len(list(listed)) == len(account.campaigns)
        >>> test_campaigns_are_counted()
    """
    ids = st.integers(1, 9999).map("account_{}".format)
    return _accounts(ids if account_id is None else st.just(account_id), platform)


@st.composite
def _accounts(
    draw: st.DrawFn, account_ids: SearchStrategy[str], platform: Platform | None
) -> FakeAccount:
    drawn = draw(_PLACES)

    def items(kind: str, first: int, **fields: JSON) -> list[dict[str, JSON]]:
        return [
            {"id": f"{kind}_{number}", "name": place[1], "status": place[0], **fields}
            for number, place in enumerate(drawn[first : first + 3], 1)
            if place is not None
        ]

    campaigns = items("campaign", 0, daily_budget=100, targeting={"countries": ["US"]})
    keywords = [
        {**keyword, "text": f"keyword {number}"}
        for number, keyword in enumerate(items("keyword", 3, cpc_bid=1.5), 1)
    ]
    objectives = items("objective", 0)
    return FakeAccount(
        draw(account_ids),
        platform=platform,
        campaigns=campaigns,
        ads=items("ad", 3),
        creatives=items("creative", 3),
        keywords=keywords,
        asset_groups=items("asset_group", 0, search_themes=["shoes"]),
        reads={
            "alpha.explain_objectives": [{**each, "campaigns": campaigns} for each in objectives],
            "beta.detect_creative_fatigue": items("creative", 3),
            "delta.analyze_wasted_spend": keywords,
        },
    )


def changes(account: FakeAccount) -> SearchStrategy[Mapping[str, JSON]]:
    """Generate writes to an account that the fake stages, each as a change of a plan.

    Args:
        account: The account, as `accounts` makes them or one of your own. Only items with an `id`
            are changed; keywords need a `text`.

    Returns:
        A strategy of changes, each with `call`, the name of the write, and its arguments.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from adclient.ledger import SQLiteLedger
        >>> from adclient.plan import Plan
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.properties import accounts, changes
        >>> from hypothesis import given, strategies as st
        >>> @given(accounts("account_1").flatmap(lambda a: st.tuples(st.just(a), changes(a))))
        ... def test_plan_allows_the_change(drawn):
        ...     account, change = drawn
        ...     plan, fake = Plan.of("p", [change]), FakeAdService(accounts=[account])
        ...     with TemporaryDirectory() as folder:
        ...         client = fake.client(ledger=SQLiteLedger(f"{folder}/drafts.db"))
        ...         assert plan.stage(client).exit_code == 0
        >>> test_plan_allows_the_change()
    """
    budgets, account_id = st.integers(1, 1000), st.just(account.id)
    fields = st.fixed_dictionaries({"name": st.sampled_from(_NAMES)})
    targeting = st.fixed_dictionaries(
        {"countries": st.lists(st.sampled_from(_COUNTRIES), min_size=1, max_size=3, unique=True)}
    )

    def one_of(items: Items, key: str = "id") -> SearchStrategy[str]:
        values = [str(item[key]) for item in items if key in item]
        return st.sampled_from(values) if values else st.nothing()

    def write(name: str, **arguments: SearchStrategy[object]) -> SearchStrategy[Mapping[str, JSON]]:
        if account.platform not in (None, name.partition(".")[0]):
            return st.nothing()
        drawn = {"call": st.just(name), "account_id": account_id, **arguments}
        return cast("SearchStrategy[Mapping[str, JSON]]", st.fixed_dictionaries(drawn))

    campaigns = one_of(account.campaigns)
    texts = st.lists(one_of(account.keywords, "text"), min_size=1, max_size=3)
    pause = st.just({"action": "PAUSE"})
    writes = [
        write("alpha.update_campaign_budget", campaign_id=campaigns, daily_budget=budgets),
        write("alpha.update_campaign_targeting", campaign_id=campaigns, targeting=targeting),
        write("alpha.update_creative", creative_id=one_of(account.creatives), fields=fields),
        write("alpha.update_creative", fields=fields),
        write("beta.pause_campaign", campaign_id=campaigns),
        write("beta.create_video_campaign", fields=fields),
        write("gamma.create_dco_ad", ad_id=one_of(account.ads), fields=fields),
        write("gamma.create_dco_ad", fields=fields),
        write("gamma.create_image_campaign", fields=fields),
        write("delta.update_keyword", keywords=texts, fields=pause),
        write("delta.update_keyword", keywords=st.just(["running shoes"])),
        write("delta.remove_auto_search_themes"),
    ]
    return st.one_of(writes)


def faults() -> SearchStrategy[Fault]:
    """Generate faults of the network and of the service that a write can meet.

    They are honest: if the service processes a write, its response may get lost, break or be an
    error 5xx, but it never denies the draft by a 4xx, which no client could find out.

    Returns:
        A strategy of faults.

    Examples:
        >>> from adclient import AdClientError
        >>> from adclient.testing import FakeAdService
        >>> from adclient.testing.properties import faults
        >>> from hypothesis import given
        >>> @given(faults())
        ... def test_errors_tell_if_a_draft_may_exist(fault):
        ...     fake = FakeAdService()
        ...     fake.faults.add(fault)
        ...     try:
        ...         fake.client().delta.remove_auto_search_themes(account_id="account_d118")
        ...     except AdClientError as error:
        ...         assert error.outcome_unknown or not fake.drafts
        >>> test_errors_tell_if_a_draft_may_exist()
    """
    return st.sampled_from(_FAULTS)
