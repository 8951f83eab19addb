"""The alpha accounts, and what their platform knows of objectives."""

import attrs

from adclient.models import JSON
from adclient.testing._accounts.state import Account

# name, group, objective, status, serving, daily budget, bid
_CAMPAIGNS: list[tuple[str, str, str, str, str, int, float]] = [
    (
        "DG · Finance leaders · Lead form",
        "Lead generation",
        "LEADS",
        "ENABLED",
        "SERVING",
        100,
        9.5,
    ),
    ("DG · Operations · Webinar", "Lead generation", "LEADS", "ENABLED", "SERVING", 80, 11.0),
    (
        "DG · IT directors · Trial",
        "Lead generation",
        "CONVERSIONS",
        "ENABLED",
        "LEARNING",
        140,
        14.0,
    ),
    (
        "DG · Retargeting · Pricing page",
        "Lead generation",
        "CONVERSIONS",
        "PAUSED",
        "SERVING",
        60,
        8.5,
    ),
    (
        "BR · Approvals story · Video",
        "Brand",
        "VIDEO_VIEWS",
        "ENABLED",
        "LIMITED_BY_BUDGET",
        45,
        0.12,
    ),
    ("BR · Thought leadership", "Brand", "ENGAGEMENT", "ENABLED", "SERVING", 50, 3.2),
    ("BR · Reach · EMEA", "Brand", "AWARENESS", "PAUSED", "SERVING", 70, 24.0),
    ("HR · Engineers · Lisbon", "Hiring", "TALENT_LEADS", "ENABLED", "SERVING", 35, 6.4),
    ("HR · Spring fair 2025", "Hiring", "WEBSITE_VISITS", "PAUSED", "ENDED", 30, 4.1),
]
# From the largest market to the smallest.
_MARKETS = [
    "Germany",
    "France",
    "United Kingdom",
    "Norway",
    "Sweden",
    "Switzerland",
    "Austria",
    "Italy",
    "Spain",
    "Netherlands",
    "Denmark",
    "Finland",
    "Belgium",
    "Poland",
    "Czechia",
    "Ireland",
]
# name, objective, and the daily budget in the largest market
_PROGRAMMES = [
    ("Become a dealer", "LEADS", 140),
    ("Brand film", "VIDEO_VIEWS", 110),
    ("Trade fair", "WEBSITE_VISITS", 90),
]
_HEADLINES = [
    "Automate approvals",
    "Close the month in two days",
    "One inbox for every request",
    "Policies that run themselves",
    "See who is waiting, and why",
    "Less email, more decisions",
    "Audits without the scramble",
    "Build a flow before lunch",
]


