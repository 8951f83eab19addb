"""A service that lives in this process, behind the interface of a transport."""

from collections.abc import Callable, Iterator
from functools import partial

import httpx

from adclient._core.call import World
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._http.family import HTTPX, Family, family_of

Service = Callable[[Request, float | None], Outcome]


class ServiceTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of both colours that answers from a function, without a network.

    The function is given a request, and the seconds that its client waits for an answer. The
    calls that it carries take their time from the `world` of the service. Requests of httpx2 are
    answered as well, in its own classes.
    """

    def __init__(self, service: Service, world: World) -> None:
        self._service = service
        self.world = world

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        family = family_of(request) or HTTPX
        outcome = self._service(
            Request(
                method=request.method,
                url=str(request.url),
                headers=dict(request.headers),
                body=body or None,
            ),
            _time_left(request),
        )
        if isinstance(outcome, RawResponse):
            stream = family.stream(partial(_chunks, family, outcome))
            headers = dict(outcome.headers)
            return family.response(outcome.status, headers=headers, stream=stream)
        raise _fault(family, outcome)


def _chunks(family: Family, reply: RawResponse) -> Iterator[bytes]:
    """The body of an answer, which may break off."""
    yield reply.body
    if reply.broken is not None:
        raise _fault(family, reply.broken)


def _time_left(request: httpx.Request) -> float | None:
    """What our client says, else the timeout of another one."""
    exact: float | None = request.extensions.get("adclient.time_left")
    timeouts: dict[str, float | None] = request.extensions.get("timeout", {})
    return timeouts.get("read") if exact is None else exact


def _fault(family: Family, failure: Failure) -> httpx.TransportError:
    if not failure.sent:
        return family.connect_error(failure.reason)
    fault = family.read_timeout if failure.timed_out else family.protocol_error
    return fault(failure.reason)
