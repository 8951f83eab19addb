"""`adclient mcp`: serve the operations to a model, over standard input and output, or HTTP."""

import argparse
import re
import signal
import sys

from adclient import AsyncAdClient
from adclient._command import Parser, connection, is_closed_pipe
from adclient._command.ledger import LEDGER, NEW_LEDGER, prepare
from adclient._command.terminal import YELLOW, tell
from adclient.errors import ConfigurationError
from adclient.ledger import open_ledger
from adclient.options import from_environment
from adclient.policy import Policy

_TOKEN = "ADCLIENT_MCP_TOKEN"  # noqa: S105  the name of a variable, not a token
_HOST = "127.0.0.1"
_GRACE = 5  # seconds for calls under way, after Ctrl-C
_HELP = f"""\
adclient mcp --account account_b204
adclient mcp --policy policy.toml --writes --ledger drafts.db
--policy FILE  the policy, a TOML file
--account -a ID  the only account; else those of the policy
--writes  offer the writes, too; needs a policy and a ledger
--http PORT  serve at http://HOST:PORT/mcp, not over standard input and output
--host HOST={_HOST}  where --http listens (%(default)s); beyond this machine, it needs a token in
    {_TOKEN}
{LEDGER}{NEW_LEDGER}{connection.CONNECTION}"""


def add_arguments(parser: Parser) -> None:
    """Describe the command line."""
    parser.describe(_HELP)


def run(options: argparse.Namespace) -> int:
    """Serve until the input ends, or until Ctrl-C; the exit code."""
    connection.add_from_service(options)
    policy = Policy() if options.policy is None else Policy.read(options.policy)
    account: str | None = options.account_id
    if account is not None:
        policy = policy.for_account(account)
    elif policy.accounts is None:
        raise ConfigurationError("name the accounts in a policy, or one with --account")
    if options.writes and (options.policy is None or options.ledger is None):
        raise ConfigurationError("--writes needs --policy and --ledger")
    if options.http is None and options.host != _HOST:
        raise ConfigurationError("--host needs --http")
    import anyio

    from adclient.mcp import LOOPBACK, http_app, serve  # an error now if the extra is missing

    token = from_environment(_TOKEN)
    if options.http is not None:
        if options.http not in range(65536):
            raise ConfigurationError("--http must be a port from 0 to 65535")
        if token is not None and not re.fullmatch("[!-~]+", token):
            problem = f"{_TOKEN} must be one word of visible ASCII characters, without `Bearer`"
            raise ConfigurationError(problem)
        if options.host not in LOOPBACK and token is None:
            place = f"--host {options.host} is not this machine alone"
            raise ConfigurationError(f"{place}: set {_TOKEN}")
    ledger = None if options.ledger is None else open_ledger(options.ledger)
    client = AsyncAdClient(**connection.settings(options, policy=policy, ledger=ledger))
    if options.writes and ledger is not None:
        prepare(ledger, options)  # not before: an extra may be missing, or an address be wrong

    async def serve_client() -> None:
        async with client:
            if options.http is None:
                if sys.stdin.isatty():
                    tell("this waits for messages of MCP on standard input; Ctrl-C ends it", YELLOW)
                await serve(client, writes=options.writes)
                return
            import uvicorn

            app = http_app(client, writes=options.writes, token=token)
            # A client may keep a connection open for as long as it runs.
            config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE)
            server = uvicorn.Server(config)
            with connection.listen(options.host, options.http) as listening:
                signal.signal(signal.SIGINT, server.handle_exit)  # also before it serves
                print(f"{connection.address_of(listening)}/mcp", flush=True)
                await server.serve([listening])

    code, on_interrupt = 0 if options.http is None else 130, signal.getsignal(signal.SIGINT)
    if on_interrupt is signal.default_int_handler and options.http is None:
        # Nothing can cancel the thread that waits for input, so Ctrl-C ends the process at once. A
        # ledger is made for that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(serve_client)
    except BaseExceptionGroup as group:
        others = group.split(is_closed_pipe)[1]
        if others is not None:
            raise others from None
        code = 141
    finally:
        signal.signal(signal.SIGINT, on_interrupt)
    return code
