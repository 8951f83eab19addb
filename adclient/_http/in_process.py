"""A service that lives in this process, called without HTTP: records go in and come out."""

from collections.abc import Callable

from adclient._core.request import Request
from adclient._core.response import Outcome, RawResponse
from adclient._http.send import Attempt
from adclient._tasks.clock import Clock

Service = Callable[[Request, float | None], Outcome]


class InProcess:
    """A service in this process, and the clock and random source of the clients that call it.

    The service is a function of a request and the seconds that its client waits for a response.
    """

    def __init__(self, service: Service, clock: Clock, random: Callable[[], float]) -> None:
        self.service = service
        self.clock = clock
        self.random = random


class InProcessSender:
    """Sends the requests of a sync client."""

    def __init__(self, called: InProcess) -> None:
        self._called = called
        self.is_closed: bool = False

    def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        return _send(self._called, request, deadline)

    def close(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


class AsyncInProcessSender:
    """The same for an async client."""

    def __init__(self, called: InProcess) -> None:
        self._called = called
        self.is_closed: bool = False

    async def send(self, request: Request, deadline: float) -> Outcome:
        """Send a request, and return its response or failure by the deadline."""
        from anyio.lowlevel import checkpoint

        await checkpoint()  # as over a network: other tasks run, and this one can be cancelled
        return _send(self._called, request, deadline)

    async def aclose(self) -> None:
        """There is nothing to close."""
        self.is_closed = True


def _send(called: InProcess, request: Request, deadline: float) -> Outcome:
    attempt = Attempt(request, deadline)
    outcome = called.service(request, deadline - called.clock.now())
    if isinstance(outcome, RawResponse):
        headers = {name.lower(): value for name, value in outcome.headers.items()}
        attempt.begin(outcome.status, headers)
        attempt.feed(outcome.body)
        if outcome.broken is None:
            attempt.finish()
            return attempt.response()
        outcome = outcome.broken
    reason = "no response in time" if outcome.timed_out else outcome.reason
    return attempt.failed(reason, sent=outcome.sent, timed_out=outcome.timed_out)
