"""Who may call the service, and how often."""

from collections.abc import Mapping
from datetime import date, timedelta
from math import ceil

import attrs

from adclient._core.request import Request
from adclient.testing._clock import FakeClock
from adclient.testing._http.responses import refusal
from adclient.testing._profile import Profile

_MINUTE = timedelta(minutes=1)


@attrs.frozen
class Tokens:
    """The tokens of the service, and the header that carries one; without a token, all may call."""

    token: str | None = attrs.field(repr=False)
    read_only_token: str | None = attrs.field(repr=False)
    key_header: str | None

    def headers(self, _: Request) -> Mapping[str, str]:
        """What a client sends to authenticate."""
        if self.token is None:
            return {}
        return {self.key_header or "authorization": self._header_value(self.token)}

    def may_write(self, request: Request) -> bool:
        """Whether a request may write; one that may not even read is refused."""
        if self.token is None:
            return True
        value = request.headers.get((self.key_header or "authorization").lower())
        if value == self._header_value(self.token):
            return True
        if self.read_only_token is None or value != self._header_value(self.read_only_token):
            raise refusal("unauthenticated")
        return False

    def _header_value(self, token: str) -> str:
        return token if self.key_header else f"Bearer {token}"


class Limits:
    """Counts what the profile limits, by the fake's clock."""

    def __init__(self, profile: Profile, clock: FakeClock) -> None:
        self._profile = profile
        self._clock = clock
        self._minute = clock.now()
        self._requests = 0
        self._staged: dict[str, tuple[date, int]] = {}

    def count_request(self) -> None:
        """Count a request, or refuse it."""
        now, most = self._clock.now(), self._profile.requests_a_minute
        if now - self._minute >= _MINUTE:
            self._minute, self._requests = now, 0
        if most is not None and self._requests >= most:
            wait = ceil((self._minute + _MINUTE - now).total_seconds())
            raise refusal("rate_limited", headers={"retry-after": str(wait)}, most=most)
        self._requests += 1

    def count_draft(self, account_id: str, open_drafts: int) -> None:
        """Count a draft, or refuse it."""
        most = self._profile.most_open_drafts
        if most is not None and open_drafts >= most:
            raise refusal("too_many_open_drafts", most=most)
        day, count = self._staged.get(account_id, (None, 0))
        today, most = self._clock.today(), self._profile.drafts_a_day
        count = count if day == today else 0
        if most is not None and count >= most:
            raise refusal("envelope_exhausted", most=most)
        self._staged[account_id] = today, count + 1
