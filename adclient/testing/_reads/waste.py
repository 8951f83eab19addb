"""Wasted spend: what is left of a table of findings, weighed against the account's spend."""

from datetime import date

from adclient.models import JSON
from adclient.testing._accounts.seed_delta import WASTE, Waste
from adclient.testing._accounts.state import Account, Entity


def findings(account: Account) -> list[Waste]:
    """What still holds: a paused keyword or removed search themes waste nothing any more."""
    return [finding for finding in WASTE.get(account.id, []) if _holds(account, finding)]


def row(finding: Waste, account: Account, spend: float, days: list[date]) -> dict[str, JSON]:
    """A finding as the listing shows it; `spend` is the account's, in the same days."""
    campaign = _named(account, finding)
    share = round(finding.wasted / spend, 4)
    entity = _entity(account, finding)
    return {
        "id": f"waste_{WASTE[account.id].index(finding) + 1:04x}",
        "name": finding.name,
        "status": _severity(finding, share),
        "entity_type": finding.entity_type,
        "entity_id": None if entity is None else entity.id,
        "campaign_id": None if campaign is None else campaign.id,
        "reason": finding.reason,
        "clicks": finding.clicks,
        "conversions": finding.conversions,
        "wasted_spend": finding.wasted,
        "share": share,
        "period": {"start": days[0].isoformat(), "end": days[-1].isoformat()},
        "suggested_action": {"operation": finding.operation},
    }


def _severity(finding: Waste, share: float) -> str:
    is_losing = finding.reason == "CAMPAIGN_ROAS_BELOW_1" and finding.wasted >= 2000
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
    return True


def _entity(account: Account, finding: Waste) -> Entity | None:
    """What the finding is about, if it is a thing of its own in the account."""
    if finding.entity_type == "keyword":
        wanted = finding.name, finding.match_type
        return next(
            (k for k in account.of("keyword") if (k.text("text"), k.text("match_type")) == wanted),
            None,
        )
    if finding.entity_type == "asset_group":
        return next((g for g in account.of("asset_group") if g.text("name") == finding.name), None)
    return _named(account, finding) if finding.entity_type == "campaign" else None


def _named(account: Account, finding: Waste) -> Entity | None:
    campaigns = account.of("campaign")
    return next((c for c in campaigns if c.text("name") == finding.campaign), None)
