"""`adclient doctor`: the examination of a service."""

import argparse
import json

import attrs

from adclient._command import EXIT_CODES, connection, describe
from adclient.doctor import Interrupted, Report, examine
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
_ABOUT = f"""\
At most {MOST_REQUESTS} reads are sent, one after the other, to this service alone; never a write.

"""
_PLAN = """\
At most {most} requests would be sent to {url}, each one of these reads:

{reads}

Nothing was sent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    describe(parser, _ABOUT, CODES)
    add = parser.add_argument
    about = "a connected account; repeat it if each belongs to one platform"
    add("url", metavar="URL", help="the address of the service")
    add("--account", "-a", action="append", required=True, metavar="ID", help=about)
    about = "a search that finds some of the targeting options, to see how objects are written"
    add("--targeting", metavar="JSON", type=connection.json_object, help=about)
    about = "for everything (%(default)g); an eighth of it for one request, but at least 15"
    connection.add_timeout(parser, TIMEOUT, about)
    add("--dry-run", action="store_true", help="print what would be requested, and send nothing")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--json", action="store_true", help="print the report as JSON")
    add("--details", action="store_true", help="also print what was observed, and each request")
    connection.add_credentials(parser)


def run(options: argparse.Namespace) -> int:
    """Examine a service, and print the report; the exit code."""
    if options.dry_run:
        paths = "\n".join(f"  GET {operation.path}" for operation in READS)
        url = check_base_url(options.url)
        print(_PLAN.format(most=MOST_REQUESTS, url=url, reads=paths))
        return 0
    credentials = connection.credentials(options)
    try:
        report = examine(
            options.url,
            account_id=options.account,
            targeting=options.targeting,
            timeout=options.timeout,
            **credentials,
        )
    except Interrupted as interrupt:
        _print(interrupt.report, credentials, options)
        raise
    _print(report, credentials, options)
    return 3 if not report.is_accepted else 1 if report.problems else 0


def _print(report: Report, credentials: dict[str, object], options: argparse.Namespace) -> None:
    """Print a report, whose code takes the token from the environment."""
    token = f"os.environ[{quoted(options.token_env or ENV_TOKEN)}]"
    if "auth" in credentials:
        function = f"lambda request: {{{quoted(options.token_header)}: {token}}}"
        report = attrs.evolve(report, arguments={"auth": function})
    elif credentials["token"] is not None:
        report = attrs.evolve(report, arguments={"token": token})
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(report.details() if options.details else report)
