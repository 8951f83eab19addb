"""Errors, and the shapes that services are known for."""

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files

import attrs

from adclient._core import jsontext
from adclient._core.response import RawResponse
from adclient.models import JSON
from adclient.testing._profile import ErrorStyle

_TABLE = files("adclient.testing._http").joinpath("errors.json")
_ERRORS: dict[str, tuple[int, str]] = json.loads(_TABLE.read_text("utf-8"))


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


def error_response(error: HTTPError, style: ErrorStyle, request_id: str) -> RawResponse:
    """The response for an error."""
    code, message = error.code, error.message
    details: list[JSON] = []
    if error.field is not None:
        limit: dict[str, JSON] = {} if error.limit is None else {"limit": error.limit}
        details.append({"field": error.field, "reason": error.reason, **limit})
    title = code.replace("_", " ").capitalize()
    location: list[JSON] = ["body"] if error.field is None else ["body", error.field]
    described: JSON = {
        "code": code,
        "message": message,
        "details": details,
        "request_id": request_id,
    }
    problem: dict[str, JSON] = {"type": "about:blank", "title": title, "status": error.status}
    page = escape(f"{error.status} {message}")
    shapes: dict[ErrorStyle, JSON] = {
        "error_object": {"error": described},
        "problem": {**problem, "detail": message, "code": code, "errors": details},
        "detail": {"detail": message},
        "fastapi": {"detail": [{"loc": location, "msg": message, "type": code}]},
        "success_false": {"success": False, "error": message, "is_error": True},
        "errors_list": {"errors": [{"code": code, "message": message, "field": error.field}]},
        "text": message,
        "html": f"<html><head><title>{page}</title></head><body></body></html>",
        "empty": "",
        "truncated": {"error": described},
    }
    shape = shapes[style]
    body = (shape if isinstance(shape, str) else jsontext.dumps(shape, "response")).encode()
    content_type = _CONTENT_TYPES.get(style, "application/json")
    return RawResponse(
        status=error.status,
        headers={"content-type": content_type, **error.headers},
        body=body[: len(body) // 2] if style == "truncated" else body,
    )


_CONTENT_TYPES: Mapping[ErrorStyle, str] = {
    "problem": "application/problem+json",
    "text": "text/plain; charset=utf-8",
    "empty": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
