"""`adclient doctor`: the examination of a service."""

import argparse
from pathlib import Path

import attrs

from adclient import AdClient
from adclient._command import EXIT_CODES, Parser, connection
from adclient._command.terminal import show, show_report, tell_step
from adclient.doctor import Interrupted, examine
from adclient.errors import ConfigurationError
from adclient.options import ENV_TOKEN
from adclient.survey.examine import MOST_REQUESTS, TIMEOUT

CODES = EXIT_CODES | {
    0: "examined, and a client with these settings has read everything that was tried",
    1: "examined, but a problem is reported, or it ended early",
    3: "no read was accepted, so there was nothing to examine",
    4: "everything was read, but no listing has a second page: how one continues is not known",
    6: "with --check: the service has changed",
    130: "interrupted by Ctrl-C, after a report on what was observed until then",
}
_HELP = f"""\
adclient doctor https://ads.example.com -a account_b204 --save service.toml
adclient doctor --check service.toml
{connection.SURVEY}\
--targeting JSON  a search that finds some of the targeting options, to see how objects are written
--requests N={MOST_REQUESTS}  the limit of requests (%(default)s)
--timeout SECONDS={TIMEOUT:g}  for everything (%(default)s); an eighth of it for one request, but
    at least 15
the service file:
| --save FILE  write what was found out, for clients and the other commands
| --check FILE  examine the service of a file, and print what has changed since
--force  replace the file if it exists
{connection.REPORT}\
the connection:
--header NAME:VALUE...  a further header, such as that of a tenant; may be repeated
--ca-file FILE  certificates to trust instead of the usual ones
--proxy URL  a proxy

Only reads are sent, one after the other, to this service alone; never a write.
"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP, CODES, {"JSON": connection.json_object, "NAME:VALUE": _header})


def run(options: argparse.Namespace) -> int:
    """Examine a service, and print the report; the exit code."""
    file: str | None = options.check
    known, accounts = connection.examined(options, "--check", file)
    if known.accounts and not {*accounts} <= {*known.accounts}:
        raise ConfigurationError(f"--account: --check is for the accounts of {file}")
    if not accounts:
        raise ConfigurationError("--account is missing: pass it, or a file with --check")
    if options.save is not None:
        # Whether it can be written is known before anything is sent.
        if Path(options.save).is_dir():
            raise ConfigurationError(f"--save: {options.save} is a folder, not a file")
        if not options.force and Path(options.save).exists():
            raise ConfigurationError(f"--save: {options.save} exists; --force replaces it")
        part = Path(f"{options.save}.part")  # which `save` writes first
        try:
            part.touch()
            part.unlink()
        except OSError as error:
            problem = f"--save: {part} cannot be written: {error.strerror}"
            raise ConfigurationError(problem) from None
    options.service = file
    settings = connection.settings(options, timeout=None, headers=dict(options.headers))
    proxy, verify = settings.get("proxy"), settings.get("verify", True)
    with AdClient(**settings) as client:
        try:
            report = examine(
                client,
                account_id=accounts,
                service=file,
                targeting=options.targeting,
                timeout=options.timeout,
                most_requests=options.most_requests,
                progress=None if options.quiet else tell_step,
            )
        except Interrupted as interrupt:
            show_report(interrupt.report, options)
            raise
    if options.save is not None and report.is_accepted:
        # What a client does not show: names of variables and files, which are no secrets.
        auth, token_file = report.service.auth, options.token_file
        if auth is not None and auth.env is not None:  # else only further headers are secret
            auth = attrs.evolve(auth, env=options.token_env or ENV_TOKEN)
            if token_file not in (None, "-"):
                auth = attrs.evolve(auth, env=None, file=token_file)
        service = attrs.evolve(
            report.service,
            auth=auth,
            proxy=None if "@" in str(proxy) else proxy,
            ca_file=None if verify is True else str(verify),
        )
        report = attrs.evolve(report, service=service)
        report = report.save(options.save, replace=options.force)
    if file is None:
        show_report(report, options)
        return report.exit_code
    changes = report.changes(file)
    if options.json or options.markdown:
        show_report(report, options, changes=[*changes])
    if not options.json:
        lines = ["Changes", *(changes or ["none"])]
        if not report.is_accepted:  # so nothing was compared
            lines = ["Service", str(report["service"]), str(report["credentials"])]
        show("\n  ".join(lines))
        if report.problems:
            show("\n  ".join(["Problems", *report.problems]))
    if not report.is_accepted:
        return report.exit_code
    return 6 if changes else int(bool(report.problems))  # what no file can know is no news


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError("expected NAME:VALUE")
    return name.strip(), value.strip()
