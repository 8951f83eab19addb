"""Tracebacks that end with the caller's line and the method that it called."""

import os

from adclient.errors import AdClientError

# `concurrent` passes on the error of a page that was prefetched.
_HIDDEN = {"adclient", "concurrent"}


def forget_frames(error: AdClientError) -> None:
    """Remove the frames of this library from the traceback of an error that `raise` raises again.

    A bare `raise` adds no frame. From the first foreign frame on, such as that of a caller's
    transport, all frames stay; with `ADCLIENT_TRACEBACK=full` in the environment, every one does.
    """
    if os.environ.get("ADCLIENT_TRACEBACK") == "full":
        return
    entry = error.__traceback__
    while entry is not None:
        module: object = entry.tb_frame.f_globals.get("__name__")
        if not isinstance(module, str) or module.partition(".")[0] not in _HIDDEN:
            break
        entry = entry.tb_next
    error.__traceback__ = entry
