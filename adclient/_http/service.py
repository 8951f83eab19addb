"""A service that lives in this process, behind the interface of a transport."""

from collections.abc import Callable

import httpx

from adclient._core.exchange import World
from adclient._core.reply import Outcome, Reply
from adclient._core.request import Request


class ServiceTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of both colours that answers from a function, without a network.

    The calls that it carries take their time from the `world` of the service.
    """

    def __init__(self, service: Callable[[Request], Outcome], world: World) -> None:
        self._service = service
        self.world = world

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        outcome = self._service(
            Request(
                method=request.method,
                url=str(request.url),
                headers=dict(request.headers),
                body=body or None,
            )
        )
        if isinstance(outcome, Reply):
            headers = dict(outcome.headers)
            return httpx.Response(
                outcome.status, headers=headers, stream=httpx.ByteStream(outcome.body)
            )
        if not outcome.sent:
            raise httpx.ConnectError(outcome.reason)
        fault = httpx.ReadTimeout if outcome.timed_out else httpx.RemoteProtocolError
        raise fault(outcome.reason)
