"""A service that lives in this process, called without HTTP: records go in and come out."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from adclient._core.request import Request
from adclient._core.response import Outcome, RawResponse
from adclient._http.send import Attempt
from adclient._tasks.clock import Clock
from adclient.errors import ConfigurationError

FAKE_HOST = "fake.adclient.test"
"""The host of the fake, which no name server knows: `.test` is reserved."""

Service = Callable[[Request, float | None], Outcome]


class InProcess:
    """A service in this process, and the clock and random source of the clients that call it.

    The service is a function of a request and the seconds that its client waits for a response.
    """

    def __init__(self, service: Service, clock: Clock, random: Callable[[], float]) -> None:
        self.service = service
        self.clock = clock
        self.random = random


_by_address: list[tuple[tuple[object, ...], InProcess]] = []
_DEFAULT_PORTS = {"http": 80, "https": 443}


@contextmanager
def at_address(base_url: str, service: InProcess) -> Generator[None, None, None]:
    """Connect clients that are made in this block with an address to this service."""
    entry = _address(base_url), service
    _by_address.append(entry)
    try:
        yield
    finally:
        _by_address.remove(entry)


def service_at(base_url: str) -> InProcess | None:
    """The service at an address, the innermost of several; None if there is none."""
    wanted = _address(base_url)
    is_fake = FAKE_HOST in wanted
    for address, service in reversed(_by_address):
        if address == wanted or (is_fake and FAKE_HOST in address):
            return service
    if is_fake:
        raise ConfigurationError(
            f"base_url: {FAKE_HOST} is the fake of adclient.testing, which has no real address; "
            "use fake.client(), transport=fake.transport or `with fake.as_environment():`",
            argument="base_url",
        )
    return None


def _address(base_url: str) -> tuple[object, ...]:
    """The parts of an address, equal for all spellings of it."""
    parts = urlsplit(base_url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")


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
