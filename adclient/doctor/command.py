"""`adclient doctor`: the examination of a service, from the command line."""

import argparse
import json
import sys

import attrs

from adclient._core.jsontext import JSONError, loads
from adclient._json import JSON
from adclient.conventions import is_free_header
from adclient.doctor._examination import MOST_REQUESTS
from adclient.doctor._examine import Interrupted, examine
from adclient.doctor._probe import READS
from adclient.doctor._report import quoted
from adclient.doctor._session import TIMEOUT
from adclient.errors import AdClientError, ConfigurationError
from adclient.options import ENV_TOKEN, check_base_url, check_token, from_environment

_EPILOG = f"""\
At most {MOST_REQUESTS} reads are sent, one after the other, to this service alone; never a write.

exit codes:
  0    examined, and a client with these settings works
  1    examined, but a problem is reported, or it ended early
  2    the command line is wrong
  3    no read was accepted, so there was nothing to examine
  130  interrupted by Ctrl-C, after a report on what was observed until then
  141  nobody read the report to its end"""
_PLAN = """\
At most {most} requests would be sent to {url}, each one of these reads:

{reads}

  1. the first of them, with its parameters in the query; if it is refused, in the body,
     and others until one is accepted (at most 12)
  2. the same for an account that cannot exist, and if that changes nothing, in the body
  3. the same without credentials, if there are any
  4. each of the seven
  5. search-gamma-targeting with an object as JSON, in brackets, and again without it
  6. a page with a `next`: that sent back under a wrong name; then followed, if it is a URL, or
     entry by entry, if it is an object; then under the names that services use, until one
     leads to other items

Nothing was sent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
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
        help=f"for everything ({TIMEOUT:g}); an eighth of it for one request, but at least 15",
    )
    add("--dry-run", action="store_true", help="say what would be requested, and send nothing")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the report as JSON")
    shape.add_argument(
        "--details", action="store_true", help="print what was observed, too, and each request"
    )


def run(options: argparse.Namespace) -> int:
    """Examine a service, and print the report; the exit code."""
    variable: str = options.token_env or ENV_TOKEN
    header: str | None = options.token_header
    interrupted, token = False, None
    try:
        if options.dry_run:
            paths = "\n".join(f"  GET {operation.path}" for operation in READS)
            url = check_base_url(options.url)
            print(_PLAN.format(most=MOST_REQUESTS, url=url, reads=paths))
            return 0
        token = from_environment(variable) if options.token is None else check_token(options.token)
        if token is None and (options.token_env or header):
            reason = f"the environment variable {variable} holds no token"
            raise ConfigurationError(reason, argument="token")
        report = examine(
            options.url,
            account_id=options.accounts,
            token=token if header is None else None,
            auth=None if header is None else lambda _: {header: check_token(token)},
            targeting=options.targeting,
            timeout=options.timeout,
        )
    except AdClientError as error:  # a setting that cannot be used
        print(f"adclient doctor: {error}", file=sys.stderr)
        return 2
    except Interrupted as interrupt:
        interrupted, report = True, interrupt.report
    if token is not None:
        in_code = f"os.environ[{quoted(variable)}]"
        argument = {"token": in_code}
        if header is not None:
            argument = {"auth": f"lambda request: {{{quoted(header)}: {in_code}}}"}
        report = attrs.evolve(report, arguments=argument)
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(report.details() if options.details else report)
    if interrupted:
        return 130
    return 3 if not report.is_accepted else 1 if report.problems else 0


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
