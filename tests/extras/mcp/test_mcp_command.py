"""`adclient mcp`: what it serves to a model, and how it ends."""

import os
import re
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread, Timer
from urllib.parse import urlsplit

import anyio
import httpx
import httpx2
import mcp
import pytest
from cases import each_case
from clients import SYNC
from mcp.client.streamable_http import streamable_http_client
from raw_server import Connection, RawServer, answer_to
from run_command import Stream, run_command
from waiting import until

from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService

TOKEN = "token-of-the-server"
ONE = ["mcp", "--account", "account_a91f"]
WRITING = ["--policy", "policy.toml", "-a", "account_a91f", "--writes", "--ledger", "drafts.db"]
POLICY = """accounts = ["account_a91f", "account_b204"]
money = { daily_budget = 150 }
account.account_a91f.money.daily_budget = 90
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)


@pytest.fixture
def serve_instead(monkeypatch):
    """Let the command do something else with its client and whether it has writes."""

    def serve_instead(what) -> None:
        async def serve(client, *, writes) -> None:
            what(client, writes)

        monkeypatch.setattr("adclient.mcp.serve", serve)

    with FakeAdService().as_environment():
        yield serve_instead


def test_ledger_is_neither_missing_nor_created_for_a_wrong_address(serve_instead) -> None:
    serve_instead(lambda client, writes: None)
    ran = run_command("mcp", *WRITING)
    assert ran.code == 2
    assert "--ledger: drafts.db does not exist; --new-ledger creates it" in ran.err
    assert run_command("mcp", *WRITING, "--new-ledger", "--url", "ftp://ads.example.com").code == 2
    assert not Path("drafts.db").exists()


@each_case(
    ("arguments", "accounts", "writes"),
    (["-a", "account_b204"], ["account_b204"], False),
    (["--policy", "policy.toml"], ["account_a91f", "account_b204"], False),
    (["--policy", "policy.toml", "-a", "account_a91f"], ["account_a91f"], False),
    ([*WRITING, "--new-ledger"], ["account_a91f"], True),
    (WRITING, ["account_a91f"], True),  # with the ledger that the one before has created
)
def test_accounts_of_a_model_are_pinned(arguments, accounts, writes, serve_instead) -> None:
    served = []
    serve_instead(lambda client, writes: served.append((client._engine.guard, writes)))
    assert run_command("mcp", *arguments).code == 0
    [(guard, has_writes)] = served
    assert (list(guard.policy.accounts), has_writes) == (accounts, writes)
    assert (guard.ledger is not None) is writes
    # Its own rules are those of the only account.
    most = 90 if accounts == ["account_a91f"] else 150
    assert (guard.policy.money or {}) == ({"daily_budget": most} if "--policy" in arguments else {})


def test_closed_output_is_141_whatever_task_notices_it(serve_instead) -> None:
    def fail(*_: object) -> None:
        raise ExceptionGroup("tasks", errors)

    errors = [BrokenPipeError()]
    serve_instead(fail)
    assert run_command(*ONE).code == 141
    errors.append(LookupError())
    assert run_command(*ONE).code == 1


def test_interrupts_are_handled_as_before_once_the_server_has_ended(serve_instead) -> None:
    seen = []
    serve_instead(lambda *_: seen.append(signal.getsignal(signal.SIGINT)))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run_command(*ONE).code == 0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIG_DFL]


def test_terminal_is_told_that_the_command_waits(serve_instead, monkeypatch) -> None:
    serve_instead(lambda *_: None)
    monkeypatch.setattr(sys, "stdin", Stream())
    monkeypatch.setattr(Stream, "is_terminal", True)
    assert "this waits for messages of MCP on standard input" in run_command(*ONE).err


# Over HTTP.

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"accept": "application/json, text/event-stream"}


def status(url: str, **headers: str) -> int:
    return httpx.post(url, json=PING, headers={**ACCEPT, **headers}, trust_env=False).status_code


def used(
    url: str, tool: str, token: str | None = None, mode: str = "auto", **arguments: str
) -> tuple[int, str]:
    """How many tools the server has, and the summary of one."""

    async def scenario() -> tuple[int, str]:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            with anyio.fail_after(30):
                transport = streamable_http_client(url, http_client=http)
                async with mcp.Client(transport, mode=mode) as client:
                    tools = (await client.list_tools()).tools
                    result = await client.call_tool(tool, arguments)
                    return len(tools), result.structured_content["summary"]

    return anyio.run(scenario)


def serve_for(user, *arguments: str, host: str = "127.0.0.1") -> tuple[object, str]:
    """Serve until `user(url)` has ended; return what it returned, and the errors printed."""
    found, has_ended = [], Event()

    def use_then_interrupt() -> None:
        try:
            wait_until(lambda: isinstance(sys.stdout, Stream) and sys.stdout.getvalue())
            port = re.fullmatch(rf"http://{host}:(\d+)/mcp\n", sys.stdout.getvalue())[1]
            found.append(user(f"http://127.0.0.1:{port}/mcp"))
        finally:
            if not has_ended.is_set():
                os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=use_then_interrupt, daemon=True)
    thread.start()
    ran = run_command("mcp", "--http", "0", "--host", host, *arguments)
    has_ended.set()
    thread.join(30)
    assert ran.code == 130
    [result] = found
    return result, ran.err


def wait_until(is_true) -> None:
    SYNC.run(partial(until, is_true))


def connect(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(url).port))


def is_listening(url: str) -> bool:
    with suppress(OSError), connect(url):
        return True
    return False


LOCAL, FOREIGN = "http://localhost:6274", "https://ads.example.com"


BEARER = {"authorization": f"Bearer {TOKEN}"}
# Requests to the command, and how it refuses them.
OF_THIS_MACHINE = [
    ({}, None),
    ({"origin": FOREIGN}, 403),
    ({"host": "ads.example.com"}, 421),
    ({"host": "localhost", "origin": "http://localhost"}, None),  # of port 80
    ({"host": "localhost.example.com"}, 421),
]
OF_ANYWHERE = [
    *(({"authorization": it}, 401) for it in ("", "Bearer other", f"Basic {TOKEN}")),
    *(({}, 401), ({"authorization": f"bearer {TOKEN}"}, None)),
    *(({**BEARER, "origin": LOCAL}, 401), ({**BEARER, "host": "ads.example.com"}, None)),
]


@each_case(
    ("host", "token", "requests"),
    ("127.0.0.1", None, OF_THIS_MACHINE),
    ("0.0.0.0", TOKEN, OF_ANYWHERE),
)
def test_command_serves_its_user_alone_until_interrupted(host, token, requests, monkeypatch):
    monkeypatch.setenv("ADCLIENT_MCP_TOKEN", token or "")

    def use(url: str) -> tuple[list[int], tuple[int, str]]:
        found = [status(url, **headers) for headers, _ in requests]
        return found, used(url, "alpha_explain_objectives", token)

    with FakeAdService().as_environment():
        (found, listing), errors = serve_for(use, *ONE[1:], host=host)
    assert errors == ""
    refusals = [each if each in (401, 403, 421) else None for each in found]
    assert refusals == [refusal for _, refusal in requests]
    assert listing == (7, "7 items; there are no more.")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_write_under_way_ends_before_the_command(mode) -> None:
    addresses, seen = [], []

    def respond_once_the_command_is_ending(connection: Connection) -> None:
        request = connection.read()
        wait_until(lambda: not is_listening(addresses[0]))
        connection.send(answer_to(request))

    def begin_to_write(url: str) -> Thread:
        def write() -> None:
            given = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
            seen.append(used(url, "beta_pause_campaign", mode=mode, **given)[1])

        addresses.append(url)
        thread = Thread(target=write, daemon=True)
        thread.start()
        wait_until(lambda: service.requests)
        return thread

    arguments = ["--policy", "policy.toml", "--writes", "--ledger", "drafts.db", "--new-ledger"]
    with RawServer(respond_once_the_command_is_ending) as service:
        thread, _ = serve_for(begin_to_write, *arguments, "--url", service.url)
        thread.join(30)
    assert [text[:6] for text in seen] == ["Staged"]
    assert [entry.state for entry in SQLiteLedger("drafts.db").entries()] == ["staged"]


def test_command_ends_though_a_request_is_incomplete(monkeypatch) -> None:
    monkeypatch.setattr("adclient._command.mcp._GRACE", 0.1)
    lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += ["Accept: application/json, text/event-stream", "Content-Length: 9"]
    head = "\r\n".join([*lines, "Expect: 100-continue", "", ""]).encode()
    connections = []

    def begin_to_send(url: str) -> None:
        connections.append(connect(url))
        ending.start()
        connections[0].sendall(head)
        assert connections[0].recv(99).startswith(b"HTTP/1.1 100")  # the server waits for it

    ending = Timer(20, lambda: connections[0].close())  # else a server may wait forever
    with FakeAdService().as_environment():
        serve_for(begin_to_send, *ONE[1:])
    assert ending.is_alive()
    ending.cancel()
    connections[0].close()


@each_case(
    ("arguments", "token", "complaint"),
    (["--http", "x"], "", "invalid int value: 'x'"),
    (["--http", "65536"], "", "--http must be a port from 0 to 65535"),
    (["--http", "0", "--host", "::"], "", "--host :: is not this machine alone: set ADCLIENT_"),
    (["--http", "0"], "Bearer x", "ADCLIENT_MCP_TOKEN must be one word"),
)
def test_wrong_address_or_token_is_refused(arguments, token, complaint, monkeypatch) -> None:
    monkeypatch.setenv("ADCLIENT_MCP_TOKEN", token)
    ran = run_command(*ONE, *arguments)
    assert ran.code == 2
    assert complaint in ran.err
