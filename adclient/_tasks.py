"""Work in the background: prefetches one page, in a thread or task, and survives cancellation."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import current_token

T = TypeVar("T")


class Prefetch(Generic[T]):
    """Work that a thread has started; where there can be no thread, it is done when asked for.

    Nobody has to ask: the work then runs to its end, and its result is dropped.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._done: Future[T] = Future()
        context = copy_context()
        self._thread = Thread(
            target=context.run,
            args=(_do, work, self._done),
            name="adclient-prefetch",
            daemon=True,
        )
        with suppress(RuntimeError):  # the interpreter ends, or has no threads
            self._thread.start()

    def result(self) -> T:
        """Wait for the end of the work: what it returned, or raised."""
        if self._thread.ident is not None:
            self._thread.join()
        # A fork leaves the thread behind.
        return self._done.result() if self._done.done() else self._work()


def _do(work: Callable[[], T], done: "Future[T]") -> None:
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)


class AsyncPrefetch(Generic[T]):
    """Work that a task of its own has started; it is cancelled when the last reference goes."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._task = BackgroundTask(work)

    def __del__(self) -> None:
        self._task.cancel_soon()

    async def result(self) -> T:
        """Wait for the end of the work: what it returned, or raised."""
        if self._task.loop != current_token():
            return await self._work()  # the loop that the task is in may never run again
        try:
            return await self._task.result()
        except anyio.ClosedResourceError:
            return await self._work()


class BackgroundTask(Generic[T]):
    """Work in a task of its own, which outlives the block that started it: asyncio and trio.

    Whoever waits for it may be cancelled, and the work is not. `on_end` is called when it has
    ended, in whatever way; it may be called twice.
    """

    def __init__(
        self, work: Callable[[], Awaitable[T]], on_end: Callable[[], None] | None = None
    ) -> None:
        self.loop = current_token()
        self._on_end = on_end
        self._done: Future[T] = Future()
        self._end = anyio.Event()
        self._scope = anyio.CancelScope()
        self._call_soon = self._start(lambda: self._run(work))

    async def result(self) -> T:
        """Wait for the end: what the work returned, or raised.

        Raises:
            anyio.ClosedResourceError: Somebody cancelled every task there is, as the end of an
                event loop does.
        """
        await self.wait()
        if not self._done.done():
            raise anyio.ClosedResourceError
        return self._done.result()

    async def wait(self) -> None:
        """Wait for the end, in whatever way it comes."""
        await self._end.wait()

    def cancel_soon(self) -> None:
        """Cancel it from any thread; a loop that has ended has done so already."""
        with suppress(RuntimeError):
            self._call_soon(self._scope.cancel)

    async def _run(self, work: Callable[[], Awaitable[T]]) -> None:
        try:
            with self._scope:
                self._done.set_result(await work())
        except Exception as error:
            self._done.set_exception(error)
        finally:
            self._ended()

    def _ended(self) -> None:
        if self._on_end is not None:
            self._on_end()
        self._end.set()

    def _start(self, run: Callable[[], Coroutine[object, object, None]]) -> "_CallSoon":
        """Run it in the event loop of whoever is running, and return how to reach that loop."""
        loop = self.loop.native_token
        if isinstance(loop, asyncio.AbstractEventLoop):
            task = loop.create_task(run())
            _TASKS.add(task)
            task.add_done_callback(_TASKS.discard)
            # A task that is cancelled before its first step runs none of its own code.
            task.add_done_callback(lambda _: self._ended())
            return loop.call_soon_threadsafe
        import trio

        trio.lowlevel.spawn_system_task(run, context=copy_context())
        return trio.lowlevel.current_trio_token().run_sync_soon


_CallSoon = Callable[[Callable[[], None]], object]
_TASKS: set[asyncio.Task[None]] = set()  # asyncio itself does not keep them alive
