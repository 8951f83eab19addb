"""Responses: JSON, the shapes of errors that services are known for, and unknown keys."""

from collections.abc import Mapping
from html import escape

from adclient._core import jsontext
from adclient._core.response import RawResponse
from adclient.models import JSON
from adclient.testing._http.refusal import Refusal
from adclient.testing._profile import ErrorStyle

_CONTENT_TYPES: Mapping[ErrorStyle, str] = {
    "problem": "application/problem+json",
    "text": "text/plain; charset=utf-8",
    "empty": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


def json_response(status: int, body: JSON) -> RawResponse:
    """A response with a JSON body."""
    return RawResponse(status=status, body=_encoded(body))


def error_response(refusal: Refusal, style: ErrorStyle, request_id: str) -> RawResponse:
    """The response for a refusal."""
    content_type = _CONTENT_TYPES.get(style, "application/json")
    return RawResponse(
        status=refusal.status,
        headers={"content-type": content_type, **refusal.headers},
        body=_error_body(refusal, style, request_id),
    )


def _error_body(refusal: Refusal, style: ErrorStyle, request_id: str) -> bytes:
    code, message, field = refusal.code, refusal.message, refusal.field
    match style:
        case "problem":
            title = code.replace("_", " ").capitalize()
            problem: dict[str, JSON] = {"type": "about:blank", "title": title}
            problem |= {"status": refusal.status, "detail": message, "code": code}
            return _encoded({**problem, "errors": refusal.details})
        case "detail":
            return _encoded({"detail": message})
        case "fastapi":
            location: list[JSON] = ["body"] if field is None else ["body", field]
            return _encoded({"detail": [{"loc": location, "msg": message, "type": code}]})
        case "success_false":
            return _encoded({"success": False, "error": message, "is_error": True})
        case "errors_list":
            return _encoded({"errors": [{"code": code, "message": message, "field": field}]})
        case "text":
            return message.encode()
        case "html":
            title = escape(f"{refusal.status} {message}")
            return f"<html><head><title>{title}</title></head><body></body></html>".encode()
        case "empty":
            return b""
        case _:  # "error_object" and "truncated"
            error: JSON = {
                "code": code,
                "message": message,
                "details": refusal.details,
                "request_id": request_id,
            }
            body = _encoded({"error": error})
            return body[: len(body) // 2] if style == "truncated" else body


def _encoded(body: JSON) -> bytes:
    return jsontext.dumps(body, "response").encode()


def with_extra_page(page: dict[str, JSON]) -> dict[str, JSON]:
    """A page with unknown keys in its envelope, in another order."""
    inner = page["page"]
    assert isinstance(inner, dict)
    return {"meta": {"took_ms": 12}, "page": {"total": None, **inner}, "data": page["data"]}


def with_extra_item(item: dict[str, JSON], place: int, *, is_ad: bool) -> dict[str, JSON]:
    """An item with an unknown key; every third has an unknown status, and the second ad no name."""
    extra = dict(reversed(item.items()))
    extra["x_labels"] = [{"text": "new", "weight": None}]
    if place % 3 == 2:
        extra["status"] = "UNDER_POLICY_REVIEW"
    if is_ad and place == 1:
        del extra["name"]
    return extra


def with_extra_draft(draft: dict[str, JSON]) -> dict[str, JSON]:
    """A draft and a diff with unknown keys, in another order."""
    diff = draft["diff"]
    assert isinstance(diff, dict)
    extra: dict[str, JSON] = {"reviewers": ["ads-team"], **dict(reversed(draft.items()))}
    extra["diff"] = {"note": None, **dict(reversed(diff.items()))}
    return extra
