"""Connections that wait for their next request."""

import time
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

_LONGEST_IDLE = 5.0


class Idle(Generic[T]):
    """A stack of them: the warmest is taken first, and the coldest expires."""

    def __init__(self) -> None:
        self._stack: deque[tuple[float, T]] = deque()

    def __len__(self) -> int:
        return len(self._stack)

    def push(self, connection: T) -> None:
        """Put a connection aside."""
        self._stack.append((time.monotonic(), connection))

    def pop(self) -> T | None:
        """Take the one that was put aside last."""
        try:
            return self._stack.pop()[1]
        except IndexError:
            return None

    def expired(self) -> T | None:
        """Take one that has been idle for too long, if there is one."""
        try:
            if self._stack[0][0] < time.monotonic() - _LONGEST_IDLE:
                return self._stack.popleft()[1]
        except IndexError:
            pass
        return None
