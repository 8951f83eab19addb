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

    async def run(self, work: Work) -> None:
        """Do some work; whoever waits for it here may be cancelled, and the work is not."""
        end = anyio.Event()
        errors: list[BaseException] = []

        async def see_through() -> None:
            try:
                await work()
            except Exception as error:
                errors.append(error)
            finally:
                self._ends.discard(end)
                end.set()

        self._ends.add(end)
        self._start(see_through)
        await end.wait()
        if errors:
            raise errors.pop()

    async def drain(self) -> None:
        """Wait until everything has ended."""
        for end in list(self._ends):
            await end.wait()

    def _start(self, work: Work) -> None:
        if self._is_asyncio:
            task = asyncio.create_task(work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            import trio

            trio.lowlevel.spawn_system_task(work, context=copy_context())
