"""Wasted spend: the share of a campaign's spend that each finding takes up."""

from collections.abc import Mapping
from datetime import date

from adclient.models import JSON
from adclient.testing._accounts.metrics import Metrics
from adclient.testing._accounts.state import Account, Entity, WasteShare
from adclient.testing._writes.rules import plain_keyword


def findings(account: Account, days: list[date]) -> list[dict[str, JSON]]:
    """The rows of the findings that are still true.

    A paused keyword, removed themes or an excluded search term waste nothing any more.
    """
    spent = {
        campaign.text("name"): account.metrics(campaign, days)
        for campaign in account.all("campaign")
    }
    return [
        _row(number, share, account, spent, days)
        for number, share in enumerate(account.waste, 1)
        if share.campaign in spent and spent[share.campaign].spend and _is_true(account, share)
    ]


def _row(
    number: int,
    share: WasteShare,
    account: Account,
    spent: Mapping[str, Metrics],
    days: list[date],
) -> dict[str, JSON]:
    campaign, whole = spent[share.campaign], Metrics.total(spent.values())
    part = campaign.spend * share.spend_share
    wasted, of_account = account.currency.amount(round(part)), round(part / whole.spend, 4)
    entity = _entity(account, share)
    return {
        "id": f"waste_{number:04x}",
        "name": share.name,
        "status": _severity(share.reason, wasted, of_account),
        "entity_type": share.entity_type,
        "entity_id": None if entity is None else entity.id,
        "campaign_id": _campaign(account, share.campaign).id,
        "reason": share.reason,
        "clicks": round(campaign.clicks * share.clicks_share),
        "conversions": round(campaign.conversions * share.conversions_share),
        "roas": round(campaign.value * share.conversions_share / part, 2),
        "wasted_spend": wasted,
        "share": of_account,
        "period": {"start": days[0].isoformat(), "end": days[-1].isoformat()},
        "suggested_action": _suggested_action(account, share),
    }


def _suggested_action(account: Account, share: WasteShare) -> JSON:
    """The call that stages a remedy, if one of the operations helps."""
    groups = account.all("asset_group")
    if any(group.text("name") == share.name for group in groups):
        if not any(group.values.get("search_themes") for group in groups):
            return None
        args: dict[str, JSON] = {"account_id": account.id}
        return {"operation": "delta.remove_auto_search_themes", "args": args}
    fields: dict[str, JSON] = {"action": "PAUSE", "match_type": share.match_type}
    if share.entity_type == "search_term":
        fields = {"action": "ADD", "match_type": "EXACT", "negative": True}
    elif share.entity_type != "keyword":
        return None
    args = {"account_id": account.id, "keywords": [share.name], "fields": fields}
    return {"operation": "delta.update_keyword", "args": args}


def _severity(reason: str, wasted: float, of_account: float) -> str:
    is_losing = reason == "CAMPAIGN_ROAS_BELOW_1" and wasted >= 2000
    if of_account >= 0.15 or is_losing:
        return "CRITICAL"
    if of_account >= 0.05:
        return "HIGH"
    return "MEDIUM" if of_account >= 0.01 else "LOW"


def _is_true(account: Account, share: WasteShare) -> bool:
    entity = _entity(account, share)
    match share.entity_type:
        case "keyword":
            return entity is not None and entity.is_enabled
        case "asset_group":
            return entity is not None and bool(entity.values.get("search_themes"))
        case "search_term":
            return not any(
                keyword.values.get("negative") for keyword in _keywords(account, share.name)
            )
        case _:
            return True


def _entity(account: Account, share: WasteShare) -> Entity | None:
    """What the finding is about, if that is an entity of its own."""
    match share.entity_type:
        case "keyword":
            hits = _keywords(account, share.name)
            return next((k for k in hits if k.text("match_type") == share.match_type), None)
        case "asset_group":
            groups = account.all("asset_group")
            return next((group for group in groups if group.text("name") == share.name), None)
        case "campaign":
            return _campaign(account, share.campaign)
        case _:
            return None


def _keywords(account: Account, text: str) -> list[Entity]:
    plain = plain_keyword(text)
    return [k for k in account.all("keyword") if plain_keyword(k.text("text")) == plain]


def _campaign(account: Account, name: str) -> Entity:
    return next(c for c in account.all("campaign") if c.text("name") == name)
