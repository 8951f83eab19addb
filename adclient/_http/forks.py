"""Reset in a forked child: connections, locks and threads belong to the parent."""

import os
import weakref
from typing import Protocol


class Resettable(Protocol):
    """An object with state that a forked child must not share."""

    def reset_after_fork(self) -> None:
        """Drop what belongs to the parent, without closing it."""
        ...


_leaked_on_purpose: list[object] = []


def leak(*things: object) -> None:
    """Keep objects of a parent process alive: closing them in the child could affect the parent."""
    _leaked_on_purpose.extend(things)


_RESETTABLE: weakref.WeakSet[Resettable] = weakref.WeakSet()


def register_for_forks(thing: Resettable) -> None:
    """Reset an object in each forked child, as long as it lives."""
    _RESETTABLE.add(thing)


def reset_all() -> None:
    """Reset every registered object."""
    for thing in list(_RESETTABLE):
        thing.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(after_in_child=reset_all)
