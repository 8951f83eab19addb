"""`adclient conform`: whether a service keeps to its interface."""

import argparse

from adclient._command import EXIT_CODES, Parser, connection
from adclient._command.terminal import show_report, tell_step
from adclient.conform import conform
from adclient.errors import ConfigurationError
from adclient.models import JSON
from adclient.survey.conform import TIMEOUT

CODES = EXIT_CODES | {
    0: "no check failed, and every operation that was to be checked accepted a request",
    1: "a check failed, or the run ended early",
    3: "no check failed, but an operation accepted no request, so little is known of it",
}
_HELP = f"""\
adclient conform https://ads.example.com -a account_b204
adclient conform --service service.toml --stage-drafts account_test
{connection.SURVEY}\
--stage-drafts ID...  a test account in which drafts may be staged; may be repeated
--arguments JSON  valid arguments of writes, by the name of the operation
--timeout SECONDS={TIMEOUT:g}  for everything (%(default)s)
{connection.SERVICE}{connection.REPORT}
Only reads are sent, unless --stage-drafts names accounts: then each of the nine writes stages two \
drafts there, and in no other account. Reject them in the approval dashboard.
"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP, CODES, {"JSON": connection.json_object})


def run(options: argparse.Namespace) -> int:
    """Check a service, and print the report; the exit code."""
    file = connection.service_path(options)
    accounts = connection.examined(options, "--service", file)[1]
    given: dict[str, JSON] = options.arguments or {}
    arguments = {name: values for name, values in given.items() if isinstance(values, dict)}
    if arguments != given:
        raise ConfigurationError("--arguments: expected an object for each operation")
    with connection.open_client(options, timeout=None) as client:
        report = conform(
            client,
            account_id=options.account_id if options.stage_drafts else accounts,
            stage_drafts=options.stage_drafts,
            arguments=arguments,
            timeout=options.timeout,
            progress=None if options.quiet else tell_step,
        )
    show_report(report, options)
    return report.exit_code
