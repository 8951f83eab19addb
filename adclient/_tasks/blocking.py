"""Blocking work of a call, such as that of the ledger: async code does it in a thread."""

from collections.abc import Callable

Work = Callable[[], None]

LONGEST_END = 30.0  # seconds to wait until a ledger has recorded the end of a call


def run_blocking(
    work: Work,
    seconds: float,  # noqa: ARG001 (the async one has it)
    undo: Work | None = None,
    thread: str = "",  # noqa: ARG001
) -> bool:
    """Do the work, which has no timeout of its own; `undo` is called after an interrupt."""
    try:
        work()
    except BaseException as error:
        # After Ctrl-C, the work may have been done all the same.
        if undo is not None and not isinstance(error, Exception):
            undo()
        raise
    return True


async def async_run_blocking(
    work: Work, seconds: float, undo: Work | None = None, thread: str = "adclient-blocking"
) -> bool:
    """Do the work in the thread of that name, one after the other in each event loop.

    If the time is over, or the caller is cancelled, work that has begun continues, and `undo` is
    called after it has succeeded. Work that has not begun is dropped; without `undo`, it still
    runs.

    Returns:
        Whether the work was done in time.
    """
    import anyio  # deferred: the sync client does without it

    from adclient._tasks.background import run_in_thread

    with anyio.move_on_after(seconds):
        await run_in_thread(work, undo, thread)
        return True
    return False
