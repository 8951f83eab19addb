"""The MCP server of a fake service, over standard input and output: `python mcp_server.py`."""

import sys
from pathlib import Path

import anyio

from adclient.mcp import serve
from adclient.policy import Policy
from adclient.testing import FakeAdService

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
from memory_ledger import MemoryLedger


async def main() -> None:
    options = {"policy": Policy(accounts=["account_b204"]), "ledger": MemoryLedger()}
    async with FakeAdService().async_client(**options) as client:
        print("a line that is no message")
        await serve(client, writes="--writes" in sys.argv)


if __name__ == "__main__":
    anyio.run(main)
