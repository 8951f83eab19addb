"""Sends the probes by a client, one at a time, within a number of requests and a time."""

import re
from collections.abc import Callable

import attrs

from adclient import AdClient
from adclient._core.auth import SecretHeader, checked_auth
from adclient._core.response import redacted
from adclient._service.model import AuthShape
from adclient._values.redact import Redactor, one_line
from adclient.conventions import MADE_BY_CLIENT, ReadConventions
from adclient.doctor._examination import StoppedError
from adclient.doctor._probe import Observation, Probe
from adclient.errors import AdClientError, ConfigurationError
from adclient.extend import Credentials, Failure, Outcome, Parts, RawResponse, Request, Sender, run
from adclient.hooks import Hooks, RetryEvent
from adclient.options import ENV_TOKEN

Pairs = tuple[tuple[str, str], ...]  # headers

TIMEOUT = 120.0
_LONGEST_REQUEST = TIMEOUT / 8  # so that one that hangs leaves time for others
_MOST_FAILURES = 2
_WITHOUT_SECRETS = {*MADE_BY_CLIENT, "accept", "user-agent"}

# What precedes a credential; anything else may be a part of it.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) \S+")


@attrs.define(eq=False, repr=False)
class Session:
    """The limits of one examination, and what was sent.

    It is the sender of its own calls, so that it sees each response as it was received.
    """

    client: AdClient
    parts: Parts[Sender]
    timeout: float
    most_requests: int
    progress: Callable[[str], None] | None
    sent: int = 0
    limited: RawResponse | None = None
    _deadline: float = attrs.field(init=False)
    _redactors: dict[Pairs, Redactor] = attrs.field(init=False, factory=dict[Pairs, Redactor])
    _outcomes: list[Outcome] = attrs.field(init=False, factory=list[Outcome])
    _failures: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self._deadline = self.parts.clock.now() + self.timeout

    def left(self) -> int:
        """How many requests may still be sent; none if the time is nearly over."""
        is_late = self._deadline - self.parts.clock.now() < self.timeout / 10
        return 0 if is_late else self.most_requests - self.sent

    @property
    def auth(self) -> AuthShape | None:
        """How credentials were sent, if a file can describe it: in one header, always the same."""
        auth = self.parts.credentials.auth
        if isinstance(auth, SecretHeader):
            return AuthShape(scheme=auth.scheme, header=auth.header.lower(), env=ENV_TOKEN)
        if self.parts.credentials.kind == "token":
            return AuthShape(env=ENV_TOKEN)
        if len(self._auth_sent) != 1:
            return None
        ((header, value),) = self._auth_sent
        schemed = _SCHEME.fullmatch(value) if header == "authorization" else None
        return AuthShape(scheme=schemed[1] if schemed else "", header=header, env=ENV_TOKEN)

    @property
    def has_other_auth(self) -> bool:
        """Whether credentials were sent in a way that a file cannot describe."""
        return self.auth is None and bool(self._auth_sent)

    @property
    def _auth_sent(self) -> set[tuple[str, str]]:
        return {pair for pairs in self._redactors for pair in pairs}

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent."""
        for redactor in self._redactors.values():
            text = redactor.redact(text)
        return text

    def ask(self, probe: Probe) -> Observation:
        """Send a probe as a client with its conventions does."""
        left = self._deadline - self.parts.clock.now()
        if left <= 0:
            raise StoppedError("the time was over; allow more: `--timeout`")
        if self._failures == _MOST_FAILURES:
            raise StoppedError(
                f"no whole response to {_MOST_FAILURES} requests; run the doctor again when the "
                "service responds"
            )
        self._tell(f"{probe.operation.full_name}: {probe.purpose}")
        own = self.parts.options
        settings = {
            name: getattr(probe.conventions, name) for name in ReadConventions.__annotations__
        }
        longest = max(_LONGEST_REQUEST, self.timeout / 8)
        options = attrs.evolve(
            own.merged(timeout=left, hooks=Hooks(on_retry=self._tell_wait)),
            conventions=attrs.evolve(own.conventions, reads={}, **settings),
            retry=attrs.evolve(own.retry, attempt_timeout=longest),
        )
        self._outcomes.clear()
        asked: float | None = None
        try:
            call = probe.call()
        # Such as a value that a function cannot take.
        except (AdClientError, TypeError, ValueError) as error:
            return self._unsent(probe, error)
        try:
            credentials = None if probe.has_credentials else Credentials()
            run(self.client, call, sender=self, options=options, credentials=credentials)
        except AdClientError as error:
            if isinstance(error, ConfigurationError) and error.argument != "continuation":
                raise
            if not self._outcomes:  # such as a continuation that is too long for a URL
                return self._unsent(probe, error)
            asked = error.retry_after
        if asked is not None and self.parts.clock.now() + asked >= self._deadline:
            again = "run the doctor again later, or with a longer timeout"
            raise StoppedError(f"the service asks to wait {asked:.0f} s; {again}")
        observation = Observation(probe=probe, outcome=self._outcomes[-1])
        self._failures = self._failures + 1 if observation.response is None else 0
        return observation

    def _unsent(self, probe: Probe, error: Exception) -> Observation:
        reason = f"not sent: {self.redact(str(error))}"
        unsent = Failure(reason=reason, sent=False, is_permanent=True)
        return Observation(probe=probe, outcome=unsent)

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request by the client's own sender, and keep what it receives."""
        if self.sent == self.most_requests:
            raise StoppedError(f"{self.sent} requests were sent; allow more: `--requests`")
        own = self.parts.options.headers.items()
        auth = tuple(
            pair
            for pair in sorted(request.headers.items())
            if pair not in own and pair[0] not in _WITHOUT_SECRETS
        )
        redactor = self._redactors.setdefault(auth, checked_auth(dict(auth)).redactor)
        self.sent += 1
        outcome = self.parts.sender.send(request, deadline)
        # Now, as a message that is cut can end within a secret.
        self._outcomes.append(redacted(outcome, redactor))
        if isinstance(outcome, RawResponse) and outcome.status == 429:
            self.limited = outcome
        return outcome

    def _tell(self, line: str) -> None:
        if self.progress is not None:
            self.progress(one_line(self.redact(line), 1000))

    def _tell_wait(self, event: RetryEvent) -> None:
        self._tell(f"waiting {event.wait:.0f} s, after: {event.reason}")
