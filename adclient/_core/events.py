"""The one place from which a call is seen from outside: by the log, the hooks and a span."""

import itertools
import logging
from collections.abc import Callable
from contextlib import suppress
from traceback import format_exception_only
from types import TracebackType
from typing import ParamSpec, Protocol, Self, TypedDict, TypeVar

from adclient._core.operations import Call
from adclient._core.redact import one_line
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.hooks import DraftEvent, RequestEvent, ResponseEvent, RetryEvent
from adclient.models import Draft, Result
from adclient.options import Options

P = ParamSpec("P")
T = TypeVar("T")

Event = RequestEvent | ResponseEvent | RetryEvent | DraftEvent

log = logging.getLogger("adclient")
log.addHandler(logging.NullHandler())

_call_ids = itertools.count(1)

_HOOKS: dict[type[Event], str] = {
    RequestEvent: "on_request",
    ResponseEvent: "on_response",
    RetryEvent: "on_retry",
    DraftEvent: "on_draft",
}


class Span(Protocol):
    """The span of one call. It is told the same records as the hooks."""

    def tell(self, event: Event) -> None:
        """Note what happened."""
        ...

    def end(self, error: BaseException | None) -> None:
        """Note how the call ended."""
        ...


Tracer = Callable[[Call[Result], str], Span | None]
"""What begins the span of a call to a URL."""


class _About(TypedDict):
    """What every record of a call holds."""

    call_id: int
    operation: str
    account_id: str


class Observer:
    """Tells the log, the hooks and the span of one call what happens to it.

    None of them is ours, so what they raise is logged, and the call goes on.
    """

    __slots__ = ("_call", "_call_id", "_hooks", "_now", "_options", "_sent_at", "_span", "_tracer")

    def __init__(
        self, call: Call[Result], options: Options, now: Callable[[], float], tracer: Tracer | None
    ) -> None:
        self._call = call
        self._options = options
        self._hooks = options.hooks
        self._now = now
        self._tracer = tracer
        self._span: Span | None = None
        self._sent_at = 0.0
        self._call_id = next(_call_ids)

    def __enter__(self) -> Self:
        if self._tracer is not None:
            self._span = self._safely("the tracer", self._tracer, self._call, self._url())
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._span is not None:
            self._safely("the span", self._span.end, exc)

    def sending(self, attempt: int) -> None:
        """An attempt is about to be made."""
        self._sent_at = self._now()
        if self._is_heard(logging.DEBUG):
            method, url = self._call.operation.method, self._url()
            event = RequestEvent(**self._about(), method=method, url=url, attempt=attempt)
            self._tell(logging.DEBUG, event)

    def answered(
        self, attempt: int, outcome: Outcome, elapsed: float, request_id: str | None
    ) -> None:
        """An attempt came to its end."""
        if self._is_heard(logging.DEBUG):
            reply = outcome if isinstance(outcome, RawResponse) else None
            event = ResponseEvent(
                **self._about(),
                attempt=attempt,
                status=None if reply is None else reply.status,
                failure=_failure_in(outcome),
                request_id=None if reply is None else request_id,
                duration=self._now() - self._sent_at,
                elapsed=elapsed,
            )
            self._tell(logging.DEBUG, event)

    def waiting(self, attempt: int, outcome: Outcome, wait: float) -> None:
        """Another attempt will follow."""
        if self._is_heard(logging.INFO):
            event = RetryEvent(**self._about(), attempt=attempt, reason=str(outcome), wait=wait)
            self._tell(logging.INFO, event)

    def holding_back(self, wait: float) -> None:
        """A call waits before an attempt, because another one for the same account was asked to."""
        line = f"{self._call.operation.full_name} #{self._call_id}: held back for {wait:.3f} s"
        self._log(logging.INFO, line)

    def returning(self, value: Result) -> None:
        """The call is about to return its value."""
        if isinstance(value, Draft) and self._is_heard(logging.DEBUG):
            self._tell(logging.DEBUG, DraftEvent(**self._about(), draft=value))

    def _url(self) -> str:
        return self._options.base_url + self._call.operation.path

    def _about(self) -> _About:
        return {
            "call_id": self._call_id,
            "operation": self._call.operation.full_name,
            "account_id": self._call.account_id,
        }

    def _is_heard(self, level: int) -> bool:
        return bool(self._hooks) or self._span is not None or log.isEnabledFor(level)

    def _tell(self, level: int, event: Event) -> None:
        if log.isEnabledFor(level):
            self._log(level, str(event))
        name = _HOOKS[type(event)]
        for hooks in self._hooks:
            hook: Callable[[Event], object] | None = getattr(hooks, name)
            if hook is not None:
                self._safely(f"the hook {name}", hook, event)
        if self._span is not None:
            self._safely("the span", self._span.tell, event)

    def _safely(
        self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raised = one_line("".join(format_exception_only(error)))
            self._log(logging.ERROR, f"{self._call.operation.full_name}: {what} raised {raised}")
            return None

    def _log(self, level: int, line: str) -> None:
        # A filter or handler of the program may raise, too.
        with suppress(Exception):
            log.log(level, "%s", line)


def _failure_in(outcome: Outcome) -> str | None:
    """Why an attempt brought no whole answer."""
    if isinstance(outcome, Failure):
        return outcome.reason
    return outcome.defect if outcome.broken is None else outcome.broken.reason
