"""Creative fatigue: how far a creative has fallen from its first days."""

from datetime import date, timedelta
from math import ceil

from adclient.models import JSON
from adclient.testing._accounts.metrics import Metrics, days_between
from adclient.testing._accounts.state import Account, Entity

_MIN_DAYS = 7
_MIN_IMPRESSIONS = 10_000
_MIN_SPEND = 500
_FATIGUED, _AT_RISK = 70, 40
_WEIGHTS = {"HOOK_DROP": 35, "CTR_DROP": 35, "HIGH_FREQUENCY": 30}


def finding(account: Account, creative: Entity, today: date) -> tuple[int, dict[str, JSON]] | None:
    """A creative's score and row; None if it is paused or has too little data.

    The score goes from 0 for a fresh creative to 100 for one that is worn out.
    """
    campaign = account.find("campaign", creative.text("campaign_id"))
    if campaign is None or campaign.delivery is None or not campaign.is_enabled:
        return None
    days = days_between(campaign.delivery.first_day, today - timedelta(days=1))
    # The campaign has one creative; by its metrics, the listing and this report agree.
    daily = [account.metrics(campaign, [day]) for day in days]
    whole, recent = Metrics.total(daily), Metrics.total(daily[-7:])
    if len(days) < _MIN_DAYS or whole.impressions < _MIN_IMPRESSIONS:
        return None
    if whole.spend < _MIN_SPEND * account.currency.minor or not recent.impressions:
        return None
    baseline = Metrics.total(daily[: 7 if len(days) >= 14 else 3])
    signals = {
        "HOOK_DROP": _clamped((1 - recent.hook_rate / baseline.hook_rate) / 0.35),
        "CTR_DROP": _clamped((1 - recent.ctr / baseline.ctr) / 0.5),
        "HIGH_FREQUENCY": _clamped((recent.frequency - 1.5) / 2.5),
    }
    score = round(sum(_WEIGHTS[signal] * strength for signal, strength in signals.items()))
    status = "HEALTHY"
    days_left: int | None = None
    action: JSON = None
    if score >= _FATIGUED:
        status, days_left = "FATIGUED", 0
        args: JSON = {"account_id": account.id, "campaign_id": campaign.id}
        action = {"operation": "beta.pause_campaign", "args": args}
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


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
