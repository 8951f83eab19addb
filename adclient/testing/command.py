"""The command that serves the fake over HTTP, with the approval page."""

import argparse
import re
from collections.abc import Callable, Sequence
from sys import float_info, maxsize

from adclient.errors import ConfigurationError
from adclient.testing._profile import Profile
from adclient.testing._service import FakeAdService

_NEEDS = """adclient.testing needs its extra to serve over HTTP:
    pip install 'adclient[server]', or '.[server]' in a checkout"""
_HINTS = """\
The fake ad service listens at {url}

  client         AdClient("{url}"{token})
  approval page  {url}/approval
  OpenAPI        {url}/openapi.json
  accounts       account_a91f (alpha), account_b204 (beta), account_c3d8 (gamma),
                 account_d118 (delta)

Ctrl-C stops it; its drafts are then gone."""
_EXPOSED = "Warning: anyone who can reach this machine can read all this and approve drafts."


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the fake until Ctrl-C.

    Args:
        arguments: The arguments of the command; None for those of the command line.

    Raises:
        SystemExit: An argument is invalid, or the extra `server` is not installed.
    """
    parser = argparse.ArgumentParser(
        prog="python -m adclient.testing",
        description="Serve a fake ad service over HTTP, with a page to approve its drafts.",
    )
    add_arguments(parser)
    options = parser.parse_args(arguments)
    try:
        run(options)
    except ConfigurationError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    add = parser.add_argument
    port = _number(int, 0, 65535, "a number from 0 to 65535")
    size = _number(int, 1, maxsize, "a number from 1")
    latency = _number(float, 0, float_info.max, "a number of seconds from 0")
    add("--host", default="127.0.0.1", help="the address to listen on")
    add("--port", type=port, default=8765, help="the port; 0 is any free one")
    add("--seed", default="halden", help="determines names, ids and metrics")
    add("--token", type=_token, help="the bearer token that every request must carry")
    add("--page-size", type=size, default=50, help="how many items a page holds")
    add("--latency", type=latency, default=0, help="how many seconds each response takes")
    add("--expose", action="store_true", help="allow a host that others can reach")


def run(options: argparse.Namespace) -> int:
    """Serve the fake until Ctrl-C; the exit code.

    Raises:
        ConfigurationError: The address cannot be used.
        SystemExit: The extra `server` is not installed.
    """
    try:
        from adclient.testing.server.app import create_app
        from adclient.testing.server.middleware import is_loopback
        from adclient.testing.server.uvicorn_server import address_of, listen, run as serve
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{_NEEDS}\n({missing})") from None
    host, port = options.host, options.port
    if not is_loopback(host) and not options.expose:
        raise ConfigurationError(
            f"--host {host} is not this machine alone: add --expose to allow it"
        )
    profile = Profile(latency=options.latency)
    fake = FakeAdService(
        seed=options.seed, token=options.token, page_size=options.page_size, profile=profile
    )
    try:
        listening = listen(host, port, "--port")
    except OSError as error:
        raise ConfigurationError(str(error.strerror)) from None
    with listening:
        token = "" if options.token is None else ', token="…"'
        hints = _HINTS.format(url=address_of(listening), token=token)
        if options.expose:
            hints = f"{hints}\n{_EXPOSED}"
        serve(create_app(fake, run_clock=True, any_host=options.expose), listening, hints)
    return 0


def _number(
    kind: type[int | float], least: int, most: float, expected: str
) -> Callable[[str], int | float]:
    """The type of an option that is a number in a range."""

    def convert(text: str) -> int | float:
        try:
            number = kind(text)
        except ValueError:
            number = -1
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return number

    return convert


def _token(text: str) -> str:
    if not re.fullmatch("[!-~]+", text):
        raise argparse.ArgumentTypeError("a token is plain text without blanks")
    return text
