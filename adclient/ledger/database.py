"""The connections to databases of ledgers and of gates, and how long to wait for others."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Literal
from weakref import WeakSet, finalize

from adclient._tasks.clock import monotonic
from adclient.ledger.entry import WAIT_UNTIL
from adclient.ledger.transaction import DatabaseConnection

_everywhere: WeakSet["IdleConnections"] = WeakSet()
_leaked_on_purpose: list[object] = []  # closing a parent's connection could disturb the parent


class IdleConnections:
    """Connections to one database that wait for their next use, in any thread of this process.

    There is no lock: the methods of a list are atomic. One is kept open while there is a reason,
    or else none.
    """

    def __init__(self, *, is_kept: bool = False) -> None:
        self._idle: list[
            tuple[int, DatabaseConnection]
        ] = []  # each with the process that opened it
        self._reasons = ["its owner"] if is_kept else []
        # Unlike `__del__`, it runs before those of the connections, which warn if they are open.
        finalize(self, _close, self._idle)
        _everywhere.add(self)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Keep one open in this block."""
        self._reasons.append("a block")
        try:
            yield
        finally:
            self._reasons.pop()
            if not self._reasons:
                self.close()

    def take(self) -> DatabaseConnection | None:
        """Take a connection for its next use; None if there is none."""
        return _taken(self._idle)

    @contextmanager
    def using(self, connection: DatabaseConnection) -> Generator[None]:
        """Use a connection in this block; an error closes it, which rolls back."""
        try:
            yield
        except BaseException:
            connection.close()
            raise
        self._idle.append((os.getpid(), connection))
        _close(self._idle, most=1 if self._reasons else 0)

    def close(self) -> None:
        """Close them; later uses open others."""
        _close(self._idle)


def _taken(idle: list[tuple[int, DatabaseConnection]]) -> DatabaseConnection | None:
    with suppress(IndexError):
        while True:
            pid, connection = idle.pop()
            if pid == os.getpid():
                return connection
            _leaked_on_purpose.append(connection)
    return None


def _close(idle: list[tuple[int, DatabaseConnection]], most: int = 0) -> None:
    while len(idle) > most and (connection := _taken(idle)) is not None:
        connection.close()


def _close_everywhere() -> None:
    for connections in [*_everywhere]:
        connections.close()


# A child must not use them, and SQLite in it would assume that it has the locks of its parent.
if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(before=_close_everywhere)


Mode = Literal["read", "write", "create"]  # `create` writes, too

BUSY_SECONDS = 5
LOCKED = "another user has locked it"
MISSING = "it does not exist; the first write of a client creates it"


def machine_time() -> datetime:
    """The time by the clock of this machine."""
    return datetime.now(UTC)


def seconds_left() -> float:
    """Seconds to wait until another user unlocks the database."""
    return max(0.0, min(BUSY_SECONDS, WAIT_UNTIL.get() - monotonic()))
