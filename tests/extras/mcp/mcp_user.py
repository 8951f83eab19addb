"""A program that uses an MCP server over HTTP."""

import anyio
import httpx
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

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
