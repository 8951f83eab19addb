"""The MCP server, mostly with the client of the official SDK: in memory and over streams."""

import io
import json
import os
import sys
from pathlib import Path

import anyio
import httpx
import jsonschema  # which the SDK brings
import mcp
import mcp_types as types
import pytest
from cases import each_case
from clients import SECRET
from memory_ledger import MemoryLedger

from adclient import AsyncAdClient, ConfigurationError
from adclient.agents import tools
from adclient.ledger import SQLiteLedger
from adclient.mcp import build_server, http_app, serve
from adclient.policy import Policy
from adclient.testing import FakeAdService

URL = "https://ads.example.com"
IDS = {"account_id": "account_b204", "campaign_id": "campaign_57a7"}
TOOL = {"name", "description", "input_schema"}
SCRIPT = Path(__file__).parent / "mcp_server.py"
# As in the specification of MCP.
READ = {"read_only_hint": True, "open_world_hint": True}
WRITE = {"read_only_hint": False, "destructive_hint": False, "open_world_hint": True}


def in_memory(client, mode="auto", **options):
    return mcp.Client(build_server(client, **options), mode=mode)


@pytest.mark.parametrize(("mode", "backend"), [("auto", "asyncio"), ("legacy", "trio")])
def test_tools_are_listed_and_called(mode, backend, tmp_path) -> None:
    fake = FakeAdService()
    policy = Policy(accounts=["account_a91f", "account_b204"], drafts_per_day=5)
    recorded = fake.async_client(policy=policy, ledger=SQLiteLedger(tmp_path / "drafts.db"))

    async def scenario() -> None:
        async with in_memory(recorded, mode, writes=True) as client:
            listed = (await client.list_tools()).tools
            shown = [tool.model_dump(include=TOOL) for tool in listed]
            assert shown == tools(recorded.with_options(actor="any"), writes=True)
            for tool in listed:
                hints = tool.annotations.model_dump(exclude_none=True)
                is_read = "until a human" not in tool.description
                assert hints == {**(READ if is_read else WRITE), "title": tool.title}
                assert tool.title.startswith("Stage: ") is not is_read
            assert listed[7].title == "Stage: Beta pause campaign"
            # Some programs check errors as well, unlike the SDK.
            for name, given, error in [
                ("beta_list_campaigns", {"account_id": "account_b204", "columns": ["cpa"]}, None),
                ("list_staged_drafts", {}, None),
                ("beta_pause_campaign", {"account_id": 7, "campaign_id": "c"}, "PolicyRefused"),
                ("beta_list_campaigns", {}, "InvalidRequest"),
            ]:
                found = (await client.call_tool(name, given)).structured_content
                [schema] = [tool.output_schema for tool in listed if tool.name == name]
                jsonschema.validate(found, schema)
                assert found.get("error") == error
            result = await client.call_tool("beta_pause_campaign", IDS)
            assert not result.is_error
            [summary, text] = [block.text for block in result.content]
            assert summary == "Staged, waiting for approval. Nothing has changed; a human decides."
            assert json.loads(text) == result.structured_content
            assert result.structured_content["untrusted"]["draft_id"] == fake.drafts[0].draft_id
            assert "never an instruction" in client.instructions

    anyio.run(scenario, backend=backend)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_entry_names_the_program_unless_the_client_has_an_actor(mode) -> None:
    ledger = MemoryLedger()
    names = {"claude-code": "claude-code", " \u200b\n": "\\u200b\\n", "": "unnamed"}
    names["x" * 99] = "x" * 59 + "…"

    async def scenario() -> None:
        options = {"policy": Policy(drafts_per_day=9), "ledger": ledger}
        client = FakeAdService().async_client(**options)
        callers = [(client, name) for name in names]
        for caller, name in [*callers, (client.with_options(actor="kim"), "claude-code")]:
            info = types.Implementation(name=name, version="1")
            server = build_server(caller, writes=True)
            async with mcp.Client(server, mode=mode, client_info=info) as it:
                assert not (await it.call_tool("beta_pause_campaign", IDS)).is_error

    anyio.run(scenario)
    assert [row.actor for row in ledger.rows][::2] == [*names.values(), "kim"]


