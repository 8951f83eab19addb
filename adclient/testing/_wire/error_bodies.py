"""The bodies of error answers, in the shapes that services are known for."""

from collections.abc import Callable
from html import escape

import attrs

from adclient._core import jsontext
from adclient._core.response import RawResponse
from adclient.models import JSON
from adclient.testing._profile import ErrorStyle
from adclient.testing._wire.protocol import Refusal

_JSON, _PROBLEM = "application/json", "application/problem+json"
_TEXT, _HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"


@attrs.frozen
class _Said:
    """A refusal, and the id of the request that met it."""

    refusal: Refusal
    request_id: str

    @property
    def message(self) -> str:
        return str(self.refusal)

    @property
    def field(self) -> JSON:
        """What the refusal is about, as far as it says so."""
        details = self.refusal.details
        return details[0]["field"] if details else None


def refused(refusal: Refusal, style: ErrorStyle, request_id: str) -> RawResponse:
    """The answer that tells of a refusal."""
    content_type, write = _STYLES[style]
    headers = {"content-type": content_type, **refusal.headers}
    body = write(_Said(refusal, request_id))
    return RawResponse(status=refusal.status, headers=headers, body=body)


def _error_object(said: _Said) -> bytes:
    error: JSON = {
        "code": said.refusal.code,
        "message": said.message,
        "details": [*said.refusal.details],
        "request_id": said.request_id,
    }
    return _encoded({"error": error})


def _problem(said: _Said) -> bytes:
    return _encoded(
        {
            "type": "about:blank",
            "title": said.refusal.code.replace("_", " ").capitalize(),
            "status": said.refusal.status,
            "detail": said.message,
            "code": said.refusal.code,
            "errors": [*said.refusal.details],
        }
    )


def _detail(said: _Said) -> bytes:
    return _encoded({"detail": said.message})


def _fastapi(said: _Said) -> bytes:
    place: list[JSON] = ["body"] if said.field is None else ["body", said.field]
    return _encoded({"detail": [{"loc": place, "msg": said.message, "type": said.refusal.code}]})


def _success_false(said: _Said) -> bytes:
    return _encoded({"success": False, "error": said.message, "is_error": True})


def _errors_list(said: _Said) -> bytes:
    error: JSON = {"code": said.refusal.code, "message": said.message, "field": said.field}
    return _encoded({"errors": [error]})


def _text(said: _Said) -> bytes:
    return said.message.encode()


def _html(said: _Said) -> bytes:
    title = f"{said.refusal.status} {said.message}"
    return f"<html><head><title>{escape(title)}</title></head><body></body></html>".encode()


def _empty(_: _Said) -> bytes:
    return b""


def _truncated(said: _Said) -> bytes:
    whole = _error_object(said)
    return whole[: len(whole) // 2]


def _encoded(body: JSON) -> bytes:
    return jsontext.dumps(body, "error").encode()


_STYLES: dict[ErrorStyle, tuple[str, Callable[[_Said], bytes]]] = {
    "error_object": (_JSON, _error_object),
    "problem": (_PROBLEM, _problem),
    "detail": (_JSON, _detail),
    "fastapi": (_JSON, _fastapi),
    "success_false": (_JSON, _success_false),
    "errors_list": (_JSON, _errors_list),
    "text": (_TEXT, _text),
    "html": (_HTML, _html),
    "empty": (_TEXT, _empty),
    "truncated": (_JSON, _truncated),
}
