"""A browser without scripts, which reaches an ASGI application without a network."""

import asyncio

import httpx
from starlette.applications import Starlette


class Browser:
    """Follows redirects, and says where its requests come from."""

    def __init__(self, app: Starlette, base_url: str = "http://localhost") -> None:
        self._app = app
        self._base_url = base_url

    def get(self, path: str, **how) -> httpx.Response:
        return asyncio.run(self._send("GET", path, **how))

    def post(self, path: str, **how) -> httpx.Response:
        return asyncio.run(self._send("POST", path, **how))

    async def _send(self, method: str, path: str, **how) -> httpx.Response:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(self._app),
            base_url=self._base_url,
            headers={"origin": self._base_url},
            follow_redirects=True,
        ) as client:
            return await client.request(method, path, **how)
