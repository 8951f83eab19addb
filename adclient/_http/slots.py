"""How many may send at once."""

import threading
from collections import deque


class Slots:
    """So many slots; who has waited longest for one is next.

    A semaphore of the standard library may give a slot to a thread that has not waited at all.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[threading.Lock] = deque()  # each is released when its turn has come
        self._changing = threading.Lock()

    def acquire(self, timeout: float) -> bool:
        """Take a slot; False if none was free within so many seconds."""
        with self._changing:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        try:
            return turn.acquire(timeout=timeout) or not self._is_withdrawn(turn)
        except BaseException:  # an interrupt from the keyboard
            if not self._is_withdrawn(turn):
                self.release()
            raise

    def release(self) -> None:
        """Give a slot to whoever is next."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1

    def _is_withdrawn(self, turn: threading.Lock) -> bool:
        """Wait no longer; False if the turn has come meanwhile."""
        with self._changing:
            if turn not in self._waiting:
                return False
            self._waiting.remove(turn)
            return True
