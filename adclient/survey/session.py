"""Sends the requests of a survey by a client, within a number of them and a time."""

import re
from collections.abc import Callable

import attrs

from adclient import AdClient
from adclient._core.auth import SecretHeader, checked_auth
from adclient._core.response import redacted
from adclient._service.model import AuthShape, variable_for
from adclient._values.jsontext import JSONError
from adclient._values.redact import Redactor, looks_secret, one_line
from adclient.conventions import MADE_BY_CLIENT, ReadConventions
from adclient.errors import AdClientError, ConfigurationError
from adclient.extend import (
    Credentials,
    Failure,
    Outcome,
    Parts,
    RawResponse,
    Request,
    Sender,
    parts_of,
    run,
)
from adclient.hooks import Hooks
from adclient.options import ENV_TOKEN, Options, check_timeout, check_type
from adclient.survey.observation import Observation, Probe

Pairs = tuple[tuple[str, str], ...]  # headers

_LONGEST_REQUEST = 15.0  # so that one that hangs leaves time for others
_MOST_FAILURES = 2
_WITHOUT_SECRETS = {*MADE_BY_CLIENT, "accept", "user-agent"}

# What precedes a credential; anything else may be a part of it.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) \S+")


class StoppedError(Exception):
    """Nothing more is sent; the message is the reason, and ends with what to do."""


