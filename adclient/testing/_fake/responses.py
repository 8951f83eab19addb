"""Responses: those for errors, and what a fault makes of a response."""

import gzip
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Literal

import attrs

from adclient._service.model import ErrorShape
from adclient._values import jsontext
from adclient.extend import Failure, Outcome, RawResponse
from adclient.models import JSON
from adclient.testing._fake import load

BodyFault = Literal[
    "cut",
    "stalled",
    "wrong_length",
    "broken_gzip",
    "not_json",
    "not_utf8",
    "wrong_shape",
    "error_object",
    "duplicate_keys",
    "wrong_content_type",
    "huge",
]
DROPPED = Failure(reason="the connection was dropped", sent=True)
STALLED = Failure(reason="no more of the body in time", sent=True, timed_out=True)
NO_RESPONSE = Failure(reason="no response in time", sent=True, timed_out=True)
_HUGE = 5 * 1024 * 1024
_ERRORS: dict[str, tuple[int, str]] = load("errors.json")


@attrs.define(slots=False, eq=False)
class HTTPError(Exception):
    """An error response: status, code, message, and details on the field at fault."""

    status: int
    code: str
    message: str
    field: str | None = None
    reason: str | None = None
    limit: JSON = None
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)


def http_error(
    name: str,
    field: str | None = None,
    *,
    reason: str | None = None,
    limit: JSON = None,
    headers: Mapping[str, str] | None = None,
    **values: object,
) -> HTTPError:
    """An error from the table: its name is the code, with a variant if it has several texts."""
    status, text = _ERRORS[name]
    code = name.partition(":")[0]
    message = text.format(field=field, limit=limit, **values)
    # The reason is the code without the name of the field, unless it is more exact.
    reason = reason or code.removeprefix("budget_")
    return HTTPError(status, code, message, field, reason, limit, headers or {})


def invalid_parameter(field: str, reason: str) -> HTTPError:
    """The error for a parameter that does not fit the interface."""
    problem = reason.replace("_", " ")
    return http_error("invalid_parameter", field, reason=reason, problem=problem)


def not_found(field: str, kind: str, name: str) -> HTTPError:
    """The error for what the account does not hold."""
    message = f"this account has no {kind} {name!r}"
    return HTTPError(404, f"{kind}_not_found", message, field=field, reason="not_found")


def error_response(error: HTTPError, shape: ErrorShape, request_id: str) -> RawResponse:
    """The response for an error, in the shape that a service has for its errors."""
    detail: JSON = None
    if error.field is not None:
        detail = {"field": error.field, "reason": error.reason}
        detail |= {} if error.limit is None else {"limit": error.limit}
    parts: dict[str, JSON] = {
        "field": error.field,
        "details": [] if detail is None else [detail],
        "location": ["body"] if error.field is None else ["body", error.field],
    }
    texts = {
        "code": error.code,
        "message": error.message,
        "title": error.code.replace("_", " ").capitalize(),
        "request_id": request_id,
    }
    seen = shape.statuses.get(_CAUSES.get(error.code, ""), 0)
    # A read of an unknown account may succeed; what is refused has the status of an error.
    status = error.status if seen < 300 else seen
    quoted = _QUOTED.get(shape.body.lstrip()[:1], str)
    values = {name: jsontext.dumps(part, "response") for name, part in parts.items()}
    values |= {name: quoted(text) for name, text in texts.items()} | {"status": str(status)}
    body = _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), shape.body)
    headers = {"content-type": shape.content_type, **error.headers}
    return RawResponse(status=status, headers=headers, body=body.encode())


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
# What a service file calls the causes of errors.
_CAUSES = {
    "unauthenticated": "unauthenticated",
    "account_not_found": "unknown_account",
    "invalid_parameter": "unknown_parameter",
}


# By how a body begins: a text as it stands between the quotes of JSON, or in HTML.
_QUOTED: dict[str, Callable[[str], str]] = {
    **dict.fromkeys('{["', lambda text: jsontext.quoted(text)[1:-1]),
    "<": escape,
}


def corrupted(response: RawResponse, fault: BodyFault) -> RawResponse:
    """A response with a fault in its body."""
    body, headers = response.body, dict(response.headers)
    broken: Failure | None = None
    match fault:
        case "cut" | "stalled":
            body = body[: len(body) // 2]
            broken = DROPPED if fault == "cut" else STALLED
        case "wrong_length":
            headers["content-length"] = str(len(body) + 10)
            reason = f"received {len(body)} bytes, expected {len(body) + 10}"
            broken = Failure(reason=reason, sent=True)
        case "broken_gzip":
            headers["content-encoding"] = "gzip"
            packed = gzip.compress(body, mtime=0)
            body = packed[:10] + bytes(255 - byte for byte in packed[10:])
        case "not_json":
            headers["content-type"] = "text/html"
            body = b"<html><head><title>Checking your browser</title></head></html>"
        case "not_utf8":
            start, quote, end = body.rpartition(b'"')
            body = start + b"\xff" + quote + end
        case "wrong_shape":
            body = b'{"result":%s}' % body
        case "error_object":
            body = b'{"error":{"code":"internal","message":"something went wrong","details":[]}}'
        case "duplicate_keys":
            first_key, _, rest = body.partition(b":")
            body = first_key + b":null," + first_key[1:] + b":" + rest
        case "wrong_content_type":
            headers["content-type"] = "text/plain"
        case _:  # "huge"
            body = body[:-1] + b',"padding":"%s"}' % (b"x" * _HUGE)
    return attrs.evolve(response, headers=headers, body=body, broken=broken)


@attrs.define(kw_only=True)
class SlowBodyResponse(RawResponse):
    """A response whose body takes `seconds` to arrive."""

    seconds: float


def received_within(
    time_left: float | None, outcome: Outcome, seconds: float
) -> tuple[Outcome, float]:
    """The part of an outcome that a client receives within some time, and when."""
    if time_left is not None and seconds >= time_left:
        return NO_RESPONSE, time_left
    if isinstance(outcome, SlowBodyResponse):
        if time_left is not None and seconds + outcome.seconds >= time_left:
            received = int(len(outcome.body) * (time_left - seconds) / outcome.seconds)
            outcome = attrs.evolve(outcome, body=outcome.body[:received], broken=STALLED)
        seconds += outcome.seconds
    failure = outcome if isinstance(outcome, Failure) else outcome.broken
    if time_left is not None and failure is not None and failure.timed_out:
        seconds = time_left  # the client waits for the rest until it times out
    return outcome, seconds
