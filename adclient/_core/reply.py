"""What came back from an attempt, and what it means: a value or an error."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import attrs

from adclient._core import wire
from adclient._core.call import Call
from adclient._core.redact import excerpt, one_line
from adclient.models import JSON, Answer, Response

R = TypeVar("R", bound=Answer)


@attrs.frozen(kw_only=True)
class Failure:
    """No whole answer came. `sent` says that the service may have seen the whole request."""

    reason: str
    sent: bool
    timed_out: bool = False


@attrs.frozen(kw_only=True)
class Reply:
    """An answer: its body is whole unless `broken` or `defect` says why not."""

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    body: bytes = attrs.field(default=b"", repr=False)
    received_at: float = 0.0
    broken: Failure | None = None
    defect: str | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


Outcome = Reply | Failure


def value_of(call: Call[R], reply: Reply, response: Response) -> R:
    """The value of a successful reply, or a `WireError` that says why it has none."""
    if reply.defect is not None:
        raise wire.WireError(f"$: the body cannot be used: {reply.defect}")
    value = wire.loads(reply.body)
    try:
        structured = wire.structure(value, call.operation.result)
    except wire.WireError as error:
        said = problem_of(reply).message
        raise wire.WireError(f"{error} (the body says: {said})" if said else str(error)) from None
    return attrs.evolve(structured, response=response)


@attrs.frozen(kw_only=True)
class Problem:
    """What an error body says, as far as its shape is known."""

    message: str | None = None
    code: str | None = None
    details: JSON = None
    request_id: str | None = None


def problem_of(reply: Reply) -> Problem:
    """Read the common shapes of error bodies; any other body is its own message."""
    try:
        body = wire.loads(reply.body)
    except wire.WireError:
        return Problem(message=_plain_text(reply))
    if isinstance(body, dict):
        inner = body.get("error")
        return _problem_in(inner if isinstance(inner, dict) else body)
    if isinstance(body, list):
        return _problem_in({"errors": body})
    return Problem(message=body if isinstance(body, str) and body else None)


def _problem_in(source: dict[str, JSON]) -> Problem:
    details = _first(source, ("details", "errors", "detail"), (list, dict))
    message = _text(source, ("message", "detail", "title", "error", "msg", "reason"))
    if message is None and details is not None:
        message = _message_in(details)
    return Problem(
        message=message,
        code=_text(source, ("code", "error_code", "type")),
        details=details,
        request_id=_text(source, ("request_id",)),
    )


def _message_in(details: JSON) -> str | None:
    """The message of the first of several errors."""
    first = details[0] if isinstance(details, list) and details else details
    if isinstance(first, str):
        return first
    return _problem_in(first).message if isinstance(first, dict) else None


def _first(source: dict[str, JSON], names: tuple[str, ...], kinds: tuple[type, ...]) -> JSON:
    return next((source[name] for name in names if isinstance(source.get(name), kinds)), None)


def _text(source: dict[str, JSON], names: tuple[str, ...]) -> str | None:
    found = _first(source, names, (str, int))
    return None if found is None or isinstance(found, bool) or found == "" else str(found)


def _plain_text(reply: Reply) -> str | None:
    """The text of a body that is not JSON; of a web page, its title."""
    text = excerpt(reply.body)
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return one_line(title[1] if title else text) or None


def request_id_of(reply: Reply, names: Sequence[str]) -> str | None:
    """The service's id of the request, from the first header that holds one."""
    return next((reply.headers[n] for n in map(str.lower, names) if reply.headers.get(n)), None)


def draft_id_in(body: bytes) -> str | None:
    """A draft's id in a body that cannot be read as a whole."""
    found = re.search(rb'"draft_id"\s*:\s*"([^"\\\x00-\x1f]{1,200})"', body)
    return found[1].decode("utf-8", errors="replace") if found else None
