"""The token that a client keeps: whether it is good, due for a refresh, or failed to come."""

from copy import copy
from math import inf
from types import TracebackType

import attrs

from adclient._core.auth import AuthHeaders, Token, bearer
from adclient.errors import AdClientError

EARLY = 60.0  # seconds before its end in which a token is refreshed, or a tenth of a shorter life
EARLY_PAUSE = 10.0  # seconds from one early refresh to the next, or from one 401 to the next
PAUSE = 1.0  # seconds in which the function is not called again after it has failed


@attrs.define(eq=False, repr=False)
class _KeptToken:
    """A token, and the number of the call that fetched it."""

    auth: AuthHeaders
    number: int
    expires_at: float
    refresh_at: float
    renewed_at: float  # when it replaced a token that was refused
    is_refused: bool = False


@attrs.frozen(eq=False, repr=False)
class _FailedCall:
    """What a call of the function raised, when it did, and the number of the call."""

    error: Exception
    traceback: TracebackType | None
    number: int
    at: float


class TokenCache:
    """What the `token` function of a client returned or raised last, without any I/O.

    `now` is the time of the wall clock. `since` is what `count` was when a caller began to wait
    for another one: what the function returned or raised later is the result for both of them,
    even if that token has expired already.
    """

    def __init__(self) -> None:
        self.count: int = 0  # calls of the function that have ended
        self.is_plain: bool = False  # it returns a `str`, which is not kept
        self._token: _KeptToken | None = None
        self._failed: _FailedCall | None = None

    def get(self, now: float, since: int) -> AuthHeaders | None:
        """The kept token, or the last error raised; None if the function has to be called."""
        token, failed = self._token, self._failed
        if token is not None and not token.is_refused:
            is_awaited = token.number > since
            if is_awaited or now < token.expires_at:
                return token.auth
        # It may seem to have failed in the future, if the clock was set back.
        if failed is None or not (failed.number > since or 0 <= now - failed.at < PAUSE):
            return None
        # An error of this library has attributes of one call, such as its cursor.
        is_ours = isinstance(failed.error, AdClientError)
        error = copy(failed.error) if is_ours else failed.error
        raise error.with_traceback(failed.traceback)

    def is_due(self, now: float, since: int) -> bool:
        """Check if the kept token should be refreshed, although it is still good."""
        token = self._token
        return token is not None and token.number <= since and now >= token.refresh_at

    def begin_refresh(self, now: float) -> None:
        """Note that a caller refreshes the token early, so that the others do not."""
        if self._token is not None:
            self._token.refresh_at = now + EARLY_PAUSE

    def refuse(self, auth: AuthHeaders, now: float) -> None:
        """Forget a token that the service has refused, unless it was replaced meanwhile.

        One that has just replaced a refused one is kept: some accounts may refuse any token.
        """
        token = self._token
        if token is None or token.auth is not auth:
            return
        if not 0 <= now - token.renewed_at < EARLY_PAUSE:
            token.is_refused = True

    def keep(self, returned: object, now: float) -> AuthHeaders:
        """Note what the function has returned."""
        auth, token, number = bearer(returned), None, self.count + 1
        if isinstance(returned, Token):
            end = inf if returned.expires_at is None else returned.expires_at
            is_renewal = self._token is not None and self._token.is_refused
            refresh_at = end - min(EARLY, (end - now) / 10)
            token = _KeptToken(auth, number, end, refresh_at, now if is_renewal else -inf)
        self.is_plain = token is None
        self._token, self._failed, self.count = token, None, number
        return auth

    def fail(self, error: Exception, now: float) -> None:
        """Note what the function has raised."""
        number = self.count + 1
        self._failed = _FailedCall(error, error.__traceback__, number, now)
        self.count = number
