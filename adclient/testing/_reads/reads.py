"""The seven reads: the rows of each listing."""

from datetime import date, timedelta
from functools import partial

from adclient.models import JSON
from adclient.testing._accounts.accounts import load
from adclient.testing._accounts.metrics import days_between
from adclient.testing._accounts.state import Account, Entity, Kind
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._http.responses import http_error
from adclient.testing._profile import UnknownDateRanges
from adclient.testing._reads.findings import fatigue, wasted_spend
from adclient.testing._reads.pages import Row, Rows

_DAY = timedelta(days=1)
_FIGURES = {"impressions", "clicks", "ctr", "conversions", "roas", "hook_rate", "frequency"}
_COLUMNS = {
    "campaign": "id name status objective daily_budget spend impressions clicks ctr cpc "
    "conversions cpa roas hook_rate",
    "ad": "id name status serving campaign_id ad_group_id format spend impressions clicks ctr "
    "conversions frequency",
}


def rows_of(account: Account, request: ParsedRequest, unknown: UnknownDateRanges) -> Rows:
    """The rows of a read, in order."""
    today = account.clock.today()
    match request.operation.full_name:
        case "beta.list_campaigns" | "gamma.list_ads" as name:
            days = _days(today, request.text("date_range"), unknown)
            entities = _entities(account, request, "ad" if name == "gamma.list_ads" else "campaign")
            return [partial(_figures, account, entity, days) for entity in entities]
        case "beta.detect_creative_fatigue":
            creatives = _entities(account, request, "creative")
            findings = (fatigue(account, creative, today) for creative in creatives)
            ranked = [finding for finding in findings if finding is not None]
            ranked.sort(key=lambda finding: -finding[0])
            return [row.copy for _, row in ranked]
        case "gamma.search_targeting":
            # In the empty account every list is empty.
            options = _options(request.object("targeting"))
            return [option.copy for option in options] if account.all("campaign") else []
        case "alpha.explain_objectives":
            return [partial(_objective, account, row) for row in load("objectives")]
        case "delta.analyze_wasted_spend":
            days = days_between(today - 30 * _DAY, today - _DAY)
            return [row.copy for row in wasted_spend(account, days)]
        case _:  # "delta.infer_business_profile"
            return [fact.copy for fact in account.profile]


def _entities(account: Account, request: ParsedRequest, kind: Kind) -> list[Entity]:
    """The entity that a request names, or all of a kind."""
    entity_id = request.text(f"{kind}_id")
    return account.all(kind) if entity_id is None else [account.get(kind, entity_id)]


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
    options: list[Row] = []
    for option in load("targeting_options"):
        item, terms = option["item"], [option["item"]["name"], *option["terms"]]
        if isinstance(query, str):
            is_hit = any(query.lower() in term.lower() for term in terms)
        else:
            is_hit = kind is not None or not item["path"]
        if is_hit and kind in (None, item["type"]):
            options.append(item)
    return options


def _objective(account: Account, objective: Row) -> Row:
    """An objective, with the account's campaigns that have it."""
    keys = ("name", "status", "daily_budget", "lifetime_budget", "end_date")
    campaigns: list[JSON] = [
        {"id": campaign.id, **{key: campaign.values.get(key) for key in keys}}
        for campaign in account.all("campaign")
        if campaign.values.get("objective") == objective["name"]
    ]
    return {**objective, "campaigns": campaigns}


def _days(today: date, name: str | None, unknown: UnknownDateRanges) -> list[date]:
    """The days of a `date_range`; without one, the last 30. Today is not over yet."""
    yesterday, month = today - _DAY, today.replace(day=1)
    ranges = {
        "TODAY": (today, today),
        "YESTERDAY": (yesterday, yesterday),
        **{f"LAST_{count}_DAYS": (today - count * _DAY, yesterday) for count in (7, 14, 30, 90)},
        "THIS_MONTH": (month, today),
        "LAST_MONTH": ((month - _DAY).replace(day=1), month - _DAY),
    }
    if name is not None and name not in ranges and unknown == "refuse":
        known = ", ".join(ranges)
        raise http_error("unknown_date_range", "date_range", reason="unknown", known=known)
    return days_between(*ranges.get(name or "", ranges["LAST_30_DAYS"]))
