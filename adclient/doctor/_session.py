"""Sends the probes, one at a time, within a number of requests and a time."""

import re
from collections.abc import Callable

import attrs

from adclient._core.auth import NO_AUTH, AuthHeaders, SecretHeader, bearer, checked_auth
from adclient._core.request import RequestBuilder
from adclient._core.response import redacted
from adclient._core.retry import backoff, is_retryable, with_rate_limit
from adclient._http.send import Sender
from adclient._service.model import AuthShape
from adclient._tasks.clock import Clock
from adclient._values.redact import Redactor, one_line
from adclient.conventions import Conventions
from adclient.doctor._examination import StoppedError
from adclient.doctor._probe import Observation, Probe
from adclient.errors import AdClientError
from adclient.extend import Credentials, Failure, Outcome, RawResponse, Request
from adclient.options import ENV_TOKEN, Options, RetryPolicy

TIMEOUT = 120.0
_LONGEST_REQUEST = TIMEOUT / 8  # so that one that hangs leaves time for others
_MOST_FAILURES = 2

# What precedes a credential; anything else may be a part of it.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) \S+")

# A temporary failure is repeated as a client repeats it, so that it does not count as evidence.
_RETRY = RetryPolicy(max_retries=2)


@attrs.define(eq=False, repr=False)
class Session:
    """The connections, credentials and limits of one examination."""

    options: Options
    credentials: Credentials
    sender: Sender
    clock: Clock
    random: Callable[[], float]
    most_requests: int
    progress: Callable[[str], None] | None
    sent: int = 0
    limited: RawResponse | None = None
    _deadline: float = attrs.field(init=False)
    _secrets: set[Redactor] = attrs.field(init=False, factory=set[Redactor])
    _credentials: set[tuple[str, str]] = attrs.field(init=False, factory=set[tuple[str, str]])
    _builders: dict[Conventions, RequestBuilder] = attrs.field(
        init=False, factory=dict[Conventions, RequestBuilder]
    )
    _failures: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self._deadline = self.clock.now() + self.options.timeout

    def left(self) -> int:
        """How many requests may still be sent; none if the time is nearly over."""
        is_late = self._deadline - self.clock.now() < self.options.timeout / 10
        return 0 if is_late else self.most_requests - self.sent

    @property
    def auth(self) -> AuthShape | None:
        """How credentials were sent, if a file can describe it: in one header, always the same."""
        auth = self.credentials.auth
        if isinstance(auth, SecretHeader):
            return AuthShape(scheme=auth.scheme, header=auth.header.lower(), env=ENV_TOKEN)
        if self.credentials.kind == "token":
            return AuthShape(env=ENV_TOKEN)
        if len(self._credentials) != 1:
            return None
        ((header, value),) = self._credentials
        schemed = _SCHEME.fullmatch(value) if header == "authorization" else None
        return AuthShape(scheme=schemed[1] if schemed else "", header=header, env=ENV_TOKEN)

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent."""
        for redactor in self._secrets:
            text = redactor.redact(text)
        return text

    def build(self, probe: Probe, conventions: Conventions) -> Request:
        """The request of a probe, as a client with these conventions would send it."""
        builder = self._builders.get(conventions)
        if builder is None:
            options = attrs.evolve(self.options, conventions=conventions)
            # It only reads, so no request has an idempotency key.
            builder = self._builders[conventions] = RequestBuilder(options, new_key=str)
        return builder.build(probe.call())

    def ask(self, probe: Probe) -> Observation:
        """Send a probe, and again if its failure may be temporary."""
        try:
            request = self.build(probe, probe.conventions)
        # Such as a continuation that is too long for a URL, or that a function cannot take.
        except (AdClientError, TypeError, ValueError) as error:
            reason = f"not sent: {self.redact(str(error))}"
            unsent = Failure(reason=reason, sent=False, is_permanent=True)
            return Observation(probe=probe, outcome=unsent)
        self._tell(f"{probe.operation.full_name}: {probe.purpose}")
        outcome = self._send(request, probe)
        for attempt in range(1, _RETRY.max_retries + 1):
            if not is_retryable(_RETRY, outcome, is_idempotent=True):
                break
            wait = backoff(_RETRY, outcome, attempt=attempt, random=self.random())
            asked = outcome.retry_after
            if self.clock.now() + wait >= self._deadline:
                if asked is None:
                    break
                again = "run the doctor again later, or with a longer timeout"
                raise StoppedError(f"the service asks to wait {asked:.0f} s; {again}")
            reason = f"after: {outcome}" if asked is None else "as the service asked"
            self._tell(f"waiting {wait:.0f} s, {reason}")
            self.clock.sleep(wait)
            outcome = self._send(request, probe)
        observation = Observation(probe=probe, outcome=outcome)
        self._failures = self._failures + 1 if observation.response is None else 0
        return observation

    def _tell(self, line: str) -> None:
        if self.progress is not None:
            self.progress(one_line(self.redact(line), 1000))

    def _send(self, request: Request, probe: Probe) -> Outcome:
        now = self.clock.now()
        if self.sent == self.most_requests:
            raise StoppedError(f"{self.sent} requests were sent; allow more: `--requests`")
        if now >= self._deadline:
            raise StoppedError("the time was over; allow more: `--timeout`")
        if self._failures == _MOST_FAILURES:
            raise StoppedError(
                f"no whole response to {_MOST_FAILURES} requests; run the doctor again when the "
                "service responds"
            )
        auth = self._auth(request) if probe.has_credentials else NO_AUTH
        self._secrets.add(auth.redactor)
        self.sent += 1
        longest = max(_LONGEST_REQUEST, self.options.timeout / 8)
        deadline = min(self._deadline, now + longest)
        outcome = self.sender.send(auth.apply(request), deadline)
        outcome = redacted(with_rate_limit(outcome, self.options.conventions), auth.redactor)
        if isinstance(outcome, Failure) and outcome.error is not None:
            raise outcome.error
        if isinstance(outcome, RawResponse) and outcome.status == 429:
            self.limited = outcome
        return outcome

    def _auth(self, request: Request) -> AuthHeaders:
        credentials = self.credentials
        if credentials.auth is not None:
            # A copy: the headers are shared with other requests of the operation.
            copy = attrs.evolve(request, headers=dict(request.headers))
            headers = checked_auth(credentials.auth(copy))
            self._credentials.update(headers.headers.items())
            return headers
        if credentials.fixed is not None:
            return credentials.fixed
        token = credentials.token
        return bearer(token() if callable(token) else token)
