"""The outcome of an attempt: a response or a failure, and the problem in an error body."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import attrs

from adclient._display.signatures import public_in
from adclient._values import jsontext
from adclient._values.headers import Headers
from adclient._values.redact import Redactor, excerpt, one_line
from adclient.models import JSON


@public_in("adclient.extend")
@attrs.frozen(kw_only=True, repr=False)
class Failure:
    """No complete response. `sent` means that the service may have received the whole request.

    `error` is the exception of the caller's own code, such as an event hook of their client.
    `is_permanent` means that another attempt would fail in the same way, unless the caller follows
    the `advice`; after `retry_after` seconds, one may succeed.
    """

    reason: str
    sent: bool
    timed_out: bool = False
    error: Exception | None = None
    is_permanent: bool = False
    advice: str | None = None
    retry_after: float | None = None

    def __str__(self) -> str:
        return self.reason


def too_late(reason: str) -> Failure:
    """The failure of a call whose time is over before a request was sent."""
    return Failure(reason=reason, sent=False, timed_out=True)


@attrs.define(kw_only=True, repr=False)  # not frozen, which takes longer to make
class RawResponse:
    """The head and bytes of a response; the body is complete unless `broken` or `defect` is set.

    `is_rate_limit` means that a limit was exceeded, so that the request was not processed;
    `retry_after` is the seconds that the service asks to wait.
    """

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    body: bytes = b""
    received_at: float = 0.0
    broken: Failure | None = None
    defect: str | None = None
    is_rate_limit: bool = False
    retry_after: float | None = None

    def __str__(self) -> str:
        limit = ", a rate limit" if self.is_rate_limit and self.status != 429 else ""
        return f"{self.status}{limit if self.broken is None else f', then {self.broken}'}"

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300 and not self.is_rate_limit

    @property
    def is_whole_success(self) -> bool:
        return self.broken is None and 200 <= self.status < 300 and not self.is_rate_limit


Outcome = RawResponse | Failure


def redacted(outcome: Outcome, redactor: Redactor) -> Outcome:
    """The outcome without credentials; the body of a success is data and left alone."""
    if isinstance(outcome, Failure):
        return _redacted_failure(outcome, redactor)
    headers, body, values = outcome.headers, outcome.body, " ".join(outcome.headers.values())
    if redactor.redact(values) is not values:
        headers = {name: redactor.redact(value) for name, value in headers.items()}
    if not outcome.is_whole_success:
        body = redactor.redact_bytes(body)
    is_same = headers is outcome.headers and body == outcome.body  # most contain no secret
    if is_same and outcome.broken is None and outcome.defect is None:
        return outcome
    return attrs.evolve(
        outcome,
        headers=headers,
        body=body,
        broken=outcome.broken and _redacted_failure(outcome.broken, redactor),
        defect=outcome.defect and one_line(redactor.redact(outcome.defect)),
    )


def _redacted_failure(failure: Failure, redactor: Redactor) -> Failure:
    return attrs.evolve(failure, reason=one_line(redactor.redact(failure.reason)))


class Problem(NamedTuple):
    """The contents of an error body, as far as its shape is known."""

    message: str | None = None
    code: str | None = None
    details: JSON = None
    request_id: str | None = None


def problem_of(response: RawResponse) -> Problem:
    """Read the problem from a response; an error body of unknown shape is its own message."""
    try:
        body = jsontext.loads(response.body)
    except jsontext.JSONError:
        return Problem(message=_plain_text(response))
    problem = problem_in(body)
    if problem.message is None and body and not response.is_success:
        return problem._replace(message=_plain_text(response))
    return problem


def problem_in(body: JSON) -> Problem:
    """Read the common shapes of error bodies."""
    outer: dict[str, JSON] = body if isinstance(body, dict) else {"errors": body}
    error = outer.get("error")
    inner = error if isinstance(error, dict) else outer
    details = next(
        (inner[name] for name in _DETAILS if type(inner.get(name)) in (list, dict)), None
    )
    # The first of several errors represents them.
    detail = details[0] if isinstance(details, list) and details else details
    first: dict[str, JSON] = detail if isinstance(detail, dict) else {"message": detail}
    code = _text(inner, *_CODES) or _text(first, *_CODES)
    return Problem(
        message=_text(inner, *_MESSAGES) or _text(first, *_MESSAGES),
        code=None if code == "about:blank" else code,
        details=details,
        request_id=_text(inner, "request_id") or _text(outer, "request_id"),
    )


_MESSAGES = ("message", "detail", "title", "error", "msg", "reason", "errors")
_CODES = ("code", "error_code", "type")
_DETAILS = ("details", "errors", "detail")


def _text(source: dict[str, JSON], *names: str) -> str | None:
    for name in names:
        value = source.get(name)
        if type(value) in (str, int) and (text := str(value)):
            return text
    return None


def _plain_text(response: RawResponse) -> str | None:
    """The text of a body that is not JSON; of a web page, its title."""
    text = excerpt(response.body)
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return one_line(title[1] if title else text) or None


def request_id_of(response: RawResponse, names: Sequence[str]) -> str | None:
    """The service's id of the request, from the first header that holds one."""
    for name in names:
        if request_id := response.headers.get(name.lower()):
            return request_id
    return None


def shown_headers(outcome: Outcome) -> Headers:
    """The headers for errors and events, without cookies, which may be credentials."""
    items = () if isinstance(outcome, Failure) else outcome.headers.items()
    return Headers({name: value for name, value in items if name != "set-cookie"})


def draft_id_in(body: bytes) -> str | None:
    """A draft's id in a body that cannot be read as a whole; None unless it is certain.

    An id inside another value may be that of another draft, such as the one before.
    """
    text = body.decode("utf-8-sig", errors="replace")
    ids = [value for name, value in _whole_members(text) if name == "draft_id"]
    is_certain = len(ids) == 1 and isinstance(ids[0], str) and 0 < len(ids[0]) <= _LONGEST_ID
    return str(ids[0]) if is_certain else None


def _whole_members(text: str) -> Iterator[tuple[object, object]]:
    """The members of a JSON object, up to the first that is cut off or cannot be read."""
    decode = json.JSONDecoder().raw_decode
    colon_at, comma_at = re.compile(r"\s*:\s*").match, re.compile(r"\s*,\s*").match
    start = re.match(r"\s*{\s*", text)
    with suppress(ValueError, RecursionError):
        while start is not None:
            name, end = decode(text, start.end())
            colon = colon_at(text, end)
            if colon is None or not isinstance(name, str):
                break
            value, end = decode(text, colon.end())
            yield name, value
            start = comma_at(text, end)


_LONGEST_ID = 200
