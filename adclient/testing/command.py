"""`adclient fake`: serve the fake over HTTP, with the approval page."""

import argparse
import signal

from adclient._display.extras import needs
from adclient._http.network import is_loopback
from adclient.errors import ConfigurationError
from adclient.testing._profile import Profile
from adclient.testing._service import FakeAdService

_HINTS = """\
The fake ad service listens at {url}

  client         AdClient("{url}"{token})
  approval page  {url}/approval
  OpenAPI        {url}/openapi.json
  accounts       account_a91f (alpha), account_b204 (beta), account_c3d8 (gamma),
                 account_d118 (delta)

Ctrl-C stops it; its drafts are then gone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="the address to listen on")
    add("--port", type=int, default=8765, help="the port; 0 is any free one")
    add("--seed", default="halden", help="determines names, ids and metrics")
    add("--token", help="the bearer token that every request must carry")
    add("--page-size", type=int, default=50, help="how many items a page holds")
    add("--latency", type=float, default=0, help="how many seconds each response takes")
    add("--expose", action="store_true", help="allow a host that others can reach")


def run(options: argparse.Namespace) -> int:
    """Serve the fake until Ctrl-C; the exit code."""
    with needs("server"):
        from adclient.testing.server.app import create_app
        from adclient.testing.server.uvicorn_server import address_of, listen, server_of
    host = f"[{options.host}]" if ":" in options.host else options.host
    if not is_loopback(f"//{host}") and not options.expose:
        raise ConfigurationError(
            f"--host {options.host} is not this machine alone: add --expose to allow it"
        )
    if options.port not in range(65536):
        raise ConfigurationError("--port must be from 0 to 65535")
    try:
        profile = Profile(latency=options.latency)
        fake = FakeAdService(
            seed=options.seed, token=options.token, page_size=options.page_size, profile=profile
        )
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    with listen(options.host, options.port) as listening:
        server = server_of(create_app(fake, run_clock=True, any_host=options.expose))
        # An interrupt before uvicorn serves must end it in the same way as one behind.
        before = signal.signal(signal.SIGINT, server.handle_exit)
        token = "" if options.token is None else ', token="…"'
        print(_HINTS.format(url=address_of(listening), token=token), flush=True)
        try:
            server.run(sockets=[listening])
        finally:
            signal.signal(signal.SIGINT, before)
    return 130
