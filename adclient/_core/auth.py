"""The credentials of a client, and the headers that carry them."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from types import TracebackType

import attrs

from adclient._core.request import Request
from adclient._show.signatures import public_in
from adclient._values.redact import Redactor
from adclient.errors import AdClientError, ConfigurationError
from adclient.options import ENV_TOKEN, check_headers, check_token, from_environment


@public_in("adclient")
@attrs.frozen(init=False, repr=False)
class Token:
    """A bearer token that a client keeps; returned by the function that you pass as `token`.

    Shortly before it expires, one call calls the function again, while the others go on with the
    old token. After it has expired, all wait for that one call. A token that the service refuses
    with a 401 is replaced, too.

    Attributes:
        value: The token, without `Bearer`. Its `repr` does not show it.
        expires_at: When it expires, in seconds since 1970, as of `time.time()`; an aware `datetime`
            may be passed. None, the default, if it is kept until the service refuses it.

    Raises:
        ConfigurationError: The token cannot be sent, or the time is naive, or a duration.

    Examples:
        >>> import time
        >>> from adclient import AdClient, Token
        >>> def fetch_token() -> Token:
        ...     issued = {"access_token": "t0ken", "expires_in": 3600}  # of your login server
        ...     return Token(issued["access_token"], expires_at=time.time() + issued["expires_in"])
        >>> client = AdClient("https://ads.example.com", token=fetch_token)
    """

    value: str = attrs.field(repr=False)  # rich shows the fields, not the `repr`
    expires_at: float | None

    def __init__(self, value: str, *, expires_at: datetime | float | None = None) -> None:
        try:
            object.__setattr__(self, "value", check_token(value))
            time: object = expires_at
            if isinstance(expires_at, datetime) and expires_at.utcoffset() is not None:
                time = expires_at.timestamp()
            if time is not None:
                # Milliseconds, or `expires_in`, would keep a token for ever, or not at all.
                if not isinstance(time, int | float) or not _EARLIEST < time < _LATEST:
                    raise ConfigurationError(_NO_TIME, argument="expires_at")
                time = float(time)
            object.__setattr__(self, "expires_at", time)
        except ConfigurationError:
            del value  # tracebacks can show local variables
            raise

    def __repr__(self) -> str:
        expires_at = getattr(self, "expires_at", None)  # missing in a traceback of the constructor
        if expires_at is None:
            return "Token(***)"
        return f"Token(***, expires_at={datetime.fromtimestamp(expires_at, UTC)})"


TokenSource = str | Callable[[], str | Token]
AsyncTokenSource = str | Callable[[], str | Token | Awaitable[str | Token]]
Auth = Callable[[Request], Mapping[str, str]]
AsyncAuth = Callable[[Request], Mapping[str, str] | Awaitable[Mapping[str, str]]]


_SCHEMES = ("apikey", "basic", "bearer", "key", "token")  # in whatever header
_SHORTEST = 6  # characters of a secret that is redacted wherever it stands
_EARLIEST, _LATEST = 1e8, 1e11  # seconds since 1970 that are a time: the years 1973 and 5138
_NO_TIME = "expires_at must be an aware datetime, or seconds since 1970, like time.time() + 3600"


@attrs.frozen(eq=False, repr=False)
class AuthHeaders:
    """The headers that carry credentials, and the redactor that keeps them out of errors."""

    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    redactor: Redactor = attrs.field(factory=Redactor)


NO_AUTH = AuthHeaders()


def no_credentials(_: Request) -> dict[str, str]:
    """The `auth` function for no credentials, also if the environment has a token."""
    return {}


@attrs.frozen(eq=False, repr=False)
class SecretHeader:
    """An `auth` function that sends secrets: one behind a scheme, if any, and further headers."""

    header: str
    scheme: str
    secret: str | Callable[[], str] | None
    further: Mapping[str, str] = attrs.field(factory=dict[str, str])

    def __call__(self, _: Request) -> dict[str, str]:
        """The headers; with the scheme `Basic`, the secret is `user:password`."""
        if self.secret is None:
            return {**self.further}
        text = self.secret if isinstance(self.secret, str) else self.secret()
        if self.scheme.lower() == "basic" and ":" in text:
            from base64 import b64encode  # deferred: few services use it

            text = b64encode(text.encode()).decode()
        return {**self.further, self.header: f"{self.scheme} {text}" if self.scheme else text}


@attrs.frozen(eq=False, repr=False)
class Credentials:
    """One of `token` and `auth`, or neither; never shown."""

    token: AsyncTokenSource | None = None
    auth: AsyncAuth | None = None

    def resolved(self) -> "Credentials":
        """Check these credentials; without any, take the token from the environment."""
        if self.token is None and self.auth is None:
            known = Credentials(from_environment(ENV_TOKEN))
            return self if known.token is None else known.resolved()
        if self.token is None and self.auth is no_credentials:
            return Credentials()
        if self.token is not None and self.auth is not None:
            raise ConfigurationError("pass token or auth, not both", argument="auth")
        if self.token is not None and not callable(self.token):
            check_token(self.token)
        if self.auth is not None and not callable(self.auth):
            raise ConfigurationError("auth must be a function", argument="auth")
        return self

    @cached_property
    def fixed(self) -> AuthHeaders | None:
        """The headers of every request, unless a function has to be called for them."""
        if self.auth is not None or callable(self.token):
            return None
        return NO_AUTH if self.token is None else bearer(self.token)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials cannot be pickled or copied, nor can a client that has them")

    @property
    def kind(self) -> str:
        """The kind of credentials, which a `repr` may show."""
        if self.auth is not None:
            return "auth"
        return "none" if self.token is None else "token"


def bearer(token: object) -> AuthHeaders:
    """The headers for a bearer token, a `str` or a `Token`."""
    text = token.value if isinstance(token, Token) else check_token(token)
    return AuthHeaders({"authorization": f"Bearer {text}"}, Redactor((text,)))


def checked_auth(headers: object) -> AuthHeaders:
    """The headers that an `auth` function returned."""
    checked = check_headers(headers, argument="auth")
    secrets: list[str] = []
    for name, value in checked.items():
        # The service may repeat a secret without its scheme.
        scheme, _, secret = value.partition(" ")
        if name != "authorization" and scheme.lower() not in _SCHEMES:
            secret = ""
        secrets.append(secret or value)
        if name != "authorization":  # whose scheme is no secret, and helps in a log
            secrets.append(value)
        if scheme.lower() == "basic":
            from base64 import b64decode  # deferred: few services use it

            with suppress(ValueError):  # it is something else than `user:password`
                text = b64decode(secret).decode()
                user, _, password = text.partition(":")
                own = password or user  # an API key has no password
                # A short one could be any word.
                secrets += [text, own] if len(own) >= _SHORTEST else [text]
    return AuthHeaders(checked, Redactor(secrets))


EARLY = 60.0  # seconds before its end in which a token is refreshed, or a tenth of a shorter life
EARLY_PAUSE = 10.0  # seconds from one early refresh to the next, or from one 401 to the next
PAUSE = 1.0  # seconds in which the function is not called again after it has failed


@attrs.define(eq=False, repr=False)
class _KeptToken:
    """A token, and when it has to be replaced."""

    auth: AuthHeaders
    expires_at: float
    refresh_at: float
    renewed_at: float  # when it replaced a token that was refused
    is_refused: bool = False


class TokenCache:
    """What the `token` function of a client returned or raised last, without any I/O.

    `now` is the time of the wall clock.
    """

    def __init__(self) -> None:
        self.is_plain: bool = False  # it returns a `str`, which is not kept
        self._token: _KeptToken | None = None
        # What a call of the function raised, with its traceback, and when.
        self._failed: tuple[Exception, TracebackType | None, float] | None = None

    def get(self, now: float) -> AuthHeaders | None:
        """The kept token, or the last error raised; None if the function has to be called."""
        token, failed = self._token, self._failed
        if token is not None and not token.is_refused and now < token.expires_at:
            return token.auth
        # It may seem to have failed in the future, if the clock was set back. Those who waited for
        # that call, one after the other, are here in a moment.
        if failed is None or not 0 <= now - failed[2] < PAUSE:
            return None
        error, frames, _ = failed
        # An error of this library has attributes of one call, such as its cursor.
        error = copy(error) if isinstance(error, AdClientError) else error
        raise error.with_traceback(frames)

    def is_due(self, now: float) -> bool:
        """Check if the kept token should be refreshed, although it is still good."""
        return self._token is not None and now >= self._token.refresh_at

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
        auth, token = bearer(returned), None
        if isinstance(returned, Token):
            end = inf if returned.expires_at is None else returned.expires_at
            is_renewal = self._token is not None and self._token.is_refused
            refresh_at = end - min(EARLY, (end - now) / 10)
            token = _KeptToken(auth, end, refresh_at, now if is_renewal else -inf)
        self.is_plain = token is None
        self._token, self._failed = token, None
        return auth

    def fail(self, error: Exception, now: float) -> None:
        """Note what the function has raised."""
        self._failed = error, error.__traceback__, now
