"""The connections of a sync client: each sends one request at a time."""

import warnings
from collections.abc import Iterator
from typing import Protocol, cast

import httpx

from adclient._core.call import Turn
from adclient._core.redact import Redactor
from adclient._core.request import Request
from adclient._core.response import Outcome
from adclient._http.attempt import Attempt
from adclient._http.family import HTTPX
from adclient._http.forks import forget_after_fork
from adclient._http.handlers import Handler
from adclient._http.idle import Idle
from adclient._http.network import Network, new_transport
from adclient._http.slots import Slots
from adclient._http.watchdog import NetworkStream, Watch

_NEVER_CLOSED = "an AdClient was never closed: end it with close(), or use `with`"


class Connections:
    """Sends requests, at most `max_concurrency` at once, for any number of threads.

    Each connection is a transport of its own on a stack, which costs the same however many
    there are, and one that fails takes no other with it.
    """

    def __init__(self, network: Network, handler: Handler | None) -> None:
        self._network = network
        self._handler = handler
        self._family = HTTPX if handler is None else handler.family
        self.is_closed: bool = False
        self.forget()
        forget_after_fork(self)

    def forget(self) -> None:
        """Start without connections, and leave those of a parent process alone."""
        self._idle: Idle[_Connection] = Idle()
        self._slots = Slots(self._network.max_concurrency)

    def send(
        self, request: Request, time_left: float, secrets: Redactor, turn: Turn
    ) -> Outcome | None:
        """Send one request, which holds these secrets, and read its answer.

        None if `turn` held it back.
        """
        attempt = Attempt(self._family, request, time_left, secrets, self._handler, turn)
        slots = self._slots  # a fork in the middle of a call makes others
        if not slots.acquire(timeout=max(0.0, time_left)):
            return attempt.timed_out(self._network.max_concurrency)
        try:
            if not turn.may_send():
                return None
            if self._handler is not None:
                _perform(self._handler, attempt, None)
            else:
                self._perform(attempt)
            return attempt.outcome()
        except self._family.faults as error:
            return attempt.failed(error)
        except Exception as error:
            return attempt.stopped(error)
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections that were opened here; to do it again does nothing."""
        self.is_closed = True
        while (connection := self._idle.pop()) is not None:
            connection.close()

    def __del__(self) -> None:
        """Say that nobody closed it; to do it here could meet any lock, in any thread."""
        if self._idle and not self.is_closed:
            warnings.warn(_NEVER_CLOSED, ResourceWarning, source=self, stacklevel=2)

    def _perform(self, attempt: Attempt) -> None:
        connection = self._idle_connection() or _Connection(new_transport(self._network))
        try:
            _perform(connection, attempt, connection.stream)
        except BaseException:
            connection.close()
            raise
        self._idle.push(connection)
        if self.is_closed:
            self.close()

    def _idle_connection(self) -> "_Connection | None":
        while (expired := self._idle.expired()) is not None:
            expired.close()
        while (connection := self._idle.pop()) is not None:
            if connection.is_alive:
                return connection
            connection.close()
        return None


class _Connection:
    """A transport of one connection."""

    def __init__(self, transport: httpx.HTTPTransport) -> None:
        self._transport = transport
        self.stream: NetworkStream | None = None

    def send(self, request: httpx.Request) -> httpx.Response:
        response = self._transport.handle_request(request)
        self.stream = response.extensions.get("network_stream")
        return response

    @property
    def is_alive(self) -> bool:
        """Whether the other end has left it open; else the transport would make another."""
        return self.stream is not None and not self.stream.get_extra_info("is_readable")

    def close(self) -> None:
        self._transport.close()


class _Sender(Protocol):
    def send(self, request: httpx.Request, /) -> httpx.Response: ...


def _perform(sender: _Sender, attempt: Attempt, stream: NetworkStream | None) -> None:
    with Watch(attempt.deadline) as watch:
        watch.see(stream)
        response = sender.send(attempt.begin(watch.extensions))
        try:
            attempt.answered(response)
            watch.answered(response)
            for chunk in _chunks(response):
                if attempt.received(chunk):
                    break
            attempt.finished(is_cut=watch.is_over)
        finally:
            watch.dismiss()
            response.close()


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    if response.is_stream_consumed:  # somebody's event hook has read it
        return iter([response.content])
    return iter(cast(httpx.SyncByteStream, response.stream))
