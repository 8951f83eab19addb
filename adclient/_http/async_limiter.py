"""Limits the concurrent requests of an async client on each event loop."""

import anyio
from anyio.lowlevel import RunVar

from adclient._http.forks import RESETTABLE


class AsyncCapacityLimiter:
    """Gives out `total` slots on each event loop, first come, first served."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.lines: dict[str, AsyncCapacityLimiter] = {}
        self.reset_after_fork()
        RESETTABLE.add(self)

    def line(self, key: str) -> "AsyncCapacityLimiter":
        """The limiter of the calls that have a turn at a gate, as many as have slots."""
        return self.lines.get(key) or self.lines.setdefault(key, AsyncCapacityLimiter(self.total))

    def reset_after_fork(self) -> None:
        """Free all slots: a forked child has none of its parent's tasks."""
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
