"""One thing that is done ahead of whoever will ask for it: by a thread, or by a task."""

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
    """Work that a thread has begun; where there can be no thread, it is done when asked for.

    Nobody has to ask. What is under way then goes on to its end, and is dropped.
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
        """Wait for the end of the work: what it gave, or raised."""
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
    """Work that a task of its own has begun; it is cancelled when the last reference goes."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._task: _Task[T] = _Task(work)

    def __del__(self) -> None:
        self._task.cancel_soon()

    async def result(self) -> T:
        """Wait for the end of the work: what it gave, or raised."""
        if self._task.loop != current_token():
            return await self._work()  # the loop that the task is in may never run again
        done = await self._task.end()
        # Somebody may have cancelled every task there is, as the end of an event loop does.
        return done.result() if done.done() else await self._work()


class _Task(Generic[T]):
    """A task of asyncio or trio that outlives the block that began it."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self.loop = current_token()
        self._done: Future[T] = Future()
        self._end = anyio.Event()
        self._scope = anyio.CancelScope()
        self._call_soon = self._start(lambda: self._see_through(work))

    async def end(self) -> "Future[T]":
        """Wait until it has ended; what it gave is there unless it was cancelled."""
        await self._end.wait()
        return self._done

    def cancel_soon(self) -> None:
        """Cancel it from whatever thread; a loop that has ended has done so already."""
        with suppress(RuntimeError):
            self._call_soon(self._scope.cancel)

    async def _see_through(self, work: Callable[[], Awaitable[T]]) -> None:
        try:
            with self._scope:
                self._done.set_result(await work())
        except Exception as error:
            self._done.set_exception(error)
        finally:
            self._end.set()

    def _start(self, run: Callable[[], Coroutine[object, object, None]]) -> "_CallSoon":
        """Run it in the event loop of whoever is running, and say how to reach that loop."""
        loop = self.loop.native_token
        if isinstance(loop, asyncio.AbstractEventLoop):
            task = loop.create_task(run())
            _TASKS.add(task)
            task.add_done_callback(_TASKS.discard)
            # A task that is cancelled before its first step runs none of its own code.
            task.add_done_callback(lambda _: self._end.set())
            return loop.call_soon_threadsafe
        import trio

        trio.lowlevel.spawn_system_task(run, context=copy_context())
        return trio.lowlevel.current_trio_token().run_sync_soon


_CallSoon = Callable[[Callable[[], None]], object]
_TASKS: set[asyncio.Task[None]] = set()  # asyncio itself does not keep them alive
