"""The connection of a ledger to its database, which does not cross a fork."""

# Imported for its own function before a fork. That of whatever is imported last runs first, and so
# would hold the lock of all logs while it waits for a link whose driver writes one.
import logging as logging
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
            with _OPENING:
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
_OPENING = RLock()
_FORKING = RLock()
_held: set[Link] = set()


def _before_fork() -> None:
    _FORKING.acquire()  # one fork after the other
    _OPENING.acquire()
    while waiting := set(_LINKS) - _held:
        _OPENING.release()  # whoever waits for it holds the lock of a link
        for link in waiting:
            _held.add(link)
            link.lock.acquire()  # when its transaction has ended
            link.close()
        _OPENING.acquire()


def _after_fork() -> None:
    locks = [_OPENING, *(link.lock for link in _held), _FORKING]
    _held.clear()
    for lock in locks:
        with suppress(RuntimeError):  # an interrupt came before it was acquired
            lock.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
