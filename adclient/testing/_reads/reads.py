"""The seven reads: the rows of each listing."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

import attrs

from adclient.models import JSON
from adclient.testing._accounts.accounts import load
from adclient.testing._accounts.metrics import days_between
from adclient.testing._accounts.state import Account, Entity, Kind
from adclient.testing._http.refusal import Refusal
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._http.responses import with_extra_item
from adclient.testing._profile import Profile
from adclient.testing._reads import fatigue, waste
from adclient.testing._reads.paging import Row, Rows


@attrs.frozen
class ReadContext:
    """The account, request, profile and day of a read."""

    account: Account
    request: ParsedRequest
    profile: Profile
    today: date

    def entities(self, kind: Kind) -> list[Entity]:
        """The entity that the request names, or all of a kind."""
        entity_id = self.request.text(f"{kind}_id")
        return self.account.all(kind) if entity_id is None else [self.account.get(kind, entity_id)]


def rows_of(context: ReadContext) -> Rows:
    """The rows of a read, in order."""
    name = context.request.operation.full_name
    rows = _READS[name](context)
    if not context.profile.extras:
        return rows
    is_ad = name == "gamma.list_ads"
    return [partial(_extended, row, place, is_ad) for place, row in enumerate(rows)]


def _extended(row: Callable[[], Row], place: int, is_ad: bool) -> Row:
    return with_extra_item(row(), place, is_ad=is_ad)


def _campaigns(context: ReadContext) -> Rows:
    days = _days(context)
    campaigns = context.entities("campaign")
    return [partial(_campaign_row, context.account, campaign, days) for campaign in campaigns]


def _campaign_row(account: Account, campaign: Entity, days: list[date]) -> Row:
    metrics, money = account.metrics(campaign, days), account.currency.amount
    clicks, conversions = metrics.clicks, metrics.conversions
    return {
        "id": campaign.id,
        "name": campaign.text("name"),
        "status": campaign.text("status"),
        "objective": campaign.values.get("objective"),
        "daily_budget": campaign.values.get("daily_budget"),
        "spend": money(metrics.spend),
        "impressions": metrics.impressions,
        "clicks": clicks,
        "ctr": metrics.ctr,
        "cpc": money(round(metrics.spend / clicks)) if clicks else None,
        "conversions": conversions,
        "cpa": money(round(metrics.spend / conversions)) if conversions else None,
        "roas": metrics.roas,
        "hook_rate": metrics.hook_rate,
    }


def _ads(context: ReadContext) -> Rows:
    days, account = _days(context), context.account
    return [partial(_ad_row, account, ad, days) for ad in account.all("ad")]


def _ad_row(account: Account, ad: Entity, days: list[date]) -> Row:
    metrics = account.metrics(ad, days)
    return {
        "id": ad.id,
        "name": ad.text("name"),
        "status": ad.text("status"),
        **{key: ad.values.get(key) for key in _OF_AD},
        "spend": account.currency.amount(metrics.spend),
        "impressions": metrics.impressions,
        "clicks": metrics.clicks,
        "ctr": metrics.ctr,
        "conversions": metrics.conversions,
        "frequency": metrics.frequency,
    }


_OF_AD = ("serving", "campaign_id", "ad_group_id", "format")


def _fatigue(context: ReadContext) -> Rows:
    creatives = context.entities("creative")
    findings = [fatigue.finding(context.account, each, context.today) for each in creatives]
    found = [finding for finding in findings if finding is not None]
    return [row.copy for _, row in sorted(found, key=lambda finding: -finding[0])]


def _options(context: ReadContext) -> Rows:
    if not context.account.all("campaign"):
        return []  # in the empty account every list is empty
    targeting = context.request.object("targeting")
    kind, query = targeting.get("type"), targeting.get("query")
    options = [
        option
        for option in load("targeting_options")
        if kind is None or option["item"]["type"] == kind
    ]
    if isinstance(query, str):
        text = query.lower()
        options = [
            option
            for option in options
            if any(text in term.lower() for term in (option["item"]["name"], *option["terms"]))
        ]
    elif kind is None:
        options = [option for option in options if not option["item"]["path"]]
    return [option["item"].copy for option in options]


def _objectives(context: ReadContext) -> Rows:
    campaigns = context.account.all("campaign")
    return [partial(_objective_row, objective, campaigns) for objective in load("objectives")]


def _objective_row(objective: Row, campaigns: list[Entity]) -> Row:
    used_by: list[JSON] = [
        {"id": campaign.id, **{key: campaign.values.get(key) for key in _OF_CAMPAIGN}}
        for campaign in campaigns
        if campaign.values.get("objective") == objective["name"]
    ]
    return {**objective, "campaigns": used_by}


_OF_CAMPAIGN = ("name", "status", "daily_budget", "lifetime_budget", "end_date")


def _waste(context: ReadContext) -> Rows:
    return [row.copy for row in waste.findings(context.account, _last(context.today, 30))]


def _profile(context: ReadContext) -> Rows:
    return [fact.copy for fact in context.account.profile]


_READS: dict[str, Callable[[ReadContext], Rows]] = {
    "beta.list_campaigns": _campaigns,
    "beta.detect_creative_fatigue": _fatigue,
    "gamma.list_ads": _ads,
    "gamma.search_targeting": _options,
    "alpha.explain_objectives": _objectives,
    "delta.analyze_wasted_spend": _waste,
    "delta.infer_business_profile": _profile,
}


def _days(context: ReadContext) -> list[date]:
    """The days of a `date_range`; without one, the last 30."""
    name = context.request.text("date_range")
    if name in _RANGES:
        return _RANGES[name](context.today)
    if name is None or context.profile.unknown_date_ranges == "ignore":
        return _last(context.today, 30)
    message = f"date_range: this service knows {', '.join(_RANGES)}"
    raise Refusal(422, "unknown_date_range", message, field="date_range", reason="unknown")


def _last(today: date, count: int) -> list[date]:
    """The days before today; today is not over yet."""
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
