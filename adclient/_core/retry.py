"""Retries and rate limits: pure functions of outcomes."""

from collections.abc import Callable

from adclient._core.call import Call
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.models import Result
from adclient.options import Options, RetryPolicy


def backoff(policy: RetryPolicy, outcome: Outcome, *, attempt: int, random: float) -> float:
    """Seconds to wait before attempt number `attempt + 1`; `random` is in [0, 1)."""
    # A larger exponent would overflow a float, as there may be any number of attempts.
    longest = min(policy.backoff_longest, policy.backoff_first * 2.0 ** min(attempt - 1, 60))
    wait = random * longest  # full jitter, against a thundering herd
    asked = outcome.retry_after
    return wait if asked is None else max(wait, asked + random * jitter(asked))


def jitter(asked: float) -> float:
    """Random seconds added to a shared wait, against a thundering herd."""
    return min(1.0, asked / 10)


def is_retryable(policy: RetryPolicy, outcome: Outcome, is_idempotent: bool) -> bool:
    """Check if an outcome permits another attempt; a 429 was refused before processing."""
    if isinstance(outcome, Failure):
        return not outcome.is_permanent and (is_idempotent or not outcome.sent)
    # The head of a success shows that the service accepted the request.
    if outcome.broken is not None and outcome.is_success:
        return is_idempotent
    return outcome.status in policy.statuses and (is_idempotent or outcome.status == 429)


def is_told_when(outcome: Outcome) -> bool:
    """Check for a 429 that says when to come back: the service limits the rate, and is not down."""
    is_limit = isinstance(outcome, RawResponse) and outcome.status == 429
    return is_limit and (outcome.retry_after or 0) > 0


def may_have_reached_server(outcome: Outcome) -> bool:
    """Check if a write with this outcome may have staged a draft."""
    if isinstance(outcome, Failure):
        return outcome.sent
    # Any other status means that it was processed, or has no meaning in HTTP.
    is_refusal = 300 <= outcome.status < 500 and outcome.status not in (301, 302, 303, 408)
    return not is_refusal


class RetryQuota:
    """Limits the retries of one client, which only add load while everything fails."""

    def __init__(self) -> None:
        self.used: int = 0

    # Without a lock: if threads race, one retry more or less does no harm.

    def take(self, policy: RetryPolicy) -> bool:
        """Take one retry; False if none is left."""
        if policy.quota is None:
            return True
        if self.used >= policy.quota:
            return False
        self.used += 1
        return True

    def give_back(self) -> None:
        """Give one retry back, for a call that succeeded."""
        self.used = max(0, self.used - 1)


class RateLimitGate:
    """Delays the calls of one client after a 429, by account or for the whole client."""

    def __init__(self) -> None:
        self.ends: dict[object, tuple[float, float]] = {}

    def note(self, call: Call[Result], options: Options, response: RawResponse, now: float) -> None:
        """Note the `Retry-After` of a 429, which other calls honour as well."""
        key, asked = _key(call, options), response.retry_after
        if key is None or asked is None:
            return
        # Expired ends would pile up, one for each account. A copy, because other threads add some.
        for over in [key for key, (end, _) in tuple(self.ends.items()) if end <= now]:
            self.ends.pop(over, None)
        self.ends[key] = max(self.ends.get(key, (0.0, 0.0)), (now + asked, jitter(asked)))

    def wait(
        self, call: Call[Result], options: Options, now: float, random: Callable[[], float]
    ) -> float:
        """Seconds that a call has to wait."""
        if options.retry.max_retries == 0:
            return 0.0
        end, spread = self.ends.get(_key(call, options), (now, 0.0))
        return end - now + random() * spread if end > now else 0.0


def _key(call: Call[Result], options: Options) -> object:
    """The key under which calls share a rate limit; None for the call alone."""
    if 429 not in options.retry.statuses:
        return None
    scope = options.conventions.rate_limit_scope
    return {"account": call.account_id, "client": "", "call": None}[scope]
