"""The seven reads: the rows of each listing."""

from datetime import date, timedelta
from functools import partial

import attrs

from adclient.models import JSON
from adclient.testing._accounts.accounts import load
from adclient.testing._accounts.metrics import days_between
from adclient.testing._accounts.state import Account, Entity, Kind
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._http.responses import refusal
from adclient.testing._profile import UnknownDateRanges
from adclient.testing._reads import fatigue, waste
from adclient.testing._reads.paging import Row, Rows

_DAY = timedelta(days=1)
_FIGURES = {"impressions", "clicks", "ctr", "conversions", "roas", "hook_rate", "frequency"}
_COLUMNS = {
    "campaign": "id name status objective daily_budget spend impressions clicks ctr cpc "
    "conversions cpa roas hook_rate",
    "ad": "id name status serving campaign_id ad_group_id format spend impressions clicks ctr "
    "conversions frequency",
}


@attrs.frozen
class ReadContext:
    """The account, request and day of a read."""

    account: Account
    request: ParsedRequest
    today: date
    unknown_date_ranges: UnknownDateRanges

    def entities(self, kind: Kind) -> list[Entity]:
        """The entity that the request names, or all of a kind."""
        entity_id = self.request.text(f"{kind}_id")
        return self.account.all(kind) if entity_id is None else [self.account.get(kind, entity_id)]


def rows_of(context: ReadContext) -> Rows:
    """The rows of a read, in order."""
    account, today = context.account, context.today
    match context.request.operation.full_name:
        case "beta.list_campaigns":
            days, campaigns = _days(context), context.entities("campaign")
            return [partial(_figures, account, campaign, days) for campaign in campaigns]
        case "gamma.list_ads":
            days, ads = _days(context), context.entities("ad")
            return [partial(_figures, account, ad, days) for ad in ads]
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
            return [partial(_objective, account, row) for row in load("objectives")]
        case "delta.analyze_wasted_spend":
            days = days_between(today - 30 * _DAY, today - _DAY)
            return [row.copy for row in waste.findings(account, days)]
        case _:  # "delta.infer_business_profile"
            return [fact.copy for fact in account.profile]


def _figures(account: Account, entity: Entity, days: list[date]) -> Row:
    """A campaign or ad with its figures."""
    metrics, money = account.metrics(entity, days), account.currency.amount
    clicks, conversions = metrics.clicks, metrics.conversions
    values: Row = {
        **entity.values,
        "id": entity.id,
        "name": entity.text("name"),
        "status": entity.text("status"),
        "spend": money(metrics.spend),
        "cpc": money(round(metrics.spend / clicks)) if clicks else None,
        "cpa": money(round(metrics.spend / conversions)) if conversions else None,
    }
    columns = _COLUMNS[entity.kind].split()
    return {key: getattr(metrics, key) if key in _FIGURES else values.get(key) for key in columns}


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


def _objective(account: Account, objective: Row) -> Row:
    """An objective, with the account's campaigns that have it."""
    keys = ("name", "status", "daily_budget", "lifetime_budget", "end_date")
    campaigns: list[JSON] = [
        {"id": campaign.id, **{key: campaign.values.get(key) for key in keys}}
        for campaign in account.all("campaign")
        if campaign.values.get("objective") == objective["name"]
    ]
    return {**objective, "campaigns": campaigns}


def _days(context: ReadContext) -> list[date]:
    """The days of a `date_range`; without one, the last 30. Today is not over yet."""
    today, yesterday = context.today, context.today - _DAY
    month = today.replace(day=1)
    ranges = {
        "TODAY": (today, today),
        "YESTERDAY": (yesterday, yesterday),
        **{f"LAST_{count}_DAYS": (today - count * _DAY, yesterday) for count in (7, 14, 30, 90)},
        "THIS_MONTH": (month, today),
        "LAST_MONTH": ((month - _DAY).replace(day=1), month - _DAY),
    }
    name = context.request.text("date_range")
    if name is not None and name not in ranges and context.unknown_date_ranges == "refuse":
        known = ", ".join(ranges)
        raise refusal("unknown_date_range", "date_range", reason="unknown", known=known)
    return days_between(*ranges.get(name or "", ranges["LAST_30_DAYS"]))
