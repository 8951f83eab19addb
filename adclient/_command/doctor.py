"""`adclient doctor`: the examination of a service."""

import argparse
import json

import attrs

from adclient._command import EXIT_CODES, connection, exit_codes
from adclient.doctor import Interrupted, examine
from adclient.doctor._examination import MOST_REQUESTS
from adclient.doctor._probe import READS
from adclient.doctor._report import quoted
from adclient.doctor._session import TIMEOUT
from adclient.options import ENV_TOKEN, check_base_url

CODES = EXIT_CODES | {
    0: "examined, and a client with these settings works",
    1: "examined, but a problem is reported, or it ended early",
    3: "no read was accepted, so there was nothing to examine",
    130: "interrupted by Ctrl-C, after a report on what was observed until then",
}
_EPILOG = f"""\
At most {MOST_REQUESTS} reads are sent, one after the other, to this service alone; never a write.

exit codes:
{exit_codes(CODES)}"""
_PLAN = """\
At most {most} requests would be sent to {url}, each one of these reads:

{reads}

  1. the first of them, with its parameters in the query; if it is refused, in the body,
     and others until one is accepted (at most 12)
  2. the same for an account that cannot exist, and if that changes nothing, in the body
  3. the same without credentials, if there are any
  4. each of the seven; if no other is accepted, the first of them again
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
    add(
        "--targeting",
        metavar="JSON",
        type=connection.json_object,
        help="a search that finds some of the targeting options, to see how objects are written",
    )
    add(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help="for everything (%(default)g); an eighth of it for one request, but at least 15",
    )
    add("--dry-run", action="store_true", help="print what would be requested, and send nothing")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the report as JSON")
    shape.add_argument(
        "--details", action="store_true", help="also print what was observed, and each request"
    )
    connection.add_credentials(parser)


def run(options: argparse.Namespace) -> int:
    """Examine a service, and print the report; the exit code."""
    if options.dry_run:
        paths = "\n".join(f"  GET {operation.path}" for operation in READS)
        url = check_base_url(options.url)
        print(_PLAN.format(most=MOST_REQUESTS, url=url, reads=paths))
        return 0
    token, auth = connection.credentials(options)
    interrupted = False
    try:
        report = examine(
            options.url,
            account_id=options.accounts,
            token=token,
            auth=auth,
            targeting=options.targeting,
            timeout=options.timeout,
        )
    except Interrupted as interrupt:
        interrupted, report = True, interrupt.report
    in_code = f"os.environ[{quoted(options.token_env or ENV_TOKEN)}]"
    if auth is not None:
        argument = {"auth": f"lambda request: {{{quoted(options.token_header)}: {in_code}}}"}
        report = attrs.evolve(report, arguments=argument)
    elif token is not None:
        report = attrs.evolve(report, arguments={"token": in_code})
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(report.details() if options.details else report)
    if interrupted:
        return 130
    return 3 if not report.is_accepted else 1 if report.problems else 0
