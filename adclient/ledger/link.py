"""The connection of a ledger to its database, which does not cross a fork."""

import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import RLock

from adclient.ledger.rows import Connection


class Link:
    """The connection of one ledger, if one is open; whoever uses it holds the lock."""

    def __init__(self) -> None:
        self.lock: RLock = RLock()
        self.connection: Connection | None = None
        _LINKS.add(self)

    def __del__(self) -> None:
        self.close()

    def open(self, connect: Callable[[], Connection]) -> Connection:
        """The open connection, or a new one."""
        if self.connection is None:
            with _FORKING:
                self.connection = connect()
        return self.connection

    def close(self) -> None:
        """Close the connection, which rolls back what is not committed."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


# Even a connection of its own would make SQLite in a child believe that it holds the locks of its
# parent, and lose rows. So all are closed before a fork, and none is opened meanwhile.
_LINKS: weakref.WeakSet[Link] = weakref.WeakSet()
_FORKING = RLock()
_held: list[Link] = []


def _before_fork() -> None:
    _FORKING.acquire()
    for link in list(_LINKS):
        link.lock.acquire()  # when its transaction has ended
        link.close()
        _held.append(link)


def _after_fork() -> None:
    while _held:
        _held.pop().lock.release()
    _FORKING.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