@attrs.define(eq=False, repr=False)
class Session:
    """The limits of one survey, and what was sent.

    It is the sender of its own calls, so that it sees each response as it was received. A write is
    sent only if `may_write`.
    """

    client: AdClient
    timeout: float = attrs.field(converter=check_timeout)
    progress: Callable[[str], None] | None
    most_requests: float  # infinite for any number
    may_write: bool = False
    sent: int = 0
    limited: RawResponse | None = None
    parts: Parts[Sender] = attrs.field(init=False)
    _deadline: float = attrs.field(init=False)
    _redactors: dict[Pairs, Redactor] = attrs.field(init=False, factory=dict[Pairs, Redactor])
    _outcomes: list[Outcome] = attrs.field(init=False, factory=list[Outcome])
    _path: tuple[str, str] = attrs.field(init=False, default=("", ""))  # and what replaces it
    _failures: int = attrs.field(init=False, default=0)
    _told: str = attrs.field(init=False, default="")

    def __attrs_post_init__(self) -> None:
        check_type("client", self.client, AdClient)
        self.parts = parts_of(self.client)
        self.parts.check_open()
        self._deadline = self.parts.clock.now() + self.timeout

    def left(self) -> float:
        """How many requests may still be sent; none if the time is nearly over."""
        is_late = self._deadline - self.parts.clock.now() < self.timeout / 10
        return 0 if is_late else self.most_requests - self.sent

    @property
    def auth(self) -> AuthShape | None:
        """How credentials were sent, if a file can describe it: in one header, always the same."""
        auth = self.parts.credentials.auth
        if isinstance(auth, SecretHeader):
            return AuthShape(
                scheme=auth.scheme,
                header=auth.header.lower(),
                env=None if auth.secret is None else ENV_TOKEN,
                headers={name: variable_for(name) for name in auth.further},
            )
        if self.parts.credentials.kind == "token":
            return AuthShape(env=ENV_TOKEN)
        sent = {pair for pairs in self._redactors for pair in pairs}
        if len(sent) != 1:
            return None
        ((header, value),) = sent
        schemed = _SCHEME.fullmatch(value) if header == "authorization" else None
        return AuthShape(scheme=schemed[1] if schemed else "", header=header, env=ENV_TOKEN)

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent."""
        for redactor in self._redactors.values():
            text = redactor.redact(text)
        return text

    def ask(self, probe: Probe) -> Observation:
        """Send a probe as a client does, and again as it does."""
        operation = probe.operation
        if operation.is_write and not self.may_write:
            raise ValueError(f"{operation.full_name} is a write, which is never sent")
        left = self._deadline - self.parts.clock.now()
        if left <= 0:
            raise StoppedError("the time was over; allow more: `--timeout`")
        if self._failures == _MOST_FAILURES:
            problem = f"no whole response to {_MOST_FAILURES} requests in a row"
            raise StoppedError(f"{problem}; run it again when the service responds")
        self._path = operation.path, probe.path or operation.path
        name, purpose = operation.full_name, probe.purpose
        self._tell(f"{name}: trying {purpose}" if purpose else f"checking {name}")
        self._outcomes.clear()
        asked: float | None = None
        try:
            call = probe.call()
        # Such as a value that a function cannot take.
        except (AdClientError, JSONError, TypeError, ValueError) as error:
            return self._unsent(probe, error)
        try:
            credentials = None if probe.has_credentials else Credentials()
            options = self._options(probe, left)
            run(self.client, call, sender=self, options=options, credentials=credentials)
        except AdClientError as error:
            # A continuation that is tried is the survey's own.
            is_tried = not probe.as_client and error.argument == "continuation"
            if isinstance(error, ConfigurationError) and not is_tried:
                raise
            if not self._outcomes:  # such as a continuation that is too long for a URL
                return self._unsent(probe, error)
            asked = error.retry_after
        if asked is not None and self.parts.clock.now() + asked >= self._deadline:
            again = "run it again later, or with a longer timeout"
            raise StoppedError(f"the service asks to wait {asked:.0f} s; {again}")
        observation = Observation(probe=probe, outcome=self._outcomes[-1])
        self._failures = self._failures + 1 if observation.response is None else 0
        return observation

    def _options(self, probe: Probe, left: float) -> Options:
        own = self.parts.options
        conventions = own.conventions
        if not probe.as_client:
            names = ReadConventions.__annotations__
            tried = {name: getattr(probe.conventions, name) for name in names}
            conventions = attrs.evolve(conventions, reads={}, **tried)
        # A wait for a rate limit may take all the time, but an attempt only that of a call.
        longest = own.retry.attempt_timeout or own.timeout
        longest = min(longest, max(_LONGEST_REQUEST, self.timeout / 8))
        retry = attrs.evolve(own.retry, attempt_timeout=longest)
        if not probe.is_retried:
            retry = attrs.evolve(retry, statuses={429} & retry.statuses)
        wait = "waiting {0.wait:.0f} s, after: {0.reason}"
        hooks = Hooks(on_retry=lambda event: self._tell(wait.format(event)))
        merged = own.merged(timeout=left, hooks=hooks, retry=retry)
        return attrs.evolve(merged, conventions=conventions)

    def _unsent(self, probe: Probe, error: Exception) -> Observation:
        reason = self.redact(str(error))
        unsent = Failure(reason=f"not sent: {reason}", sent=False, is_permanent=True)
        return Observation(probe=probe, outcome=unsent)

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request by the client's own sender, and keep what it receives."""
        if self.sent == self.most_requests:
            raise StoppedError(f"{self.sent} requests were sent; allow more: `--requests`")
        request = attrs.evolve(request, url=request.url.replace(*self._path, 1))
        own = self.parts.options.headers.items()
        auth = tuple(
            pair
            for pair in sorted(request.headers.items())
            if pair not in own and pair[0] not in _WITHOUT_SECRETS
        )
        secret = {name: value for name, value in own if looks_secret(name, value)}
        redactor = self._redactors.setdefault(auth, checked_auth(secret | dict(auth)).redactor)
        self.sent += 1
        outcome = self.parts.sender.send(request, deadline)
        # Now, as a message that is cut can end within a secret.
        self._outcomes.append(redacted(outcome, redactor))
        if isinstance(outcome, RawResponse) and outcome.status == 429:
            self.limited = outcome
        return outcome

    def _tell(self, line: str) -> None:
        if self.progress is not None and line != self._told:
            self.progress(one_line(self.redact(line), 1000))
        self._told = line
