"""What a service file means for a client: the arguments that it stands for."""

import os
import warnings
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adclient._core.request import Request
from adclient._service.model import AuthShape, Service
from adclient._service.reading import read_service
from adclient.errors import ConfigurationError
from adclient.options import ENV_SERVICE, check_headers, from_environment


class Arguments(dict[str, Any]):
    """The arguments of a client, some of them secret: a traceback shows no more than this."""

    def __repr__(self) -> str:
        return "<arguments>"


def arguments_of(path: str | os.PathLike[str] | None, given: Mapping[str, Any]) -> Arguments:
    """The arguments of a client: those that are given, else those of a service file.

    None and `verify=True`, the defaults, do not count as given.
    """
    if path is None and (path := from_environment(ENV_SERVICE)) is None:
        problem = f"the service file is missing: pass its path, or set {ENV_SERVICE}"
        raise ConfigurationError(problem, argument="path")
    service, folder = read_service(path), Path(path).parent
    known = Arguments(base_url=service.url, conventions=service.conventions)
    known["headers"] = {**service.headers, **(given.get("headers") or {})}
    given = Arguments(
        (name, value)
        for name, value in given.items()
        if not (value is None or name == "headers" or (name == "verify" and value is True))
    )
    if service.auth is not None and not given.keys() & {"token", "auth"}:
        known |= credentials_of(service.auth, folder)
    if not given.keys() & {"transport", "http_client"}:  # which have their own
        known["proxy"] = service.proxy
        known["verify"] = True if service.ca_file is None else folder / service.ca_file
    files = _files(service, folder)
    if files["policy"] is not None and "policy" not in given:
        from adclient.policy import Policy

        known["policy"] = Policy.read(files["policy"])
    if files["ledger"] is not None and "ledger" not in given:
        from adclient.ledger import open_ledger

        known["ledger"] = open_ledger(files["ledger"])
    if "conventions" not in given:
        likely = [name for name, sure in service.certainty.items() if sure == "likely"]
        if likely:
            problem = f"{path}: only likely, not observed: {', '.join(likely)}"
            advice = "check it, and remove it from `certainty`"
            warnings.warn(f"{problem}; {advice}", UserWarning, stacklevel=4)
    known.update(given)
    return known


def files_of(path: str | os.PathLike[str]) -> dict[str, str | None]:
    """The policy and the ledger that a service file names."""
    return _files(read_service(path), Path(path).parent)


def _files(service: Service, folder: Path) -> dict[str, str | None]:
    named = {"policy": service.policy, "ledger": service.ledger}
    return {
        name: place if place is None or "://" in place else str(folder / place)
        for name, place in named.items()
    }


def credentials_of(shape: AuthShape, folder: Path) -> dict[str, Any]:
    """The argument `token` or `auth` for a secret that is in a variable or a file."""
    if shape.file is not None:
        path = folder / shape.file

        def secret() -> str:  # read for each request: another process may renew it
            try:
                return path.read_text("utf-8-sig").strip()
            except (OSError, UnicodeDecodeError) as error:
                problem = getattr(error, "strerror", None) or "it is not UTF-8"
                raise ConfigurationError(f"auth: {path} cannot be read: {problem}") from None

        return sent_as(shape.scheme, shape.header, secret)
    text = from_environment(str(shape.env))
    if text is None:
        raise ConfigurationError(f"auth: {shape.env} is not set", argument="token")
    return sent_as(shape.scheme, shape.header, text)


def sent_as(scheme: str, header: str, secret: str | Callable[[], str]) -> dict[str, Any]:
    """The argument `token` or `auth` that sends a secret in a header, behind a scheme."""
    if (scheme.lower(), header.lower()) == ("bearer", "authorization"):
        return {"token": secret}

    def auth(_: Request) -> dict[str, str]:
        text = secret if isinstance(secret, str) else secret()
        if scheme.lower() == "basic" and ":" in text:
            text = b64encode(text.encode()).decode()
        return {header: f"{scheme} {text}" if scheme else text}

    if isinstance(secret, str):  # refused now, not by the first call
        check_headers(auth(Request(method="GET", url="")), argument="auth")
    return {"auth": auth}
