"""The beta accounts: video campaigns with one creative each."""

from datetime import date, timedelta

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Pace
from adclient.testing._accounts.money import JPY
from adclient.testing._accounts.state import Account
from adclient.testing._clock import START

_TODAY = START.date()


@attrs.frozen
class Seed:
    """A campaign as the tables below give it."""

    id: str | None
    name: str
    status: str
    objective: str
    pace: Pace


def _pace(
    budget: int, age: int, half_life: int, cpm: float, ctr: float, hook: float, sold: float,
    worth: float, ended: int | None = None,
) -> Pace:  # fmt: skip
    """A pace; ages and ends are days before the fake's first day."""
    return Pace(
        daily_budget=budget,
        first_day=_TODAY - timedelta(days=age),
        switched=() if ended is None else (_TODAY - timedelta(days=ended),),
        half_life=half_life,
        cpm=cpm,
        ctr=ctr,
        hook=hook,
        conversion_rate=sold,
        conversion_value=worth,
    )


_HALDEN = [
    Seed("campaign_57a7", "SPR26 · Prospecting · Trail Shoe Launch", "ENABLED", "SALES",
         _pace(450, 41, 18, 7.84, 0.0142, 0.335, 0.0183, 119)),
    Seed("campaign_cb1a", "SPR26 · Retargeting · Cart 14d", "ENABLED", "CATALOG_SALES",
         _pace(180, 60, 40, 12.59, 0.0221, 0.292, 0.0414, 126)),
    Seed("campaign_1dce", "SPR26 · Creator · Hut-to-Hut Series", "ENABLED", "VIDEO_VIEWS",
         _pace(120, 25, 32, 4.11, 0.0083, 0.467, 0.0037, 106)),
    Seed("campaign_cb31", "EVG · Prospecting · Rain Shell", "ENABLED", "SALES",
         _pace(300, 96, 14, 8.54, 0.0121, 0.27, 0.0123, 143)),
    Seed("campaign_b151", "EVG · Traffic · Size Guide", "PAUSED", "TRAFFIC",
         _pace(60, 80, 40, 5.24, 0.0124, 0.27, 0.005, 100, ended=12)),
    Seed("campaign_88b3", "WIN25 · Clearance · Down Jackets", "PAUSED", "CATALOG_SALES",
         _pace(220, 70, 40, 9.71, 0.0116, 0.2, 0.0196, 168, ended=12)),
    Seed("campaign_fc42", "TEST · Smart · New Buyers", "ENABLED", "SALES",
         _pace(75, 9, 600, 10.5, 0.0099, 0.26, 0.0082, 106)),
]  # fmt: skip
_JAPAN = [
    Seed(None, "春 · 新作トレイルシューズ", "ENABLED", "SALES",
         _pace(32000, 30, 30, 1100, 0.011, 0.31, 0.017, 14800)),
    Seed(None, "通年 · レインシェル", "ENABLED", "SALES",
         _pace(18000, 75, 20, 1250, 0.009, 0.26, 0.012, 19800)),
    Seed(None, "再訪問 · カート 14 日", "ENABLED", "CATALOG_SALES",
         _pace(12000, 50, 45, 1800, 0.02, 0.28, 0.04, 13500)),
    Seed(None, "冬 · ダウン セール", "PAUSED", "CATALOG_SALES",
         _pace(15000, 90, 40, 1400, 0.01, 0.2, 0.02, 21000, ended=15)),
]  # fmt: skip
_TOWNS = [
    "Ashbourne", "Bergen", "Chamonix", "Durango", "Estes Park", "Fernie", "Grindelwald",
    "Hallstatt", "Invermere", "Jasper", "Kitzbuhel",
]  # fmt: skip


def video(seed: str) -> Account:
    """Halden Outdoor: seven campaigns that matter, and 55 small ones."""
    account = Account(
        id="account_b204",
        platform="beta",
        name="Halden Outdoor — Video",
        seed=seed,
    )
    small = [_store_campaign(number) for number in range(55)]
    for row in [*_HALDEN, *small]:
        _add(account, row)
    return account


def _store_campaign(number: int) -> Seed:
    """One of many that began so late that nothing can be said of their creatives yet."""
    name = f"LOCAL · {_TOWNS[number % len(_TOWNS)]} · Store opening {number // len(_TOWNS) + 1}"
    pace = _pace(20 + number % 5, 1 + number % 6, 30, 6.5, 0.012, 0.28, 0.01, 90)
    return Seed(None, name, "ENABLED", "TRAFFIC", pace)


def video_japan(seed: str) -> Account:
    """The same shop in a currency without decimals."""
    account = Account(
        id="account_b7e0",
        platform="beta",
        name="Halden Outdoor JP",
        currency=JPY,
        seed=seed,
    )
    for row in _JAPAN:
        _add(account, row)
    return account


def disconnected(seed: str) -> Account:
    """An account whose connection has ended."""
    return Account(
        id="account_f403",
        platform="beta",
        name="Disconnected account",
        access="disconnected",
        seed=seed,
    )


def _add(account: Account, row: Seed) -> None:
    first_day: date = row.pace.first_day
    values: dict[str, JSON] = {
        "name": row.name,
        "status": row.status,
        "objective": row.objective,
        "daily_budget": round(row.pace.daily_budget),
        "start_date": first_day.isoformat(),
        "ad_groups": [{"name": f"{row.name} · all", "placements": ["FEED"], "status": "ENABLED"}],
    }
    campaign = account.add("campaign", values, id=row.id, pace=row.pace)
    creative: dict[str, JSON] = {
        "name": f"{row.name} · video",
        "status": "ENABLED",
        "campaign_id": campaign.id,
    }
    account.add("creative", creative)
