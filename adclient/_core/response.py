"""What came back from an attempt, and what it means: a value or an error."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import attrs

from adclient._core import jsontext
from adclient._core.decode import read
from adclient._core.operations import Call
from adclient._core.redact import Redactor, excerpt, one_line
from adclient.models import JSON, ResponseInfo, Result

R = TypeVar("R", bound=Result)


@attrs.frozen(kw_only=True)
class Failure:
    """No whole answer came. `sent` says that the service may have seen the whole request.

    `error` is what the caller's own code raised meanwhile, such as an event hook of their client.
    """

    reason: str
    sent: bool
    timed_out: bool = False
    error: Exception | None = None

    def __str__(self) -> str:
        return self.reason


@attrs.frozen(kw_only=True)
class RawResponse:
    """An answer: its body is whole unless `broken` or `defect` says why not.

    `secrets` are the credentials that it answers to, which it may repeat.
    """

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    body: bytes = attrs.field(default=b"", repr=False)
    received_at: float = 0.0
    broken: Failure | None = None
    defect: str | None = None
    secrets: Redactor = attrs.field(default=Redactor(), repr=False, eq=False)

    def __str__(self) -> str:
        return f"{self.status}" if self.broken is None else f"{self.status}, then {self.broken}"

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_whole_success(self) -> bool:
        return self.is_success and self.broken is None

    def quotable(self) -> "RawResponse":
        """The same, with a body that may be shown."""
        return attrs.evolve(self, body=self.secrets.redact_bytes(self.body))


Outcome = RawResponse | Failure


def told(outcome: Outcome, secrets: Redactor) -> Outcome:
    """An outcome that tells no secret; the body of a success is data, and stays as it came."""
    if isinstance(outcome, Failure):
        return _told_failure(outcome, secrets)
    headers, body = outcome.headers, outcome.body
    if secrets.redact(together := " ".join(headers.values())) != together:
        headers = {name: secrets.redact(value) for name, value in headers.items()}
    elif outcome.is_whole_success and outcome.defect is None:
        return outcome
    return attrs.evolve(
        outcome,
        headers=headers,
        body=body if outcome.is_whole_success else secrets.redact_bytes(body),
        broken=outcome.broken and _told_failure(outcome.broken, secrets),
        defect=outcome.defect and secrets.redact(outcome.defect),
    )


def _told_failure(failure: Failure, secrets: Redactor) -> Failure:
    return attrs.evolve(failure, reason=secrets.redact(failure.reason))


def value_of(call: Call[R], reply: RawResponse, response: ResponseInfo) -> R:
    """The value of a successful reply, or a `JSONError` that says why it has none."""
    if reply.defect is not None:
        raise jsontext.JSONError(f"$: the body cannot be used: {reply.defect}")
    # A draft is what a human approves, so it must not be open to two readings. Of a listing, the
    # check would take a fifth of the decoding.
    body = jsontext.loads(reply.body, unique=call.operation.kind == "write")
    return read(body, call.operation.result, response)


def said_in(reply: RawResponse) -> str | None:
    """What the body of an answer that has no value says instead."""
    try:
        return problem_in(jsontext.loads(reply.body)).message
    except jsontext.JSONError:
        return _plain_text(reply)


@attrs.frozen(kw_only=True)
class Problem:
    """What an error body says, as far as its shape is known."""

    message: str | None = None
    code: str | None = None
    details: JSON = None
    request_id: str | None = None


def problem_of(reply: RawResponse) -> Problem:
    """What an error reply says; a body of no known shape is its own message."""
    try:
        body = jsontext.loads(reply.body)
    except jsontext.JSONError:
        return Problem(message=_plain_text(reply))
    problem = problem_in(body)
    if problem.message is None and body:
        return attrs.evolve(problem, message=_plain_text(reply))
    return problem


def problem_in(body: JSON) -> Problem:
    """Read the common shapes of error bodies."""
    outer: dict[str, JSON] = body if isinstance(body, dict) else {"errors": body}
    error = outer.get("error")
    inner = error if isinstance(error, dict) else outer
    details = _details_in(inner)
    first = _first_of(details)
    code = _text(inner, *_CODES) or _text(first, *_CODES)
    return Problem(
        message=_text(inner, *_MESSAGES) or _text(first, *_MESSAGES),
        code=None if code == "about:blank" else code,
        details=details,
        request_id=_text(inner, "request_id") or _text(outer, "request_id"),
    )


_MESSAGES = ("message", "detail", "title", "error", "msg", "reason", "errors")
_CODES = ("code", "error_code", "type")


def _details_in(source: dict[str, JSON]) -> JSON:
    found = (source.get(name) for name in ("details", "errors", "detail"))
    return next((value for value in found if isinstance(value, list | dict)), None)


def _first_of(details: JSON) -> dict[str, JSON]:
    """The first of several errors, which stands for all of them."""
    first = details[0] if isinstance(details, list) and details else details
    return first if isinstance(first, dict) else {"message": first}


def _text(source: dict[str, JSON], *names: str) -> str | None:
    found = (source.get(name) for name in names)
    texts = (str(value) for value in found if type(value) in (str, int))
    return next((text for text in texts if text), None)


def _plain_text(reply: RawResponse) -> str | None:
    """The text of a body that is not JSON; of a web page, its title."""
    text = excerpt(reply.body)
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return one_line(title[1] if title else text) or None


def request_id_of(reply: RawResponse, names: Sequence[str]) -> str | None:
    """The service's id of the request, from the first header that holds one."""
    return next((reply.headers[n] for n in map(str.lower, names) if reply.headers.get(n)), None)


def draft_id_in(body: bytes) -> str | None:
    """A draft's id in a body that cannot be read as a whole."""
    found = re.search(rb'"draft_id"\s*:\s*"([^"\\\x00-\x1f]{1,200})"', body)
    return found[1].decode("utf-8", errors="replace") if found else None
