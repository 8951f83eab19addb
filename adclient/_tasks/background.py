"""Work beside the caller: in threads and tasks of its own, and blocking work of async code."""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

import anyio
from anyio.lowlevel import EventLoopToken, RunVar, checkpoint, current_token

if TYPE_CHECKING:
    import trio

T = TypeVar("T")


class BackgroundThread(Generic[T]):
    """Runs work in a thread of its own; if none can start, `result()` runs the work.

    `on_end` is called once with this thread, after the work has ended, or if it cannot start.
    Without a call of `result()`, the work runs to its end, and its result is dropped.
    """

    def __init__(
        self,
        work: Callable[[], T],
        on_end: Callable[["BackgroundThread[T]"], None] | None = None,
        name: str = "adclient-prefetch",
    ) -> None:
        self._work, self._on_end = work, on_end
        self._done: Future[T] = Future()
        self._process = os.getpid()
        context = copy_context()  # hooks see the context variables of the caller
        # A request must not keep the interpreter from exiting, so it is a daemon.
        self._thread = Thread(target=context.run, args=(self._run,), name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter ends, or has no threads
            self._ended()

    def result(self) -> T:
        """Wait for the work, and return its value or raise its error."""
        # It has no `ident` if it could not start, and in a forked child it is gone. Not `join()`:
        # before Python 3.13, a Ctrl-C in it marks a running thread as ended.
        is_here = self._thread.ident is not None and self._process == os.getpid()
        is_done = is_here or self._done.done()
        return self._done.result() if is_done else copy_context().run(self._work)

    @property
    def has_failed(self) -> bool:
        """True if the work raised an error, which `result()` would raise again."""
        return self._done.done() and self._done.exception() is not None

    def _run(self) -> None:
        try:
            self._done.set_result(self._work())
        except BaseException as error:  # also a SystemExit, or `result()` would repeat the work
            self._done.set_exception(error)
        self._ended()

    def _ended(self) -> None:
        if self._on_end is not None:
            self._on_end(self)


Prefetch = BackgroundThread


class AsyncPrefetch(Generic[T]):
    """Runs work in a task of its own, which is cancelled when the last reference is dropped."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._task = BackgroundTask(work)

    def __del__(self) -> None:  # in any thread, as the garbage collector may run it
        self._task.cancel_soon()

    async def result(self) -> T:
        """Wait for the work, and return its value or raise its error."""
        if self._task.loop != current_token():
            return await self._work()  # the task's loop may never run again
        try:
            return await self._task.result()
        except anyio.ClosedResourceError:  # such as a task that was cancelled before it started
            return await self._work()

    @property
    def has_failed(self) -> bool:
        """True if the work raised an error, which `result()` would raise again."""
        return self._task.error is not None


class BackgroundTask(Generic[T]):
    """Runs work in a task of its own, on asyncio or trio, which outlives the block around it.

    Cancelling a caller of `result()` does not cancel the work. `on_end` is called once with this
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
        self.has_ended = False  # in any way
        self._end: anyio.Event | None = None  # if somebody waits for it
        self.scope = anyio.CancelScope()
        loop = self.loop.native_token
        if isinstance(loop, asyncio.AbstractEventLoop):
            _TASKS.add(self)
            run = self._run(work)
            self._task = asyncio.Task(run, loop=loop, **_EAGER) if eager else loop.create_task(run)
            # A task that is cancelled before its first step runs none of its own code.
            self._task.add_done_callback(self._ended)
        else:
            import trio

            # A nursery of the caller would cancel the task together with the caller.
            trio.lowlevel.spawn_system_task(self._run, work, context=copy_context())

    async def result(self) -> T:
        """Wait for the work, and return its value or raise its error.

        Raises:
            anyio.ClosedResourceError: The task was cancelled, as all are when an event loop ends.
        """
        await self.wait()
        if self.error is not None:
            raise self.error
        if self._returned is None:
            raise anyio.ClosedResourceError
        return self._returned[0]

    async def wait(self) -> None:
        """Wait for the end: success, error or cancellation."""
        if self.has_ended:
            await checkpoint()
        else:
            self._end = self._end or anyio.Event()
            await self._end.wait()

    def cancel_soon(self) -> None:
        """Cancel it, from any thread."""
        with suppress(RuntimeError):  # the loop has ended, and cancelled it already
            _into_loop(self.loop)(self.scope.cancel)

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
            self._ended()

    def _ended(self, _: object = None) -> None:
        _TASKS.discard(self)
        self.has_ended = True
        on_end, self._on_end = self._on_end, None  # what it refers to may refer to this task
        if on_end is not None:
            on_end(self)
        if self._end is not None:
            self._end.set()


_TASKS: set[BackgroundTask[Any]] = set()  # asyncio itself keeps only weak references
_EAGER: dict[str, Any] = {"eager_start": True} if sys.version_info >= (3, 12) else {}


class Workers(Generic[T]):
    """Runs each piece of work in a thread of its own.

    Attributes:
        pending: How many results were not taken yet.
    """

    def __init__(self) -> None:
        self.pending = 0
        self._ended: SimpleQueue[BackgroundThread[T] | None] = SimpleQueue()
        self._process = os.getpid()

    def start(self, work: Callable[[], T]) -> None:
        """Start a piece of work, with the context variables of the caller."""
        self.pending += 1
        BackgroundThread(work, self._ended.put, "adclient-worker")

    def next(self) -> T:
        """Wait for the next result, and return it or raise its error."""
        if os.getpid() != self._process:  # pragma: no cover (a forked child is not measured)
            raise RuntimeError(
                "this iteration began before a fork, which its threads do not survive"
            )
        ended = self._ended.get()
        if ended is None:
            _raise_stopped()
        self.pending -= 1
        return ended.result()

    def stop(self) -> None:
        """Make a pending `next()` raise an error; the threads end by themselves."""
        self._ended.put(None)


class AsyncWorkers(Generic[T]):
    """Runs each piece of work in a task of its own.

    The tasks outlive the block around them: `stop()` cancels them.
    """

    def __init__(self) -> None:
        self._loop = current_token()
        self._tasks: set[BackgroundTask[T]] = set()
        self._ended: deque[BackgroundTask[T]] = deque()
        self._has_ended = anyio.Event()  # a task has

    @property
    def pending(self) -> int:
        """How many results were not taken yet."""
        return len(self._tasks)

    def start(self, work: Callable[[], Awaitable[T]]) -> None:
        """Start a piece of work, with the context variables of the caller."""
        self._tasks.add(BackgroundTask(work, self._end_of))

    def _end_of(self, task: BackgroundTask[T]) -> None:
        self._ended.append(task)
        self._has_ended.set()

    async def next(self) -> T:
        """Wait for the next result, and return it or raise its error."""
        if current_token() != self._loop:
            raise RuntimeError("the tasks of this iteration belong to another event loop")
        while not self._ended:
            self._has_ended = anyio.Event()
            await self._has_ended.wait()
        task = self._ended.popleft()
        self._tasks.remove(task)
        try:
            return await task.result()
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
                await task.wait()


def _raise_stopped() -> NoReturn:
    raise RuntimeError("the iteration was closed while it waited for an account")


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
    call_soon, done = _into_loop(current_token()), anyio.Event()

    def notify(_: object) -> None:
        # An event of anyio may only be set in its own event loop.
        with suppress(RuntimeError):  # the loop has ended
            call_soon(done.set)

    future = executor.submit(copy_context().run, work)
    future.add_done_callback(notify)
    try:
        await done.wait()
    except BaseException:
        if undo is not None and not future.cancel():
            executor.submit(copy_context().run, _call_after_success, undo, future)
        raise
    return future.result()


def _call_after_success(function: Callable[[], object], ended: "Future[T]") -> None:
    if ended.exception() is None:
        function()


# Of each loop: a thread does not survive a fork, and neither does a loop.
_EXECUTORS: RunVar[dict[str, ThreadPoolExecutor]] = RunVar("adclient_executors")


def _into_loop(token: EventLoopToken) -> Callable[[Callable[[], None]], object]:
    """Return what calls a function in an event loop, from any thread."""
    loop = token.native_token
    if isinstance(loop, asyncio.AbstractEventLoop):
        return loop.call_soon_threadsafe
    return cast("trio.lowlevel.TrioToken", loop).run_sync_soon
