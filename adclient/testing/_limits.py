"""The limits of the service: requests in a minute, drafts in a day, open drafts."""

from datetime import date, datetime, timedelta
from math import ceil

from adclient.testing._clock import FakeClock
from adclient.testing._profile import Profile
from adclient.testing._wire.protocol import Refusal

_MINUTE = timedelta(minutes=1)


class Limits:
    """Counts what the profile limits, by the fake's clock."""

    def __init__(self, profile: Profile, clock: FakeClock) -> None:
        self._profile = profile
        self._clock = clock
        self._minute: datetime = clock.now()
        self._requests = 0
        self._staged: dict[str, tuple[date, int]] = {}

    def count_request(self) -> None:
        """Count a request, or refuse it."""
        now, most = self._clock.now(), self._profile.requests_a_minute
        if now - self._minute >= _MINUTE:
            self._minute, self._requests = now, 0
        if most is not None and self._requests >= most:
            wait = ceil((self._minute + _MINUTE - now).total_seconds())
            headers = {"retry-after": str(wait)}
            message = f"at most {most} requests a minute"
            raise Refusal(429, "rate_limited", message, headers=headers)
        self._requests += 1

    def check_draft(self, account_id: str, open_drafts: int) -> None:
        """Refuse a draft for which an account has no room."""
        most = self._profile.most_open_drafts
        if most is not None and open_drafts >= most:
            raise Refusal(409, "too_many_open_drafts", f"{most} drafts wait for approval already")
        most = self._profile.drafts_a_day
        if most is not None and self._staged_today(account_id) >= most:
            raise Refusal(409, "envelope_exhausted", f"{most} drafts were staged today already")

    def count_draft(self, account_id: str) -> None:
        """Count a draft that was staged."""
        self._staged[account_id] = self._clock.today(), self._staged_today(account_id) + 1

    def _staged_today(self, account_id: str) -> int:
        day, count = self._staged.get(account_id, (None, 0))
        return count if day == self._clock.today() else 0
