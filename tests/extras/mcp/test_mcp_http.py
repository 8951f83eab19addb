"""The MCP server over HTTP: who may call it, and what `adclient mcp --http` does."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import anyio
import httpx
import pytest
from cases import each_case

from adclient import ConfigurationError, Policy, SQLiteLedger
from adclient._command import main
from adclient.testing import FakeAdService, Fault

mcp = pytest.importorskip("mcp")

import httpx2  # noqa: E402 (the SDK brings both)
import uvicorn  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

from adclient.mcp import http_app  # noqa: E402

TOKEN = "token-of-the-server"
CAMPAIGN = {"campaign_id": "campaign_57a7"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
JSON = {"accept": "application/json, text/event-stream"}
LOCAL, FOREIGN = "http://localhost:6274", "https://ads.example.com"


@contextmanager
def served(app, host: str = "127.0.0.1") -> Iterator[str]:
    with socket.create_server((host, 0)) as listening:
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


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


@pytest.mark.parametrize("token", [None, TOKEN])
def test_reads_are_served(token) -> None:
    with served(http_app(FakeAdService().async_client(), token=token)) as url:
        assert used(url, "alpha_explain_objectives", token, account_id="account_a91f") == (
            7,
            "7 items; there are no more.",
        )


def test_writes_are_served_and_told_of(tmp_path) -> None:
    fake, ledger = FakeAdService(), SQLiteLedger(tmp_path / "drafts.db")
    client = fake.async_client(policy=Policy(accounts=["account_b204"]), ledger=ledger)
    with served(http_app(client, writes=True)) as url:
        assert used(url, "list_staged_drafts")[1].startswith("Drafts: 0;")
        assert used(url, "beta_pause_campaign", **CAMPAIGN)[1].startswith("Staged")
        count, summary = used(url, "list_staged_drafts")
    [entry] = ledger.entries(actor="mcp")  # the name of the program that calls
    assert entry.draft_id == fake.drafts[0].draft_id
    assert (count, summary[:10], len(fake.drafts)) == (17, "Drafts: 1;", 1)


def status(url: str, **headers: str) -> int:
    return httpx.post(url, json=PING, headers={**JSON, **headers}, trust_env=False).status_code


@each_case(
    ("token", "headers", "refusal"),
    [
        (None, {"origin": FOREIGN}, 403),
        (None, {"host": "ads.example.com"}, 421),
        (None, {"origin": LOCAL}, None),
        (None, {"host": "localhost", "origin": "http://localhost"}, None),  # of port 80
        (None, {"host": "localhost.example.com"}, 421),
        (TOKEN, {}, 401),
        (TOKEN, {"authorization": TOKEN}, 401),
        (TOKEN, {"authorization": "Bearer other"}, 401),
        (TOKEN, {"authorization": f"Basic {TOKEN}"}, 401),
        (TOKEN, {"authorization": f"bearer {TOKEN}"}, None),
        (TOKEN, {"authorization": f"Bearer {TOKEN}", "origin": LOCAL}, 401),
        (TOKEN, {"authorization": f"Bearer {TOKEN}", "host": "ads.example.com"}, None),
    ],
)
def test_request_is_refused(token, headers, refusal) -> None:
    with served(http_app(FakeAdService().async_client(), token=token)) as url:
        found = status(url, **headers)
    assert found == refusal or (refusal is None and found not in (401, 403, 421))


@each_case("server", [("10.0.0.5", 80), ("/run/mcp.sock", None), None])
def test_connection_to_another_address_needs_a_token(server) -> None:
    sent = []

    async def send(message) -> None:
        sent.append(message)

    app = http_app(FakeAdService().async_client())
    headers = [(b"host", b"localhost:80"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "server": server}
    anyio.run(app, scope, None, send)
    assert sent[0]["status"] == 401


@each_case("token", ["", "two words", "Bearer x", 7])
def test_invalid_token_is_refused(token) -> None:
    with pytest.raises(ConfigurationError, match="token"):
        http_app(FakeAdService().async_client(), token=token)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@each_case(("host", "token"), [("127.0.0.1", None), ("0.0.0.0", TOKEN)])
def test_command_serves_until_interrupted(host, token, monkeypatch, capsys) -> None:
    monkeypatch.delenv("ADCLIENT_MCP_TOKEN", raising=False)
    if token is not None:
        monkeypatch.setenv("ADCLIENT_MCP_TOKEN", token)
    port, seen = free_port(), []

    def use_then_interrupt() -> None:
        try:
            with anyio.from_thread.start_blocking_portal() as portal:
                portal.call(wait_for, port)
            url = f"http://127.0.0.1:{port}/mcp"
            seen.append((status(url), used(url, "alpha_explain_objectives", token)))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    user = Thread(target=use_then_interrupt, daemon=True)
    with FakeAdService().as_environment():
        user.start()
        arguments = ["--http", str(port), "--host", host, "--account", "account_a91f"]
        assert main(["mcp", *arguments]) == 130
        user.join()
    [(without_token, found)] = seen
    assert (without_token == 401) is (token is not None)
    assert found == (7, "7 items; there are no more.")
    assert capsys.readouterr().out == f"http://{host}:{port}/mcp\n"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_write_under_way_ends_before_the_command(mode, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("ADCLIENT_MCP_TOKEN", raising=False)
    (tmp_path / "policy.toml").write_text('accounts = ["account_b204"]')
    port, fake, seen = free_port(), FakeAdService(), []
    fake.faults.add(Fault.slow(1))

    def interrupt() -> None:
        while not fake.requests:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def write() -> None:
        with anyio.from_thread.start_blocking_portal() as portal:
            portal.call(wait_for, port)
        Thread(target=interrupt, daemon=True).start()
        url = f"http://127.0.0.1:{port}/mcp"
        seen.append(used(url, "beta_pause_campaign", mode=mode, **CAMPAIGN)[1])

    user = Thread(target=write, daemon=True)
    ledger, policy = tmp_path / "drafts.db", tmp_path / "policy.toml"
    with fake.as_environment():
        user.start()
        arguments = ["--http", str(port), "--policy", str(policy), "--ledger", str(ledger)]
        assert main(["mcp", *arguments, "--new-ledger", "--writes"]) == 130
        user.join(10)
    assert [text[:6] for text in seen] == ["Staged"]
    assert [entry.state for entry in SQLiteLedger(ledger).entries()] == ["staged"]


async def wait_for(port: int) -> None:
    with anyio.fail_after(30):
        while True:
            try:
                async with await anyio.connect_tcp("127.0.0.1", port):
                    return
            except OSError:
                await anyio.sleep(0.05)


def test_command_ends_though_a_client_is_connected() -> None:
    command = [sys.executable, "-m", "adclient", "mcp", "--http", "0", "--account", "a"]
    environment = {**os.environ, "ADCLIENT_BASE_URL": FOREIGN}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as server:
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/mcp\n", server.stdout.readline())
        with socket.create_connection(("127.0.0.1", int(address[1]))):
            server.send_signal(signal.SIGINT)
            more, complained = server.communicate(timeout=30)
    assert (server.returncode, more + complained) == (130, "")


@each_case(
    ("arguments", "code", "complaint"),
    [
        (["--http", "x"], 2, "invalid int value: 'x'"),
        (["--http", "65536"], 2, "--http must be a port from 0 to 65535"),
        (["--http", "0", "--host", "::"], 2, "--host :: is not this machine alone: set ADCLIENT_"),
        (["--http", "0", "--host", "no.invalid"], 2, "--host no.invalid is not this machine"),
        (["--host", "0.0.0.0"], 2, "--host needs --http"),
        (["--http", "0", "two words"], 2, "ADCLIENT_MCP_TOKEN must be one word"),
        (["--http", "0", "Bearer x"], 2, "ADCLIENT_MCP_TOKEN must be one word"),
    ],
)
def test_wrong_address_or_token_is_refused(arguments, code, complaint, monkeypatch, capsys) -> None:
    token = arguments.pop() if " " in arguments[-1] else ""
    monkeypatch.setenv("ADCLIENT_MCP_TOKEN", token)
    try:
        found = main(["mcp", "--account", "a", *arguments])
    except SystemExit as refused:
        found = refused.code
    assert found == code
    assert complaint in capsys.readouterr().err


def test_port_in_use_is_told(capsys) -> None:
    with FakeAdService().as_environment(), socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["mcp", "--account", "a", "--http", port]) == 1
    assert "Address already in use" in capsys.readouterr().err
