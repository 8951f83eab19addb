"""The error that ends a call: which class, which facts, and one line that helps."""

from adclient._core.operations import Call
from adclient._core.redact import excerpt, one_line
from adclient._core.response import Failure, Outcome, RawResponse, draft_id_in, problem_of, said_in
from adclient._core.retry import retry_after
from adclient.errors import (
    AdClientError,
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    ErrorDetails,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    RateLimited,
    ServerError,
    TransportError,
    Unauthenticated,
    UnexpectedResponse,
    for_status,
    with_unknown_outcome,
)
from adclient.models import Result

# The first that fits is given.
_ADVICE: tuple[tuple[type[AdClientError], str], ...] = (
    (
        OutcomeUnknown,
        "A draft may have been staged: look for it in the approval dashboard before calling again",
    ),
    (ConnectionFailed, "Nothing was sent; check base_url and the network"),
    (CallTimeout, "Call again, or allow a longer timeout"),
    (TransportError, "Call again"),
    (Unauthenticated, "Check token= or auth="),
    (PermissionDenied, "Check what the credentials and the account allow"),
    (NotFound, "Check the ids, and base_url"),
    (RateLimited, "Call again later"),
    (ServerError, "Call again later"),
    (UnexpectedResponse, "What came is kept in the error's body"),
)


def error_for(
    call: Call[Result], outcome: Outcome, facts: ErrorDetails, *, may_be_staged: bool
) -> AdClientError:
    """The error for an attempt after which there is no other."""
    cls, what, more = _told_by(call, outcome)
    cls = with_unknown_outcome(cls) if may_be_staged else cls
    return _error(call, cls, what, {**facts, **more, **_request_id(facts, more)})


def unreadable(
    call: Call[Result], reply: RawResponse, facts: ErrorDetails, problem: str
) -> AdClientError:
    """The error for a success status whose body is not what the interface documents."""
    cls: type[AdClientError] = UnexpectedResponse
    if call.operation.kind == "write":
        cls = with_unknown_outcome(UnexpectedResponse)
    reply = reply.quotable()
    said = None if reply.defect is not None else said_in(reply)
    what = f"{reply.status} with an unexpected body: {problem}"
    what += f" (it says: {said})" if said else ""
    return _error(call, cls, what, {**facts, **_facts_of(call, reply)})


def interrupted(call: Call[Result], facts: ErrorDetails, error: Exception) -> AdClientError:
    """The error for a write that something else stopped after an attempt that may have staged."""
    what = f"stopped by {type(error).__name__} after an attempt that may have been taken"
    return _error(call, OutcomeUnknown, what, facts)


def _told_by(call: Call[Result], outcome: Outcome) -> tuple[type[AdClientError], str, ErrorDetails]:
    """What happened, as a class, in words, and as facts."""
    if isinstance(outcome, Failure):
        return _transport_error(outcome), outcome.reason, {}
    if outcome.broken is not None and outcome.is_success:
        what = f"{outcome.status}, and then: {outcome.broken.reason}"
        return _broken_class(call, outcome.broken), what, _facts_of(call, outcome)
    problem = problem_of(outcome)
    said = problem.message or "no reason given"
    if 300 <= outcome.status < 400:
        said = "a redirect, which is never followed; check base_url"
    what = " ".join(part for part in (str(outcome.status), problem.code) if part)
    facts = _facts_of(call, outcome)
    facts["message"] = said
    facts["code"] = problem.code
    facts["details"] = problem.details
    facts["request_id"] = problem.request_id
    return for_status(outcome.status), f"{what}: {said}", facts


def _transport_error(failure: Failure) -> type[AdClientError]:
    if failure.timed_out:
        return CallTimeout
    return ConnectionLost if failure.sent else ConnectionFailed


def _broken_class(call: Call[Result], failure: Failure) -> type[AdClientError]:
    """A success that was cut off: of a write, we know that it was one."""
    if failure.timed_out:
        return CallTimeout
    return UnexpectedResponse if call.operation.kind == "write" else ConnectionLost


def _facts_of(call: Call[Result], reply: RawResponse) -> ErrorDetails:
    is_write = call.operation.kind == "write"
    return {
        "status": reply.status,
        "body": excerpt(reply.body),
        "retry_after": retry_after(reply),
        "draft_id": draft_id_in(reply.body) if is_write else None,
    }


def _request_id(facts: ErrorDetails, more: ErrorDetails) -> ErrorDetails:
    """A header's id counts more than one in the body."""
    return {"request_id": facts.get("request_id") or more.get("request_id")}


def _error(
    call: Call[Result], cls: type[AdClientError], what: str, facts: ErrorDetails
) -> AdClientError:
    operation, what = call.operation, one_line(what, 160)
    text = f"{operation.full_name}: {what} ({', '.join(_context(call, facts))})"
    advice = next((advice for family, advice in _ADVICE if issubclass(cls, family)), None)
    known: ErrorDetails = {
        "message": what,
        **facts,
        "operation": operation.full_name,
        "method": operation.method,
        "path": operation.path,
    }
    return cls(f"{text}. {advice}" if advice else text, **known)


def _context(call: Call[Result], facts: ErrorDetails) -> list[str]:
    """What support will ask for."""
    context = [f"{call.operation.method} {call.operation.path}"]
    attempts, request_id = facts.get("attempts", 0), facts.get("request_id")
    wait, draft_id = facts.get("retry_after"), facts.get("draft_id")
    if attempts > 1:
        context.append(f"{attempts} attempts")
    context.append(f"{facts.get('elapsed', 0.0):.3g} s")
    if request_id is not None:
        context.append(f"request id {one_line(request_id, 40)}")
    if wait is not None:
        context.append(f"retry after {wait:.3g} s")
    if draft_id is not None:
        context.append(f"draft {one_line(draft_id, 40)}")
    return context
