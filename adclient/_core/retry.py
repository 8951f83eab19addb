"""Retries and rate limits: pure functions of outcomes."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from typing import TypeAlias
from urllib.parse import urlsplit

import attrs

from adclient._core.call import Call
from adclient._core.response import Failure, Outcome, RawResponse, problem_in
from adclient._display.signatures import public_in
from adclient._values.jsontext import JSONError, loads
from adclient.conventions import Conventions
from adclient.options import Options, RetryPolicy

_DRAFT = "'draft_id': (?!None|'')"
_SECONDS = r"[0-9]+(\.[0-9]+)?"
# Of `RateLimit: "minute";r=0;t=30` and of `RateLimit: limit=100, remaining=0, reset=30`.
_LIMIT = r"\b(?:(r)(?:emaining)?|t|reset)=([0-9]+(?:\.[0-9]+)?)"
# A comma is also between the parts of the second form, of which `limit` is the first.
_NEXT_LIMIT = r",(?!\s*(?!limit)\w+=)"
_LONGEST_HEADER = 2000  # characters
_FOREVER = 1e12  # seconds: a number of many digits would become infinite
_YEAR = 366 * 86400.0
_LONGEST_PROBLEM = 10_000  # bytes: a longer success is no error, and takes time to read


def with_rate_limit(outcome: Outcome, conventions: Conventions) -> Outcome:
    """The outcome with `is_rate_limit` and `retry_after` set."""
    if isinstance(outcome, Failure):
        return outcome
    errors, status = conventions.rate_limit_errors, outcome.status
    if status == 201 or (not errors and outcome.is_success):  # a 201 has staged a draft
        return outcome
    is_limit = status == 429 or status in errors or (errors and _code_of(outcome) in errors)
    names = conventions.retry_after_headers if is_limit else ("retry-after",)
    present = (lower for name in names if (lower := name.lower()) in outcome.headers)
    waits = (_seconds_in(outcome, name) for name in present)
    asked = next((seconds for seconds in waits if seconds is not None), None)
    if not is_limit and asked is None:
        return outcome
    return attrs.evolve(outcome, is_rate_limit=bool(is_limit), retry_after=asked)


def _code_of(response: RawResponse) -> str | None:
    """The code of an error; None for a success that may hold a draft or a page."""
    if response.is_success and len(response.body) > _LONGEST_PROBLEM:
        return None
    with suppress(JSONError):
        body = loads(response.body)
        # A draft may be nested; around an error, its id and a page are empty.
        fields = body if isinstance(body, dict) else {}
        page = fields.get("page")
        is_page = fields.get("data") or (isinstance(page, dict) and page.get("next") is not None)
        has_result = response.is_success and (is_page or re.search(_DRAFT, str(body)))
        return None if has_result else problem_in(body).code
    return None


def _seconds_in(response: RawResponse, name: str) -> float | None:
    """Seconds that a header asks to wait; a date counts from the `Date` of the response."""
    text = response.headers[name][:_LONGEST_HEADER].strip()
    if "=" in text:
        limits = (dict(re.findall(_LIMIT, each)) for each in re.split(_NEXT_LIMIT, text.lower()))
        used_up = (each for each in limits if "" in each and float(each.get("r", 1)) == 0)
        return max((min(float(each[""]), _FOREVER) for each in used_up), default=None)
    # Both dates are of the service's clock, so it does not matter if that clock is wrong.
    sent = _timestamp(response.headers.get("date", ""))
    now = response.received_at if sent is None else sent
    if re.fullmatch(_SECONDS, text):
        number = float(text)
        # Seconds or milliseconds since 1970 are a date, as nobody asks to wait for decades.
        dates = (date for date in (number, number / 1000) if abs(date - now) < _YEAR)
        until = next(dates, None)
        if until is None:
            return min(number / (1000 if name.endswith("-ms") else 1), _FOREVER)
    else:
        until = _timestamp(text)
    return None if until is None else max(0.0, until - now)


def _timestamp(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # deferred: slow to import

    try:
        moment = parsedate_to_datetime(text)
        # The zone -0000 gives a naive time, which `timestamp` would take for local time.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    # Versions of Python differ in what they raise for a malformed date.
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


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


def may_have_reached_server(outcome: Outcome) -> bool:
    """Check if a write with this outcome may have staged a draft."""
    if isinstance(outcome, Failure):
        return outcome.sent
    # Any other status means that it was processed, or has no meaning in HTTP.
    is_refusal = 300 <= outcome.status < 500 and outcome.status not in (301, 302, 303, 408)
    return not (is_refusal or outcome.is_rate_limit)


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


Ask: TypeAlias = Callable[[Call, str, float], Failure | float | None]

_PORTS = {"http": 80, "https": 443}


@public_in("adclient.extend")
class Turn(float):
    """Seconds until the turn of a call at a gate begins, which the call does not miss by a jitter.

    A gate that limits requests per second has a method `__reserve__`, with the arguments of `ask`,
    which reserves a turn. It lasts a moment, in which the call asks `ask` and sends its request.
    """

    __slots__ = ()
    LASTS = 0.1


class Pauses:
    """Until when the calls of a client without a gate of its own wait, as services asked."""

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
