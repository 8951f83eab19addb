"""The credentials of a client, and the headers that carry them."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property

import attrs

from adclient._core.redact import Redactor
from adclient._core.request import Request
from adclient.errors import ConfigurationError
from adclient.options import ENV_TOKEN, check_headers, check_token, from_environment

Token = str | Callable[[], str]
AsyncToken = str | Callable[[], str | Awaitable[str]]
Auth = Callable[[Request], Mapping[str, str]]
AsyncAuth = Callable[[Request], Mapping[str, str] | Awaitable[Mapping[str, str]]]


@attrs.frozen(repr=False)
class AuthHeaders:
    """The headers that carry credentials, and the redactor that keeps them out of errors."""

    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    redactor: Redactor = attrs.field(factory=Redactor)

    def apply(self, request: Request) -> Request:
        """The request with these headers."""
        headers = {**request.headers, **self.headers}
        return Request(method=request.method, url=request.url, headers=headers, body=request.body)


NO_AUTH = AuthHeaders()


@attrs.frozen(repr=False)
class Credentials:
    """One of `token` and `auth`, or neither; never shown."""

    token: AsyncToken | None = None
    auth: AsyncAuth | None = None

    def resolved(self) -> "Credentials":
        """Check these credentials; without any, take the token from the environment."""
        if self.token is None and self.auth is None:
            known = Credentials(from_environment(ENV_TOKEN))
            return self if known.token is None else known.resolved()
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
    """The headers for a bearer token."""
    text = check_token(token)
    return AuthHeaders({"authorization": f"Bearer {text}"}, Redactor((text,)))


def checked_auth(headers: object) -> AuthHeaders:
    """The headers that an `auth` function returned."""
    checked = check_headers(headers, argument="auth")
    secrets: list[str] = []
    for name, value in checked.items():
        # The scheme of `Authorization` is no secret, and helps in a log.
        scheme, _, secret = value.partition(" ")
        secrets.append(secret or scheme if name == "authorization" else value)
    return AuthHeaders(checked, Redactor(secrets))
