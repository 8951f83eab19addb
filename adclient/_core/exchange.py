"""One call, from its first attempt to its value or error, without any I/O.

`Exchange.steps` is a generator that decides everything and does nothing. It yields

    ACQUIRE      get credentials, a slot and, with gate=, the consent of the gate; the engine sends
                 back None, the seconds to wait, or a Failure if no attempt can be made
    SEND         send the request; the engine sends back its RawResponse or Failure
    seconds      sleep, with the slot released; then ACQUIRE follows again

The generator returns the final outcome, of which `Exchange.result` makes a value or an error. Two
engines, sync and async, perform the steps; tests drive the generator with lists of outcomes.
"""

from collections.abc import Callable, Generator
from enum import Enum
from typing import Any, Final

import attrs

from adclient._core import decode, errors_from
from adclient._core.auth import NO_AUTH, AuthHeaders
from adclient._core.call import Call
from adclient._core.events import Reporter
from adclient._core.paging import endless
from adclient._core.request import Request
from adclient._core.response import (
    Failure,
    Outcome,
    RawResponse,
    redacted,
    request_id_of,
    too_late,
    with_rate_limit,
)
from adclient._core.retry import (
    Pauses,
    RetryQuota,
    Turn,
    backoff,
    is_retryable,
    jitter,
    key_of,
    may_have_staged,
)
from adclient._values.containers import Headers
from adclient._values.json_values import differ
from adclient._values.jsontext import JSONError
from adclient._values.redact import Redactor
from adclient.conventions import EndOfListing
from adclient.errors import ErrorDetails
from adclient.models import ResponseInfo
from adclient.options import Options


class Step(Enum):
    """The next step of an engine."""

    ACQUIRE = "acquire"
    SEND = "send"


ACQUIRE: Final = Step.ACQUIRE
SEND: Final = Step.SEND

_LONG_WAIT = 0.5  # seconds: waits after a rate limit, or for a gate, that are reported
_NO_OTHER_TOKEN = Failure(reason="there is no other token", sent=False, is_permanent=True)
_LEAST_WAIT = 0.2  # seconds until the next attempt after a rate limit


