"""May a call be sent again, and after how long? Pure functions of what happened."""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

from adclient._core.response import Failure, Outcome, RawResponse
from adclient.options import RetryPolicy

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_FOREVER = 1e12


def delay(
    policy: RetryPolicy, outcome: Outcome, *, attempt: int, repeatable: bool, chance: float
) -> float | None:
    """Seconds to wait before attempt number `attempt + 1`, or None if there must be none.

    `repeatable` says that sending the call twice does no harm; `chance` is random in [0, 1).
    """
    if attempt > policy.max_retries or not _may_repeat(policy, outcome, repeatable):
        return None
    # The exponent is bounded because a float is.
    longest = policy.backoff_first * 2.0 ** min(attempt - 1, 60)
    backoff = chance * min(policy.backoff_longest, longest)
    asked = retry_after(outcome) if isinstance(outcome, RawResponse) else None
    return backoff if asked is None else max(backoff, asked + chance * spread(asked))


def spread(asked: float) -> float:
    """Seconds over which calls that were asked to wait come back, so as not to come in step."""
    return min(1.0, asked / 10)


def _may_repeat(policy: RetryPolicy, outcome: Outcome, repeatable: bool) -> bool:
    if isinstance(outcome, Failure):
        return repeatable or not outcome.sent
    if outcome.broken is not None and outcome.is_success:
        return repeatable
    return outcome.status in policy.statuses and (repeatable or outcome.status == 429)


def may_be_taken(outcome: Outcome) -> bool:
    """Whether a service that gave this outcome to a write may have staged the draft."""
    if isinstance(outcome, Failure):
        return outcome.sent
    return outcome.is_success or outcome.status in (301, 302, 303, 408) or outcome.status >= 500


def retry_after(reply: RawResponse) -> float | None:
    """Seconds that the service asks to wait: a number, or a date against the reply's own."""
    text = reply.headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), _FOREVER)
    until = _timestamp(text)
    if until is None:
        return None
    sent = _timestamp(reply.headers.get("date", ""))
    return max(0.0, until - (reply.received_at if sent is None else sent))


def _timestamp(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