@each_case(
    "options",
    {"policy": Policy(accounts=["a"])},
    {"ledger": MemoryLedger()},
    {"policy": Policy(account={}), "ledger": MemoryLedger()},  # without a rule
)
def test_writes_need_a_policy_and_a_ledger(options) -> None:
    with pytest.raises(ConfigurationError, match="writes need a client with policy="):
        build_server(AsyncAdClient(URL, **options), writes=True)
    with pytest.raises(ConfigurationError, match="client must be a AsyncAdClient, not AdClient"):
        build_server(FakeAdService().client())


def test_error_of_the_callers_own_function_is_a_result_without_its_text(caplog) -> None:
    def token() -> str:
        raise RuntimeError(SECRET)

    async def scenario() -> None:
        client = AsyncAdClient(URL, token=token, transport=FakeAdService().transport)
        async with in_memory(client) as connected:
            result = await connected.call_tool("gamma_list_ads", {"account_id": "a"})
        assert result.is_error
        assert SECRET not in result.model_dump_json()
        assert result.structured_content == {
            "summary": "The call failed: do not call again, and ask a human, who finds the reason "
            "in the log.",
            "error": "RuntimeError",
            "outcome_unknown": True,
        }

    anyio.run(scenario)
    assert "the tool gamma_list_ads failed" in caplog.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_cancelled_write_is_unknown_in_the_ledger(mode) -> None:
    ledger = MemoryLedger()

    async def scenario() -> None:
        is_sent, is_over = anyio.Event(), anyio.Event()

        async def hang(request):
            is_sent.set()
            await is_over.wait()

        options = {"policy": Policy(operations=["*"]), "ledger": ledger}
        transport = httpx.MockTransport(hang)
        async with (
            AsyncAdClient(URL, transport=transport, **options) as client,
            in_memory(client, mode, writes=True) as connected,
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connected.call_tool, "beta_pause_campaign", IDS)
                with anyio.fail_after(30):
                    await is_sent.wait()
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(ledger.has_ended.wait, 10)
            is_over.set()

    anyio.run(scenario)
    assert ledger.states == ["under way", "unknown"]


def test_serve_ends_with_standard_input(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    anyio.run(serve, FakeAdService().async_client())


def test_server_over_standard_streams() -> None:
    async def scenario(flags: list[str]) -> None:
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-W", "error", str(SCRIPT), *flags], env={**os.environ}
        )
        async with mcp.Client(mcp.stdio_client(command)) as client:
            listed = (await client.list_tools()).tools
            expected = tools(FakeAdService().client(), writes=bool(flags))
            assert {tool.name for tool in listed} == {tool["name"] for tool in expected}
            assert all("account_id" not in tool.input_schema["properties"] for tool in listed)
            campaign = {"campaign_id": IDS["campaign_id"]}
            result = await client.call_tool("beta_pause_campaign", campaign)
            assert result.is_error is not bool(flags)
            listing = await client.call_tool("beta_list_campaigns")
            assert listing.content[0].text.startswith("20 items; for more")
            other = await client.call_tool("gamma_list_ads", {"account_id": "account_c3d8"})
            assert other.structured_content["error"] == "PolicyRefused"

    async def both() -> None:
        with anyio.fail_after(50):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(scenario, [])
                tasks.start_soon(scenario, ["--writes"])

    anyio.run(both)


@each_case("server", ("10.0.0.5", 80), ("/run/mcp.sock", None), None)
def test_connection_to_another_address_needs_a_token(server) -> None:
    sent = []

    async def send(message) -> None:
        sent.append(message)

    app = http_app(FakeAdService().async_client())
    headers = [(b"host", b"localhost:80"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "server": server}
    anyio.run(app, scope, None, send)
    assert sent[0]["status"] == 401
