"""What a service file means for a client: the arguments that it stands for."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from adclient._core.auth import SecretHeader, no_credentials
from adclient._service.model import AuthShape, Service
from adclient._service.reading import read_service
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
    service, folder = read_service(path), Path(path).parent
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
    if not given.keys() & {"token", "auth"}:
        known |= _credentials(service.auth, folder, is_replaced=is_replaced)
    if not is_replaced and not has_sender:  # which have their own
        known["proxy"] = service.proxy
        known["verify"] = True if service.ca_file is None else folder / service.ca_file
    files = _files(service, folder)
    if files["policy"] is not None and "policy" not in given:
        from adclient.policy import Policy

        known["policy"] = Policy.read(files["policy"])
    if files["ledger"] is not None and "ledger" not in given and not is_replaced:
        from adclient.ledger import open_ledger

        known["ledger"] = open_ledger(files["ledger"])
    if "conventions" not in given:
        likely = [name for name, sure in service.certainty.items() if sure == "likely"]
        if likely:
            problem = f"{path}: only likely, not observed: {', '.join(likely)}"
            warn_caller(f"{problem}; check it, and remove it from `certainty`")
    known.update(given)
    return known


def named_files(path: str | os.PathLike[str]) -> dict[str, str | None]:
    """The policy and the ledger that a service file names."""
    return _files(read_service(path), Path(path).parent)


def _files(service: Service, folder: Path) -> dict[str, str | None]:
    named = {"policy": service.policy, "ledger": service.ledger}
    return {
        name: place if place is None or "://" in place else str(folder / place)
        for name, place in named.items()
    }


def _credentials(shape: AuthShape | None, folder: Path, *, is_replaced: bool) -> dict[str, Any]:
    if shape is not None and shape.file is not None and is_replaced:
        # What replaces it sets the variable, but cannot replace a file.
        is_needed = from_environment(ENV_TOKEN) is not None
        shape = attrs.evolve(shape, env=ENV_TOKEN, file=None) if is_needed else None
    return file_credentials(shape, folder)


def file_credentials(shape: AuthShape | None, folder: Path) -> dict[str, Any]:
    """The argument `token` or `auth` for a secret that is in a variable or a file.

    Without a shape none are sent: a token of the environment is that of another service.
    """
    if shape is None:
        return {"auth": no_credentials}
    if shape.file is not None:
        path = folder / shape.file

        def secret() -> str:  # read for each request: another process may renew it
            try:
                return path.read_text("utf-8-sig").strip()
            except (OSError, UnicodeDecodeError) as error:
                problem = getattr(error, "strerror", None) or "it is not UTF-8"
                raise ConfigurationError(f"auth: {path} cannot be read: {problem}") from None

        return build_auth(shape.scheme, shape.header, secret)
    text = from_environment(str(shape.env))
    if text is None:
        raise ConfigurationError(f"auth: {shape.env} is not set", argument="token")
    return build_auth(shape.scheme, shape.header, text)


def build_auth(scheme: str, header: str, secret: str | Callable[[], str]) -> dict[str, Any]:
    """The argument `token` or `auth` that sends a secret in a header, behind a scheme."""
    if (scheme.lower(), header.lower()) == ("bearer", "authorization"):
        return {"token": secret}
    auth = SecretHeader(header, scheme, secret)
    if isinstance(secret, str):  # refused now, not by the first call
        check_headers(auth(Request(method="GET", url="")), argument="auth")
    return {"auth": auth}
