"""The gamma accounts, and the targeting options of their platform."""

from datetime import timedelta

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Pace
from adclient.testing._accounts.money import EUR
from adclient.testing._accounts.state import Account
from adclient.testing._clock import START

_TODAY = START.date()
_SEASONS = ["SPR26", "EVG", "WIN25"]
_PRODUCTS = ["Trail Shoes", "Rain Shells", "Tents", "Down Jackets"]
_HOOKS = ["Summit light", "Wet feet, no thanks", "Pack small", "Two huts, one day", "Sunday 🏔️ Club"]
_FORMATS = ["IMAGE", "IMAGE", "CAROUSEL", "DYNAMIC"]
_LONGEST_NAME = 400
_ASSETS: dict[str, JSON] = {
    "assets": {
        "images": ["img_51c0", "img_51c1"],
        "titles": ["Light", "Dry"],
        "bodies": ["Go out."],
    },
    "combinations": 4,
}
_EUROPE = ["Crème de nuit · Été", "Sérum éclat · Größe L", "Żel do mycia", "Ľahký krém"]


def social(seed: str) -> Account:
    """Halden Outdoor: 12 campaigns and 126 ads, which fill three pages of 50."""
    account = Account(
        id="account_c3d8",
        platform="gamma",
        name="Halden Outdoor — Social",
        seed=seed,
    )
    names = [f"{season} · {product}" for season in _SEASONS for product in _PRODUCTS]
    campaigns = [_campaign(account, name) for name in names]
    for number in range(126):
        campaign, name = campaigns[number % 12], names[number % 12]
        ad_name = f"{name} · {_HOOKS[number % 5]} · v{number // 12 + 1}"
        if number == 20:
            ad_name = f"{ad_name} ".ljust(_LONGEST_NAME, "x")
        status = "REMOVED" if number == 7 else "PAUSED" if number % 9 == 4 else "ENABLED"
        _ad(account, ad_name, status, campaign, number)
    free: dict[str, JSON] = {"name": "Dynamic, free", "status": "ENABLED", "dynamic_creative": True}
    account.add("ad_group", {**free, "campaign_id": campaigns[0]}, id="ad_group_7d20")
    return account


def social_europe(seed: str) -> Account:
    """Mirelle Skin: names beyond ASCII, and two ads that were rejected."""
    account = Account(
        id="account_c95a",
        platform="gamma",
        name="Mirelle Skin EU",
        currency=EUR,
        seed=seed,
    )
    for number, name in enumerate(_EUROPE):
        campaign = _campaign(account, name)
        for version in range(4):
            is_rejected = number < 2 and version == 3
            ad_name = f"{name} · v{version + 1}"
            _ad(account, ad_name, "ENABLED", campaign, version, is_rejected=is_rejected)
    return account


def empty(seed: str) -> Account:
    """An account in which there is nothing yet."""
    return Account(id="account_e000", platform="gamma", name="New, empty account", seed=seed)


def _campaign(account: Account, name: str) -> str:
    values: dict[str, JSON] = {
        "name": name,
        "status": "ENABLED",
        "objective": "SALES",
        "daily_budget": 120,
        "ad_groups": [{"name": f"{name} · broad", "status": "ENABLED"}],
    }
    return account.add("campaign", values).id


def _ad_group(account: Account, name: str, campaign_id: str, *, is_dynamic: bool) -> str:
    values: dict[str, JSON] = {
        "name": name,
        "status": "ENABLED",
        "campaign_id": campaign_id,
        "dynamic_creative": is_dynamic,
    }
    return account.add("ad_group", values).id


