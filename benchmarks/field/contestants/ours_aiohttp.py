"""adclient over connections of aiohttp; without these, the sync client is the same."""

from field.contestants import ours
from field.contestants.ours import Client, ids

__all__ = ["AsyncClient", "Client", "ids"]


class AsyncClient(ours.AsyncClient):
    def __init__(self, url, **settings):
        from adclient.aiohttp import AiohttpTransport

        self._transport = AiohttpTransport()
        super().__init__(url, transport=self._transport, **settings)

    async def close(self):
        await super().close()
        await self._transport.aclose()
