"""What is reset in a forked child."""

import os
import weakref
from typing import Protocol


class Resettable(Protocol):
    """An object with state that a forked child must not share: connections, locks and threads."""

    def reset_after_fork(self) -> None:
        """Drop what belongs to the parent."""


RESETTABLE: weakref.WeakSet[Resettable] = weakref.WeakSet()


def reset_all() -> None:
    """Reset every registered object."""
    for thing in list(RESETTABLE):
        thing.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(after_in_child=reset_all)
