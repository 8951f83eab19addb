"""The delta accounts: search campaigns, keywords, search themes, waste and profile."""

import random
from datetime import timedelta
from itertools import product

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Pace
from adclient.testing._accounts.money import EUR, GBP
from adclient.testing._accounts.state import Account, Kind
from adclient.testing._clock import START

_BUDGETS = {
    "AUTO · All Pages": 110,
    "AUTO · Footwear": 75,
    "Brand · Core": 60,
    "Brand · Misspellings": 25,
    "Generic · Boots": 80,
    "Generic · Jackets": 85,
    "Generic · Tents": 55,
    "Generic · Backpacks": 45,
    "Competitor · Names": 40,
    "Shopping · Bestsellers": 70,
    "Shopping · Clearance": 35,
    "Display · Retargeting": 30,
    "Regional · Rockies": 25,
    "Seasonal · Spring": 45,
}
THEMES = {
    "AUTO · Footwear": [
        "outdoor gear", "walking shoes", "hiking boots", "trail running shoes", "work boots",
        "school shoes", "sneakers sale", "waterproof boots", "kids wellies", "sandals",
        "shoe repair",
    ],
    "AUTO · All Pages": [
        "rain jackets", "down jackets", "tents", "sleeping bags", "backpacks", "camp stoves",
        "hiking poles", "thermal layers", "fleece", "mountain huts", "travel gear", "headlamps",
    ],
}  # fmt: skip
_WORDS = (
    ["waterproof", "lightweight", "cheap", "best", "women's", "men's", "kids", "winter", "summer"],
    ["hiking boots", "rain jacket", "down jacket", "tent", "backpack", "trail shoes", "fleece",
     "sleeping bag", "camping stove", "gaiters", "merino shirt", "hiking poles", "softshell",
     "daypack", "headlamp", "wool socks"],
    ["EXACT", "PHRASE", "BROAD"],
)  # fmt: skip
_KEYWORDS = 410


@attrs.frozen
class Waste:
    """A finding of wasted spend: which part of a campaign's facts it takes up.

    `entity_type` and `name` say what in the account it is about.
    """

    entity_type: str
    name: str
    campaign: str
    reason: str
    of_spend: float
    of_clicks: float
    of_conversions: float
    match_type: str | None = None


WASTE = {
    "account_d118": [
        Waste("campaign", "AUTO · All Pages", "AUTO · All Pages",
              "CAMPAIGN_ROAS_BELOW_1", 0.6835, 0.474, 0.69),
        Waste("keyword", "outdoor jacket", "Generic · Jackets",
              "KEYWORD_NO_CONVERSIONS", 0.5236, 0.241, 0.0, "BROAD"),
        Waste("asset_group", "AUTO · Footwear", "AUTO · Footwear",
              "OFF_TARGET_SEARCH_THEMES", 0.4286, 0.231, 0.40),
        Waste("keyword", "cheap hiking boots", "Generic · Boots",
              "LOW_QUALITY_SCORE", 0.2845, 0.172, 0.03, "PHRASE"),
        Waste("search_term", "free hiking maps pdf", "Generic · Boots",
              "SEARCH_TERM_NO_CONVERSIONS", 0.1791, 0.134, 0.0),
        Waste("schedule", "Generic · Boots 00:00–05:00", "Generic · Boots",
              "DAYPART_NO_CONVERSIONS", 0.1482, 0.092, 0.0),
        Waste("search_term", "tent rental near me", "Generic · Tents",
              "SEARCH_TERM_NO_CONVERSIONS", 0.1833, 0.102, 0.0),
        Waste("location", "Generic · Boots, out of area", "Generic · Boots",
              "GEO_OUT_OF_AREA", 0.0989, 0.054, 0.01),
        Waste("ad_group", "Brand · Misspellings", "Brand · Misspellings",
              "DUPLICATE_KEYWORDS", 0.2580, 0.376, 0.33),
        Waste("device", "Display · Retargeting, TV", "Display · Retargeting",
              "DEVICE_NO_CONVERSIONS", 0.1103, 0.020, 0.0),
    ]
}  # fmt: skip


@attrs.frozen
class Trait:
    """A fact that was inferred about the business behind an account."""

    name: str
    value: JSON
    confidence: float
    evidence: list[JSON]


