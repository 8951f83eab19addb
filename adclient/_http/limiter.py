"""How many requests of a sync client may be under way at once; whoever waits longest is next."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, repeat, starmap
from queue import Empty, SimpleQueue

from adclient._http.forks import register_for_forks

# An interrupt may hit a thread after it left the queue and before it woke the next one.
_RECHECK = 0.5
_ONCE = ((),)
_BOTTOM = object()  # below the slot in a list: popping it ends a release
_nothing = partial(any, ())


class CapacityLimiter:
    """So many slots, first come, first served.

    A semaphore of the standard library may give a slot to a thread that has not waited at all.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self.reset_after_fork()
        register_for_forks(self)

    def __str__(self) -> str:
        return f"max_concurrency is {self._total}"

    def reset_after_fork(self) -> None:
        """Free all slots: a forked child has none of its parent's threads."""
        # Slots that were never used are made on demand: a client may allow any number of them.
        self.unused: Iterator[None] = repeat(None, min(self._total, sys.maxsize))
        self.free: SimpleQueue[object] = SimpleQueue()
        self.queue: deque[threading.Lock] = deque()
        # Its `held` is that of the thread's outermost slot.
        self.thread: threading.local = threading.local()


class Slot:
    """A place among the requests that are under way, once it is acquired.

    Python handles signals between bytecodes. So what counts as the slot moves from one container
    to the other within a single C call, `release`; else an interrupt could lose it for good.
    Releasing it twice, or before it was acquired, does nothing.

    A hook that calls the client again has the slot of its call: it is called before that request
    is sent or after its response was read, so no more requests are under way. Waiting for another
    slot could last forever.
    """

    __slots__ = ("_free", "_queue", "_thread", "_unused", "release")

    def __init__(self, limiter: CapacityLimiter) -> None:
        self._unused = limiter.unused
        self._free = limiter.free
        self._queue = limiter.queue
        self._thread = limiter.thread
        self.release: Callable[[], object] = _nothing

    def acquire(self, timeout: float) -> bool:
        """Wait for the slot; False if none was free within so many seconds."""
        if len(getattr(self._thread, "held", ())) > 1:
            return True
        held: list[object] = [_BOTTOM]
        self._thread.held = held
        self.release = partial(any, map(self._free.put, iter(held.pop, _BOTTOM)))
        if not self._queue:  # a new caller must not overtake the queue
            try:
                held.extend(starmap(self._free.get_nowait, _ONCE))
                return True
            except Empty:
                held.extend(islice(self._unused, 1))  # also within one C call
                if len(held) > 1:
                    return True
        return self._acquire_in_turn(held, timeout)

    def _acquire_in_turn(self, held: list[object], timeout: float) -> bool:
        """Wait in the queue; only its first thread may take a slot."""
        queue, deadline = self._queue, time.monotonic() + timeout
        turn = threading.Lock()  # released by the thread before this one as it leaves
        turn.acquire()
        leave = partial(queue.remove, turn)
        try:
            queue.append(turn)
            while queue[0] is not turn:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                turn.acquire(timeout=min(left, _RECHECK))
            left = max(0.0, deadline - time.monotonic())
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
