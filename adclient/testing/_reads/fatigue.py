"""Creative fatigue: how far a creative has fallen from its first days."""

from datetime import date, timedelta

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Facts, Figures, days_between
from adclient.testing._accounts.state import Account, Entity

_LEAST_DAYS = 7
_LEAST_IMPRESSIONS = 10_000
_LEAST_SPEND = 500


@attrs.frozen(kw_only=True)
class Finding:
    """What was found out about one creative."""

    creative: Entity
    days_live: int
    baseline: Figures
    recent: Figures
    spend: int | float
    series: list[JSON]

    @property
    def score(self) -> int:
        """From 0 for fresh to 100 for worn out."""
        hook_drop = 1 - self.recent.hook_rate / self.baseline.hook_rate
        ctr_drop = 1 - self.recent.ctr / self.baseline.ctr
        crowding = max(0.0, self.recent.frequency - 1.5) / 2.5
        parts = 35 * _part(hook_drop / 0.35) + 35 * _part(ctr_drop / 0.5) + 30 * _part(crowding)
        return round(parts)

    @property
    def status(self) -> str:
        """What the score means."""
        if self.score >= 70:
            return "FATIGUED"
        return "AT_RISK" if self.score >= 40 else "HEALTHY"

    def row(self) -> dict[str, JSON]:
        """The finding as a listing shows it."""
        return {
            "id": self.creative.id.replace("creative", "fatigue"),
            "name": self.creative.text("name"),
            "status": self.status,
            "creative_id": self.creative.id,
            "campaign_id": self.creative.text("campaign_id"),
            "score": self.score,
            "days_live": self.days_live,
            "frequency_7d": self.recent.frequency,
            "ctr_baseline": self.baseline.ctr,
            "ctr_7d": self.recent.ctr,
            "hook_baseline": self.baseline.hook_rate,
            "hook_7d": self.recent.hook_rate,
            "spend_7d": self.spend,
            "series": self.series,
        }


def _part(value: float) -> float:
    return min(1.0, max(0.0, value))


def of_creative(account: Account, creative: Entity, facts: Facts, today: date) -> Finding | None:
    """The finding about a creative; None if it is paused or too little is known of it."""
    campaign = account.find("campaign", creative.text("campaign_id"))
    if campaign is None or campaign.pace is None or not campaign.is_enabled:
        return None
    first, yesterday = campaign.pace.first_day, today - timedelta(days=1)
    live = days_between(first, yesterday)
    minor = account.currency.minor

    def total(days: list[date]) -> Figures:
        # The campaign's own facts: it has one creative, so the list and this report agree.
        return facts.total(campaign.id, campaign.pace, days, minor)

    whole = total(live)
    if len(live) < _LEAST_DAYS or whole.impressions < _LEAST_IMPRESSIONS:
        return None
    if whole.spend < _LEAST_SPEND * minor:
        return None
    recent = total(live[-7:])
    return Finding(
        creative=creative,
        days_live=len(live),
        baseline=total(live[: 7 if len(live) >= 14 else 3]),
        recent=recent,
        spend=account.currency.amount(recent.spend),
        series=[_point(day, total([day])) for day in live],
    )


def _point(day: date, figures: Figures) -> JSON:
    return {"date": day.isoformat(), "ctr": figures.ctr, "frequency": figures.frequency}
