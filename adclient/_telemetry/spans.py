"""The span of a call, after OpenTelemetry's semantic conventions for HTTP clients."""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, StatusCode

from adclient._core.call import Call
from adclient._core.events import Tracer
from adclient._version import __version__
from adclient.hooks import DraftEvent, RequestEvent, ResponseEvent, RetryEvent

_SCHEMA = "https://opentelemetry.io/schemas/1.37.0"
_PORTS = {"http": 80, "https": 443}


def tracer() -> Tracer:
    """A function that starts the span of a call with the tracer provider of the program."""
    source = trace.get_tracer("adclient", __version__, schema_url=_SCHEMA)

    def begin(call: Call, url: str) -> CallSpan | None:
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return None  # the default: the program has set no provider
        name, target = _target(call.operation.method, url)
        attributes = {
            **target,
            "adclient.operation": call.operation.full_name,
            "adclient.account_id": call.account_id,
        }
        span = source.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        # An invalid span is exported nowhere, and neither are its children.
        return CallSpan(span) if span.get_span_context().is_valid else None

    return begin


@lru_cache
def _target(method: str, url: str) -> tuple[str, Mapping[str, str | int]]:
    """The name of a span and the attributes of its target, equal for all calls of a method."""
    parts = urlsplit(url)
    return f"{method} {parts.path}", {
        "http.request.method": method,
        "server.address": parts.hostname or "",
        "server.port": parts.port or _PORTS[parts.scheme],
        "url.full": url,
        "url.template": parts.path,
    }


class CallSpan:
    """The span of one call, which is the current span until the call ends.

    It contains no exception and nothing from a response body.
    """

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self._token = context.attach(trace.set_span_in_context(span))
        self._last: ResponseEvent | None = None

    def add(self, event: RequestEvent | ResponseEvent | RetryEvent | DraftEvent) -> None:
        """Record attempts and waits as events, and the id of a draft as an attribute."""
        if isinstance(event, RequestEvent):
            self._add("adclient.request", {"adclient.attempt": event.attempt})
            if event.attempt > 1:
                self._span.set_attribute("http.request.resend_count", event.attempt - 1)
        elif isinstance(event, ResponseEvent):
            self._last = event
            attributes: dict[str, str | int | None] = {
                "adclient.attempt": event.attempt,
                "http.response.status_code": event.status,
                "adclient.failure": event.failure,
                "adclient.request_id": event.request_id,
            }
            known = {name: value for name, value in attributes.items() if value is not None}
            self._add("adclient.response", known)
        elif isinstance(event, RetryEvent):
            wait = {"adclient.attempt": event.attempt, "adclient.wait": event.wait}
            self._add("adclient.retry", wait)
        else:
            self._span.set_attribute("adclient.draft_id", event.draft.draft_id)

    def end(self, error: BaseException | None) -> None:
        """Record the last status and the type of an error, and end the span."""
        # An abandoned call may be closed in another context.
        if trace.get_current_span() is self._span:
            context.detach(self._token)
        last = self._last
        if last is not None and last.status is not None:
            self._span.set_attribute("http.response.status_code", last.status)
        if error is not None:
            cls = type(error)
            prefix = "" if cls.__module__ == "builtins" else f"{cls.__module__}."
            self._span.set_attribute("error.type", prefix + cls.__qualname__)
            self._span.set_status(StatusCode.ERROR, None if last is None else last.failure)
        self._span.end()

    def _add(self, name: str, attributes: Mapping[str, str | int | float]) -> None:
        self._span.add_event(name, attributes)
