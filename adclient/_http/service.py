"""A service that lives in this process, behind the interface of a transport."""

from collections.abc import AsyncIterator, Callable, Iterator

import httpx

from adclient._core.exchange import World
from adclient._core.reply import Failure, Outcome, Reply
from adclient._core.request import Request

Service = Callable[[Request, float | None], Outcome]


class ServiceTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of both colours that answers from a function, without a network.

    The function is given a request, and the seconds that its client waits for an answer. The
    calls that it carries take their time from the `world` of the service.
    """

    def __init__(self, service: Service, world: World) -> None:
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
            ),
            _time_left(request),
        )
        if isinstance(outcome, Reply):
            stream = _Stream(outcome.body, outcome.broken)
            return httpx.Response(outcome.status, headers=dict(outcome.headers), stream=stream)
        raise _fault(outcome)


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer, which may break off."""

    def __init__(self, body: bytes, broken: Failure | None) -> None:
        self._body = body
        self._broken = broken

    def __iter__(self) -> Iterator[bytes]:
        yield self._body
        if self._broken is not None:
            raise _fault(self._broken)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


def _time_left(request: httpx.Request) -> float | None:
    """What our client says, else the timeout of another one."""
    exact: float | None = request.extensions.get("adclient.time_left")
    timeouts: dict[str, float | None] = request.extensions.get("timeout", {})
    return timeouts.get("read") if exact is None else exact


def _fault(failure: Failure) -> httpx.TransportError:
    if not failure.sent:
        return httpx.ConnectError(failure.reason)
    fault = httpx.ReadTimeout if failure.timed_out else httpx.RemoteProtocolError
    return fault(failure.reason)
