"""Wasted spend: which part of what a campaign spent each finding takes up."""

from collections.abc import Mapping
from datetime import date

from adclient.models import JSON
from adclient.testing._accounts.facts import Figures, added
from adclient.testing._accounts.seed_delta import THEMES, WASTE, Waste
from adclient.testing._accounts.state import Account, Entity
from adclient.testing._writes.rules import plain_keyword

Spent = Mapping[str, Figures]
"""What each campaign of an account spent, by its name."""


def findings(account: Account, spent: Spent) -> list[Waste]:
    """What still holds: paused keywords, removed themes and excluded terms waste nothing more."""
    return [
        finding
        for finding in WASTE.get(account.id, [])
        if finding.campaign in spent and spent[finding.campaign].spend and _holds(account, finding)
    ]


def row(finding: Waste, account: Account, spent: Spent, days: list[date]) -> dict[str, JSON]:
    """A finding as the listing shows it, from what was spent in the same days."""
    campaign, whole = spent[finding.campaign], added(spent.values())
    part = campaign.spend * finding.of_spend
    wasted = account.currency.amount(round(part))
    share = round(part / whole.spend, 4)
    entity = _entity(account, finding)
    return {
        "id": f"waste_{WASTE[account.id].index(finding) + 1:04x}",
        "name": finding.name,
        "status": _severity(finding, wasted, share),
        "entity_type": finding.entity_type,
        "entity_id": None if entity is None else entity.id,
        "campaign_id": _named(account, finding.campaign).id,
        "reason": finding.reason,
        "clicks": round(campaign.clicks * finding.of_clicks),
        "conversions": round(campaign.conversions * finding.of_conversions),
        "roas": round(campaign.value * finding.of_conversions / part, 2),
        "wasted_spend": wasted,
        "share": share,
        "period": {"start": days[0].isoformat(), "end": days[-1].isoformat()},
        "suggested_action": _suggested(finding, account),
    }


def _suggested(finding: Waste, account: Account) -> JSON:
    """The call that would stage a remedy, for those findings that one of the operations helps."""
    if finding.name in THEMES:
        if not any(group.values.get("search_themes") for group in account.of("asset_group")):
            return None
        args: dict[str, JSON] = {"account_id": account.id}
        return {"operation": "delta.remove_auto_search_themes", "args": args}
    fields: dict[str, JSON] = {"action": "PAUSE", "match_type": finding.match_type}
    if finding.entity_type == "search_term":
        fields = {"action": "ADD", "match_type": "EXACT", "negative": True}
    elif finding.entity_type != "keyword":
        return None
    args = {"account_id": account.id, "keywords": [finding.name], "fields": fields}
    return {"operation": "delta.update_keyword", "args": args}


def _severity(finding: Waste, wasted: float, share: float) -> str:
    is_losing = finding.reason == "CAMPAIGN_ROAS_BELOW_1" and wasted >= 2000
    if share >= 0.15 or is_losing:
        return "CRITICAL"
    if share >= 0.05:
        return "HIGH"
    return "MEDIUM" if share >= 0.01 else "LOW"


def _holds(account: Account, finding: Waste) -> bool:
    entity = _entity(account, finding)
    if finding.entity_type == "keyword":
        return entity is not None and entity.text("status") == "ENABLED"
    if finding.entity_type == "asset_group":
        return entity is not None and bool(entity.values.get("search_themes"))
    if finding.entity_type == "search_term":
        return not any(
            k.values.get("negative") and _is_called(k, finding.name) for k in account.of("keyword")
        )
    return True


def _entity(account: Account, finding: Waste) -> Entity | None:
    """What the finding is about, if it is a thing of its own in the account."""
    if finding.entity_type == "keyword":
        matching = (k for k in account.of("keyword") if _is_called(k, finding.name))
        return next((k for k in matching if k.text("match_type") == finding.match_type), None)
    if finding.entity_type == "asset_group":
        return next((g for g in account.of("asset_group") if g.text("name") == finding.name), None)
    return _named(account, finding.campaign) if finding.entity_type == "campaign" else None


def _is_called(keyword: Entity, text: str) -> bool:
    return plain_keyword(keyword.text("text")) == plain_keyword(text)


def _named(account: Account, name: str) -> Entity:
    """The campaign of a name, of which there is one."""
    return next(c for c in account.of("campaign") if c.text("name") == name)
