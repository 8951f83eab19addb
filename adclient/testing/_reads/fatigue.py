"""Creative fatigue: how far a creative has fallen from its first days."""

from datetime import date, timedelta
from math import ceil

import attrs

from adclient.models import JSON
from adclient.testing._accounts.facts import Facts, Figures, days_between
from adclient.testing._accounts.state import Account, Entity

_LEAST_DAYS = 7
_LEAST_IMPRESSIONS = 10_000
_LEAST_SPEND = 500
_FATIGUED, _AT_RISK = 70, 40
_WEIGHTS = {"HOOK_DROP": 35, "CTR_DROP": 35, "HIGH_FREQUENCY": 30}


@attrs.frozen(kw_only=True)
class Finding:
    """What was found out about one creative."""

    account_id: str
    creative: Entity
    days_live: int
    baseline: Figures
    recent: Figures
    spend: int | float
    series: list[JSON]

    @property
    def signs(self) -> dict[str, float]:
        """How far each sign of fatigue has come, from 0 for not at all to 1."""
        hook_drop = 1 - self.recent.hook_rate / self.baseline.hook_rate
        ctr_drop = 1 - self.recent.ctr / self.baseline.ctr
        return {
            "HOOK_DROP": _part(hook_drop / 0.35),
            "CTR_DROP": _part(ctr_drop / 0.5),
            "HIGH_FREQUENCY": _part((self.recent.frequency - 1.5) / 2.5),
        }

    @property
    def score(self) -> int:
        """From 0 for fresh to 100 for worn out."""
        return round(sum(_WEIGHTS[sign] * part for sign, part in self.signs.items()))

    @property
    def status(self) -> str:
        """What the score means."""
        if self.score >= _FATIGUED:
            return "FATIGUED"
        return "AT_RISK" if self.score >= _AT_RISK else "HEALTHY"

    @property
    def est_days_left(self) -> int | None:
        """In how many days it is fatigued if it goes on so; None while it is healthy."""
        if self.score < _AT_RISK:
            return None
        return max(0, ceil((_FATIGUED - self.score) * self.days_live / self.score))

    def suggested_action(self) -> JSON:
        """The call that would stage a remedy; None if it can wait."""
        if self.score < _FATIGUED:
            return None
        args: JSON = {
            "account_id": self.account_id,
            "campaign_id": self.creative.text("campaign_id"),
        }
        return {"operation": "beta.pause_campaign", "args": args}

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
            "signals": [sign for sign, part in self.signs.items() if part >= 0.5],
            "est_days_left": self.est_days_left,
            "spend_7d": self.spend,
            "suggested_action": self.suggested_action(),
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
        return facts.total((account.id, campaign.id), campaign.pace, days, minor)

    whole = total(live)
    if len(live) < _LEAST_DAYS or whole.impressions < _LEAST_IMPRESSIONS:
        return None
    if whole.spend < _LEAST_SPEND * minor:
        return None
    recent = total(live[-7:])
    if not recent.impressions:
        return None
    return Finding(
        account_id=account.id,
        creative=creative,
        days_live=len(live),
        baseline=total(live[: 7 if len(live) >= 14 else 3]),
        recent=recent,
        spend=account.currency.amount(recent.spend),
        series=[_point(day, total([day])) for day in live],
    )


def _point(day: date, figures: Figures) -> JSON:
    return {"date": day.isoformat(), "ctr": figures.ctr, "frequency": figures.frequency}
