"""What a service file means for a client: the arguments that it stands for."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from adclient._core.auth import SecretHeader, no_credentials
from adclient._service.file import read_service
from adclient._service.model import AuthShape
from adclient.errors import ConfigurationError
from adclient.extend import Request
from adclient.options import (
    ENV_SERVICE,
    ENV_TOKEN,
    check_base_url,
    check_headers,
    from_environment,
    warn_caller,
)
from adclient.transports import transport_at

_NONE: Mapping[str, str] = {}


class HiddenArguments(dict[str, Any]):
    """The arguments of a client, some of them secret: a traceback shows no more than this."""

    def __repr__(self) -> str:
        return "<arguments>"


def client_arguments(
    path: str | os.PathLike[str] | None, given: Mapping[str, Any]
) -> HiddenArguments:
    """The arguments of a client: those that are given, else those of a service file.

    None and `verify=True`, the defaults, do not count as given. If another transport is found at
    the address, it takes the place of the file's secrets, network and ledger.
    """
    if path is None and (path := from_environment(ENV_SERVICE)) is None:
        problem = f"the service file is missing: pass its path, or set {ENV_SERVICE}"
        raise ConfigurationError(problem, argument="path")
    service = read_service(path)
    known = HiddenArguments(base_url=service.url, conventions=service.conventions)
    known["headers"] = {**service.headers, **check_headers(given.get("headers") or {})}
    given = HiddenArguments(
        (name, value)
        for name, value in given.items()
        if not (value is None or name == "headers" or (name == "verify" and value is True))
    )
    has_sender = bool(given.keys() & {"transport", "http_client"})
    url = check_base_url(given.get("base_url", service.url))
    is_replaced = not has_sender and transport_at(url) is not None
    auth = service.auth or AuthShape()
    if is_replaced:
        # What replaces the service sets the variable of the secret, but no file and no others.
        is_set = auth.file is None or from_environment(ENV_TOKEN) is not None
        env = auth.env if auth.file is None else ENV_TOKEN
        auth = attrs.evolve(auth, env=env if is_set else None, file=None, headers={})
    further = {
        name: _variable(env, path, f"headers.{name}")
        for name, env in auth.headers.items()
        if name.lower() not in known["headers"]
    }
    if given.keys() & {"token", "auth"}:
        known["headers"] |= further
    else:
        known |= _credentials(auth, path, further)
    if not is_replaced and not has_sender:  # which have their own
        known["proxy"] = service.proxy
        known["verify"] = service.ca_file or True
    if service.policy is not None and "policy" not in given:
        from adclient.policy import Policy

        known["policy"] = Policy.read(service.policy)
    if service.ledger is not None and "ledger" not in given and not is_replaced:
        from adclient.ledger import open_ledger

        known["ledger"] = open_ledger(service.ledger)
    if "conventions" not in given:
        doubts = [
            f"{name} ({sure})"
            for name, sure in service.certainty.items()
            if sure == "likely" or (sure == "not observed" and name == "cursor_parameter")
        ]
        if doubts:
            advice = "check it, and remove it from `certainty`"
            warn_caller(f"{path}: not certain: {', '.join(doubts)}; {advice}")
    known.update(given)
    return known


def _credentials(
    shape: AuthShape, path: str | os.PathLike[str], further: Mapping[str, str]
) -> dict[str, Any]:
    """The argument `token` or `auth` for the secrets that a service file names.

    For none, none is taken from the environment: it would be that of another service.
    """
    if shape.env is None and shape.file is None and not further:
        return {"auth": no_credentials}
    secret: str | Callable[[], str] | None = None
    if shape.file is not None:
        place = Path(shape.file)

        def read() -> str:  # read for each request: another process may renew it
            try:
                return place.read_text("utf-8-sig").strip()
            except (OSError, UnicodeDecodeError) as error:
                problem = getattr(error, "strerror", None) or "it is not UTF-8"
                raise ConfigurationError(f"auth: {place} cannot be read: {problem}") from None

        secret = read
    elif shape.env is not None:
        secret = _variable(shape.env, path, "env")
    return build_auth(shape.scheme, shape.header, secret, further)


def _variable(name: str, path: str | os.PathLike[str], key: str) -> str:
    text = from_environment(name)
    if text is None:
        raise ConfigurationError(f"{path}, auth.{key}: {name} is not set", argument="token")
    return text


def build_auth(
    scheme: str,
    header: str,
    secret: str | Callable[[], str] | None,
    further: Mapping[str, str] = _NONE,
) -> dict[str, Any]:
    """The argument `token` or `auth` that sends a secret in a header, behind a scheme."""
    is_bearer = (scheme.lower(), header.lower()) == ("bearer", "authorization")
    if is_bearer and secret is not None and not further:
        return {"token": secret}
    auth = SecretHeader(header, scheme, secret, further)
    if not callable(secret):  # refused now, not by the first call
        check_headers(auth(Request(method="GET", url="")), argument="auth")
    return {"auth": auth}
