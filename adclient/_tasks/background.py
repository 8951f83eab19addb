"""Work beside the caller: in threads and tasks of its own, and blocking work of async code."""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

import anyio
from anyio.lowlevel import EventLoopToken, RunVar, current_token

if TYPE_CHECKING:
    import trio

T = TypeVar("T")


class WorkLostError(RuntimeError):
    """The results of work that was started cannot be taken, or not here."""


class BackgroundTask(Generic[T]):
    """Runs work in a task of its own, on asyncio or trio, which outlives the block around it.

    Cancelling a caller who waits does not cancel the work. `on_end` is called once with this
    task, after the work has ended in any way: before the constructor returns, if the work waits
    for nothing and starts at once. That is what an `eager` task does on asyncio since Python 3.12.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[T]],
        on_end: Callable[["BackgroundTask[T]"], None] | None = None,
        *,
        eager: bool = False,
    ) -> None:
        self.loop = current_token()
        self._on_end = on_end
        # No future: that of asyncio warns of an error that nobody retrieves, the other one is slow.
        self._returned: tuple[T] | None = None
        self.error: BaseException | None = None  # which the work raised, and `result()` raises
        self.ended = anyio.Event()  # by success, error or cancellation
        self.scope = anyio.CancelScope()
        loop = self.loop.native_token
        if isinstance(loop, asyncio.AbstractEventLoop):
            _TASKS.add(self)
            run = self._run(work)
            self._task = asyncio.Task(run, loop=loop, **_EAGER) if eager else loop.create_task(run)
            # A task that is cancelled before its first step runs none of its own code.
            self._task.add_done_callback(self._on_done)
        else:
            import trio

            # A nursery of the caller would cancel the task together with the caller.
            trio.lowlevel.spawn_system_task(self._run, work, context=copy_context())

    def result(self) -> T:
        """The value of the work that has ended, or its error.

        Raises:
            anyio.ClosedResourceError: The task was cancelled, as all are when an event loop ends.
        """
        if self.error is not None:
            raise self.error
        if self._returned is None:
            raise anyio.ClosedResourceError
        return self._returned[0]

    def cancel_soon(self) -> None:
        """Cancel it, from any thread."""
        _call_soon(self.loop, self.scope.cancel)

    async def _run(self, work: Callable[[], Awaitable[T]]) -> None:
        cancelled = anyio.get_cancelled_exc_class()
        try:
            with self.scope:
                self._returned = (await work(),)
        except cancelled:
            raise
        except BaseException as error:
            self.error = error  # for the caller of `result()`, not for the loop
        finally:
            self._on_done()

    def _on_done(self, _: object = None) -> None:
        _TASKS.discard(self)
        self.ended.set()
        on_end, self._on_end = self._on_end, None  # what it refers to may refer to this task
        if on_end is not None:
            on_end(self)


_TASKS: set[BackgroundTask[Any]] = set()  # asyncio itself keeps only weak references
_EAGER: dict[str, Any] = {"eager_start": True} if sys.version_info >= (3, 12) else {}


class Workers(Generic[T]):
    """Runs each piece of work in a thread of its own.

    Where no thread can start, `next()` does the work.

    Attributes:
        pending: How many results were not taken yet.
    """

    def __init__(self) -> None:
        self.pending = 0
        self._process = os.getpid()
        # What returns or raises the result of each piece that has ended, or cannot start.
        self._ended: deque[Callable[[], T]] = deque()
        # Tokens only, so that an interrupt just after one was taken loses no result.
        self._wake: SimpleQueue[None] = SimpleQueue()

    def start(self, work: Callable[[], T]) -> None:
        """Start a piece of work, with the context variables of the caller."""
        self.pending += 1
        context, done = copy_context(), Future[T]()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # also a SystemExit
                done.set_exception(error)
            self._put(done.result)

        # A request must not keep the interpreter from exiting, so it is a daemon.
        thread = Thread(target=context.run, args=(run,), name="adclient-worker", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or has no threads
            self._put(partial(context.run, work))

    def next(self) -> T:
        """Wait for the next result, and return it or raise its error."""
        if os.getpid() != self._process:  # pragma: no cover (a forked child is not measured)
            raise WorkLostError(
                "this iteration began before a fork, which its threads do not survive"
            )
        while not self._ended:
            self._wake.get()
        self.pending -= 1
        return self._ended.popleft()()

    def stop(self) -> None:
        """Make a pending `next()` raise an error; the threads end by themselves."""
        self._put(_raise_stopped)

    def _put(self, take: Callable[[], T]) -> None:
        self._ended.append(take)
        self._wake.put(None)


class AsyncWorkers(Generic[T]):
    """Runs each piece of work in a task of its own.

    The tasks outlive the block around them: `stop()` cancels them.
    """

    def __init__(self) -> None:
        self._loop = current_token()
        self._tasks: set[BackgroundTask[T]] = set()
        self._ended: deque[BackgroundTask[T]] = deque()
        self._ready = anyio.Semaphore(0)  # counts these

    @property
    def pending(self) -> int:
        """How many results were not taken yet."""
        return len(self._tasks)

    def start(self, work: Callable[[], Awaitable[T]]) -> None:
        """Start a piece of work, with the context variables of the caller."""
        self._tasks.add(BackgroundTask(work, self._put))

    def _put(self, task: BackgroundTask[T]) -> None:
        self._ended.append(task)
        self._ready.release()

    async def next(self) -> T:
        """Wait for the next result, and return it or raise its error."""
        if current_token() != self._loop:
            self.stop()
            raise WorkLostError("the tasks of this iteration belong to another event loop")
        await self._ready.acquire()  # a cancellation takes nothing
        task = self._ended.popleft()
        self._tasks.remove(task)
        try:
            return task.result()
        except anyio.ClosedResourceError:
            _raise_stopped()

    def stop(self) -> None:
        """Cancel all tasks, from any thread."""
        for task in self._tasks:
            task.cancel_soon()

    async def wait(self) -> None:
        """Wait until all tasks have ended."""
        if current_token() == self._loop:  # another loop may never run again
            for task in [*self._tasks]:
                await task.ended.wait()


def _raise_stopped() -> NoReturn:
    raise WorkLostError("the iteration was closed while it waited for an account")


async def run_in_thread(work: Callable[[], T], undo: Callable[[], object] | None, name: str) -> T:
    """Run blocking work in a thread of this event loop, in the order in which it is started.

    If the caller is cancelled, the work still runs. With `undo`, it is dropped if it has not
    begun, and undone after it has succeeded.
    """
    if (executors := _EXECUTORS.get(None)) is None:
        _EXECUTORS.set(executors := {})
    if (executor := executors.get(name)) is None:
        # One thread, so that the end of a write is recorded after its reservation.
        executor = executors[name] = ThreadPoolExecutor(1, name)
    loop, done = current_token(), anyio.Event()
    future = executor.submit(copy_context().run, work)
    # An event of anyio may only be set in its own event loop.
    future.add_done_callback(lambda _: _call_soon(loop, done.set))
    try:
        await done.wait()
    except BaseException:
        if undo is not None and not future.cancel():

            def undo_success() -> None:
                if future.exception() is None:
                    undo()

            executor.submit(copy_context().run, undo_success)
        raise
    return future.result()


# Of each loop: a thread does not survive a fork, and neither does a loop.
_EXECUTORS: RunVar[dict[str, ThreadPoolExecutor]] = RunVar("adclient_executors")


def _call_soon(token: EventLoopToken, function: Callable[[], None]) -> None:
    """Call a function in an event loop, from any thread; not in one that has ended."""
    loop = token.native_token
    with suppress(RuntimeError):  # it has ended, and so have its tasks
        if isinstance(loop, asyncio.AbstractEventLoop):
            loop.call_soon_threadsafe(function)
        else:
            cast("trio.lowlevel.TrioToken", loop).run_sync_soon(function)