def demand_gen(seed: str) -> Account:
    """Corvane: nine campaigns in three groups, and 24 creatives."""
    account = Account(
        id="account_a91f",
        platform="alpha",
        name="Corvane — Demand Gen",
        seed=seed,
    )
    _add_campaigns(account, len(_CAMPAIGNS), first_id="campaign_4c10")
    formats = ["IMAGE", "VIDEO", "DOCUMENT"]
    for number in range(24):
        headline = _HEADLINES[number % len(_HEADLINES)]
        account.add(
            "creative",
            {
                "name": f"{headline} · {formats[number // 8].lower()}",
                "status": "ENABLED",
                "format": formats[number // 8],
                "headline": headline,
                "body": "Corvane turns the way you work into flows that anyone can follow.",
                "call_to_action": "LEARN_MORE",
                "landing_url": "https://corvane.example/flows",
            },
            id="creative_2f70" if number == 0 else None,
        )
    return account


def paused_by_breaker(seed: str) -> Account:
    """An account for which the service stages nothing at the moment."""
    account = Account(
        id="account_5a5b",
        platform="alpha",
        name="Paused by breaker",
        access="drafting_paused",
        seed=seed,
    )
    _add_campaigns(account, 3, first_id=None)
    return account


def dealers(seed: str) -> Account:
    """Halden Outdoor: 48 campaigns, three in each market; the first of them is over."""
    account = Account(
        id="account_a5d2",
        platform="alpha",
        name="Halden Outdoor — Dealers",
        seed=seed,
    )
    for place, market in enumerate(_MARKETS):
        for programme, objective, dearest in _PROGRAMMES:
            is_over = not account.of("campaign")
            values: dict[str, JSON] = {
                "name": f"{market} · {programme}",
                "status": "ENABLED",
                "serving": "ENDED" if is_over else "SERVING",
                "objective": objective,
                "daily_budget": round(dearest * 0.92**place),
                **_usual(place, bid=4.5, is_over=is_over),
            }
            account.add("campaign", values)
    return account


def _add_campaigns(account: Account, count: int, first_id: str | None) -> None:
    for number, row in enumerate(_CAMPAIGNS[:count]):
        name, group, objective, status, serving, daily_budget, bid = row
        values: dict[str, JSON] = {
            "name": name,
            "status": status,
            "serving": serving,
            "objective": objective,
            "group": group,
            "daily_budget": daily_budget,
            **_usual(number, bid=bid, is_over=serving == "ENDED"),
        }
        account.add("campaign", values, id=first_id if number == 0 else None)


def _usual(number: int, *, bid: float, is_over: bool) -> dict[str, JSON]:
    """What all campaigns of the platform have."""
    return {
        "budget_mode": "DAILY",
        "lifetime_budget": None,
        "bid": {"strategy": "MANUAL", "amount": bid},
        "start_date": "2025-11-03",
        "end_date": "2025-12-19" if is_over else None,
        "audience_expansion": True,
        "offsite_delivery": False,
        "location_mode": "PERMANENT",
        "targeting": _targeting(number),
    }


def _targeting(number: int) -> JSON:
    return {
        "include": {
            "and": [
                {"or": {"locations": ["geo:103644278"]}},
                {"or": {"seniorities": ["sen:7", "sen:8"], "titles": [f"title:{417 + number}"]}},
                {"or": {"industries": ["ind:4", "ind:96"]}},
            ]
        },
        "exclude": {"or": {"employers": ["org:1035"]}},
    }


@attrs.frozen
class Objective:
    """What the platform knows of an objective."""

    name: str
    summary: str
    optimizations: list[JSON]
    formats: list[JSON]
    required: list[JSON]
    forbidden: list[JSON]
    min_daily_budget: int


OBJECTIVES = [
    Objective(
        "AWARENESS",
        "Show the brand to as many people as possible.",
        ["MAX_REACH", "MAX_IMPRESSIONS"],
        ["IMAGE", "VIDEO", "CAROUSEL", "DOCUMENT"],
        [],
        ["lead_form_id"],
        20,
    ),
    Objective(
        "WEBSITE_VISITS",
        "Bring people to a page.",
        ["MAX_CLICKS", "MAX_LANDING_PAGE_VIEWS", "MANUAL"],
        ["IMAGE", "VIDEO", "CAROUSEL"],
        ["landing_url"],
        ["lead_form_id"],
        20,
    ),
    Objective(
        "ENGAGEMENT",
        "Gather reactions, comments and followers.",
        ["MAX_ENGAGEMENT", "MANUAL"],
        ["IMAGE", "VIDEO", "DOCUMENT"],
        [],
        ["lead_form_id"],
        20,
    ),
    Objective(
        "VIDEO_VIEWS",
        "Have a video watched.",
        ["MAX_VIEWS", "MANUAL"],
        ["VIDEO"],
        ["media_id"],
        ["lead_form_id"],
        20,
    ),
    Objective(
        "LEADS",
        "Collect leads with a form that opens inside the platform.",
        ["MAX_LEADS", "COST_CAP", "MANUAL"],
        ["IMAGE", "VIDEO", "CAROUSEL", "DOCUMENT", "MESSAGE"],
        ["lead_form_id"],
        ["landing_url"],
        25,
    ),
    Objective(
        "CONVERSIONS",
        "Have something done on the own site, and count it.",
        ["MAX_CONVERSIONS", "COST_CAP", "MANUAL"],
        ["IMAGE", "VIDEO", "CAROUSEL"],
        ["landing_url", "conversion_id"],
        ["lead_form_id"],
        25,
    ),
    Objective(
        "TALENT_LEADS",
        "Collect applications for an opening.",
        ["MAX_LEADS", "MANUAL"],
        ["IMAGE", "VIDEO"],
        ["job_id"],
        ["landing_url"],
        25,
    ),
]
