# Generated from ../_async by tools/make_twin.py: change it there.
"""The token of a client whose `token` is a function."""

import logging
from collections.abc import Callable

from adclient._core.auth import AuthHeaders, TokenCache
from adclient._core.events import write_log
from adclient._http.slots import CapacityLimiter, Slot
from adclient._tasks.clock import in_time


class TokenFetcher:
    """Calls the `token` function of a client, and keeps a `Token` that it returns.

    One caller at a time does so. The others wait for it, or go on with the old token. If that one
    is cancelled or runs out of time, the next one calls the function.
    """

    def __init__(self, function: Callable[[], object], wall_time: Callable[[], float]) -> None:
        self._function = function
        self._now = wall_time
        self.cache: TokenCache = TokenCache()
        # A lock with a timeout, which forks, interrupts and cancelled tasks leave free.
        self._lock = CapacityLimiter(1)

    def fetch(self, seconds: float, refused: AuthHeaders) -> AuthHeaders | None:
        """The headers with a token that was not `refused`; None if waiting took too long."""
        cache = self.cache
        cache.refuse(refused, self._now())
        old = cache.get(self._now())
        if old is not None and not cache.is_due(self._now()):
            return old
        if not cache.is_plain:
            slot = Slot(self._lock)
            try:
                is_alone = slot.acquire(seconds if old is None else 0.0)
                # Another caller may have called the function meanwhile.
                kept = cache.get(self._now()) or old
                if not is_alone or (kept is not None and not cache.is_due(self._now())):
                    return kept
                if kept is not None:
                    return self._refresh(kept, seconds)
                if not cache.is_plain:
                    return self._call()
            finally:
                slot.release()
        return self._call()  # for each request, so nobody waits for another caller

    def _refresh(self, old: AuthHeaders, seconds: float) -> AuthHeaders:
        """A new token, or the old one if that fails: it is still good."""
        self.cache.begin_refresh(self._now())
        new, problem = None, "it took too long"
        try:
            # At most half of the time that the call has, which may go on with the old token.
            new = in_time(seconds / 2, self._call)
        except Exception as error:
            problem = type(error).__name__  # its text may contain secrets
        if new is None:
            line = f"the token could not be refreshed early ({problem}); the old one is used"
            write_log(logging.WARNING, line)
        return new or old

    def _call(self) -> AuthHeaders:
        """Call the function, and note what it returns or raises."""
        try:
            token = self._function()
            return self.cache.keep(token, self._now())
        except Exception as error:
            if not self.cache.is_plain:
                self.cache.fail(error, self._now())
            raise
