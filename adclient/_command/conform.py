"""`adclient conform`: whether a service keeps to its interface."""

import argparse
import json

from adclient import AdClient
from adclient._command import EXIT_CODES, connection, describe
from adclient._command.terminal import erase_line, show, tell_step
from adclient._service.file import read_service
from adclient.conform import ConformInterrupted, ConformReport, conform
from adclient.errors import ConfigurationError
from adclient.models import JSON
from adclient.options import ENV_BASE_URL, from_environment
from adclient.survey.conform import TIMEOUT

CODES = EXIT_CODES | {
    0: "no check failed, and every operation that was to be checked accepted a request",
    1: "a check failed, or the run ended early",
    3: "no check failed, but an operation accepted no request, so little is known of it",
    130: "interrupted by Ctrl-C, after a report on what was found until then",
}
_EXAMPLES = """\
adclient conform https://ads.example.com -a account_b204
adclient conform --service service.toml --stage-drafts account_test
"""
_ABOUT = """\
Only reads are sent, unless --stage-drafts names accounts: then each of the nine writes stages two \
drafts there, and in no other account. Reject them in the approval dashboard.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    describe(parser, _EXAMPLES, _ABOUT, CODES)
    add = parser.add_argument
    connection.add_address(add)
    about = "a connected account; repeat it if each belongs to one platform"
    add("--account", "-a", action="append", default=[], metavar="ID", help=about)
    about = "a test account in which drafts may be staged; may be repeated"
    add("--stage-drafts", action="append", default=[], metavar="ID", help=about)
    about = "valid arguments of writes, by the name of the operation"
    add("--arguments", metavar="JSON", type=connection.json_object, help=about)
    connection.add_timeout(parser, TIMEOUT, "for everything (%(default)g)")
    add("--quiet", action="store_true", help="print no progress to standard error")
    connection.add_service(add)
    shape = parser.add_argument_group("output").add_mutually_exclusive_group().add_argument
    shape("--json", action="store_true", help="print the report as JSON, with what passed")
    shape("--markdown", action="store_true", help="print what did not pass, for an issue")
    connection.add_credentials(parser)


def run(options: argparse.Namespace) -> int:
    """Check a service, and print the report; the exit code."""
    file = connection.service_path(options)
    accounts: list[str] = options.account
    if file is not None and not accounts and not options.stage_drafts:
        accounts = list(read_service(file).accounts)
    if (options.url or from_environment(ENV_BASE_URL) or file) is None:
        raise ConfigurationError("URL is missing: pass it, or a file with --service")
    given: dict[str, JSON] = options.arguments or {}
    arguments = {name: values for name, values in given.items() if isinstance(values, dict)}
    if arguments != given:
        raise ConfigurationError("--arguments: expected an object for each operation")
    with AdClient(**connection.settings(options, timeout=None)) as client:
        try:
            report = conform(
                client,
                account_id=accounts,
                stage_drafts=options.stage_drafts,
                arguments=arguments,
                timeout=options.timeout,
                progress=None if options.quiet else tell_step,
            )
        except ConformInterrupted as interrupt:
            _print(interrupt.report, options)
            raise
    _print(report, options)
    return report.exit_code


def _print(report: ConformReport, options: argparse.Namespace) -> None:
    erase_line()
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    elif options.markdown:
        print(report.markdown())
    else:
        show(str(report))
