"""The clock of all deadlines."""

import time
from collections.abc import Callable
from functools import partial

# Tests that freeze time leave it alone: sockets, databases and threads wait in real time. freezegun
# replaces `time.monotonic` wherever a module names it, but not for all callers.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)
