"""The options of each subcommand that talks to a service: address, credentials, conventions."""

import argparse
import sys
from pathlib import Path
from typing import Any, TypedDict, cast

import attrs

from adclient._core.auth import Auth
from adclient._core.jsontext import JSONError, loads
from adclient._values.json_values import JSON
from adclient.conventions import Conventions, is_free_header
from adclient.errors import ConfigurationError
from adclient.options import ENV_BASE_URL, ENV_TOKEN, TIMEOUT, check_token, from_environment


class Settings(TypedDict):
    """The arguments with which a client is made, sync or async."""

    base_url: str | None
    token: str | None
    auth: Auth | None
    timeout: float
    conventions: Conventions | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_credentials(parser)
    add = parser.add_argument_group("the service").add_argument
    add("--url", help=f"its address ({ENV_BASE_URL})")
    add(
        "--conventions",
        metavar="FILE",
        type=Path,
        help="what `adclient doctor --json` has printed, or JSON like it",
    )
    add(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help="for one call (%(default)g)",
    )


def add_credentials(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the token."""
    group = parser.add_argument_group("credentials")
    given = group.add_mutually_exclusive_group()
    given.add_argument(
        "--token-env",
        metavar="NAME",
        help=f"the environment variable that holds the token ({ENV_TOKEN})",
    )
    given.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file that holds the token; - is standard input",
    )
    given.add_argument("--token", help=f"a token; it shows in the process list, unlike {ENV_TOKEN}")
    group.add_argument(
        "--token-header",
        metavar="NAME",
        type=_header,
        help="the header that carries the token, instead of a bearer token",
    )


def settings(options: argparse.Namespace) -> Settings:
    """The settings of a client; a `ConfigurationError` if one cannot be used."""
    if options.url is None and from_environment(ENV_BASE_URL) is None:
        raise ConfigurationError(f"the address of the service is missing: --url, or {ENV_BASE_URL}")
    path: Path | None = options.conventions
    token, auth = credentials(options)
    return {
        "base_url": options.url,
        "token": token,
        "auth": auth,
        "timeout": options.timeout,
        "conventions": None if path is None else _conventions(path),
    }


def credentials(options: argparse.Namespace) -> tuple[str | None, Auth | None]:
    """The arguments `token` and `auth` of a client; a `ConfigurationError` without a token."""
    token = _token(options)
    header: str | None = options.token_header
    if header is None:
        return token, None
    if token is None:
        raise ConfigurationError(f"--token-header: pass the token, or set {ENV_TOKEN}")
    return None, lambda _: {header: token}


def json_object(text: str) -> dict[str, JSON]:
    """The type of an option that is a JSON object."""
    try:
        value = loads(text.encode(), unique=True)
    except (JSONError, UnicodeEncodeError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def _header(text: str) -> str:
    if not is_free_header(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a header that is free")
    return text


def _token(options: argparse.Namespace) -> str | None:
    given: str | None = options.token
    file: str | None = options.token_file
    if file is not None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigurationError(f"--token-file: {file} is not UTF-8") from None
        given = text.strip()
    if given is not None:
        return check_token(given)
    variable: str = options.token_env or ENV_TOKEN
    token = from_environment(variable)
    if token is None and options.token_env is not None:
        raise ConfigurationError(f"--token-env: {variable} is not set")
    return token


def _conventions(path: Path) -> Conventions:
    try:
        report = loads(path.read_bytes(), unique=True)
    except JSONError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    settings = report.get("conventions") if isinstance(report, dict) else None
    if not isinstance(settings, dict):
        raise ConfigurationError(f'{path}: expected JSON like {{"conventions": {{…}}}}')
    known = [field.name for field in attrs.fields(Conventions)]
    for name in settings:
        if name not in known:
            text = f"{path}: conventions: {name} is not one of {', '.join(known)}"
            raise ConfigurationError(text)
    try:
        return Conventions(**cast("dict[str, Any]", settings))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