PROFILES = {
    "account_d118": [
        Trait(
            "vertical",
            "Outdoor apparel and footwear",
            0.96,
            ["Generic · Boots", "Generic · Jackets"],
        ),
        Trait("business_model", "Direct to consumer, online", 0.93, ["Shopping · Bestsellers"]),
        Trait("size_band", "10–50 M revenue", 0.58, ["daily budgets"]),
        Trait("primary_goal", "Purchases, target ROAS 3.0", 0.88, ["bid strategies"]),
        Trait("brand_terms", ["halden", "halden outdoor"], 0.99, ["Brand · Core"]),
        Trait("seasonality", "peaks Mar–May, Sep–Nov", 0.71, ["spend by month"]),
        Trait("audience", "25–44, hikers and trail runners", 0.41, ["top search terms"]),
    ],
    "account_d7f2": [
        Trait("vertical", "Workflow software", 0.94, ["Brand · Corvane"]),
        Trait("business_model", "Subscription, business to business", 0.9, ["landing pages"]),
        Trait("brand_terms", ["corvane"], 0.98, ["Brand · Corvane"]),
    ],
}


def search(seed: str) -> Account:
    """Halden Outdoor: 14 campaigns, 410 keywords, 23 themes in two automated campaigns."""
    account = Account(
        id="account_d118",
        platform="delta",
        name="Halden Outdoor — Search",
        seed=seed,
    )
    _add_campaigns(account, _BUDGETS)
    for name, themes in THEMES.items():
        texts: list[JSON] = [*themes]
        account.add(
            "asset_group",
            {
                "name": name,
                "status": "ENABLED",
                "search_themes": texts,
                "audience_signal": "buyers",
            },
        )
    _add_keyword(account, "outdoor jacket", "BROAD", 1.75)
    _add_keyword(account, "cheap hiking boots", "PHRASE", 1.32)
    _add_keyword(account, "rental", "PHRASE", None, negative=True)
    _add_seeded_keywords(account)
    return account


def search_clean(seed: str) -> Account:
    """Corvane: a small account in which nothing is wasted."""
    account = Account(
        id="account_d7f2",
        platform="delta",
        name="Corvane — Search",
        currency=GBP,
        seed=seed,
    )
    _add_campaigns(account, {"Brand · Corvane": 20, "Generic · Workflow software": 45})
    _add_keyword(account, "workflow software", "PHRASE", 3.4)
    _add_keyword(account, "corvane", "EXACT", 0.6)
    return account


def search_by_themes(seed: str) -> Account:
    """Mirelle Skin: an automated campaign that knows its audience by its search themes alone."""
    account = Account(
        id="account_d4c4",
        platform="delta",
        name="Mirelle Skin — Search",
        currency=EUR,
        seed=seed,
    )
    _add_campaigns(account, {"AUTO · Soins": 40})
    themes: list[JSON] = ["crème de nuit", "sérum éclat"]
    values: dict[str, JSON] = {"name": "AUTO · Soins", "status": "ENABLED", "search_themes": themes}
    account.add("asset_group", {**values, "audience_signal": None})
    return account


def over_plan(seed: str) -> Account:
    """An account that may be read only, because its plan is used up."""
    account = Account(
        id="account_5a5a", platform="delta", name="Over-plan account", access="read_only", seed=seed
    )
    _add_campaigns(account, {"Brand · Core": 30})
    _add_keyword(account, "outdoor jacket", "BROAD", 1.2)
    return account


def _add_campaigns(account: Account, budgets: dict[str, int]) -> None:
    for name, budget in budgets.items():
        is_automated = name.startswith("AUTO")
        pace = Pace(
            daily_budget=budget,
            first_day=START.date() - timedelta(days=110),
            cpm=38.0,
            ctr=0.05,
            half_life=600,
            conversion_rate=0.004 if is_automated else 0.03,
        )
        values: dict[str, JSON] = {
            "name": name,
            "status": "ENABLED",
            "kind": "AUTOMATED" if is_automated else "STANDARD",
            "daily_budget": budget,
        }
        account.add("campaign", values, pace=pace)


def _add_seeded_keywords(account: Account) -> None:
    chance = random.Random(f"{account.seed}:{account.id}:keywords")  # noqa: S311 (no secret)
    made = len(account.of("keyword"))
    combinations = [row for row in product(*_WORDS) if row[:2] != ("cheap", "hiking boots")]
    for adjective, noun, match_type in chance.sample(combinations, _KEYWORDS - made):
        bid = round(chance.uniform(0.4, 3.2), 2)
        _add_keyword(account, f"{adjective} {noun}", match_type, bid)


def _add_keyword(
    account: Account, text: str, match_type: str, cpc_bid: float | None, *, negative: bool = False
) -> None:
    kind: Kind = "keyword"
    values: dict[str, JSON] = {
        "text": text,
        "match_type": match_type,
        "status": "ENABLED",
        "cpc_bid": cpc_bid,
        "negative": negative,
    }
    account.add(kind, values)
