"""The reads of the story that are computed: listings with figures, options and objectives."""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from adclient.models import JSON
from adclient.testing._accounts.metrics import Figures, days_between
from adclient.testing._accounts.state import Account, Entity, Kind
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._reads.pages import Row, Rows
from adclient.testing._reads.reads import select_entities

_DAY = timedelta(days=1)
_FIGURES = {"impressions", "clicks", "ctr", "conversions", "roas", "hook_rate", "frequency"}
_COLUMNS: dict[Kind, str] = {
    "campaign": "id name status objective daily_budget spend impressions clicks ctr cpc "
    "conversions cpa roas hook_rate",
    "ad": "id name status serving campaign_id ad_group_id format spend impressions clicks ctr "
    "conversions frequency",
}


def with_figures(
    figures: Figures, kind: Kind, account: Account, request: ParsedRequest, today: date
) -> Rows:
    """Campaigns or ads with their figures in a date range; an unknown one is the last 30 days."""
    ranges = date_ranges(today)
    days = days_between(*ranges.get(request.text("date_range") or "", ranges["LAST_30_DAYS"]))
    return [partial(_row, figures, each, days) for each in select_entities(account, request, kind)]


def _row(figures: Figures, entity: Entity, days: list[date]) -> Row:
    metrics, money = figures.of(entity, days), figures.currency.amount
    clicks, conversions = metrics.clicks, metrics.conversions
    values: Row = {
        **entity.values,
        "spend": money(metrics.spend),
        "cpc": money(round(metrics.spend / clicks)) if clicks else None,
        "cpa": money(round(metrics.spend / conversions)) if conversions else None,
    }
    columns = _COLUMNS[entity.kind].split()
    return {key: getattr(metrics, key) if key in _FIGURES else values.get(key) for key in columns}


def date_ranges(today: date) -> dict[str, tuple[date, date]]:
    """The first and last day of each `date_range`. Today is not over yet."""
    yesterday, month = today - _DAY, today.replace(day=1)
    return {
        "TODAY": (today, today),
        "YESTERDAY": (yesterday, yesterday),
        **{f"LAST_{count}_DAYS": (today - count * _DAY, yesterday) for count in (7, 14, 30, 90)},
        "THIS_MONTH": (month, today),
        "LAST_MONTH": ((month - _DAY).replace(day=1), month - _DAY),
    }


def targeting_options(
    options: Sequence[dict[str, Any]], account: Account, request: ParsedRequest, _: date
) -> Rows:
    """The targeting options of a type, or that a query finds; else the top of their tree."""
    targeting = request.object("targeting")
    kind, query = targeting.get("type"), targeting.get("query")
    found: Rows = []
    for option in options:
        item, terms = option["item"], [option["item"]["name"], *option["terms"]]
        if isinstance(query, str):
            is_hit = any(query.lower() in term.lower() for term in terms)
        else:
            is_hit = kind is not None or not item["path"]
        if is_hit and kind in (None, item["type"]):
            found.append(item.copy)
    # In the empty account every list is empty.
    return found if account.all("campaign") else []


def objectives(given: Sequence[Row], account: Account, _: ParsedRequest, __: date) -> Rows:
    """The objectives, each with the account's campaigns that have it."""
    keys = ("id", "name", "status", "daily_budget", "lifetime_budget", "end_date")
    rows: Rows = []
    for objective in given:
        campaigns: list[JSON] = [
            {key: campaign.values.get(key) for key in keys}
            for campaign in account.all("campaign")
            if campaign.values.get("objective") == objective["name"]
        ]
        row: Row = {**objective, "campaigns": campaigns}
        rows.append(row.copy)
    return rows
