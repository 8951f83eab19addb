"""Limits the concurrent requests of a client, first come, first served."""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import starmap
from queue import Empty, SimpleQueue
from typing import Self

import anyio
from anyio.lowlevel import RunVar

from adclient._tasks.clock import monotonic
from adclient._tasks.forks import RESETTABLE

# Seconds between looks at the queue: an interrupted thread may leave without waking the next.
_RECHECK = 0.5
_MOST = 10_000  # more threads than a process has
_ONCE = ((),)  # one call, without arguments
_BOTTOM = object()  # below the slot in a list: popping it ends a release
_nothing = partial(any, ())


class _Limiter(ABC):
    """The base of `CapacityLimiter` and its async twin."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.lines: dict[str, Self] = {}
        self.reset_after_fork()
        RESETTABLE.add(self)

    def line(self, key: str) -> Self:
        """The limiter of the calls that have a turn at a gate, as many as have slots."""
        return self.lines.get(key) or self.lines.setdefault(key, type(self)(self.total))

    @abstractmethod
    def reset_after_fork(self) -> None:
        """Free all slots: a forked child has none of its parent's threads and tasks."""


class CapacityLimiter(_Limiter):
    """Gives out `total` slots, first come, first served.

    A semaphore of the standard library may give a slot to a thread that has not waited at all.
    """

    def reset_after_fork(self) -> None:
        self.free: SimpleQueue[object] = SimpleQueue()
        for _ in range(min(self.total, _MOST)):
            self.free.put(None)
        self.queue: deque[threading.Lock] = deque()
        # `thread.held` is the list of the thread's outermost slot.
        self.thread: threading.local = threading.local()


class Slot:
    """Permission for one request at a time, once it is acquired.

    Python handles signals between bytecodes, so an interrupt could lose a slot for good. To
    prevent that, the object that represents the slot moves between containers in one C call.
    Releasing it twice, or before it was acquired, does nothing.

    A hook that calls the client again uses the slot of its own call: waiting for another one could
    deadlock. The limit still holds, because hooks run before a request is sent or after its
    response was read.
    """

    __slots__ = ("_free", "_queue", "_thread", "release")
    place: "Slot | None" = None  # in the line for a turn at a gate

    def __init__(self, limiter: CapacityLimiter) -> None:
        self._free = limiter.free
        self._queue = limiter.queue
        self._thread = limiter.thread
        self.release: Callable[[], object] = _nothing

    @property
    def is_nested(self) -> bool:
        """Whether a call around this one, in the same thread, holds a slot."""
        return len(getattr(self._thread, "held", ())) > 1

    def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the slot; False if none was free."""
        if self.is_nested:
            return True
        held: list[object] = [_BOTTOM]
        self._thread.held = held
        # One C call pops what is held and puts it back: `any` runs on, as each `put` returns None,
        # until `_BOTTOM` is popped. A second release finds an iterator that has ended.
        self.release = partial(any, map(self._free.put, iter(held.pop, _BOTTOM)))
        if not self._queue:  # a new caller must not overtake the queue
            try:
                held.extend(starmap(self._free.get_nowait, _ONCE))
                return True
            except Empty:
                pass
        return self._acquire_in_turn(held, timeout)

    def _acquire_in_turn(self, held: list[object], timeout: float) -> bool:
        """Wait in the queue, of which only the first thread may take a slot."""
        queue, deadline = self._queue, monotonic() + timeout
        turn = threading.Lock()  # released by the thread before this one as it leaves
        turn.acquire()
        leave = partial(queue.remove, turn)
        try:
            queue.append(turn)
            while queue[0] is not turn:
                left = deadline - monotonic()
                if left <= 0:
                    return False
                turn.acquire(timeout=min(left, _RECHECK))
            left = max(0.0, deadline - monotonic())
            held.extend(map(self._free.get, (True,), (left,)))
            return True
        except Empty:
            return False
        finally:
            try:
                leave()
                queue[0].release()
            except (ValueError, IndexError, RuntimeError):
                pass  # not queued yet; nobody waits; the next is awake


class AsyncCapacityLimiter(_Limiter):
    """Gives out `total` slots on each event loop, first come, first served."""

    def reset_after_fork(self) -> None:
        # A semaphore must not refer to its loop, which it would keep alive.
        self.semaphores: RunVar[anyio.Semaphore] = RunVar("adclient-slots")


class AsyncSlot:
    """Permission for one request at a time, once it is acquired.

    Releasing it twice, or before it was acquired, does nothing.
    """

    __slots__ = ("_is_held", "_semaphore")
    is_nested = False
    place: "AsyncSlot | None" = None  # in the line for a turn at a gate

    def __init__(self, limiter: AsyncCapacityLimiter) -> None:
        semaphore = limiter.semaphores.get(None)
        if semaphore is None:
            semaphore = anyio.Semaphore(limiter.total, fast_acquire=True)
            limiter.semaphores.set(semaphore)
        self._semaphore = semaphore
        self._is_held = False

    async def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the slot; False if none was free."""
        try:  # a free slot should not cost a turn of the event loop
            self._semaphore.acquire_nowait()
            self._is_held = True
        except anyio.WouldBlock:
            with anyio.move_on_after(timeout):
                await self._semaphore.acquire()
                self._is_held = True
        return self._is_held

    def release(self) -> None:
        """Give the slot back."""
        if self._is_held:
            self._is_held = False
            self._semaphore.release()