@attrs.define(eq=False, repr=False)
class Exchange:
    """The requests and responses of one call, and what became of them so far."""

    call: Call
    request: Request
    options: Options
    quota: RetryQuota
    page_class: decode.PageClass
    now: Callable[[], float]
    random: Callable[[], float]
    auth: AuthHeaders = NO_AUTH  # of the current attempt, whose headers `outgoing` has
    may_renew_token: bool = False
    reporter: Reporter | None = None
    end_of_listing: EndOfListing = "null"
    outgoing: Request = attrs.field(init=False)
    deadline: float = attrs.field(init=False)
    attempt_deadline: float = attrs.field(init=False)
    attempts: int = attrs.field(init=False, default=0)
    elapsed: float = attrs.field(init=False, default=0.0)
    pause: float = attrs.field(init=False, default=0.0)  # seconds for all calls of its `key`
    request_id: str | None = attrs.field(init=False, default=None)
    # The token of a 401, which is not used again, and that response, until there is another token.
    refused: AuthHeaders = attrs.field(init=False, default=NO_AUTH)
    _refusal: RawResponse | None = attrs.field(init=False, default=None)
    may_be_staged: bool = attrs.field(init=False, default=False)
    _started: float = attrs.field(init=False)
    _retries: int = attrs.field(init=False, default=0)
    _is_quota_used_up: bool = attrs.field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        self.outgoing = self.request
        self._started = self.now()
        self.deadline = self.attempt_deadline = self._started + self.options.timeout

    def steps(self) -> Generator[Step | float, Outcome | float | None, Outcome]:
        """Acquire a slot and send the request, until an outcome is final.

        The engine releases a slot only when it asks for the next step. So the pause after a
        429 begins before another call can take that slot.
        """
        options, reporter = self.options, self.reporter
        outcome: Outcome | None = None
        while True:
            wait = yield ACQUIRE
            if wait is not None:
                if isinstance(wait, Failure):
                    return outcome or wait  # an earlier response explains more than a lack of slots
                assert not isinstance(wait, RawResponse)
                spare = self.time_left - wait
                if spare <= 0:
                    late = too_late(f"the gate asks to wait {wait:.3g} s")
                    return outcome or attrs.evolve(late, retry_after=wait)
                if not isinstance(wait, Turn):  # calls that wait for the same pause come apart
                    wait += self.random() * min(jitter(wait), spare)
                if reporter is not None and wait > _LONG_WAIT:
                    reporter.rate_limited(wait)
                yield wait
                continue  # to ACQUIRE again: another 429 may have come meanwhile
            if self._refusal is not None:
                if reporter is not None:
                    reporter.retrying(self.attempts, self._refusal, 0.0)
                self._refusal = None
            # Credentials or a slot may have taken all the time; a late write would go unnoticed.
            if self.time_left <= 0:
                return outcome or too_late("waiting took the whole timeout")
            self.attempts += 1  # not before: an attempt is a request that is really sent
            if reporter is not None:
                reporter.sending(self.attempts)
            # An attempt that hangs would otherwise use up the time of its retries.
            if (limit := options.retry.attempt_timeout) is not None:
                self.attempt_deadline = min(self.deadline, self.now() + limit)
            received = yield SEND
            assert isinstance(received, Outcome)
            outcome = received
            self.elapsed = self.now() - self._started
            self.request_id = None  # not that of an earlier attempt
            if isinstance(outcome, RawResponse):
                names = options.conventions.request_id_headers
                self.request_id = request_id_of(outcome, names)
            if self.call.operation.is_write and may_have_staged(outcome):
                self.may_be_staged = True
            if reporter is not None:
                reporter.received(self.attempts, outcome, self.elapsed, self.request_id)
            # Last, so that an event hook's error does not hide that a draft may be staged.
            if isinstance(outcome, Failure) and outcome.error is not None:
                raise outcome.error
            if isinstance(outcome, RawResponse) and outcome.is_whole_success:
                if self.quota.used > 0:
                    self.quota.used -= 1
                return outcome
            # A 401 was not processed, so a write is sent again as well, and without any retries.
            if self.may_renew_token and isinstance(outcome, RawResponse) and outcome.status == 401:
                self.may_renew_token = False  # once in each call
                self.refused, self._refusal = self.auth, outcome
                continue
            backoff_time = self._backoff_after(outcome)
            if backoff_time is None:
                return outcome
            if reporter is not None:
                reporter.retrying(self.attempts, outcome, backoff_time)
            yield backoff_time
            if self.time_left <= 0:  # the sleep took longer than it was asked to
                return outcome

    def authorize(self, auth: AuthHeaders | None) -> Failure | None:
        """Take the credentials of the next attempt, None if they came too late; or a failure.

        Not for a fixed token, which the `RequestBuilder` adds to all requests of the client.
        """
        self.auth = auth or NO_AUTH
        headers = {**self.request.headers, **self.auth.headers}
        self.outgoing = attrs.evolve(self.request, headers=headers)
        if auth is None or self.time_left <= 0:
            return too_late("the credentials took the whole timeout")
        is_refused = self._refusal is not None and auth.headers == self.refused.headers
        return _NO_OTHER_TOKEN if is_refused else None

    @property
    def key(self) -> str:
        """What a rate limit holds for."""
        return key_of(self.call, self.options)

    def pause_left(self, pauses: Pauses) -> float | None:
        """Seconds to wait, if this call retries what is limited; None if it can be sent."""
        retry = self.options.retry
        is_heeded = retry.max_retries > 0 and 429 in retry.statuses
        left = pauses.left(self.key, self.now()) if is_heeded else 0.0
        # Without time for the wait, it is sent anyway: the service may accept it.
        return left if 0 < left < self.time_left else None

    def examine(self, outcome: Outcome) -> Outcome:
        """An outcome with its rate limit, and without credentials; `pause` is set."""
        conventions = self.options.conventions
        outcome = with_rate_limit(outcome, conventions)
        is_limit = isinstance(outcome, RawResponse) and outcome.is_rate_limit
        is_shared = is_limit and conventions.rate_limit_scope != "call"
        self.pause = (outcome.retry_after or 0.0) if is_shared else 0.0
        for redactor in self.redactors:
            outcome = redacted(outcome, redactor)
        return outcome

    @property
    def redactors(self) -> tuple[Redactor, ...]:
        """The redactors of the tokens that were sent, as a response may repeat each of them."""
        redactor = self.auth.redactor
        return (redactor,) if self.refused is NO_AUTH else (redactor, self.refused.redactor)

    @property
    def time_left(self) -> float:
        """Seconds until the deadline of the call."""
        return self.deadline - self.now()

    def result(self, outcome: Outcome) -> Any:
        """The value of the final outcome, or its error raised."""
        call = self.call
        if isinstance(outcome, Failure) or not outcome.is_whole_success:
            self.elapsed = self.now() - self._started
            retry = self.options.retry
            has_one_attempt = self.attempts == 1 and retry.attempt_timeout is None
            may_retry = retry.max_retries > 0 and self._is_retryable(outcome)
            raise errors_from.error_for(
                call,
                outcome,
                self.details,
                may_be_staged=self.may_be_staged,
                is_unretried=has_one_attempt and may_retry,
                is_limited=self.attempt_deadline < self.deadline,
                is_quota_used_up=self._is_quota_used_up,
            )
        info = ResponseInfo(
            operation=call.operation.full_name,
            account_id=call.account_id,
            target_id=call.target_id,
            status=outcome.status,
            headers=Headers(outcome.headers),
            request_id=self.request_id,
            attempts=self.attempts,
            elapsed=self.elapsed,
        )
        try:
            value: Any = decode.result_of(call, outcome, info, self.page_class, self.end_of_listing)
        except JSONError as error:
            redactors, problem = self.redactors, str(error)
            raise errors_from.unreadable(call, outcome, redactors, self.details, problem) from None
        except Exception as error:  # such as a module that cannot be loaded now
            self.raise_if_staged(error)
            raise
        # Here too, as a page that is read alone has no `SeenPages`.
        if call.cursor is not None and not differ(call.cursor, value.next):
            raise endless(call, "was received before", call.cursor)
        if self.reporter is not None:
            self.reporter.returning(value)
        return value

    def raise_if_staged(self, error: Exception) -> None:
        """Raise `OutcomeUnknown` from an error that would hide that a draft may be staged."""
        if self.may_be_staged:
            raise errors_from.stopped(self.call, self.details, error) from error

    @property
    def details(self) -> ErrorDetails:
        """The attributes of an error of this call."""
        operation = self.call.operation
        return {
            "operation": operation.full_name,
            "method": operation.method,
            "path": operation.path,
            # The query of a cursor may contain credentials of the service.
            "url": self.request.url.partition("?")[0],
            "idempotency_key": self._idempotency_key,
            "attempts": self.attempts,
            "elapsed": self.elapsed,
            "request_id": self.request_id,
        }

    @property
    def _idempotency_key(self) -> str | None:
        name = self.options.conventions.idempotency_header
        if name is None or not self.call.operation.is_write:
            return None
        return self.request.headers[name.lower()]

    def _is_retryable(self, outcome: Outcome) -> bool:
        is_idempotent = not self.call.operation.is_write or self._idempotency_key is not None
        return is_retryable(self.options.retry, outcome, is_idempotent)

    def _backoff_after(self, outcome: Outcome) -> float | None:
        """Seconds until the next attempt; None without a retry, or without time or quota for it."""
        retry = self.options.retry
        if retry.max_retries == 0 or not self._is_retryable(outcome):
            return None
        # A service that says when to come back is not down, so this takes no retry.
        is_free = isinstance(outcome, RawResponse) and outcome.is_rate_limit and outcome.retry_after
        attempt = self.attempts if is_free else self._retries + 1
        wait = backoff(retry, outcome, attempt=attempt, random=self.random())
        if is_free:  # which nothing else limits, if the policy has no backoff
            wait = max(wait, _LEAST_WAIT)
        # Raise now what would be raised after a wait that leaves no time for an attempt.
        if wait >= self.time_left:
            return None
        if is_free:
            return wait
        if self._retries == retry.max_retries:
            return None
        self._retries += 1
        self._is_quota_used_up = not self.quota.take(retry)
        return None if self._is_quota_used_up else wait
