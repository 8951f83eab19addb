"""What a child process must not share with its parent."""

import os
import weakref
from typing import Protocol


class Forgetful(Protocol):
    """Something that can begin again without what it has."""

    def forget(self) -> None:
        """Leave alone what belongs to the parent process."""
        ...


_FORGETFUL: weakref.WeakSet[Forgetful] = weakref.WeakSet()


def forget_after_fork(thing: Forgetful) -> None:
    """Let a thing begin again in each child process."""
    _FORGETFUL.add(thing)


def forget_all() -> None:
    """A child process must not speak on its parent's connections, nor wait for its threads."""
    for thing in list(_FORGETFUL):
        thing.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(after_in_child=forget_all)
