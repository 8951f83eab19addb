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
    rows = _rows_of(name, context)
    if not context.profile.extras:
        return rows
    is_ad = name == "gamma.list_ads"
    return [partial(_extended, row, place, is_ad) for place, row in enumerate(rows)]


def _extended(row: Callable[[], Row], place: int, is_ad: bool) -> Row:
    return with_extra_item(row(), place, is_ad=is_ad)


def _rows_of(name: str, context: ReadContext) -> Rows:
    account, today = context.account, context.today
    match name:
        case "beta.list_campaigns":
            days, campaigns = _days(context), context.entities("campaign")
            return [partial(_campaign_row, account, campaign, days) for campaign in campaigns]
        case "gamma.list_ads":
            days, ads = _days(context), context.entities("ad")
            return [partial(_ad_row, account, ad, days) for ad in ads]
        case "beta.detect_creative_fatigue":
            creatives = context.entities("creative")
            findings = (fatigue.finding(account, creative, today) for creative in creatives)
            found = [finding for finding in findings if finding is not None]
            found.sort(key=lambda finding: -finding[0])
            return [row.copy for _, row in found]
        case "gamma.search_targeting":
            # In the empty account every list is empty.
            options = _options(context.request.object("targeting"))
            return [option.copy for option in options] if account.all("campaign") else []
        case "alpha.explain_objectives":
            return [partial(_objective_row, account, row) for row in load("objectives")]
        case "delta.analyze_wasted_spend":
            return [row.copy for row in waste.findings(account, _last(today, 30))]
        case _:  # "delta.infer_business_profile"
            return [fact.copy for fact in account.profile]


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


def _ad_row(account: Account, ad: Entity, days: list[date]) -> Row:
    metrics = account.metrics(ad, days)
    keys = ("serving", "campaign_id", "ad_group_id", "format")
    return {
        "id": ad.id,
        "name": ad.text("name"),
        "status": ad.text("status"),
        **{key: ad.values.get(key) for key in keys},
        "spend": account.currency.amount(metrics.spend),
        "impressions": metrics.impressions,
        "clicks": metrics.clicks,
        "ctr": metrics.ctr,
        "conversions": metrics.conversions,
        "frequency": metrics.frequency,
    }


def _options(targeting: Row) -> list[Row]:
    """The targeting options of a type, or that a query finds; else the top of their tree."""
    kind, query = targeting.get("type"), targeting.get("query")
    found: list[Row] = []
    for option in load("targeting_options"):
        item, terms = option["item"], [option["item"]["name"], *option["terms"]]
        if isinstance(query, str):
            is_hit = any(query.lower() in term.lower() for term in terms)
        else:
            is_hit = kind is not None or not item["path"]
        if is_hit and kind in (None, item["type"]):
            found.append(item)
    return found


def _objective_row(account: Account, objective: Row) -> Row:
    keys = ("name", "status", "daily_budget", "lifetime_budget", "end_date")
    campaigns: list[JSON] = [
        {"id": campaign.id, **{key: campaign.values.get(key) for key in keys}}
        for campaign in account.all("campaign")
        if campaign.values.get("objective") == objective["name"]
    ]
    return {**objective, "campaigns": campaigns}


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
