"""Daily metrics: every figure that the fake service reports is a sum of these."""

import random
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from math import sqrt
from operator import attrgetter

import attrs

from adclient.testing._accounts.state import Currency, Entity

_WEEKDAYS = (1.0, 0.98, 0.97, 0.99, 1.03, 1.05, 0.96)


@attrs.frozen(kw_only=True, cache_hash=True)
class Delivery:
    """How an entity spends and performs, from which its daily metrics follow.

    `switched` holds the days after which it was paused and enabled again, in turn. Days are texts.
    """

    daily_budget: float
    first_day: str
    switched: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])
    cpm: float = 8.0
    ctr: float = 0.012
    half_life: float = 30.0
    conversion_rate: float = 0.015
    conversion_value: float = 110.0
    hook: float = 0.25

    def runs_on(self, day: str, switched: tuple[str, ...]) -> bool:
        """True if it spends on a day; it was also paused and enabled after other days."""
        is_enabled = sum(last < day for last in (*self.switched, *switched)) % 2 == 0
        return self.first_day <= day and is_enabled


@attrs.frozen(kw_only=True)
class Metrics:
    """The metrics of one or more days; money in the currency's smallest unit."""

    impressions: int = 0
    clicks: int = 0
    spend: int = 0
    conversions: int = 0
    value: int = 0
    reach: int = 0
    hooks: int = 0

    @property
    def ctr(self) -> float:
        """Clicks per impression."""
        return round(self.clicks / self.impressions, 4) if self.impressions else 0.0

    @property
    def hook_rate(self) -> float:
        """Views of two seconds per impression."""
        return round(self.hooks / self.impressions, 4) if self.impressions else 0.0

    @property
    def frequency(self) -> float:
        """Impressions per person reached."""
        return round(self.impressions / self.reach, 2) if self.reach else 0.0

    @property
    def roas(self) -> float | None:
        """Conversion value per unit of spend."""
        return round(self.value / self.spend, 2) if self.spend else None

    @classmethod
    def total(cls, parts: Iterable["Metrics"]) -> "Metrics":
        """The sum of metrics."""
        columns = zip(*map(_values_of, parts), strict=True)
        return cls(**{name: sum(column) for name, column in zip(_NAMES, columns, strict=False)})


@attrs.frozen(kw_only=True)
class Figures:
    """The metrics of an account's entities, by the ids of those that have any."""

    seed: str
    currency: Currency
    deliveries: Mapping[str, Delivery]

    def of(self, entity: Entity, days: Iterable[date]) -> Metrics:
        """The sum of an entity's daily metrics."""
        delivery = self.deliveries.get(entity.id)
        if delivery is None:
            return Metrics()
        key, minor = (self.seed, entity.id, delivery), self.currency.minor
        running = (day for day in days if delivery.runs_on(day.isoformat(), entity.switched))
        return Metrics.total(of_day(*key, day, minor) for day in running)


_NAMES = [field.name for field in attrs.fields(Metrics)]
_values_of = attrgetter(*_NAMES)


# Most test suites make a new fake for each test, with the same seed.
@lru_cache(maxsize=20_000)
def of_day(seed: str, entity_id: str, delivery: Delivery, day: date, minor: int) -> Metrics:
    """The metrics of one day, of a creative that wears out with age.

    `minor` is how many of the smallest units make one unit of the currency.
    """
    # Seeded per entity and day, so that all slices of the metrics agree.
    chance = random.Random(f"{seed}:{entity_id}:{day}")  # noqa: S311 (no secret)
    freshness = 2 ** (-(day - date.fromisoformat(delivery.first_day)).days / delivery.half_life)
    wave = _WEEKDAYS[day.weekday()]
    spend = delivery.daily_budget * min(1.2, chance.gauss(0.97, 0.05) * wave)
    impressions = round(spend / delivery.cpm * 1000)
    clicks = _hits(chance, impressions, delivery.ctr * (0.42 + 0.58 * freshness))
    conversions = _hits(chance, clicks, delivery.conversion_rate)
    return Metrics(
        impressions=impressions,
        clicks=clicks,
        spend=round(spend * minor),
        conversions=conversions,
        value=round(conversions * delivery.conversion_value * minor),
        reach=round(impressions / (1 + 2.55 * (1 - freshness))),
        hooks=_hits(chance, impressions, delivery.hook * (0.77 + 0.23 * freshness)),
    )


def _hits(chance: random.Random, tries: int, rate: float) -> int:
    """A binomial draw, by its normal approximation."""
    drawn = chance.gauss(tries * rate, sqrt(tries * rate * (1 - rate)))
    return min(tries, max(0, round(drawn)))


def days_between(first: date, last: date) -> list[date]:
    """The days from the first to the last, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]