def _ad(
    account: Account,
    name: str,
    status: str,
    campaign_id: str,
    number: int,
    *,
    is_rejected: bool = False,
) -> None:
    serving = "REJECTED" if is_rejected else "SERVING" if status == "ENABLED" else None
    ad_format = _FORMATS[number % len(_FORMATS)]
    values: dict[str, JSON] = {
        "name": name,
        "status": status,
        "serving": serving,
        "campaign_id": campaign_id,
        "ad_group_id": _group_of_ad(account, name, campaign_id, ad_format),
        "format": ad_format,
        **(_ASSETS if ad_format == "DYNAMIC" else {}),
    }
    first_day = _TODAY - timedelta(days=20 + 3 * (number % 30))
    end = first_day - timedelta(days=1) if is_rejected else _TODAY - timedelta(days=18)
    pace = Pace(
        daily_budget=8 + number % 7,
        first_day=first_day,
        switched=(end,) if is_rejected or status != "ENABLED" else (),
        cpm=7.5 + number % 4,
        ctr=0.009 + 0.001 * (number % 6),
    )
    account.add("ad", values, pace=pace)


def _group_of_ad(account: Account, name: str, campaign_id: str, ad_format: str) -> str:
    """The ad group of a new ad: a dynamic one has its own, the others share their campaign's."""
    if ad_format == "DYNAMIC":
        return _ad_group(account, f"{name} · dynamic", campaign_id, is_dynamic=True)
    shared = (
        group.id
        for group in account.of("ad_group")
        if (group.values["campaign_id"], group.values["dynamic_creative"]) == (campaign_id, False)
    )
    return next(shared, None) or _ad_group(account, "Broad", campaign_id, is_dynamic=False)


@attrs.frozen
class Option:
    """A targeting option, with its place in the tree and what finds it beside its name."""

    id: str
    name: str
    type: str
    path: tuple[str, ...] = ()
    audience: tuple[int, int] = (10_000_000, 12_000_000)
    terms: tuple[str, ...] = ()
    status: str = "ENABLED"


_OUTDOORS = ("Sports and outdoors", "Outdoor recreation")
OPTIONS = [
    Option("opt_6000", "Sports and outdoors", "INTEREST", (), (912_000_000, 1_070_000_000)),
    Option("opt_5100", "Shopping and fashion", "INTEREST", (), (1_150_000_000, 1_350_000_000)),
    Option("opt_8000", "Travel behavior", "BEHAVIOR", (), (401_000_000, 472_000_000)),
    Option("opt_2000", "Education", "DEMOGRAPHIC", (), (640_000_000, 750_000_000)),
    Option("opt_1000", "Countries and places", "LOCATION", (), (2_900_000_000, 3_100_000_000)),
    Option("opt_0100", "Languages", "LANGUAGE", (), (2_900_000_000, 3_100_000_000)),
    Option(
        "opt_6f01", "Hiking", "INTEREST", _OUTDOORS, (187_400_000, 220_500_000), ("trekking",)
    ),
    Option(
        "opt_6f07", "Backpacking", "INTEREST", _OUTDOORS, (61_300_000, 72_100_000), ("hiking",)
    ),
    Option(
        "opt_6f1c", "Trail running", "INTEREST", _OUTDOORS, (24_800_000, 29_200_000), ("hiking",)
    ),
    Option(
        "opt_71aa", "Mountain huts", "INTEREST", _OUTDOORS, (310_000, 365_000), ("hiking",),
        status="LIMITED",
    ),
    Option("opt_6f30", "Camping", "INTEREST", _OUTDOORS, (142_000_000, 167_000_000)),
    Option(
        "opt_5140", "Footwear", "INTEREST", ("Shopping and fashion",), (310_000_000, 365_000_000)
    ),
    Option(
        "opt_8121", "Frequent hikers", "BEHAVIOR", ("Travel behavior",), (9_100_000, 10_700_000),
        ("hiking",),
    ),
    Option(
        "opt_1481", "Hiking Trail Heights, Oregon", "LOCATION", ("Countries and places",),
        (41_000, 48_000),
    ),
    Option("opt_2040", "Sports science", "DEMOGRAPHIC", ("Education",), (2_400_000, 2_900_000)),
    Option("opt_0101", "Norwegian", "LANGUAGE", ("Languages",), (4_800_000, 5_600_000)),
]  # fmt: skip
