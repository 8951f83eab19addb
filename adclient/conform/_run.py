"""One run of the checks: it sends calls as the client does, and keeps what they show."""

import re
from collections.abc import Callable, Mapping

import attrs

from adclient import AdClient
from adclient._core.auth import checked_auth
from adclient._core.response import problem_of, redacted
from adclient._values.jsontext import JSONError, dumps, kind_of, loads
from adclient._values.redact import Redactor, one_line
from adclient.conform._checks import Verdict
from adclient.conventions import MADE_BY_CLIENT
from adclient.errors import AdClientError, ConfigurationError
from adclient.extend import Call, Failure, Operation, Outcome, Parts, Request, Sender, run
from adclient.models import JSON

Arguments = Mapping[str, JSON]
# The name of a check, whether it passed or another verdict, and what was received.
Found = tuple[str, bool | Verdict, str]

_MOST_FAILURES = 2
_WITHOUT_SECRETS = {*MADE_BY_CLIENT, "accept", "user-agent"}


class StoppedError(Exception):
    """Nothing more is sent; the message is the reason."""


class UnsentError(Exception):
    """The client sent nothing, such as a call that its policy refuses."""


@attrs.frozen(repr=False)
class Received:
    """What came of a call; `status` is that of a whole response, and `text` describes it."""

    status: int | None
    text: str
    body: JSON = None
    kind: str = "no JSON"
    is_success: bool = False
    is_refused: bool = False

    @property
    def fields(self) -> dict[str, JSON]:
        """The members of the JSON object in the body; none if it is something else."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def items(self) -> list[JSON] | None:
        """The items of a collection; None if there is no array of them."""
        items = self.fields.get("data")
        return items if isinstance(items, list) else None


@attrs.define(eq=False, repr=False)
class Run:
    """The accounts, the limits and the results of one run.

    It is the sender of its own calls, so that it sees each response as it was received. `accepted`
    are the platforms and accounts of which a read was, and `refused` the reads that accepted no
    account. `reasons` say why checks of an operation were not run.
    """

    client: AdClient
    parts: Parts[Sender]
    accounts: tuple[str, ...]
    staging: tuple[str, ...]
    given: Mapping[str, Arguments]
    deadline: float
    progress: Callable[[str], None] | None
    sent: int = 0
    draft_ids: list[JSON] = attrs.Factory(list[JSON])
    accepted: set[tuple[str, str]] = attrs.Factory(set[tuple[str, str]])
    refused: dict[Operation, Received] = attrs.Factory(dict[Operation, Received])
    reasons: dict[str, str] = attrs.Factory(dict[str, str])
    results: dict[tuple[str, str], tuple[Verdict, str]] = attrs.Factory(
        dict[tuple[str, str], tuple[Verdict, str]]
    )
    _outcomes: list[Outcome] = attrs.Factory(list[Outcome])
    _failures: int = 0
    _path: tuple[str, str] = ("", "")  # that of an operation, and what replaces it
    _redactors: dict[frozenset[tuple[str, str]], Redactor] = attrs.Factory(
        dict[frozenset[tuple[str, str]], Redactor]
    )

    def note(self, operation: Operation, found: Found) -> None:
        """Keep the result of a check."""
        name, verdict, seen = found
        if isinstance(verdict, bool):
            verdict = "passed" if verdict else "failed"
        self.results[operation.full_name, name] = verdict, self.redact(seen)

    def redact(self, text: str) -> str:
        """A text without the credentials that were sent, as one line."""
        for redactor in self._redactors.values():
            text = redactor.redact(text)
        return one_line(text)

    def ask(
        self,
        operation: Operation,
        arguments: Arguments,
        cursor: JSON = None,
        *,
        path: str | None = None,
    ) -> Received:
        """Make a call with any arguments, or to another path, and again as the client does."""
        own = self.parts.options
        left = self.deadline - self.parts.clock.now()
        if left <= 0:
            raise StoppedError("the time was over; allow more: `--timeout`")
        if self._failures == _MOST_FAILURES:
            raise StoppedError(f"no whole response to {_MOST_FAILURES} calls in a row")
        if self.progress is not None:
            self.progress(f"{operation.method} {path or operation.path}")
        # A wait for a rate limit may take all the time, but an attempt only that of a call.
        longest = own.retry.attempt_timeout or own.timeout
        retry = attrs.evolve(own.retry, attempt_timeout=longest)
        options = own.merged(timeout=left, retry=retry)
        try:
            encoded = {name: dumps(value, name) for name, value in arguments.items()}
            dumps(cursor, "page.next")
        except JSONError as error:
            raise UnsentError(str(error)) from None
        account_id = str(arguments.get("account_id", ""))
        self._outcomes.clear()
        self._path = operation.path, path or operation.path
        try:
            call = Call(operation, account_id, None, arguments, encoded, cursor)
            run(self.client, call, sender=self, options=options)
        except ConfigurationError:
            raise
        except AdClientError as error:
            if not self._outcomes:
                raise UnsentError(self.redact(str(error))) from None
        received = _described(self._outcomes[-1])
        self._failures = self._failures + 1 if received.status is None else 0
        if received.status == 429:
            raise StoppedError(f"{self.redact(received.text)}; run it again later")
        return received

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request by the client's own sender, and keep what it receives."""
        request = attrs.evolve(request, url=request.url.replace(*self._path, 1))
        own = {*self.parts.options.headers.items()}
        headers = {*request.headers.items()} - own
        auth = frozenset(each for each in headers if each[0] not in _WITHOUT_SECRETS)
        redactor = self._redactors.setdefault(auth, checked_auth(dict(auth)).redactor)
        self.sent += 1
        outcome = self.parts.sender.send(request, deadline)
        # Now, as a message that is cut can end within a secret.
        self._outcomes.append(redacted(outcome, redactor))
        return outcome


def _described(outcome: Outcome) -> Received:
    if isinstance(outcome, Failure) or outcome.broken is not None:
        return Received(None, str(outcome))
    if outcome.defect is not None:
        return Received(None, f"{outcome}, with a body that cannot be used: {outcome.defect}")
    status, text = outcome.status, str(outcome.status)
    if 300 <= status < 400:
        # The query and the fragment may contain credentials of the service.
        text += f" to {re.split('[?#]', outcome.headers.get('location', 'nowhere'))[0]}"
    elif not outcome.is_success:
        text = f"{text} {problem_of(outcome).message or ''}".strip()
    try:
        body = loads(outcome.body)
        kind = kind_of(body)
    except JSONError:
        body, kind = None, "no JSON"
    return Received(status, text, body, kind, outcome.is_success, 400 <= status < 500)
