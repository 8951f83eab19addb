"""Credentials: what a client accepts for them, and the headers that carry them."""

from collections.abc import Awaitable, Callable, Mapping

import attrs

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

    def __attrs_post_init__(self) -> None:
        if self.token is not None and self.auth is not None:
            raise ConfigurationError("token and auth exclude each other", argument="auth")
        if self.token is not None and not callable(self.token):
            check_token(self.token)
        if self.auth is not None and not callable(self.auth):
            raise ConfigurationError("auth must be a function", argument="auth")

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials are not pickled or copied, nor is what holds them: a client")

    @property
    def kind(self) -> str:
        """What a `repr` may tell."""
        if self.auth is not None:
            return "auth"
        return "none" if self.token is None else "token"


def resolve(token: AsyncToken | None, auth: AsyncAuth | None) -> Credentials:
    """What was passed, else the environment's token, else nothing."""
    if token is None and auth is None:
        token = from_environment(ENV_TOKEN)
    return Credentials(token, auth)


def with_token(request: Request, token: object) -> Request:
    """The request with a bearer token."""
    return _with_headers(request, {"authorization": f"Bearer {check_token(token)}"})


def with_auth(request: Request, headers: object) -> Request:
    """The request with the headers that an `auth` function returned."""
    return _with_headers(request, check_headers(headers, argument="auth"))


def _with_headers(request: Request, headers: Mapping[str, str]) -> Request:
    return attrs.evolve(request, headers={**request.headers, **headers})
