"""Where processes run, and how many sockets they may have."""

import os

CLIENT_CORE, SERVER_CORE = 0, -1


def pin(which: int) -> None:
    """Stay on one core, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[which]})


def allow_sockets() -> None:
    """Raise the limit of open files as far as the system lets us."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
