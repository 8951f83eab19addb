"""What follows from an outcome: retries, and pauses; with gate=, also turns."""

from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urlsplit

import attrs

from adclient._core.call import Call
from adclient._core.response import Failure, Outcome
from adclient._show.signatures import public_in
from adclient.options import Options, RetryPolicy

_PORTS = {"http": 80, "https": 443}


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
    """Check if an outcome permits another attempt; a rate limit was refused before processing."""
    if isinstance(outcome, Failure):
        return not outcome.is_permanent and (is_idempotent or not outcome.sent)
    if outcome.is_rate_limit:
        return 429 in policy.statuses
    # The head of a success shows that the service accepted the request.
    is_cut = outcome.broken is not None and outcome.is_success
    return is_idempotent and (is_cut or outcome.status in policy.statuses)


def may_have_staged(outcome: Outcome) -> bool:
    """Check if a write with this outcome may have staged a draft."""
    if isinstance(outcome, Failure):
        return outcome.sent
    # Any other status means that it was processed, or has no meaning in HTTP.
    is_refusal = 300 <= outcome.status < 500 and outcome.status not in (301, 302, 303, 408)
    return not (is_refusal or outcome.is_rate_limit)


@attrs.define(eq=False)
class RetryQuota:
    """The retries that the calls of one client have taken: these only add load if all fail.

    Without a lock: if threads race, one retry more or less does no harm.
    """

    used: int = 0

    def take(self, policy: RetryPolicy) -> bool:
        """Take one retry; False if none is left."""
        if policy.quota is None:
            return True
        if self.used >= policy.quota:
            return False
        self.used += 1
        return True


Ask: TypeAlias = Callable[[Call, str, float], Failure | float | None]


@public_in("adclient.extend")
class Turn(float):
    """Seconds until the turn of a call at a gate begins, which the call does not miss by a jitter.

    A gate that limits requests per second has a method `__reserve__`, with the arguments of `ask`,
    which reserves a turn. It lasts a moment, in which the call asks `ask` and sends its request.
    """

    __slots__ = ()
    LASTS = 0.1


class Pauses:
    """Until when the calls of a client without gate= wait, as services asked."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}

    def left(self, key: str, now: float) -> float:
        """Seconds until the pause of a key is over; 0 or less if there is none."""
        return self.ends.get(key, now) - now

    def begin(self, key: str, now: float, seconds: float) -> None:
        """Begin a pause of so many seconds; one that lasts longer stays."""
        # Expired ends would pile up, one for each account. A copy, because other threads add some.
        for over in [key for key, end in tuple(self.ends.items()) if end <= now]:
            self.ends.pop(over, None)
        self.ends[key] = max(self.ends.get(key, 0.0), now + seconds)


def key_of(call: Call, options: Options) -> str:
    """What a rate limit holds for: a service, whose address has one spelling, or an account."""
    url = urlsplit(options.base_url)
    address = f"{url.scheme}://{url.hostname}:{url.port or _PORTS.get(url.scheme)}{url.path}"
    is_account = options.conventions.rate_limit_scope == "account"
    return f"{address.rstrip('/')}\n{call.account_id * is_account}"
