"""Errors as a caller sees them: tracebacks that end with the called method, and missing extras."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import cast

from adclient.errors import AdClientError

# `concurrent` passes on the error of a page that was prefetched.
_HIDDEN = {"adclient", "concurrent"}
# The local variables of these may hold requests, and so credentials, which monitors record.
_SENDING = {"adclient", "h11", "httpcore", "httpcore2", "httpx", "httpx2", "socksio"}
# These belong to what has called them.
_CALLED = sys.stdlib_module_names | {"anyio"}


def bare(error: AdClientError | TypeError) -> AdClientError | TypeError:
    """An error about an argument without what may hold its value: frames, and errors below it."""
    error.__context__ = None
    return error.with_traceback(None)


def forget_frames(error: BaseException) -> None:
    """Remove frames of this library from the traceback of an error that `raise` raises again.

    A bare `raise` adds no frame. From the first foreign frame on, such as that of a caller's
    transport, all frames stay.

    A cancellation, a Ctrl-C or an error of a signal handler may come at any moment. Of these, and
    of what they interrupted, all frames are removed that handle requests. Those of the caller's
    functions stay, since one of them may be what hangs.

    With `ADCLIENT_TRACEBACK=full` in the environment, every frame of every error stays.
    """
    if os.environ.get("ADCLIENT_TRACEBACK") == "full":
        return
    # The error, what caused it, what it interrupted, and the members of groups.
    chain = [error]
    for each in chain:  # it grows
        links = [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            links += cast("BaseExceptionGroup[BaseException]", each).exceptions
        for link in links:
            if link is not None and all(link is not known for known in chain):
                chain.append(link)
        if not isinstance(each, AdClientError):
            each.__traceback__ = _without_sending(each.__traceback__)
        else:
            entry = each.__traceback__
            while entry is not None and _package_of(entry) in _HIDDEN:
                entry = entry.tb_next
            each.__traceback__ = entry


def _without_sending(entry: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    is_sending = True
    while entry is not None:
        package = _package_of(entry)
        if package not in _CALLED:
            is_sending = package in _SENDING
        if not is_sending:
            kept.append(entry)
        entry = entry.tb_next
    below: TracebackType | None = None
    # Linked anew, not copied: where a signal came between two lines, an entry has no number of one.
    for each in reversed(kept):
        each.tb_next = below
        below = each
    return below


def _package_of(entry: TracebackType) -> str:
    """The package of a frame; methods that attrs has generated know none."""
    module: object = entry.tb_frame.f_globals.get("__name__", "adclient")
    return str(module).partition(".")[0]


@contextmanager
def needs(extra: str) -> Generator[None, None, None]:
    """Name the extra to install if an import in this block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        how = f"pip install 'adclient[{extra}]', or '.[{extra}]' in a checkout"
        message = f"this needs {name}: {how}"
        raise ModuleNotFoundError(message, name=name) from None
