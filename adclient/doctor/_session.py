"""Sends the probes, one at a time, within a number of requests and a time."""

from collections.abc import Callable

import attrs

from adclient._core.auth import NO_AUTH, AuthHeaders, Credentials, bearer, checked_auth
from adclient._core.redact import Redactor
from adclient._core.request import Request, RequestBuilder
from adclient._core.response import Failure, Outcome, RawResponse, redacted
from adclient._core.retry import backoff
from adclient._http.clock import Clock
from adclient._http.send import Sender
from adclient.conventions import Conventions
from adclient.doctor._examination import MOST_REQUESTS, Examination
from adclient.doctor._probe import Observation, Probe
from adclient.errors import AdClientError
from adclient.options import Options, RetryPolicy

TIMEOUT = 120.0
_LONGEST_REQUEST = TIMEOUT / 8  # so that one that hangs leaves time for others
_MOST_FAILURES = 3

# A temporary failure is repeated once, so that it does not count as evidence.
_RETRY = RetryPolicy(max_retries=1, statuses=frozenset({429, 502, 503, 504}))


class _StopError(Exception):
    """No further probe can be sent."""


@attrs.define(eq=False, repr=False)
class Session:
    """The connections, credentials and limits of one examination."""

    examination: Examination
    options: Options
    credentials: Credentials
    sender: Sender
    clock: Clock
    random: Callable[[], float]
    _deadline: float = attrs.field(init=False)
    _secrets: set[Redactor] = attrs.field(init=False, factory=set[Redactor])
    _builders: dict[Conventions, RequestBuilder] = attrs.field(
        init=False, factory=dict[Conventions, RequestBuilder]
    )
    _failures: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self._deadline = self.clock.now() + self.options.timeout

    def run(self) -> None:
        """Send the probes of the examination, until it ends or has to stop."""
        found, steps = self.examination, self.examination.steps()
        try:
            probe = next(steps)
            while found.stopped is None:
                found.observations.append(self._observe(probe))
                probe = steps.send(found.observations[-1])
        except StopIteration:
            pass
        except _StopError as stop:
            found.stopped = str(stop)
        finally:
            self.sender.close()

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent."""
        for redactor in self._secrets:
            text = redactor.redact(text)
        return text

    def _observe(self, probe: Probe) -> Observation:
        """Send a probe, and again if its failure may be temporary."""
        started = self.clock.now()
        builder = self._builders.get(probe.conventions)
        if builder is None:
            options = attrs.evolve(self.options, conventions=probe.conventions)
            # It only reads, so no request has an idempotency key.
            builder = self._builders[probe.conventions] = RequestBuilder(options, new_key=str)
        try:
            request = builder.build(probe.call())
        except AdClientError as error:  # such as a continuation that is too long for a URL
            failure = Failure(reason=str(error), sent=False)
            return Observation(probe=probe, outcome=failure)
        attempt = 0
        while True:
            attempt += 1
            outcome = self._send(request, has_credentials=probe.has_credentials)
            wait = backoff(
                _RETRY, outcome, attempt=attempt, is_idempotent=True, random=self.random()
            )
            if wait is not None and self.clock.now() + wait >= self._deadline:
                wait = None
            if isinstance(outcome, RawResponse) and outcome.status == 429:
                self.examination.limited = outcome
                if wait is None:
                    self.examination.stopped = "ended early: the service limits the rate"
            if wait is None:
                break
            self.clock.sleep(wait)
        seconds = self.clock.now() - started
        observation = Observation(probe=probe, outcome=outcome, seconds=seconds)
        self._failures = self._failures + 1 if observation.response is None else 0
        return observation

    def _send(self, request: Request, *, has_credentials: bool) -> Outcome:
        examination, now = self.examination, self.clock.now()
        if examination.left == 0:
            raise _StopError(f"ended early: {MOST_REQUESTS} requests were sent")
        if now >= self._deadline:
            raise _StopError("ended early: the time was over")
        if self._failures == _MOST_FAILURES:
            raise _StopError(f"ended early: no whole response to {_MOST_FAILURES} requests")
        auth = self._auth(request) if has_credentials else NO_AUTH
        self._secrets.add(auth.redactor)
        examination.requests += 1
        longest = max(_LONGEST_REQUEST, self.options.timeout / 8)
        deadline = min(self._deadline, now + longest)
        outcome = redacted(self.sender.send(auth.apply(request), deadline), auth.redactor)
        if isinstance(outcome, Failure) and outcome.error is not None:
            raise outcome.error
        return outcome

    def _auth(self, request: Request) -> AuthHeaders:
        credentials = self.credentials
        if credentials.fixed is not None:
            return credentials.fixed
        if credentials.auth is not None:
            # A copy: the headers are shared with other requests of the operation.
            copy = attrs.evolve(request, headers=dict(request.headers))
            return checked_auth(credentials.auth(copy))
        token = credentials.token
        return bearer(token() if callable(token) else token)
