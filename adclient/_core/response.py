"""The outcome of an attempt: a response or a failure, and what it says of errors and limits."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from typing import NamedTuple

import attrs

from adclient._show.signatures import public_in
from adclient._values import jsontext
from adclient._values.containers import Headers
from adclient._values.redact import Redactor, excerpt, one_line
from adclient.conventions import Conventions
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


def none_in_time(what: str, max_concurrency: int) -> Failure:
    """The failure of a call that waited too long for what is limited."""
    return too_late(f"{what} in time (max_concurrency is {max_concurrency})")


@attrs.define(kw_only=True, repr=False)  # not frozen, which takes longer to make
class RawResponse:
    """The head and bytes of a response.

    The body is complete unless the connection failed within it (`broken`), or it cannot be decoded
    (`defect`), which no other attempt would change.
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
    """The id of a draft in a body that is JSON, but not a draft as documented."""
    with suppress(jsontext.JSONError):
        fields = jsontext.loads(body, unique=True)
        draft_id = fields.get("draft_id") if isinstance(fields, dict) else None
        return draft_id if isinstance(draft_id, str) and 0 < len(draft_id) <= _LONGEST_ID else None
    return None


_LONGEST_ID = 200

# Rate limits.

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
    with suppress(jsontext.JSONError):
        body = jsontext.loads(response.body)
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
