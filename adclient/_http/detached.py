"""Exchanges that go on to their end when the call that began them is cancelled.

The pools of httpcore 1.0 lose a connection for good if a request is cancelled at a bad moment, and
the pool of a caller's own client is not ours to mend. So nothing is cancelled there.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context

import anyio
from anyio.lowlevel import EventLoopToken

Work = Callable[[], Coroutine[object, object, None]]


class Detached:
    """The exchanges of one event loop that are on their way."""

    def __init__(self, loop: EventLoopToken) -> None:
        self._is_asyncio = isinstance(loop.native_token, asyncio.AbstractEventLoop)
        self._tasks: set[asyncio.Task[None]] = set()  # asyncio itself does not keep them alive
        self._ends: set[anyio.Event] = set()

    async def run(self, work: Work, on_end: Callable[[], None]) -> None:
        """Do some work; whoever waits for it here may be cancelled, and the work is not.

        `on_end` is called when it has ended, in whatever way.
        """
        end = anyio.Event()
        # What stands if somebody cancels every task there is, and with them this work.
        errors: list[Exception] = [anyio.ClosedResourceError()]

        async def see_through() -> None:
            try:
                await work()
                errors.clear()
            except Exception as error:
                errors[:] = [error]

        def ended() -> None:
            self._ends.discard(end)
            end.set()
            on_end()

        self._ends.add(end)
        self._start(see_through, ended)
        await end.wait()
        if errors:
            raise errors.pop()

    async def drain(self) -> None:
        """Wait until everything has ended."""
        for end in list(self._ends):
            await end.wait()

    def _start(self, work: Work, ended: Callable[[], None]) -> None:
        if self._is_asyncio:
            task = asyncio.create_task(work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # A task that is cancelled before its first step runs none of its own code.
            task.add_done_callback(lambda _: ended())
        else:
            import trio

            trio.lowlevel.spawn_system_task(_and_then, work, ended, context=copy_context())


async def _and_then(work: Work, ended: Callable[[], None]) -> None:
    try:
        await work()
    finally:
        ended()
