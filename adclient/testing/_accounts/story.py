"""The accounts of the story, from data files: their figures follow from the seed and the clock."""

from functools import lru_cache, partial
from typing import Any

from adclient.testing._accounts.account import FakeAccount, build_account
from adclient.testing._accounts.metrics import Delivery, Figures
from adclient.testing._accounts.state import Account, unique_id
from adclient.testing._data import load
from adclient.testing._reads.computed import objectives, targeting_options, with_figures
from adclient.testing._reads.findings import fatigue, wasted_spend

_IDS = "5a5a 5a5b a5d2 a91f b204 b7e0 c3d8 c95a d118 d4c4 d7f2 e000 f403"
STORY = {f"account_{each}" for each in _IDS.split()}
_DATA = "_accounts/data"


# Most test suites make a new fake for each test, with the same seed.
@lru_cache(maxsize=100)
def story_account(account_id: str, seed: str) -> Account:
    """An account of the story, to be copied."""
    data = dict(load(f"{_DATA}/accounts/{account_id}.json"))
    rows, shares = data.pop("entities"), data.pop("waste", ())
    deliveries: dict[str, Delivery] = {}
    ids: list[str] = []

    def linked(row: dict[str, Any]) -> dict[str, Any]:
        """The values of a row; links are places in the data, because ids follow from the seed."""
        return {**row["values"], **{key: ids[place] for key, place in row.get("links", {}).items()}}

    for number, row in enumerate(rows, 1):
        kind, name = row["kind"], f"{seed}:{account_id}:{number}"
        ids.append(row.get("id") or unique_id(kind, name, ids.__contains__))
        if "values" in row:  # of an ad group, there is only the id
            data.setdefault(f"{kind}s", []).append({"id": ids[-1], **linked(row)})
        if "delivery" in row:
            deliveries[ids[-1]] = Delivery(**row["delivery"])
    account = build_account(FakeAccount(account_id, **data), seed)
    figures = Figures(seed=seed, currency=account.currency, deliveries=deliveries)
    waste = [linked(row) for row in shares]
    account.reads = {
        **account.reads,
        "beta.list_campaigns": partial(with_figures, figures, "campaign"),
        "gamma.list_ads": partial(with_figures, figures, "ad"),
        "beta.detect_creative_fatigue": partial(fatigue, figures),
        "gamma.search_targeting": partial(
            targeting_options, load(f"{_DATA}/targeting_options.json")
        ),
        "alpha.explain_objectives": partial(objectives, load(f"{_DATA}/objectives.json")),
        "delta.analyze_wasted_spend": partial(wasted_spend, figures, waste),
    }
    return account
