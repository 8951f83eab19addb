"""What is reset in a forked child."""

import os
from typing import Protocol
from weakref import WeakSet


class Resettable(Protocol):
    """What has state that a forked child must not share: connections, locks and threads."""

    def reset_after_fork(self) -> None:
        """Drop what belongs to the parent."""


RESETTABLE: WeakSet[Resettable] = WeakSet()


def reset_all() -> None:
    """Reset all of these."""
    for each in list(RESETTABLE):
        each.reset_after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (there is none on Windows)
    os.register_at_fork(after_in_child=reset_all)
