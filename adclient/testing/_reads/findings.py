"""The findings of the analyses: creatives that wear out, and spend that is wasted."""

from collections.abc import Sequence
from datetime import date, timedelta
from math import ceil
from typing import Any

from adclient.models import JSON
from adclient.testing._accounts.metrics import Figures, Metrics, days_between
from adclient.testing._accounts.state import Account, Entity
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._reads.pages import Row, Rows
from adclient.testing._reads.reads import select_entities
from adclient.testing._writes.writes import plain_keyword

Share = dict[str, Any]
"""The share of a campaign's metrics that a finding of wasted spend takes up."""
_MIN_DAYS = 7
_MIN_IMPRESSIONS = 10_000
_MIN_SPEND = 500
_FATIGUED, _AT_RISK = 70, 40
_WEIGHTS = {"HOOK_DROP": 35, "CTR_DROP": 35, "HIGH_FREQUENCY": 30}
_SEVERITIES = {"CRITICAL": 0.15, "HIGH": 0.05, "MEDIUM": 0.01, "LOW": 0.0}
"""From which share of the account's spend each holds."""


def fatigue(figures: Figures, account: Account, request: ParsedRequest, today: date) -> Rows:
    """The rows of the creatives that run, the most worn out first."""
    creatives = select_entities(account, request, "creative")
    findings = (_fatigue(figures, account, creative, today) for creative in creatives)
    ranked = [finding for finding in findings if finding is not None]
    ranked.sort(key=lambda finding: -finding[0])
    return [row.copy for _, row in ranked]


def _fatigue(
    figures: Figures, account: Account, creative: Entity, today: date
) -> tuple[int, Row] | None:
    """A creative's score and row; None if it is paused or has too little data.

    The score goes from 0 for a fresh creative to 100 for one that is worn out.
    """
    campaign = account.find("campaign", creative.text("campaign_id"))
    delivery = None if campaign is None else figures.deliveries.get(campaign.id)
    if campaign is None or delivery is None or not campaign.may_spend:
        return None
    days = days_between(date.fromisoformat(delivery.first_day), today - timedelta(days=1))
    # The campaign has one creative; by its metrics, the listing and this report agree.
    daily = [figures.of(campaign, [day]) for day in days]
    whole, recent = Metrics.total(daily), Metrics.total(daily[-7:])
    min_spend = _MIN_SPEND * account.currency.minor
    is_seen = whole.impressions >= _MIN_IMPRESSIONS and recent.impressions
    if len(days) < _MIN_DAYS or not is_seen or whole.spend < min_spend:
        return None
    baseline = Metrics.total(daily[: 7 if len(days) >= 14 else 3])
    strengths = {
        "HOOK_DROP": (1 - recent.hook_rate / baseline.hook_rate) / 0.35,
        "CTR_DROP": (1 - recent.ctr / baseline.ctr) / 0.5,
        "HIGH_FREQUENCY": (recent.frequency - 1.5) / 2.5,
    }
    signals = {name: min(1.0, max(0.0, strength)) for name, strength in strengths.items()}
    score = round(sum(_WEIGHTS[signal] * strength for signal, strength in signals.items()))
    status = "HEALTHY"
    action: JSON = None
    days_left: JSON = None
    if score >= _FATIGUED:
        status, days_left = "FATIGUED", 0
        arguments: JSON = {"account_id": account.id, "campaign_id": campaign.id}
        action = {"operation": "beta.pause_campaign", "args": arguments}
    elif score >= _AT_RISK:
        status, days_left = "AT_RISK", ceil((_FATIGUED - score) * len(days) / score)
    return score, {
        "id": creative.id.replace("creative", "fatigue"),
        "name": creative.text("name"),
        "status": status,
        "creative_id": creative.id,
        "campaign_id": campaign.id,
        "score": score,
        "days_live": len(days),
        "frequency_7d": recent.frequency,
        "ctr_baseline": baseline.ctr,
        "ctr_7d": recent.ctr,
        "hook_baseline": baseline.hook_rate,
        "hook_7d": recent.hook_rate,
        "signals": [signal for signal, strength in signals.items() if strength >= 0.5],
        "est_days_left": days_left,
        "spend_7d": account.currency.amount(recent.spend),
        "suggested_action": action,
        "series": [
            {"date": day.isoformat(), "ctr": metrics.ctr, "frequency": metrics.frequency}
            for day, metrics in zip(days, daily, strict=True)
        ],
    }


def wasted_spend(
    figures: Figures, shares: Sequence[Share], account: Account, _: ParsedRequest, today: date
) -> Rows:
    """The rows of the findings that are still true."""
    days = days_between(today - timedelta(days=30), today - timedelta(days=1))
    spent = {each.id: figures.of(each, days) for each in account.all("campaign")}
    whole = Metrics.total(spent.values()).spend
    has_themes = any(group.values.get("search_themes") for group in account.all("asset_group"))
    rows: Rows = []
    for number, share in enumerate(shares, 1):
        metrics, action = spent[share["campaign_id"]], share["suggested_action"]
        entity = next(iter(account.with_id(share["entity_id"])), None)
        if not metrics.spend or not _is_true(account, share, entity):
            continue
        if action and action["operation"] == "delta.remove_auto_search_themes" and not has_themes:
            action = None
        part = metrics.spend * share["spend_share"]
        wasted, of_account = account.currency.amount(round(part)), round(part / whole, 4)
        severity = next(name for name, least in _SEVERITIES.items() if of_account >= least)
        is_losing = share["reason"] == "CAMPAIGN_ROAS_BELOW_1" and wasted >= 2000
        row: Row = {
            "id": f"waste_{number:04x}",
            "name": share["name"] if entity is None else entity.name,
            "status": "CRITICAL" if is_losing else severity,
            "entity_type": share["entity_type"],
            "entity_id": share["entity_id"],
            "campaign_id": share["campaign_id"],
            "reason": share["reason"],
            "clicks": round(metrics.clicks * share["clicks_share"]),
            "conversions": round(metrics.conversions * share["conversions_share"]),
            "roas": round(metrics.value * share["conversions_share"] / part, 2),
            "wasted_spend": wasted,
            "share": of_account,
            "period": {"start": days[0].isoformat(), "end": days[-1].isoformat()},
            "suggested_action": action,
        }
        rows.append(row.copy)
    return rows


def _is_true(account: Account, share: Share, entity: Entity | None) -> bool:
    """A paused keyword, removed themes or an excluded search term waste nothing any more."""
    match share["entity_type"]:
        case "keyword":
            return entity is not None and entity.may_spend
        case "asset_group":
            return entity is not None and bool(entity.values.get("search_themes"))
        case "search_term":
            excluded = (each for each in account.all("keyword") if each.values.get("negative"))
            return plain_keyword(share["name"]) not in {plain_keyword(e.name) for e in excluded}
        case _:
            return True
