"""Daily facts: the one source of every figure that the fake service reports."""

import random
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache
from math import sqrt
from operator import attrgetter

import attrs

Owner = tuple[str, str]
"""Whose facts they are: an account and what is in it, because two accounts may use one id."""

_WEEKDAYS = (1.0, 0.98, 0.97, 0.99, 1.03, 1.05, 0.96)


@attrs.frozen(kw_only=True)
class Pace:
    """How an entity spends and performs, from which its daily facts follow.

    `switched` holds the last day of each run and of each rest, in turn.
    """

    daily_budget: float
    first_day: date
    switched: tuple[date, ...] = ()
    cpm: float = 8.0
    ctr: float = 0.012
    half_life: float = 30.0
    conversion_rate: float = 0.015
    conversion_value: float = 110.0
    hook: float = 0.25

    def runs_on(self, day: date) -> bool:
        """Whether there are facts for a day."""
        is_running = sum(last < day for last in self.switched) % 2 == 0
        return self.first_day <= day and is_running


@attrs.frozen(kw_only=True)
class Figures:
    """The facts of a day, or of many; money in the currency's smallest unit."""

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
        return _rate(self.clicks, self.impressions)

    @property
    def hook_rate(self) -> float:
        """Views of two seconds per impression."""
        return _rate(self.hooks, self.impressions)

    @property
    def frequency(self) -> float:
        """Impressions per person reached."""
        return round(self.impressions / self.reach, 2) if self.reach else 0.0

    @property
    def roas(self) -> float | None:
        """Conversion value per unit of spend."""
        return round(self.value / self.spend, 2) if self.spend else None


def _rate(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


class Facts:
    """Makes the facts of an entity and a day when they are asked for, and keeps them."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._days: dict[tuple[Owner, date], Figures] = {}

    def total(self, owner: Owner, pace: Pace | None, days: Iterable[date], minor: int) -> Figures:
        """The sum over some days; `minor` is how many smallest units one unit of money has."""
        wanted = [] if pace is None else [day for day in days if pace.runs_on(day)]
        figures = [self._on(owner, pace, day, minor) for day in wanted if pace is not None]
        return added(figures)

    def _on(self, owner: Owner, pace: Pace, day: date, minor: int) -> Figures:
        key = owner, day
        if key not in self._days:
            # Seeded per entity and day: any slice of the facts agrees with every other.
            self._days[key] = _drawn(f"{self._seed}:{owner[1]}:{day}", pace, day, minor)
        return self._days[key]


def added(figures: Iterable[Figures]) -> Figures:
    """The sum of figures."""
    columns = zip(*map(_values_of, figures), strict=True)
    return Figures(**dict(zip(_NAMES, map(sum, columns), strict=False)))


_NAMES = [field.name for field in attrs.fields(Figures)]
_values_of = attrgetter(*_NAMES)


# Most test suites make a new fake for each test, with the same seed.
@lru_cache(maxsize=20_000)
def _drawn(seed: str, pace: Pace, day: date, minor: int) -> Figures:
    """The facts of one day, of a creative that wears out with its age."""
    chance = random.Random(seed)  # noqa: S311 (no secret)
    freshness = 2 ** (-(day - pace.first_day).days / pace.half_life)
    wave = _WEEKDAYS[day.weekday()]
    spend = pace.daily_budget * min(1.2, chance.gauss(0.97, 0.05) * wave)
    impressions = round(spend / pace.cpm * 1000)
    clicks = _hits(chance, impressions, pace.ctr * (0.42 + 0.58 * freshness))
    conversions = _hits(chance, clicks, pace.conversion_rate)
    return Figures(
        impressions=impressions,
        clicks=clicks,
        spend=round(spend * minor),
        conversions=conversions,
        value=round(conversions * pace.conversion_value * minor),
        reach=round(impressions / (1 + 2.55 * (1 - freshness))),
        hooks=_hits(chance, impressions, pace.hook * (0.77 + 0.23 * freshness)),
    )


def _hits(chance: random.Random, tries: int, rate: float) -> int:
    """About how many of some tries succeed; never more than there are."""
    drawn = chance.gauss(tries * rate, sqrt(tries * rate * (1 - rate)))
    return min(tries, max(0, round(drawn)))


def days_between(first: date, last: date) -> list[date]:
    """The days from the first to the last, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]
