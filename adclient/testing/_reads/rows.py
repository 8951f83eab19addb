"""The seven reads: which rows a listing has, each computed when its page is asked for."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Facts, Figures, days_between
from adclient.testing._accounts.seed_alpha import OBJECTIVES, Objective
from adclient.testing._accounts.seed_delta import PROFILES, Trait
from adclient.testing._accounts.seed_gamma import OPTIONS, Option
from adclient.testing._accounts.state import Account, Entity
from adclient.testing._profile import Profile
from adclient.testing._reads import fatigue, waste
from adclient.testing._reads.paging import Row, Rows
from adclient.testing._wire.extras import extra_item
from adclient.testing._wire.lookup import found
from adclient.testing._wire.protocol import Asked, Refusal


@attrs.frozen
class Reading:
    """What a read works with: the account, what was asked, the facts and the day."""

    account: Account
    asked: Asked
    facts: Facts
    today: date
    profile: Profile

    def figures(self, entity: Entity, days: list[date]) -> Figures:
        """The sum of an entity's facts."""
        minor = self.account.currency.minor
        return self.facts.total((self.account.id, entity.id), entity.pace, days, minor)


def rows_of(reading: Reading) -> Rows:
    """The rows of a read, in their order."""
    rows = _READS[reading.asked.operation.full_name](reading)
    if not reading.profile.extras:
        return rows
    return [partial(_with_extras, reading, row, place) for place, row in enumerate(rows)]


def _with_extras(reading: Reading, row: Callable[[], Row], place: int) -> Row:
    is_ad = reading.asked.operation.full_name == "gamma.list_ads"
    return extra_item(row(), place, is_ad=is_ad)


def _campaigns(reading: Reading) -> Rows:
    days = _days(reading)
    wanted = reading.asked.text("campaign_id")
    account = reading.account
    campaigns = account.of("campaign") if wanted is None else [found(account, "campaign", wanted)]
    return [partial(_campaign_row, reading, campaign, days) for campaign in campaigns]


def _campaign_row(reading: Reading, campaign: Entity, days: list[date]) -> Row:
    figures = reading.figures(campaign, days)
    money = reading.account.currency.amount
    return {
        "id": campaign.id,
        "name": campaign.text("name"),
        "status": campaign.text("status"),
        "objective": campaign.values.get("objective"),
        "daily_budget": campaign.values.get("daily_budget"),
        "spend": money(figures.spend),
        "impressions": figures.impressions,
        "clicks": figures.clicks,
        "ctr": figures.ctr,
        "cpc": money(round(figures.spend / figures.clicks)) if figures.clicks else None,
        "conversions": figures.conversions,
        "cpa": money(round(figures.spend / figures.conversions)) if figures.conversions else None,
        "roas": figures.roas,
        "hook_rate": figures.hook_rate,
    }


def _ads(reading: Reading) -> Rows:
    days = _days(reading)
    return [partial(_ad_row, reading, ad, days) for ad in reading.account.of("ad")]


def _ad_row(reading: Reading, ad: Entity, days: list[date]) -> Row:
    figures = reading.figures(ad, days)
    return {
        "id": ad.id,
        "name": ad.text("name"),
        "status": ad.text("status"),
        "serving": ad.values.get("serving"),
        "campaign_id": ad.values.get("campaign_id"),
        "ad_group_id": ad.values.get("ad_group_id"),
        "format": ad.values.get("format"),
        "spend": reading.account.currency.amount(figures.spend),
        "impressions": figures.impressions,
        "clicks": figures.clicks,
        "ctr": figures.ctr,
        "conversions": figures.conversions,
        "frequency": figures.frequency,
    }


def _fatigue(reading: Reading) -> Rows:
    wanted = reading.asked.text("creative_id")
    account = reading.account
    creatives = account.of("creative") if wanted is None else [found(account, "creative", wanted)]
    findings = [
        finding
        for creative in creatives
        if (finding := fatigue.of_creative(account, creative, reading.facts, reading.today))
    ]
    findings.sort(key=lambda finding: -finding.score)
    return [finding.row for finding in findings]


def _options(reading: Reading) -> Rows:
    if not reading.account.of("campaign"):
        return []  # in the empty account every list is empty
    targeting = reading.asked.object("targeting")
    kind, query = targeting.get("type"), targeting.get("query")
    hits = [option for option in OPTIONS if kind is None or option.type == kind]
    if isinstance(query, str):
        hits = [option for option in hits if _matches(option, query.lower())]
    elif kind is None:
        hits = [option for option in hits if not option.path]
    return [partial(_option_row, option) for option in hits]


