"""adclient over pyreqwest's transports for httpx, which a caller passes in."""

from field.contestants import ours
from field.contestants.ours import ids

__all__ = ["AsyncClient", "Client", "ids"]


class Client(ours.Client):
    def __init__(self, url, **settings):
        from pyreqwest.compatibility.httpx import SyncHttpxTransport

        self._transport = SyncHttpxTransport()
        super().__init__(url, transport=self._transport, **settings)

    def close(self):
        super().close()
        self._transport.close()


class AsyncClient(ours.AsyncClient):
    def __init__(self, url, **settings):
        from pyreqwest.compatibility.httpx import HttpxTransport

        self._transport = HttpxTransport()
        super().__init__(url, transport=self._transport, **settings)

    async def close(self):
        await super().close()
        await self._transport.aclose()
