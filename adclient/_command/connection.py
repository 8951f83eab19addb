"""The options of each subcommand that talks to a service: its file, address and credentials."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adclient._service.arguments import build_auth, client_arguments
from adclient._service.file import read_service
from adclient._values.json_values import JSON
from adclient._values.jsontext import JSONError, loads
from adclient.errors import ConfigurationError
from adclient.options import (
    ENV_BASE_URL,
    ENV_SERVICE,
    ENV_TOKEN,
    MAX_RETRIES,
    TIMEOUT,
    check_token,
    from_environment,
    names_service,
)

# What sets an argument of a client, if its name differs; the last one by default.
_OPTIONS = {
    "account_id": ("-a", "--account"),
    "base_url": ("--url", ENV_BASE_URL, "--url"),
    "campaign_id": ("--campaign",),
    "creative_id": ("--creative",),
    "draft_id": ("--draft",),
    "headers": ("--header",),
    "max_retries": ("--retries",),
    "most_requests": ("--requests",),
    "token": ("--token", "--token-file", "--token-env", ENV_TOKEN),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_credentials(parser)
    add = parser.add_argument_group("the service").add_argument
    add_service(add)
    add("--url", help=f"its address ({ENV_BASE_URL})")
    about = f"how often a call is retried where that is safe ({MAX_RETRIES})"
    add("--retries", type=int, metavar="NUMBER", help=about)
    add_timeout(parser, TIMEOUT, "for one call (%(default)g)")


def add_service(add: Callable[..., object]) -> None:
    """Describe the option for the service file; other options win over what is in it."""
    about = f"what `adclient doctor --save` has written; other options win ({ENV_SERVICE})"
    add("--service", metavar="FILE", help=about)


def add_address(add: Callable[..., object]) -> None:
    """Describe the argument for the address, of commands that are about a service."""
    about = "the address of the service"
    add("url", metavar="URL", nargs="?", default=argparse.SUPPRESS, help=about)
    add("--url", metavar="URL", help=f"the same, as in other commands ({ENV_BASE_URL})")


def add_survey(parser: argparse.ArgumentParser, timeout: float, about: str) -> None:
    """Add what the doctor and conform have in common."""
    add = parser.add_argument
    add_address(add)
    account = "a connected account; repeat it if each belongs to one platform"
    add("--account", "-a", action="append", default=[], metavar="ID", help=account)
    add_timeout(parser, timeout, f"for everything (%(default)g){about}")
    add("--quiet", action="store_true", help="print no progress to standard error")
    add = parser.add_argument_group("output").add_mutually_exclusive_group().add_argument
    add("--json", action="store_true", help="print the report as JSON, with all that was found")
    add("--markdown", action="store_true", help="print it for the makers of the service")
    add_credentials(parser)


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
    add = group.add_argument
    add("--token-header", metavar="NAME", help="the header that carries it (authorization)")
    about = "what precedes it, such as Token; Basic takes user:password (Bearer, in authorization)"
    add("--auth-scheme", metavar="NAME", help=about)


def settings(options: argparse.Namespace, **given: object) -> dict[str, Any]:
    """The arguments of a client; a `ConfigurationError` if one cannot be used."""
    retries = getattr(options, "retries", None)  # `conform` has no such option
    known = {"base_url": options.url, "timeout": options.timeout, "max_retries": retries, **given}
    service = service_path(options)
    if service is not None:
        return client_arguments(service, known | credentials(options, in_environment=False))
    if options.url is None and from_environment(ENV_BASE_URL) is None:
        ways = f"--service, --url, {ENV_SERVICE} or {ENV_BASE_URL}"
        raise ConfigurationError(f"the address of the service is missing: {ways}")
    return known | credentials(options)


def service_path(options: argparse.Namespace) -> str | None:
    """The path of the service file; an address on the command line rules out the environment's."""
    service: str | None = options.service
    if service is None and getattr(options, "url", None) is None and names_service():
        service = from_environment(ENV_SERVICE)
    return service


def add_from_service(options: argparse.Namespace) -> None:
    """Take the policy and the ledger from the service file, unless options name others."""
    missing = [
        name for name in ("policy", "ledger") if name in options and getattr(options, name) is None
    ]
    if missing and (path := service_path(options)) is not None:
        service = read_service(path)
        for name in missing:
            setattr(options, name, getattr(service, name))


def require_ledger(options: argparse.Namespace) -> None:
    """Take the ledger from the options or the service file, one of which must name it."""
    add_from_service(options)
    if options.ledger is None:
        raise ConfigurationError("--ledger is missing, and no service file names one")


def credentials(options: argparse.Namespace, *, in_environment: bool = True) -> dict[str, Any]:
    """The argument `token` or `auth` of a client; a `ConfigurationError` without a token."""
    token = _token(options, in_environment=in_environment)
    header, scheme = options.token_header, options.auth_scheme
    if token is None and (header or scheme):
        option = "--auth-scheme" if header is None else "--token-header"
        way = f"or set {ENV_TOKEN}" if in_environment else f"such as --token-env {ENV_TOKEN}"
        raise ConfigurationError(f"{option}: pass the token, {way}")
    if token is None:
        return {"token": None}
    # A header of its own has no scheme, unless one is named.
    if scheme is None:
        scheme = "Bearer" if header is None else ""
    return build_auth(scheme, header or "authorization", token)


def json_object(text: str) -> dict[str, JSON]:
    """The type of an option that is a JSON object."""
    try:
        value = loads(text.encode(), unique=True)
    except (JSONError, UnicodeEncodeError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def _token(options: argparse.Namespace, *, in_environment: bool) -> str | None:
    given: str | None = options.token
    file: str | None = options.token_file
    if file is not None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigurationError(f"--token-file: {file} is not UTF-8") from None
        given = text.strip()
    if given is not None:
        return given if given and options.auth_scheme else check_token(given)
    variable = options.token_env or (ENV_TOKEN if in_environment else "")
    token = from_environment(variable)
    if token is None and options.token_env is not None:
        raise ConfigurationError(f"--token-env: {options.token_env} is not set")
    return token


def with_options(problem: str, argument: str | None, words: Sequence[str]) -> str:
    """A problem that names the option of an argument, as it was typed, or its variable."""
    if argument is not None:  # before it, there may be the name of an operation
        option = _option_of(argument, words)
        problem = re.sub(rf"^([a-z_.]+: )?{re.escape(argument)}\b", rf"\g<1>{option}", problem)
    return re.sub(r"\bbase_url\b", _option_of("base_url", words), problem)


def _option_of(argument: str, words: Sequence[str]) -> str:
    options = _OPTIONS.get(argument, (f"--{argument}".replace("_", "-"),))
    if argument == "base_url" and words[0] in ("doctor", "conform"):
        options = ("--url", "URL")
    given = {word.partition("=")[0] for word in words}
    return next((each for each in options if each in given or from_environment(each)), options[-1])
