"""`adclient mcp`: serve the operations to a model, over standard input and output."""

import argparse
import signal
from contextlib import closing, nullcontext

from adclient._command import connection
from adclient._command.ledger import add_ledger, opened
from adclient.errors import ConfigurationError
from adclient.ledger import open_ledger
from adclient.ledger.sql import SQLLedger
from adclient.policy import Policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add = parser.add_argument
    add("--policy", metavar="FILE", help="the policy, a TOML file")
    add("--account", "-a", metavar="ID", help="the only account; else those of the policy")
    add("--writes", action="store_true", help="offer the writes, too; needs a policy and a ledger")
    add_ledger(parser)
    connection.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the input ends; the exit code."""
    connection.add_from_service(options)
    policy = Policy() if options.policy is None else Policy.read(options.policy)
    account: str | None = options.account
    if account is not None:
        if policy.accounts is not None and account not in policy.accounts:
            raise ConfigurationError(f"--account: the policy does not name {account!r}")
        policy = policy.for_account(account)
    elif policy.accounts is None:
        raise ConfigurationError("name the accounts in a policy, or one with --account")
    if options.writes and (options.policy is None or options.ledger is None):
        raise ConfigurationError("--writes needs --policy and --ledger")
    ledger = None
    if options.ledger is not None:
        ledger = opened(options) if options.writes else open_ledger(options.ledger)
    import anyio

    code, on_interrupt = 0, signal.getsignal(signal.SIGINT)
    if on_interrupt is signal.default_int_handler:
        # Nothing can cancel the thread that waits for input, so Ctrl-C ends the process at once. A
        # ledger is made for that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(_serve, options, policy, ledger)
    except* BrokenPipeError:
        code = 141
    finally:
        signal.signal(signal.SIGINT, on_interrupt)
    return code


async def _serve(options: argparse.Namespace, policy: Policy, ledger: SQLLedger | None) -> None:
    from adclient import AsyncAdClient
    from adclient._agents.mcp_server import serve

    settings = connection.settings(options, policy=policy, ledger=ledger)
    with nullcontext() if ledger is None else closing(ledger):
        async with AsyncAdClient(**settings) as client:
            await serve(client, writes=options.writes)
