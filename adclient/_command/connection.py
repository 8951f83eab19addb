"""How subcommands reach a service, by its file, address and credentials, or are servers."""

import argparse
import socket
import sys
from pathlib import Path
from typing import Any

from adclient import AdClient
from adclient._service.arguments import build_auth, client_arguments
from adclient._service.file import read_service
from adclient._service.model import Service
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

SERVICE = f"""\
--service FILE  what `adclient doctor --save` has written; other options win ({ENV_SERVICE})
"""
CREDENTIALS = f"""\
credentials:
| --token-env NAME  the environment variable that holds the token ({ENV_TOKEN})
| --token-file FILE  a file that holds the token; - is standard input
| --token TOKEN  a token; it shows in the process list, unlike {ENV_TOKEN}
--token-header NAME  the header that carries it (authorization)
--auth-scheme NAME  what precedes it, such as Token; Basic takes user:password (Bearer, in
    authorization)
"""
CONNECTION = f"""\
{CREDENTIALS}the service:
{SERVICE}--url URL  its address ({ENV_BASE_URL})
--retries NUMBER  how often a call is retried where that is safe ({MAX_RETRIES})
--timeout SECONDS={TIMEOUT:g}  for one call (%(default)s)
"""
# Of the doctor and of conform.
SURVEY = f"""\
| [URL]  the address of the service
| --url URL  the same, as in other commands ({ENV_BASE_URL})
--account -a ID...  a connected account; repeat it if each belongs to one platform
--quiet  print no progress to standard error
"""
REPORT = f"""\
output:
| --json  print the report as JSON, with all that was found
| --markdown  print it for the makers of the service
{CREDENTIALS}"""
_SETTINGS = ("base_url", "timeout", "max_retries", "headers", "proxy", "verify")


def open_client(options: argparse.Namespace, **given: object) -> AdClient:
    """A client with the settings that options have."""
    return AdClient(**settings(options, **given))


def settings(options: argparse.Namespace, **given: object) -> dict[str, Any]:
    """The arguments of a client; a `ConfigurationError` if one cannot be used."""
    known = {name: getattr(options, name, None) for name in _SETTINGS} | given
    known = {name: value for name, value in known.items() if value is not None}
    service = service_path(options)
    if service is not None:
        return client_arguments(service, known | _credentials(options))
    if options.base_url is None and from_environment(ENV_BASE_URL) is None:
        ways = f"--service, --url, {ENV_SERVICE} or {ENV_BASE_URL}"
        raise ConfigurationError(f"the address of the service is missing: {ways}")
    return known | _credentials(options, ENV_TOKEN)


def service_path(options: argparse.Namespace) -> str | None:
    """The path of the service file; an address on the command line rules out the environment's."""
    service: str | None = options.service
    if service is None and getattr(options, "base_url", None) is None and names_service():
        service = from_environment(ENV_SERVICE)
    return service


def examined(
    options: argparse.Namespace, option: str, file: str | None
) -> tuple[Service, list[str]]:
    """What is known of the service to examine, and its accounts."""
    service = Service(url="") if file is None else read_service(file)
    if not (options.base_url or service.url or from_environment(ENV_BASE_URL)):
        raise ConfigurationError(f"URL is missing: pass it, or a file with {option}")
    return service, options.account_id or [*service.accounts]


def add_from_service(options: argparse.Namespace, *, needs_ledger: bool = False) -> None:
    """Take the policy and the ledger from the service file, unless options name others."""
    missing = [
        name for name in ("policy", "ledger") if name in options and getattr(options, name) is None
    ]
    if missing and (path := service_path(options)) is not None:
        service = read_service(path)
        vars(options).update({name: getattr(service, name) for name in missing})
    if needs_ledger and options.ledger is None:
        raise ConfigurationError("--ledger is missing, and no service file names one")


def read_text(option: str, file: str) -> str:
    """The text of a file that an option names; - is standard input."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"{option}: {file}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{option}: {file} is not UTF-8") from None


def json_or_text(text: str) -> JSON:
    """The type of an option that is any JSON, or else a text."""
    try:
        return loads(text.encode(), unique=True)
    except (JSONError, UnicodeEncodeError):
        return text


def json_object(text: str) -> dict[str, JSON]:
    """The type of an option that is a JSON object."""
    value = json_or_text(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def _credentials(options: argparse.Namespace, variable: str = "") -> dict[str, Any]:
    """The argument `token` or `auth` of a client, if there is a token: a variable may hold it."""
    token: str | None = options.token
    header, scheme = options.token_header, options.auth_scheme
    if options.token_file is not None:
        token = read_text("--token-file", options.token_file).strip()
    if token is None:
        token = from_environment(options.token_env or variable)
    elif not (token and scheme):
        check_token(token)
    if token is None:
        if options.token_env is not None:
            raise ConfigurationError(f"--token-env: {options.token_env} is not set")
        if header or scheme:
            option = "--auth-scheme" if header is None else "--token-header"
            way = f"or set {ENV_TOKEN}" if variable else f"such as --token-env {ENV_TOKEN}"
            raise ConfigurationError(f"{option}: pass the token, {way}")
        return {}
    # A header of its own has no scheme, unless one is named.
    default = "Bearer" if header is None else ""
    return build_auth(default if scheme is None else scheme, header or "authorization", token)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=2048)
    # Accepted connections inherit it. asyncio sets it only for sockets that name their protocol,
    # and without it, each response waits 40 ms between its head and its body.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
