"""The listeners of a call: the log, the hooks of the client, and a span."""

import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from traceback import format_exception_only
from typing import TYPE_CHECKING, Protocol

from adclient._core.call import Call
from adclient._values.redact import one_line
from adclient._values.text import short
from adclient.errors import ConfigurationError
from adclient.options import ENV_LOG, Options, from_environment

if TYPE_CHECKING:
    from adclient._core.reporter import Event, Reporter

log = logging.getLogger("adclient")
log.addHandler(logging.NullHandler())


class _StderrHandler(logging.Handler):
    """Writes to standard error, unless the program has set up logging meanwhile."""

    def emit(self, record: logging.LogRecord) -> None:
        # Looked up each time, as tests and notebooks replace it; some programs have none.
        if sys.stderr is not None and not logging.root.handlers:
            print(self.format(record), file=sys.stderr)


def write_log_to_stderr() -> None:
    """Write the log to standard error, if the environment asks for it."""
    level = from_environment(ENV_LOG)
    if level is None:
        return
    if level.lower() not in ("info", "debug"):
        raise ConfigurationError(f"{ENV_LOG} must be info or debug, not {short(level)!r}")
    log.setLevel(level.upper())
    if len(log.handlers) == 1:  # the one above
        handler = _StderrHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
        log.addHandler(handler)


class Span(Protocol):
    """The span of one call. It receives the same events as the hooks."""

    def add(self, event: "Event") -> None:
        """Record an event."""
        ...

    def end(self, error: BaseException | None) -> None:
        """Record how the call ended."""
        ...


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
    from adclient._core.reporter import Reporter

    return Reporter(call, options, now, span)


def log_raised(operation: str, what: str, error: Exception) -> None:
    """Log the error of a listener, which the call survives."""
    raised = one_line("".join(format_exception_only(error)))
    write_log(logging.ERROR, f"{operation}: {what} raised {raised}")


def write_log(level: int, line: str) -> None:
    # A filter or handler of the program may raise as well.
    with suppress(Exception):
        log.log(level, "%s", line)


def warn(text: str, category: type[Warning]) -> None:
    """Log and issue a warning, whose text may contain any characters."""
    text = one_line(text, 600)
    write_log(logging.WARNING, text)
    # A program that turns warnings into errors must not lose the draft or the response.
    with suppress(Warning):
        warnings.warn(text, category, stacklevel=2)
