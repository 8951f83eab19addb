"""The page for models is correct: a host starts the server as its configuration says."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import mcp
import pytest
from pages import ROOT, blocks

from adclient._core.operations import OPERATIONS
from adclient.ledger import SQLiteLedger
from adclient.testing import FakeAdService
from adclient.testing.server import serving

READS = sum(not operation.is_write for operation in OPERATIONS)
PAGE = ROOT / "docs" / "how-to" / "for-models.md"
[CONFIGURATION] = [block for _, block in blocks(PAGE, "json") if "mcpServers" in block]
[[_, POLICY]] = blocks(PAGE, "toml")
LINES = "".join(block for _, block in blocks(PAGE, "sh")).splitlines()
[STARTS_WITH_WRITES] = [line for line in LINES if line.startswith("adclient mcp --policy")]


@pytest.fixture
def fake() -> FakeAdService:
    return FakeAdService(token="secret")


@pytest.fixture
def server(fake, monkeypatch) -> Iterator[dict[str, object]]:
    """The server of the configuration, with the address of the fake."""
    # The SDK passes on the path and a few more variables, such as HOME, and a host may pass none.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with serving(fake) as url:
        text = CONFIGURATION.replace("https://ads.example.com", url)
        [server] = json.loads(text)["mcpServers"].values()
        monkeypatch.setenv("ADCLIENT_BASE_URL", url)  # which hosts do not pass on
        monkeypatch.setenv("ADCLIENT_TOKEN", "secret")
        yield server


def started(server: dict[str, object], tool: str, **arguments: object) -> tuple[int, object]:
    """Start a server as a host does; how many tools it has, and what one of them returns."""

    async def connect() -> tuple[int, object]:
        with anyio.fail_after(30):
            async with mcp.Client(mcp.stdio_client(mcp.StdioServerParameters(**server))) as host:
                tools = (await host.list_tools()).tools
                return len(tools), (await host.call_tool(tool, arguments)).structured_content

    return anyio.run(connect)


def test_server_starts_as_the_configuration_says(server) -> None:
    count, result = started(server, "alpha_explain_objectives")
    assert (count, result["summary"]) == (READS, "7 items; there are no more.")


def test_server_with_writes_starts_in_any_folder(server, fake, tmp_path) -> None:
    ledger = SQLiteLedger(tmp_path / "models.db")  # which the page has made before
    ledger.create()
    (tmp_path / "models.toml").write_text(POLICY, "utf-8")
    program, *words = shlex.split(STARTS_WITH_WRITES)
    assert program == server["command"]
    full = [str(tmp_path / word) if word.startswith("models.") else word for word in words]
    budget = {"campaign_id": "campaign_4c10", "daily_budget": 120}
    started_there = {**server, "args": full, "cwd": "/"}
    count, result = started(started_there, "alpha_update_campaign_budget", **budget)
    assert (count, result["summary"][:6]) == (len(OPERATIONS) + 1, "Staged")
    [entry], [draft] = ledger.entries(), fake.drafts
    assert entry.draft_id == draft.draft_id
