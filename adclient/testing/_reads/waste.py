"""Wasted spend: the share of a campaign's spend that each finding takes up."""

from datetime import date

from adclient.models import JSON
from adclient.testing._accounts.metrics import Metrics
from adclient.testing._accounts.state import Account, Entity
from adclient.testing._writes.rules import plain_keyword

_SEVERITIES = {"CRITICAL": 0.15, "HIGH": 0.05, "MEDIUM": 0.01, "LOW": 0.0}
"""From which share of the account's spend each holds."""


def findings(account: Account, days: list[date]) -> list[dict[str, JSON]]:
    """The rows of the findings that are still true.

    A paused keyword, removed themes or an excluded search term waste nothing any more.
    """
    campaigns = {campaign.text("name"): campaign for campaign in account.all("campaign")}
    spent = {name: account.metrics(campaign, days) for name, campaign in campaigns.items()}
    whole = Metrics.total(spent.values()).spend
    groups = {group.text("name"): group for group in account.all("asset_group")}
    has_themes = any(group.values.get("search_themes") for group in groups.values())
    keywords: dict[str, list[Entity]] = {}
    for keyword in account.all("keyword"):
        keywords.setdefault(plain_keyword(keyword.text("text")), []).append(keyword)
    period: JSON = {"start": days[0].isoformat(), "end": days[-1].isoformat()}
    rows: list[dict[str, JSON]] = []
    for number, share in enumerate(account.waste, 1):
        metrics = spent.get(share.campaign, Metrics())
        alike = keywords.get(plain_keyword(share.name), [])
        entity: Entity | None = None
        is_true, fields = True, dict[str, JSON]()
        match share.entity_type:
            case "keyword":
                found = (k for k in alike if k.text("match_type") == share.match_type)
                entity = next(found, None)
                is_true = entity is not None and entity.is_enabled
                fields = {"action": "PAUSE", "match_type": share.match_type}
            case "search_term":
                is_true = not any(keyword.values.get("negative") for keyword in alike)
                fields = {"action": "ADD", "match_type": "EXACT", "negative": True}
            case "asset_group":
                entity = groups.get(share.name)
                is_true = entity is not None and bool(entity.values.get("search_themes"))
            case "campaign":
                entity = campaigns.get(share.name)
            case _:
                pass
        if not metrics.spend or not is_true:
            continue
        action: JSON = None  # the call that stages a remedy, if one of the operations helps
        args: dict[str, JSON] = {"account_id": account.id}
        if share.name in groups and has_themes:
            action = {"operation": "delta.remove_auto_search_themes", "args": args}
        elif fields:
            args |= {"keywords": [share.name], "fields": fields}
            action = {"operation": "delta.update_keyword", "args": args}
        part = metrics.spend * share.spend_share
        wasted, of_account = account.currency.amount(round(part)), round(part / whole, 4)
        severity = next(name for name, least in _SEVERITIES.items() if of_account >= least)
        is_losing = share.reason == "CAMPAIGN_ROAS_BELOW_1" and wasted >= 2000
        row: dict[str, JSON] = {
            "id": f"waste_{number:04x}",
            "name": share.name,
            "status": "CRITICAL" if is_losing else severity,
            "entity_type": share.entity_type,
            "entity_id": None if entity is None else entity.id,
            "campaign_id": campaigns[share.campaign].id,
            "reason": share.reason,
            "clicks": round(metrics.clicks * share.clicks_share),
            "conversions": round(metrics.conversions * share.conversions_share),
            "roas": round(metrics.value * share.conversions_share / part, 2),
            "wasted_spend": wasted,
            "share": of_account,
            "period": period,
            "suggested_action": action,
        }
        rows.append(row)
    return rows
