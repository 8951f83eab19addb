"""The listeners of a call: the log, the hooks of the client, and a span."""

import itertools
import logging
import warnings
from collections.abc import Callable
from contextlib import suppress
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from adclient._core.call import Call
from adclient._core.response import Failure, Outcome, shown_headers
from adclient._values.redact import one_line
from adclient._values.text import short
from adclient.errors import ConfigurationError
from adclient.models import Draft
from adclient.options import ENV_LOG, Options, from_environment

if TYPE_CHECKING:
    from adclient.hooks import DraftEvent, RequestEvent, ResponseEvent, RetryEvent

    Event = RequestEvent | ResponseEvent | RetryEvent | DraftEvent

T = TypeVar("T")

log = logging.getLogger("adclient")
log.addHandler(logging.NullHandler())


def write_log_to_stderr() -> None:
    """Write the log to standard error if the environment asks for it, unless logging is set up."""
    level = from_environment(ENV_LOG)
    if level is None:
        return
    if level.lower() not in ("info", "debug"):
        raise ConfigurationError(f"{ENV_LOG} must be info or debug, not {short(level)!r}")
    log.setLevel(level.upper())
    if len(log.handlers) == 1 and not logging.root.handlers:  # only the one above
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
        log.addHandler(handler)


class Span(Protocol):
    """The span of one call. It receives the same events as the hooks."""

    def add(self, event: "Event") -> None:
        """Record an event."""

    def end(self, error: BaseException | None) -> None:
        """Record how the call ended."""


Tracer = Callable[[Call, str], Span | None]
"""Starts the span of a call to a URL."""


def reporter_for(
    call: Call, options: Options, now: Callable[[], float], tracer: Tracer | None
) -> "Reporter | None":
    """The reporter of a call, with its span started; None without listeners."""
    span = None
    if tracer is not None:
        try:
            span = tracer(call, options.base_url + call.operation.path)
        except Exception as error:
            log_raised(call.operation.full_name, "the tracer", error)
    if span is None and not options.hooks and not log.isEnabledFor(logging.INFO):
        return None
    return Reporter(call, options, now, span)


_call_ids = itertools.count(1)


class Reporter:
    """Reports the events of one call to the log, the hooks and the span.

    Listeners are code of the program: if one raises, that is logged, and the call continues.
    Without any, the classes of events are not loaded, which takes a while.
    """

    def __init__(
        self, call: Call, options: Options, now: Callable[[], float], span: Span | None
    ) -> None:
        self._operation = call.operation
        self._url = options.base_url + call.operation.path
        self._hooks = options.hooks
        self._now = now
        self._span = span
        self._sent_at = 0.0
        self._id = next(_call_ids)
        self._fields: dict[str, Any] = {
            "call_id": self._id,
            "operation": call.operation.full_name,
            "account_id": call.account_id,
        }

    def end(self, error: BaseException | None) -> None:
        """The call is over."""
        if self._span is not None:
            self._notify("the span", self._span.end, error)

    def sending(self, attempt: int) -> None:
        """A request is about to be sent."""
        self._sent_at = self._now()
        if self._is_heard(logging.DEBUG):
            from adclient.hooks import RequestEvent

            method, url = self._operation.method, self._url
            event = RequestEvent(**self._fields, method=method, url=url, attempt=attempt)
            self._report(logging.DEBUG, event)

    def received(
        self, attempt: int, outcome: Outcome, elapsed: float, request_id: str | None
    ) -> None:
        """An attempt has ended."""
        if self._is_heard(logging.DEBUG):
            from adclient.hooks import ResponseEvent

            status: int | None = None
            failure: str | None
            if isinstance(outcome, Failure):
                failure, request_id = outcome.reason, None
            else:
                status = outcome.status
                failure = outcome.defect if outcome.broken is None else outcome.broken.reason
            event = ResponseEvent(
                **self._fields,
                attempt=attempt,
                status=status,
                failure=failure,
                request_id=request_id,
                duration=self._now() - self._sent_at,
                elapsed=elapsed,
                headers=shown_headers(outcome),
            )
            self._report(logging.DEBUG, event)

    def retrying(self, attempt: int, outcome: Outcome, wait: float) -> None:
        """Another attempt will follow."""
        from adclient.hooks import RetryEvent

        event = RetryEvent(**self._fields, attempt=attempt, reason=str(outcome), wait=wait)
        self._report(logging.INFO, event)

    def rate_limited(self, wait: float) -> None:
        """The call waits because the service asked another call to wait."""
        call = f"{self._operation.full_name} #{self._id}"
        write_log(logging.INFO, f"{call}: waits {wait:.3f} s for a shared rate limit")

    def returning(self, value: object) -> None:
        """The call is about to return its value."""
        if isinstance(value, Draft) and self._is_heard(logging.DEBUG):
            from adclient.hooks import DraftEvent

            self._report(logging.DEBUG, DraftEvent(**self._fields, draft=value))

    def _is_heard(self, level: int) -> bool:
        return bool(self._hooks) or self._span is not None or log.isEnabledFor(level)

    def _report(self, level: int, event: "Event") -> None:
        if log.isEnabledFor(level):
            write_log(level, str(event))
        name = f"on_{type(event).__name__.removesuffix('Event').lower()}"
        for hooks in self._hooks:
            hook: Callable[[Event], object] | None = getattr(hooks, name)
            if hook is not None:
                self._notify(f"the hook {name}", hook, event)
        if self._span is not None:
            self._notify("the span", self._span.add, event)

    def _notify(self, what: str, listener: Callable[[T], object], argument: T) -> None:
        try:
            listener(argument)
        except Exception as error:
            log_raised(self._operation.full_name, what, error)


def log_raised(operation: str, what: str, error: Exception) -> None:
    """Log the error of a listener, which the call survives."""
    raised = one_line("".join(format_exception_only(error)))
    write_log(logging.ERROR, f"{operation}: {what} raised {raised}")


def write_log(level: int, line: str) -> None:
    # A filter or handler of the program may raise as well.
    with suppress(Exception):
        log.log(level, "%s", line)


def warn(text: str, category: type[Warning]) -> None:
    """Log and issue a warning, whose text may contain any characters; it never raises.

    For gates and records, which must not lose a response: a program may turn warnings into errors,
    or have closed its standard error.
    """
    text = one_line(text, 600)
    write_log(logging.WARNING, text)
    with suppress(Exception):
        warnings.warn(text, category, stacklevel=2)


def only_warning(work: Callable[[], object], what: str) -> Callable[[], None]:
    """Work of somebody else's gate or record, whose error must not hide what was received."""

    def done() -> None:
        try:
            work()
        except Exception as error:
            warn(f"{what}: {type(error).__name__}", RuntimeWarning)

    return done
