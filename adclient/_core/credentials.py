"""Credentials: what a client accepts for them, and the headers that carry them."""

from collections.abc import Awaitable, Callable, Mapping

import attrs

from adclient._core.redact import Secrets
from adclient._core.request import Request
from adclient.errors import ConfigurationError
from adclient.options import ENV_TOKEN, check_headers, check_token, from_environment

Token = str | Callable[[], str]
AsyncToken = str | Callable[[], str | Awaitable[str]]
Auth = Callable[[Request], Mapping[str, str]]
AsyncAuth = Callable[[Request], Mapping[str, str] | Awaitable[Mapping[str, str]]]


@attrs.frozen(repr=False)
class Credentials:
    """One of `token` and `auth`, or neither; never shown."""

    token: AsyncToken | None = None
    auth: AsyncAuth | None = None

    def resolved(self) -> "Credentials":
        """These, if they can be used; if there are none, the environment's token."""
        if self.token is None and self.auth is None:
            known = Credentials(from_environment(ENV_TOKEN))
            return self if known.token is None else known.resolved()
        if self.token is not None and self.auth is not None:
            raise ConfigurationError("token and auth exclude each other", argument="auth")
        if self.token is not None and not callable(self.token):
            check_token(self.token)
        if self.auth is not None and not callable(self.auth):
            raise ConfigurationError("auth must be a function", argument="auth")
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials are not pickled or copied, nor is what holds them: a client")

    @property
    def kind(self) -> str:
        """What a `repr` may tell."""
        if self.auth is not None:
            return "auth"
        return "none" if self.token is None else "token"


def with_token(request: Request, token: object) -> Request:
    """The request with a bearer token."""
    return _with_headers(request, {"authorization": f"Bearer {check_token(token)}"})


def with_auth(request: Request, headers: object) -> Request:
    """The request with the headers that an `auth` function returned."""
    return _with_headers(request, check_headers(headers, argument="auth"))


def secrets_of(request: Request, signed: Request) -> Secrets:
    """What the credentials of a signed request are: of `Authorization`, without its scheme."""
    given = signed.headers.items() - request.headers.items()
    return Secrets(tuple(_secret_in(name, value) for name, value in given))


def _secret_in(name: str, value: str) -> str:
    scheme, _, secret = value.partition(" ")
    return secret or scheme if name == "authorization" else value


def _with_headers(request: Request, headers: Mapping[str, str]) -> Request:
    return attrs.evolve(request, headers={**request.headers, **headers})
