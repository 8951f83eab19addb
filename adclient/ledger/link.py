"""The connection of a ledger to its database, which does not cross a fork."""

# Fork hooks run last in, first out, so `logging` must register its own before ours. Otherwise it
# would hold its lock while ours waits for a transaction whose driver may log.
import logging as logging
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import RLock

from adclient.ledger.rows import DatabaseConnection


class Link:
    """The connection of one ledger, if it is open; its users hold the lock."""

    def __init__(self) -> None:
        self.lock: RLock = RLock()  # reentrant: a thread that forks in a use would wait for itself
        self.connection: DatabaseConnection | None = None
        with _OPENING:  # a fork iterates over the links, and must not miss one
            _LINKS.add(self)

    def __del__(self) -> None:
        self.close()

    def open(self, connect: Callable[[], DatabaseConnection]) -> DatabaseConnection:
        """The open connection, or a new one."""
        if self.connection is None:
            with _OPENING:
                self.connection = connect()
        return self.connection

    def close(self) -> None:
        """Close the connection, which rolls back what is not committed."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # an error may be why it is closed
                connection.close()


# With an inherited connection, SQLite in a child assumes that it has the locks of its parent, also
# for new connections, and loses rows. So all are closed before a fork; none is opened meanwhile.
_LINKS: weakref.WeakSet[Link] = weakref.WeakSet()
_OPENING = RLock()
_FORKING = RLock()
_held: set[Link] = set()


def _before_fork() -> None:
    _FORKING.acquire()  # one fork at a time
    _OPENING.acquire()
    while waiting := set(_LINKS) - _held:  # until none is left: another may be made meanwhile
        _OPENING.release()  # a thread that waits for it holds the lock of a link
        for link in waiting:
            _held.add(link)
            link.lock.acquire()  # once its transaction has ended
            link.close()
        _OPENING.acquire()


def _after_fork() -> None:
    # In the child, the thread that forked goes on as the owner of the locks.
    locks = [_OPENING, *(link.lock for link in _held), _FORKING]
    _held.clear()
    for lock in locks:
        with suppress(RuntimeError):  # an interrupt came before it was acquired
            lock.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
