"""Tracebacks that end with the caller's line and the method that it called."""

import os
from types import TracebackType

from adclient.errors import AdClientError


def forget_frames(error: AdClientError) -> None:
    """Leave our own frames out of the traceback of an error that is raised again with `raise`.

    The error tells what they would, and a bare `raise` does not add a frame. From the first frame
    of someone else's on, such as a transport of the caller's, all stay; so do all of them if the
    environment has `ADCLIENT_TRACEBACK=full`.
    """
    if os.environ.get("ADCLIENT_TRACEBACK") == "full":
        return
    entry = error.__traceback__
    while entry is not None and _is_ours(entry):
        entry = entry.tb_next
    error.__traceback__ = entry


def _is_ours(entry: TracebackType) -> bool:
    module: object = entry.tb_frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] == "adclient"
