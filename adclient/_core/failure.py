"""The error that ends a call: which class, which facts, and one line that helps."""

from adclient._core.call import Call
from adclient._core.redact import excerpt, one_line
from adclient._core.reply import Failure, Outcome, Reply, draft_id_in, problem_of
from adclient._core.retry import retry_after
from adclient.errors import (
    AdClientError,
    CallTimeout,
    ConnectionFailed,
    ConnectionLost,
    Facts,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    RateLimited,
    ServerError,
    TransportError,
    Unauthenticated,
    UnexpectedReply,
    for_status,
    unconfirmed,
)

_LOOK = (
    "The service may have staged a draft: look for it in the approval dashboard before you call "
    "again"
)

_ADVICE: tuple[tuple[type[AdClientError], str], ...] = (
    (OutcomeUnknown, _LOOK),
    (ConnectionFailed, "Nothing was sent; check base_url and the network"),
    (CallTimeout, "Call again, or give it a longer timeout"),
    (TransportError, "Call again"),
    (Unauthenticated, "Check token= or auth="),
    (PermissionDenied, "Check what the credentials and the account allow"),
    (NotFound, "Check the ids, and base_url"),
    (RateLimited, "Call again later"),
    (ServerError, "Call again later"),
    (UnexpectedReply, "The answer is kept in the error's body"),
)


def error_for(
    call: Call[object], outcome: Outcome, facts: Facts, *, may_be_staged: bool
) -> AdClientError:
    """The error for an attempt after which there is no other."""
    if isinstance(outcome, Failure):
        cls, what = _transport_error(outcome), outcome.reason
    elif outcome.broken is not None and outcome.is_success:
        facts = {**facts, **_facts_of(outcome)}
        is_write = call.operation.kind == "write" and not outcome.broken.timed_out
        cls = UnexpectedReply if is_write else _transport_error(outcome.broken)
        what = outcome.broken.reason
    else:
        problem = problem_of(outcome)
        facts = {**facts, **_facts_of(outcome)}
        facts.update(code=problem.code, details=problem.details)
        facts["request_id"] = facts.get("request_id") or problem.request_id
        cls = for_status(outcome.status)
        said = problem.message or "no reason given"
        facts["message"] = said
        what = " ".join(part for part in (str(outcome.status), problem.code) if part)
        what = f"{what}: {_redirected(outcome) or said}"
    return _error(call, unconfirmed(cls) if may_be_staged else cls, what, facts)


def unreadable(call: Call[object], reply: Reply, facts: Facts, problem: str) -> AdClientError:
    """The error for a success status whose body is not what the interface documents."""
    is_write = call.operation.kind == "write"
    cls = unconfirmed(UnexpectedReply) if is_write else UnexpectedReply
    what = f"{reply.status} with an unexpected body: {problem}"
    return _error(call, cls, what, {**facts, **_facts_of(reply)})


def _transport_error(failure: Failure) -> type[TransportError]:
    if failure.timed_out:
        return CallTimeout
    return ConnectionLost if failure.sent else ConnectionFailed


def _facts_of(reply: Reply) -> Facts:
    return {
        "status": reply.status,
        "body": excerpt(reply.body),
        "retry_after": retry_after(reply),
        "draft_id": draft_id_in(reply.body) if reply.is_success else None,
    }


def _redirected(reply: Reply) -> str | None:
    if 300 <= reply.status < 400:
        return "a redirect, which is never followed; check base_url"
    return None


def _error(call: Call[object], cls: type[AdClientError], what: str, facts: Facts) -> AdClientError:
    operation, what = call.operation, one_line(what)
    context = [f"{operation.method} {operation.path}"]
    if facts["attempts"] > 1:
        context.append(f"{facts['attempts']} attempts")
    context.append(f"{facts['elapsed']:.3g} s")
    if facts.get("request_id"):
        context.append(f"request id {one_line(str(facts['request_id']), 60)}")
    if facts.get("retry_after") is not None:
        context.append(f"retry after {facts['retry_after']:.3g} s")
    if facts.get("draft_id"):
        context.append(f"draft {one_line(str(facts['draft_id']), 60)}")
    advice = next((text for family, text in _ADVICE if issubclass(cls, family)), "")
    text = f"{operation.full_name}: {what} ({', '.join(context)})"
    facts = {
        "message": what,
        **facts,
        "operation": operation.full_name,
        "method": operation.method,
        "path": operation.path,
    }
    return cls(f"{text}. {advice}" if advice else text, **facts)
