"""`adclient fake`: serve the fake over HTTP, with the approval page."""

import argparse
import signal
from functools import partial
from urllib.parse import urlsplit

from adclient._command import Parser
from adclient._command.connection import address_of, listen
from adclient._http.network import is_loopback
from adclient._service.file import read_service
from adclient._show.tracebacks import needs
from adclient.errors import ConfigurationError
from adclient.testing._fake.like import account_ids, secret_of
from adclient.testing._fake.profile import Profile
from adclient.testing._fake.service import FakeAdService

_HINTS = """\
The fake ad service listens at {url}

  client         {client}
  approval page  {url}/approval
  OpenAPI        {url}/openapi.json
  accounts       {accounts}

Ctrl-C stops it; its drafts are then gone."""

_STORY = """\
account_a91f (alpha), account_b204 (beta), account_c3d8 (gamma),
                 account_d118 (delta)"""

_HELP = """\
adclient fake
adclient fake --port 9000 --like service.toml
--host HOST=127.0.0.1  the address to listen on (%(default)s)
--port N=8765  0 is any free one (%(default)s)
--seed TEXT=halden  determines the ids of drafts and continuations (%(default)s)
--like FILE  a service file, to serve accounts like those of a service
--token TOKEN  the token, or other secret, that every request must carry
--page-size N  how many items a page holds (50); not with --like
--latency SECONDS=0  how many seconds each response takes (%(default)s)
--expose  allow a host that others can reach
"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP)


def run(options: argparse.Namespace) -> int:
    """Serve the fake until Ctrl-C; the exit code."""
    with needs("server"):
        from adclient.testing.server.app import create_app
        from adclient.testing.server.uvicorn_server import server_of
    host = f"[{options.host}]" if ":" in options.host else options.host
    if not is_loopback(f"//{host}") and not options.expose:
        raise ConfigurationError(
            f"--host {options.host} is not this machine alone: add --expose to allow it"
        )
    if options.port not in range(65536):
        raise ConfigurationError("--port must be from 0 to 65535")
    if options.like is not None and options.page_size is not None:
        raise ConfigurationError("--page-size: with --like, pages are those of the file")
    names = ("seed", "token", "page_size")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    make = FakeAdService if options.like is None else partial(FakeAdService.like, options.like)
    try:
        profile = Profile(latency=options.latency, business_rules=options.like is None)
        fake = make(profile=profile, **given)
    except ConfigurationError:
        raise
    except ValueError as error:  # which begins with the name of an argument
        argument = str(error).partition(" ")[0]
        raise ConfigurationError(str(error), argument=argument) from None
    try:
        listening = listen(options.host, options.port)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # which Python ends with the address
        advice = "choose another with --port or --host"
        raise OSError(f"{options.host}, port {options.port}: {reason}; {advice}") from None
    with listening:
        server = server_of(create_app(fake, run_clock=True, any_host=options.expose))
        # An interrupt before uvicorn serves must end it in the same way as one behind.
        before = signal.signal(signal.SIGINT, server.handle_exit)
        print(_hints(options, address_of(listening)), flush=True)
        try:
            server.run(sockets=[listening])
        finally:
            signal.signal(signal.SIGINT, before)
    return 130


def _hints(options: argparse.Namespace, url: str) -> str:
    """How to reach the fake, and what it has."""
    token, accounts = "" if options.token is None else "…", _STORY
    client = f'AdClient("{url}", token="{token}")' if token else f'AdClient("{url}")'
    if options.like is not None:
        service = read_service(options.like)
        address = url + urlsplit(service.url).path.rstrip("/")
        arguments, auth = f'"{options.like}", base_url="{address}"', service.auth
        place = "" if auth is None or auth.env is None else f" in {auth.env}"
        if auth is not None and auth.env is None:  # its file holds what is for the service itself
            arguments, place = f"{arguments}, auth=…", ", for auth="
        secret = f"\n  secret         {token or secret_of(auth)}{place}" if auth else ""
        if service.ledger is not None:  # which is for drafts of the service itself
            arguments += ', ledger=open_ledger("fake.db")'
        client = f"AdClient.from_service({arguments}){secret}"
        accounts = ", ".join(account_ids(service))
    return _HINTS.format(url=url, client=client, accounts=accounts)
