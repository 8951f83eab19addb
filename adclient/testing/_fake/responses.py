"""Errors, and the responses for them."""

import re
from collections.abc import Callable, Mapping
from html import escape

import attrs

from adclient._service.model import ErrorShape
from adclient._values import jsontext
from adclient.extend import RawResponse
from adclient.models import JSON
from adclient.testing._fake.data import load

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


def _in_quotes(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return jsontext.quoted(text)[1:-1]


_QUOTED: dict[str, Callable[[str], str]] = {
    **dict.fromkeys('{["', _in_quotes),
    "<": escape,
}
