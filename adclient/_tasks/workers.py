"""Runs several pieces of work beside the caller, who takes the results as they finish."""

import os
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Generic, NoReturn, TypeVar

import anyio
from anyio.lowlevel import current_token

from adclient._tasks.background import BackgroundTask, run_into

T = TypeVar("T")


class Workers(Generic[T]):
    """Runs each piece of work in a thread of its own; if none can start, `next()` runs it.

    Attributes:
        pending: How many results were not taken yet.
    """

    def __init__(self) -> None:
        self.pending = 0
        self._results: SimpleQueue[Callable[[], T]] = SimpleQueue()
        self._process = os.getpid()

    def start(self, work: Callable[[], T]) -> None:
        """Start a piece of work, with the context variables of the caller."""
        in_context = copy_context().run
        self.pending += 1
        try:
            Thread(
                target=in_context,
                args=(_run, work, self._results),
                name="adclient-worker",
                daemon=True,  # a request must not keep the interpreter from exiting
            ).start()
        except RuntimeError:  # the interpreter has no threads, or too many
            self._results.put(partial(in_context, work))

    def next(self) -> T:
        """Wait for the next result, and return it or raise its error."""
        if os.getpid() != self._process:  # pragma: no cover (a forked child is not measured)
            raise RuntimeError(
                "this iteration began before a fork, which its threads do not survive"
            )
        result = self._results.get()
        self.pending -= 1
        return result()

    def stop(self) -> None:
        """Make a pending `next()` raise an error; the threads end by themselves."""
        self._results.put(_raise_stopped)


def _run(work: Callable[[], T], results: SimpleQueue[Callable[[], T]]) -> None:
    done: Future[T] = Future()
    run_into(done, work)
    results.put(done.result)


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
