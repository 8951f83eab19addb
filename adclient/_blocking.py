"""Blocking work of a call, such as that of the ledger: async code does it in a thread."""

from collections.abc import Callable


def run_blocking(
    work: Callable[[], None],
    seconds: float,  # noqa: ARG001 (the async one has it)
) -> bool:
    """Do the work; a sync call cannot be interrupted, so it has no timeout."""
    work()
    return True


async def async_run_blocking(work: Callable[[], None], seconds: float) -> bool:
    """Do the work in a thread, one after the other in each event loop.

    Returns:
        Whether it was done in time. If it was not, or if the caller is cancelled, it is done
        nevertheless, before whatever is started later.
    """
    import anyio  # deferred: the sync client does without it

    from adclient._tasks import run_in_thread

    with anyio.move_on_after(seconds):
        await run_in_thread(work)
        return True
    return False
