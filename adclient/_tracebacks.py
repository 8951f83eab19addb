"""Tracebacks that end with the caller's line and the method that it called."""

import os
import sys
from types import TracebackType

from adclient.errors import AdClientError

# `concurrent` passes on the error of a page that was prefetched.
_HIDDEN = {"adclient", "concurrent"}
# The local variables of these may hold requests, and so credentials, which monitors record.
_SENDING = sys.stdlib_module_names | {  # which they call
    "adclient",
    "anyio",
    "h11",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "socksio",
}


def forget_frames(error: BaseException) -> None:
    """Remove frames of this library from the traceback of an error that `raise` raises again.

    A bare `raise` adds no frame. From the first foreign frame on, such as that of a caller's
    transport, all frames stay; with `ADCLIENT_TRACEBACK=full` in the environment, every one does.

    A cancellation or a Ctrl-C may come at any moment. Of these, and of what they interrupted, all
    frames are removed that handle requests. Those of the caller's functions stay, since one of
    them may be what hangs.
    """
    if isinstance(error, AdClientError):
        if os.environ.get("ADCLIENT_TRACEBACK") != "full":
            entry = error.__traceback__
            while entry is not None and _package_of(entry) in _HIDDEN:
                entry = entry.tb_next
            error.__traceback__ = entry
    elif not isinstance(error, Exception):
        chain: dict[int, BaseException] = {}
        waiting: list[BaseException | None] = [error]
        while waiting:
            each = waiting.pop()
            if each is not None and id(each) not in chain:
                chain[id(each)] = each
                waiting += (each.__cause__, each.__context__)
                each.__traceback__ = _without_sending(each.__traceback__)


def _without_sending(entry: TracebackType | None) -> TracebackType | None:
    if entry is None:
        return None
    below = _without_sending(entry.tb_next)
    if _package_of(entry) in _SENDING:
        return below
    return TracebackType(below, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)


def _package_of(entry: TracebackType) -> str:
    """The package of a frame; methods that attrs has generated know none."""
    module: object = entry.tb_frame.f_globals.get("__name__", "adclient")
    return str(module).partition(".")[0]
