"""The accounts of the story, from data files: their figures follow from the seed and the clock."""

import json
import random
from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import product
from typing import Any

from adclient.testing._accounts.account import FakeAccount, connected
from adclient.testing._accounts.metrics import Delivery, Figures
from adclient.testing._accounts.state import Account, unique_id
from adclient.testing._reads.computed import objectives, targeting_options, with_figures
from adclient.testing._reads.findings import WasteShare, fatigue, wasted_spend

_DATA = files("adclient.testing._accounts").joinpath("data")
STORY = {path.name.removesuffix(".json") for path in _DATA.joinpath("accounts").iterdir()}


# Most test suites make a new fake for each test, with the same seed.
@lru_cache(maxsize=100)
def story_account(account_id: str, seed: str) -> Account:
    """An account of the story, to be copied."""
    data = dict(load(f"accounts/{account_id}"))
    rows, drawn, shares = data.pop("entities"), data.pop("drawn", None), data.pop("waste", ())
    if drawn is not None:
        rows = [*rows, *_drawn_keywords(rows, f"{seed}:{account_id}", **drawn)]
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
            deliveries[ids[-1]] = row["delivery"]
    account = connected(FakeAccount(account_id, **data), seed)
    figures = Figures(seed=seed, currency=account.currency, deliveries=deliveries)
    waste = [WasteShare(**linked(row)) for row in shares]
    account.reads = {
        **account.reads,
        "beta.list_campaigns": partial(with_figures, figures, "campaign"),
        "gamma.list_ads": partial(with_figures, figures, "ad"),
        "beta.detect_creative_fatigue": partial(fatigue, figures),
        "gamma.search_targeting": partial(targeting_options, load("targeting_options")),
        "alpha.explain_objectives": partial(objectives, load("objectives")),
        "delta.analyze_wasted_spend": partial(wasted_spend, figures, waste),
    }
    return account


def _drawn_keywords(
    rows: list[dict[str, Any]], seed: str, words: list[list[str]], count: int
) -> Iterator[dict[str, Any]]:
    """Keywords that follow from the seed, to fill up an account."""
    listed = {row["values"].get("text") for row in rows}
    texts = ((f"{adjective} {noun}", match_type) for adjective, noun, match_type in product(*words))
    free = [row for row in texts if row[0] not in listed]
    chance = random.Random(f"{seed}:keywords")  # noqa: S311 (no secret)
    for text, match_type in chance.sample(free, count):
        values = {"text": text, "match_type": match_type, "status": "ENABLED"}
        bid = round(chance.uniform(0.4, 3.2), 2)
        yield {"kind": "keyword", "values": {**values, "cpc_bid": bid, "negative": False}}


@cache
def load(name: str) -> Any:
    """The content of a data file, which is shared by all fakes of the process."""
    text = _DATA.joinpath(f"{name}.json").read_text("utf-8")
    return json.loads(text, object_hook=_with_delivery)


def _with_delivery(data: dict[str, Any]) -> Any:
    """An object of a data file, or the `Delivery` that it describes."""
    if "first_day" not in data:
        return data
    data["first_day"] = date.fromisoformat(data["first_day"])
    data["switched"] = tuple(map(date.fromisoformat, data.get("switched", [])))
    return Delivery(**data)
