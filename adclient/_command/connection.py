"""The options of each subcommand that talks to a service: address, credentials, conventions."""

import argparse
import sys
from pathlib import Path
from typing import Any, cast

from adclient._core.jsontext import JSONError, loads
from adclient._values.json_values import JSON
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.options import ENV_BASE_URL, ENV_TOKEN, TIMEOUT, check_token, from_environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_credentials(parser)
    add = parser.add_argument_group("the service").add_argument
    about = "what `adclient doctor --json` has printed, or JSON like it"
    add("--url", help=f"its address ({ENV_BASE_URL})")
    add("--conventions", metavar="FILE", type=Path, help=about)
    add_timeout(parser, TIMEOUT, "for one call (%(default)g)")


def add_timeout(parser: argparse.ArgumentParser, default: float, about: str) -> None:
    """Describe the option for the timeout."""
    parser.add_argument("--timeout", type=float, default=default, metavar="SECONDS", help=about)


def add_credentials(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the token."""
    group = parser.add_argument_group("credentials")
    add = group.add_mutually_exclusive_group().add_argument
    about = f"the environment variable that holds the token ({ENV_TOKEN})"
    add("--token-env", metavar="NAME", help=about)
    add("--token-file", metavar="FILE", help="a file that holds the token; - is standard input")
    add("--token", help=f"a token; it shows in the process list, unlike {ENV_TOKEN}")
    about = "the header that carries the token, instead of a bearer token"
    group.add_argument("--token-header", metavar="NAME", help=about)


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings of a client; a `ConfigurationError` if one cannot be used."""
    if options.url is None and from_environment(ENV_BASE_URL) is None:
        raise ConfigurationError(f"the address of the service is missing: --url, or {ENV_BASE_URL}")
    path: Path | None = options.conventions
    return {
        "base_url": options.url,
        "timeout": options.timeout,
        "conventions": None if path is None else _conventions(path),
        **credentials(options),
    }


def credentials(options: argparse.Namespace) -> dict[str, Any]:
    """The argument `token` or `auth` of a client; a `ConfigurationError` without a token."""
    token, header = _token(options), options.token_header
    if header is None:
        return {"token": token}
    if token is None:
        raise ConfigurationError(f"--token-header: pass the token, or set {ENV_TOKEN}")

    def auth(_: object) -> dict[str, str]:
        return {header: token}

    return {"auth": auth}


def json_object(text: str) -> dict[str, JSON]:
    """The type of an option that is a JSON object."""
    try:
        value = loads(text.encode(), unique=True)
    except (JSONError, UnicodeEncodeError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


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
    token = from_environment(options.token_env or ENV_TOKEN)
    if token is None and options.token_env is not None:
        raise ConfigurationError(f"--token-env: {options.token_env} is not set")
    return token


def _conventions(path: Path) -> Conventions:
    try:
        report = loads(path.read_bytes(), unique=True)
        settings = report.get("conventions") if isinstance(report, dict) else None
        if not isinstance(settings, dict):
            raise ConfigurationError('expected JSON like {"conventions": {…}}')
        return Conventions(**cast("dict[str, Any]", settings))
    except (JSONError, ConfigurationError, TypeError) as error:  # TypeError: an unknown name
        raise ConfigurationError(f"{path}: {error}") from None
