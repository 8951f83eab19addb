"""The credentials of a client, and the headers that carry them."""

from base64 import b64decode, b64encode
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


_SCHEMES = ("apikey", "basic", "bearer", "key", "token")  # in whatever header
_SHORTEST = 6  # characters of a secret that is redacted wherever it stands


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


def no_credentials(_: Request) -> dict[str, str]:
    """The `auth` function for no credentials, also if the environment has a token."""
    return {}


@attrs.frozen(repr=False)
class SecretHeader:
    """An `auth` function that sends a secret in a header, behind a scheme; never shown."""

    header: str
    scheme: str
    secret: str | Callable[[], str]

    def __call__(self, _: Request) -> dict[str, str]:
        """The header; with the scheme `Basic`, the secret is `user:password`."""
        text = self.secret if isinstance(self.secret, str) else self.secret()
        if self.scheme.lower() == "basic" and ":" in text:
            text = b64encode(text.encode()).decode()
        return {self.header: f"{self.scheme} {text}" if self.scheme else text}


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
    """The headers for a bearer token."""
    text = check_token(token)
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
            secrets += _decoded(secret)
    return AuthHeaders(checked, Redactor(secrets))


def _decoded(basic: str) -> list[str]:
    """The `user:password` that Basic authentication encodes, and the one that is a secret.

    That is the user if there is no password, as for API keys. A short one could be any word.
    """
    try:
        text = b64decode(basic).decode()
    except ValueError:  # it is something else
        return []
    user, _, password = text.partition(":")
    secret = password or user
    return [text, secret] if len(secret) >= _SHORTEST else [text]