def _matches(option: Option, query: str) -> bool:
    return any(query in text.lower() for text in (option.name, *option.terms))


def _option_row(option: Option) -> Row:
    return {
        "id": option.id,
        "name": option.name,
        "status": option.status,
        "type": option.type,
        "path": [*option.path],
        "audience_size_min": option.audience[0],
        "audience_size_max": option.audience[1],
    }


def _objectives(reading: Reading) -> Rows:
    return [partial(_objective_row, reading.account, objective) for objective in OBJECTIVES]


def _objective_row(account: Account, objective: Objective) -> Row:
    campaigns: list[JSON] = [
        {"id": campaign.id, **{key: campaign.values.get(key) for key in _OF_CAMPAIGN}}
        for campaign in account.of("campaign")
        if campaign.values.get("objective") == objective.name
    ]
    return {
        "id": f"objective_{objective.name.lower()}",
        "name": objective.name,
        "status": "ENABLED",
        "summary": objective.summary,
        "optimizations": objective.optimizations,
        "formats": objective.formats,
        "required_fields": objective.required,
        "forbidden_fields": objective.forbidden,
        "min_daily_budget": objective.min_daily_budget,
        "campaigns": campaigns,
    }


_OF_CAMPAIGN = ("name", "status", "daily_budget", "lifetime_budget", "end_date")


def _waste(reading: Reading) -> Rows:
    days = _last(reading.today, 30)
    campaigns = reading.account.of("campaign")
    spent = {campaign.text("name"): reading.figures(campaign, days) for campaign in campaigns}
    return [
        partial(waste.row, finding, reading.account, spent, days)
        for finding in waste.findings(reading.account, spent)
    ]


def _profile(reading: Reading) -> Rows:
    traits = PROFILES.get(reading.account.id, [])
    return [partial(_trait_row, number, trait) for number, trait in enumerate(traits, 1)]


def _trait_row(number: int, trait: Trait) -> Row:
    certain = "INFERRED" if trait.confidence >= 0.5 else "LOW_CONFIDENCE"
    return {
        "id": f"profile_{number:04x}",
        "name": trait.name,
        "status": "CONFIRMED" if trait.confidence >= 0.9 else certain,
        "value": trait.value,
        "confidence": trait.confidence,
        "evidence": trait.evidence,
    }


_READS: dict[str, Callable[[Reading], Rows]] = {
    "beta.list_campaigns": _campaigns,
    "beta.detect_creative_fatigue": _fatigue,
    "gamma.list_ads": _ads,
    "gamma.search_targeting": _options,
    "alpha.explain_objectives": _objectives,
    "delta.analyze_wasted_spend": _waste,
    "delta.infer_business_profile": _profile,
}


def _days(reading: Reading) -> list[date]:
    """The days that a `date_range` names; without one, the last 30."""
    name, today = reading.asked.text("date_range"), reading.today
    is_ignored = reading.profile.unknown_date_ranges == "ignore" and name not in _RANGES
    if name is None or is_ignored:
        return _last(today, 30)
    if name not in _RANGES:
        raise Refusal(
            422,
            "unknown_date_range",
            f"date_range: this service knows {', '.join(_RANGES)}",
            details={"field": "date_range", "reason": "unknown"},
        )
    return _RANGES[name](today)


def _last(today: date, count: int) -> list[date]:
    """The days before today, which itself is not over."""
    return days_between(today - timedelta(days=count), today - timedelta(days=1))


def _last_month(today: date) -> list[date]:
    last = today.replace(day=1) - timedelta(days=1)
    return days_between(last.replace(day=1), last)


_RANGES: dict[str, Callable[[date], list[date]]] = {
    "TODAY": lambda today: [today],
    "YESTERDAY": lambda today: _last(today, 1),
    "LAST_7_DAYS": lambda today: _last(today, 7),
    "LAST_14_DAYS": lambda today: _last(today, 14),
    "LAST_30_DAYS": lambda today: _last(today, 30),
    "LAST_90_DAYS": lambda today: _last(today, 90),
    "THIS_MONTH": lambda today: days_between(today.replace(day=1), today),
    "LAST_MONTH": _last_month,
}
