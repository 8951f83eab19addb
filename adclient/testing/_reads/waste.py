"""Wasted spend: the share of a campaign's spend that each finding takes up."""

from datetime import date

from adclient.models import JSON
from adclient.testing._accounts.metrics import Metrics
from adclient.testing._accounts.state import Account, Entity, WasteShare
from adclient.testing._writes.rules import plain_keyword


def findings(account: Account, days: list[date]) -> list[dict[str, JSON]]:
    """The rows of the findings that are still true.

    A paused keyword, removed themes or an excluded search term waste nothing any more.
    """
    campaigns = {campaign.text("name"): campaign for campaign in account.all("campaign")}
    spent = {name: account.metrics(campaign, days) for name, campaign in campaigns.items()}
    whole = Metrics.total(spent.values()).spend
    groups = account.all("asset_group")
    keywords: dict[str, list[Entity]] = {}
    for keyword in account.all("keyword"):
        keywords.setdefault(plain_keyword(keyword.text("text")), []).append(keyword)
    period: JSON = {"start": days[0].isoformat(), "end": days[-1].isoformat()}
    rows: list[dict[str, JSON]] = []
    for number, share in enumerate(account.waste, 1):
        metrics = spent.get(share.campaign, Metrics())
        alike = keywords.get(plain_keyword(share.name), [])
        entity, is_true = _subject(share, alike, [*groups, *campaigns.values()])
        if not metrics.spend or not is_true:
            continue
        part = metrics.spend * share.spend_share
        wasted, of_account = account.currency.amount(round(part)), round(part / whole, 4)
        row: dict[str, JSON] = {
            "id": f"waste_{number:04x}",
            "name": share.name,
            "status": _severity(share.reason, wasted, of_account),
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
            "suggested_action": _suggested_action(account.id, share, groups),
        }
        rows.append(row)
    return rows


def _subject(
    share: WasteShare, keywords: list[Entity], others: list[Entity]
) -> tuple[Entity | None, bool]:
    """The entity that a finding is about, if it is one, and whether the finding is still true."""
    match share.entity_type:
        case "keyword":
            matching = (k for k in keywords if k.text("match_type") == share.match_type)
            keyword = next(matching, None)
            return keyword, keyword is not None and keyword.is_enabled
        case "search_term":
            return None, not any(keyword.values.get("negative") for keyword in keywords)
        case "asset_group" | "campaign" as kind:
            named = (each for each in others if (each.kind, each.name) == (kind, share.name))
            entity = next(named, None)
            has_themes = entity is not None and bool(entity.values.get("search_themes"))
            return entity, kind == "campaign" or has_themes
        case _:
            return None, True


def _suggested_action(account_id: str, share: WasteShare, groups: list[Entity]) -> JSON:
    """The call that stages a remedy, if one of the operations helps."""
    if any(group.text("name") == share.name for group in groups):
        if not any(group.values.get("search_themes") for group in groups):
            return None
        args: dict[str, JSON] = {"account_id": account_id}
        return {"operation": "delta.remove_auto_search_themes", "args": args}
    fields: dict[str, JSON] = {"action": "PAUSE", "match_type": share.match_type}
    if share.entity_type == "search_term":
        fields = {"action": "ADD", "match_type": "EXACT", "negative": True}
    elif share.entity_type != "keyword":
        return None
    args = {"account_id": account_id, "keywords": [share.name], "fields": fields}
    return {"operation": "delta.update_keyword", "args": args}


def _severity(reason: str, wasted: float, of_account: float) -> str:
    is_losing = reason == "CAMPAIGN_ROAS_BELOW_1" and wasted >= 2000
    if of_account >= 0.15 or is_losing:
        return "CRITICAL"
    if of_account >= 0.05:
        return "HIGH"
    return "MEDIUM" if of_account >= 0.01 else "LOW"
