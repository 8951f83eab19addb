"""Builds the error that a call raises: its class, its attributes, and one line of advice."""

import attrs

from adclient._core.call import Call
from adclient._core.response import (
    Failure,
    Outcome,
    RawResponse,
    draft_id_in,
    problem_of,
    shown_headers,
)
from adclient._values.redact import Redactor, excerpt, one_line
from adclient.errors import (
    AdClientError,
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    ErrorDetails,
    OutcomeUnknown,
    RateLimited,
    UnexpectedResponse,
    for_status,
    with_unknown_outcome,
)

_HANGING = (
    "The first attempt took the whole timeout, so there was no retry; "
    "RetryPolicy(attempt_timeout=…) limits each attempt"
)
_OVER_HTTP = ", over plain http; if this always happens, begin base_url with https://"
_NO_QUOTA = "no retry, as the quota is used up"
_LIMITED = "Call again, or allow a longer RetryPolicy(attempt_timeout=…)"


def error_for(
    call: Call,
    outcome: Outcome,
    details: ErrorDetails,
    *,
    may_be_staged: bool,
    is_unretried: bool = False,
    is_limited: bool = False,
    is_quota_used_up: bool = False,
) -> AdClientError:
    """The error of a call whose last attempt had this outcome.

    `is_unretried` means that it was the first one, and left no time for another; `is_limited` that
    its own deadline was earlier than that of the call; `is_quota_used_up` that the client
    has no retry left.
    """
    cls: type[AdClientError]
    if isinstance(outcome, Failure):
        cls = ConnectionLost if outcome.sent else ConnectionFailed
        if outcome.timed_out:
            cls = CallTimeout
        what = outcome.reason
        if cls is ConnectionLost and details.get("url", "").startswith("http:"):
            what += _OVER_HTTP
        details |= {"retry_after": outcome.retry_after}
    elif outcome.broken is not None and outcome.is_success:
        # The head of a write's response shows that the service accepted it.
        cls = UnexpectedResponse if call.operation.is_write else ConnectionLost
        if outcome.broken.timed_out:
            cls = CallTimeout
        what = f"{outcome.status}, and then: {outcome.broken.reason}"
        details |= _details_of(call, outcome)
    else:
        cls = RateLimited if outcome.is_rate_limit else for_status(outcome.status)
        problem = problem_of(outcome)
        message = problem.message or "no reason given"
        if 300 <= outcome.status < 400:
            message = "a redirect, which is never followed; check base_url"
        what = f"{outcome.status} {problem.code or ''}".rstrip() + f": {message}"
        details |= _details_of(call, outcome)
        details |= {"message": message, "code": problem.code, "details": problem.details}
        # An id in a header takes precedence over one in the body.
        details["request_id"] = details.get("request_id") or problem.request_id
    cls = with_unknown_outcome(cls) if may_be_staged else cls
    advice = None
    if isinstance(outcome, Failure) and outcome.advice and not may_be_staged:
        advice = outcome.advice
    elif cls is CallTimeout and is_limited:
        advice = _LIMITED
    elif cls is CallTimeout and is_unretried:
        advice = _HANGING
    return _error(call, cls, what, details, advice, _NO_QUOTA if is_quota_used_up else "")


def unreadable(
    call: Call,
    response: RawResponse,
    redactors: tuple[Redactor, ...],
    details: ErrorDetails,
    problem: str,
) -> AdClientError:
    """The error for a success status whose body is not what the interface documents."""
    cls: type[AdClientError] = UnexpectedResponse
    if call.operation.is_write:
        cls = with_unknown_outcome(cls)
    for redactor in redactors:
        response = attrs.evolve(response, body=redactor.redact_bytes(response.body))
    if response.body[:99].lstrip().startswith(b"<"):
        problem = "a web page instead of JSON; check base_url"
    message = None if response.defect is not None else problem_of(response).message
    for redactor in redactors:  # what JSON escaped far behind is now plain
        message = message and redactor.redact(message)
    what = f"{response.status} with an unexpected body: {problem}"
    what += f" (its message: {one_line(message)})" if message else ""
    return _error(call, cls, what, details | _details_of(call, response))


def stopped(call: Call, details: ErrorDetails, error: Exception) -> AdClientError:
    """The error for a write that an exception ended after an attempt that may have staged it."""
    what = f"stopped by {type(error).__name__} after an attempt that may have reached the service"
    return _error(call, OutcomeUnknown, what, details)


def _details_of(call: Call, response: RawResponse) -> ErrorDetails:
    return {
        "status": response.status,
        "headers": shown_headers(response),
        "body": excerpt(response.body),
        "retry_after": response.retry_after,
        "draft_id": draft_id_in(response.body) if call.operation.is_write else None,
    }


def _error(
    call: Call,
    cls: type[AdClientError],
    what: str,
    details: ErrorDetails,
    advice: str | None = None,
    remark: str = "",
) -> AdClientError:
    """Build the error, with advice and with the details that support needs."""
    operation, what = call.operation, one_line(what, 160)
    attempts, request_id = details.get("attempts", 0), details.get("request_id")
    wait, draft_id = details.get("retry_after"), details.get("draft_id")
    context = (
        f"{operation.method} {details.get('url', operation.path)}",
        f"{attempts} attempts" if attempts > 1 else "",
        remark,
        f"{details.get('elapsed', 0.0):.3g} s",
        f"request id {one_line(request_id, 40)}" if request_id else "",
        f"retry after {wait:.3g} s" if wait is not None else "",
        f"draft {one_line(repr(draft_id), 40)}" if draft_id else "",
    )
    text = f"{operation.full_name}: {what} ({', '.join(filter(None, context))})"
    advice = advice or cls.__advice__
    details.setdefault("message", what)
    return cls(f"{text}. {advice}" if advice else text, **details)
