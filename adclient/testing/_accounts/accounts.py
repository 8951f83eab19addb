"""The accounts of the fake service, loaded from data files when they are first asked for."""

import json
import random
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import attrs

from adclient.models import JSON
from adclient.testing._accounts.metrics import Delivery
from adclient.testing._accounts.state import CURRENCIES, Account, Kind, WasteShare
from adclient.testing._clock import FakeClock

_DATA = files("adclient.testing._accounts").joinpath("data")
_NAMED: tuple[Kind, ...] = ("campaign", "asset_group")
_IDS = {path.name.removesuffix(".json") for path in _DATA.joinpath("accounts").iterdir()}


@attrs.frozen
class Accounts:
    """The connected accounts."""

    seed: str
    clock: FakeClock
    _loaded: dict[str, Account] = attrs.field(init=False, factory=dict[str, Account])

    def get(self, account_id: str) -> Account | None:
        """An account with its data, or None if no such account is connected."""
        if account_id in self._loaded or account_id not in _IDS:
            return self._loaded.get(account_id)
        data = load(f"accounts/{account_id}")
        account = Account(
            id=account_id,
            platform=data["platform"],
            name=data["name"],
            seed=self.seed,
            clock=self.clock,
            currency=CURRENCIES[data["currency"]],
            access=data["access"],
            profile=data.get("profile", []),
        )
        ids: list[str] = []
        for row in data["entities"]:
            # The data names parents by their place in it, because ids follow from the seed.
            parents: dict[str, int] = row.get("parents", {})
            values: dict[str, JSON] = dict(row["values"])
            values.update({key: ids[place] for key, place in parents.items()})
            delivery: Delivery | None = row.get("delivery")
            ids.append(account.add(row["kind"], values, id=row.get("id"), delivery=delivery).id)
        named = {(e.kind, e.name): e.id for kind in _NAMED for e in account.all(kind)}
        shares: list[dict[str, Any]] = data.get("waste", [])
        for share in shares:
            name = share["name"]
            of: dict[str, Any] = {
                "campaign_id": named["campaign", share["campaign"]],
                "entity_id": named.get((share["entity_type"], name)),
                "is_automated": ("asset_group", name) in named,
            }
            figures = {key: value for key, value in share.items() if key != "campaign"}
            account.waste.append(WasteShare(**figures, **of))
        if "drawn_keywords" in data:
            _add_drawn_keywords(account, data["words"], data["drawn_keywords"])
        return self._loaded.setdefault(account_id, account)


def _add_drawn_keywords(account: Account, words: list[list[str]], count: int) -> None:
    """Fill up an account with keywords that follow from the seed."""
    listed = {keyword.text("text") for keyword in account.all("keyword")}
    texts = ((f"{adjective} {noun}", match_type) for adjective, noun, match_type in product(*words))
    free = [row for row in texts if row[0] not in listed]
    chance = random.Random(f"{account.seed}:{account.id}:keywords")  # noqa: S311 (no secret)
    for text, match_type in chance.sample(free, count):
        values: dict[str, JSON] = {"text": text, "match_type": match_type, "status": "ENABLED"}
        bid = round(chance.uniform(0.4, 3.2), 2)
        account.add("keyword", {**values, "cpc_bid": bid, "negative": False})


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
