"""The reporter of one call: it passes its events to the log, the hooks and the span.

It is loaded only if there are listeners, because creating the event classes is slow.
"""

import itertools
import logging
from collections.abc import Callable
from typing import TypedDict, TypeVar

from adclient._core.call import Call
from adclient._core.events import Span, log, log_raised, write_log
from adclient._core.response import Failure, Outcome, RawResponse, shown_headers
from adclient.hooks import DraftEvent, RequestEvent, ResponseEvent, RetryEvent
from adclient.models import Draft, Result
from adclient.options import Options

T = TypeVar("T")

Event = RequestEvent | ResponseEvent | RetryEvent | DraftEvent

_call_ids = itertools.count(1)

_HOOKS: dict[type[Event], str] = {
    RequestEvent: "on_request",
    ResponseEvent: "on_response",
    RetryEvent: "on_retry",
    DraftEvent: "on_draft",
}


class _CallFields(TypedDict):
    """The fields of every event of a call."""

    call_id: int
    operation: str
    account_id: str


class Reporter:
    """Reports the events of one call to the log, the hooks and the span.

    Listeners are code of the program: if one raises, that is logged, and the call continues.
    """

    __slots__ = ("_call", "_call_id", "_hooks", "_name", "_now", "_sent_at", "_span", "_url")

    def __init__(
        self,
        call: Call,
        options: Options,
        now: Callable[[], float],
        span: Span | None,
    ) -> None:
        self._call = call
        self._name = call.operation.full_name
        self._url = options.base_url + call.operation.path
        self._hooks = options.hooks
        self._now = now
        self._span = span
        self._sent_at = 0.0
        self._call_id = next(_call_ids)

    def end(self, error: BaseException | None) -> None:
        """The call is over."""
        if self._span is not None:
            self._notify("the span", self._span.end, error)

    def sending(self, attempt: int) -> None:
        """A request is about to be sent."""
        self._sent_at = self._now()
        if self._is_heard(logging.DEBUG):
            method = self._call.operation.method
            self._report(
                logging.DEBUG,
                RequestEvent(**self._fields(), method=method, url=self._url, attempt=attempt),
            )

    def received(
        self, attempt: int, outcome: Outcome, elapsed: float, request_id: str | None
    ) -> None:
        """An attempt has ended."""
        if self._is_heard(logging.DEBUG):
            if isinstance(outcome, RawResponse):
                status = outcome.status
                failure = outcome.defect if outcome.broken is None else outcome.broken.reason
            else:
                status, failure = None, outcome.reason
            event = ResponseEvent(
                **self._fields(),
                attempt=attempt,
                status=status,
                failure=failure,
                request_id=None if isinstance(outcome, Failure) else request_id,
                duration=self._now() - self._sent_at,
                elapsed=elapsed,
                headers=shown_headers(outcome),
            )
            self._report(logging.DEBUG, event)

    def retrying(self, attempt: int, outcome: Outcome, wait: float) -> None:
        """Another attempt will follow."""
        event = RetryEvent(**self._fields(), attempt=attempt, reason=str(outcome), wait=wait)
        self._report(logging.INFO, event)

    def rate_limited(self, wait: float) -> None:
        """The call waits because the service asked another call to wait."""
        line = f"{self._name} #{self._call_id}: waits {wait:.3f} s for a shared rate limit"
        write_log(logging.INFO, line)

    def returning(self, value: Result) -> None:
        """The call is about to return its value."""
        if isinstance(value, Draft) and self._is_heard(logging.DEBUG):
            self._report(logging.DEBUG, DraftEvent(**self._fields(), draft=value))

    def _fields(self) -> _CallFields:
        return {
            "call_id": self._call_id,
            "operation": self._name,
            "account_id": self._call.account_id,
        }

    def _is_heard(self, level: int) -> bool:
        return bool(self._hooks) or self._span is not None or log.isEnabledFor(level)

    def _report(self, level: int, event: Event) -> None:
        if log.isEnabledFor(level):
            write_log(level, str(event))
        name = _HOOKS[type(event)]
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
            log_raised(self._name, what, error)
