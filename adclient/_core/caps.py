"""The arithmetic of a shared gate: whether a request may be sent, or how long it waits."""

import math
from typing import NamedTuple

import attrs

from adclient._core.retry import jitter

BURST = 0.1  # seconds: what the rate allows in this time may be sent at once
SLACK = 2.0  # seconds that a waiting call may be late before it loses its turn
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5  # seconds until a call looks for a free place again


class Seen(NamedTuple):
    """What a database contains for one call under one key, at its time `now`.

    A pause from the future is void: the clock was set back. `next_at` is when the rate allows a
    request, `ahead` how many calls wait that asked before this one.
    """

    now: float
    paused_at: float = 0.0
    paused_until: float = 0.0
    next_at: float = 0.0
    ahead: int = 0
    under_way: int = 0


class Place(NamedTuple):
    """A request under way, or a call that waits for its turn."""

    is_sent: bool
    at: float
    until: float


class Decision(NamedTuple):
    """Seconds to wait, 0 for a request that may be sent; and what the database has to keep.

    `reason` is why a call cannot be sent in its time. `is_known` means that a later call can.
    """

    wait: float = 0.0
    reason: str | None = None
    is_known: bool = True
    place: Place | None = None
    next_at: float | None = None


@attrs.frozen
class Caps:
    """How many requests may be sent in a second, and how many may be under way."""

    per_second: float | None = None
    at_once: int | None = None

    def decide(
        self, seen: Seen, arrived_at: float, *, longest: float, lease: float, random: float
    ) -> Decision:
        """Decide on a request of a call that first asked at `arrived_at`, by the same clock.

        It has `longest` seconds left, and counts as under way for up to `lease` seconds. `random`
        is in [0, 1).
        """
        pause = _pause_left(seen, random)
        if pause > 0:
            reason = f"the service asked for a pause, of which {pause:.3g} s are left"
            return Decision(pause, reason if pause >= longest else None)
        wait = self._wait_for_rate(seen)
        if wait >= longest:
            return Decision(wait, f"{self.per_second:g} requests per second: {wait:.3g} s to wait")
        look = self._wait_for_place(seen, longest)
        if look >= longest:
            return Decision(look, f"no place free in time ({self.at_once} at once)", is_known=False)
        if (wait := max(wait, look)) > 0:
            return Decision(wait, place=Place(False, arrived_at, seen.now + wait + SLACK))
        return Decision(
            place=None if self.at_once is None else Place(True, seen.now, seen.now + lease),
            next_at=None if self.per_second is None else self._next_at(seen) + 1 / self.per_second,
        )

    def _next_at(self, seen: Seen) -> float:
        """When the rate allows a request; at most as late as after one that was sent now."""
        interval = math.inf if self.per_second is None else 1 / self.per_second
        return min(max(seen.next_at, seen.now), seen.now + BURST + interval)

    def _wait_for_rate(self, seen: Seen) -> float:
        if self.per_second is None:
            return 0.0
        turn = self._next_at(seen) + seen.ahead / self.per_second
        return max(0.0, turn - BURST - seen.now)

    def _wait_for_place(self, seen: Seen, longest: float) -> float:
        """Seconds until the next look; whoever is further back in the queue looks less often."""
        if self.at_once is None or (excess := seen.under_way + seen.ahead - self.at_once) < 0:
            return 0.0
        look = min(_FIRST_LOOK * (1 + excess), _LAST_LOOK, longest / 2)
        return max(_FIRST_LOOK, look)


def _pause_left(seen: Seen, random: float) -> float:
    """Seconds until a pause is over, with jitter; 0 if there is none."""
    if not seen.paused_at <= seen.now < seen.paused_until:
        return 0.0
    return seen.paused_until - seen.now + random * jitter(seen.paused_until - seen.paused_at)
