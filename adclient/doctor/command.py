"""`adclient doctor`: the examination of a service, from the command line."""

import argparse
import json
import os
import sys

from adclient._core.auth import Credentials
from adclient._core.jsontext import JSONError, loads
from adclient._core.operations import OPERATIONS
from adclient._json import JSON
from adclient.conventions import is_free_header
from adclient.doctor._examination import MOST_REQUESTS
from adclient.doctor._examine import prepared, report_on
from adclient.doctor._session import TIMEOUT
from adclient.errors import AdClientError
from adclient.options import ENV_TOKEN, check_base_url, check_token

HELP = "find out by reads what the service does where its interface is silent"
_EPILOG = f"""\
At most {MOST_REQUESTS} reads are sent, one after the other, to this service alone; never a write.

exit codes:
  0    examined, and a client with these settings works
  1    examined, but a problem is reported, or it ended early
  2    the command line is wrong
  3    no read was accepted, so there was nothing to examine
  130  interrupted by Ctrl-C, after a report on what was observed until then"""
_PLAN = """\
At most {most} requests would be sent to {url}, each one of these reads:

{reads}

  1. the first of them, with its parameters in the query; if it is refused, in the body,
     and others until one is accepted (at most 12)
  2. the same for an account that cannot exist, and if that changes nothing, in the body
  3. the same without credentials, if there are any
  4. each of the seven
  5. search-gamma-targeting with an object as JSON, in brackets, and again without it
  6. a page with a `next`: that sent back under a wrong name; then followed, if it is a URL;
     then under the names that services use, until one leads to other items

Nothing was sent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = HELP.capitalize() + ".", _EPILOG
    add = parser.add_argument
    add("url", metavar="URL", help="the address of the service")
    add(
        *("--account", "-a"),
        action="append",
        required=True,
        metavar="ID",
        dest="accounts",
        help="a connected account; repeat it if each belongs to one platform",
    )
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--token", help=f"a token; it shows in the process list, unlike {ENV_TOKEN}")
    given.add_argument(
        "--token-env",
        metavar="NAME",
        help=f"the environment variable that holds the token ({ENV_TOKEN})",
    )
    add(
        "--token-header",
        metavar="NAME",
        type=_header,
        help="the header that carries the token, instead of a bearer token",
    )
    add(
        "--targeting",
        metavar="JSON",
        type=_object,
        help="a search that finds some of the targeting options, to see how objects are written",
    )
    add(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"for everything ({TIMEOUT:g})",
    )
    add("--dry-run", action="store_true", help="say what would be requested, and send nothing")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the report as JSON")
    shape.add_argument(
        "--details", action="store_true", help="print what was observed, too, and each request"
    )


def run(options: argparse.Namespace) -> int:
    """Examine a service, and print the report; the exit code."""
    try:
        return _run(options)
    except AdClientError as error:  # a setting that cannot be used
        print(f"adclient doctor: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    if options.dry_run:
        print(_plan(check_base_url(options.url)))
        return 0
    variable: str = options.token_env or ENV_TOKEN
    session = prepared(
        options.url,
        account_id=options.accounts,
        credentials=_credentials(options.token, variable, options.token_header),
        targeting=options.targeting,
        timeout=options.timeout,
    )
    interrupted = False
    try:
        session.run()
    except KeyboardInterrupt:
        interrupted, session.examination.stopped = True, "interrupted: this report is partial"
    report = report_on(session, token_env=variable)
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(report.details() if options.details else report)
    if interrupted:
        return 130
    return 3 if not report.is_accepted else 1 if report.problems else 0


def _credentials(given: str | None, variable: str, header: str | None) -> Credentials:
    token = given if given is not None else os.environ.get(variable, "").strip() or None
    if token is None or header is None:
        return Credentials(token)
    checked = check_token(token)
    return Credentials(auth=lambda _: {header: checked})


def _plan(url: str) -> str:
    reads = [operation for operation in OPERATIONS if not operation.is_write]
    paths = "\n".join(f"  GET {operation.path}" for operation in reads)
    return _PLAN.format(most=MOST_REQUESTS, url=url, reads=paths)


def _header(text: str) -> str:
    if not is_free_header(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a header that is free")
    return text


def _object(text: str) -> dict[str, JSON]:
    try:
        value = loads(text.encode())
    except JSONError:
        value = None
    if not isinstance(value, dict) or not value:
        raise argparse.ArgumentTypeError("not a JSON object with something in it")
    return value
