"""The end of a sync attempt whose time is over, for a blocking read cannot end itself.

A timeout of the socket bounds each read, and an answer that comes drop by drop is made of many.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self, cast

import httpx

from adclient._http.forks import forget_after_fork

_LONGEST_SLEEP = 3600.0


class NetworkStream(Protocol):
    """What the HTTP library shows of a connection."""

    def get_extra_info(self, info: str, /) -> object:
        """Something of it, by name."""
        ...


class Watch:
    """Shuts the connection of one attempt down at the attempt's deadline.

    It holds a duplicate of the socket's descriptor, so that whatever becomes of the original,
    no other connection can be meant.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.is_over = False
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.dismiss()

    @property
    def extensions(self) -> dict[str, object]:
        """What a request needs for its connection to be known; reports cost time."""
        return {"trace": self._trace} if self._socket is None else {}

    def see(self, stream: NetworkStream | None) -> None:
        """Watch a connection from now on, instead of the one before."""
        self.dismiss()
        sock = None if stream is None else stream.get_extra_info("socket")
        if isinstance(sock, socket.socket):
            with suppress(OSError):  # too many open files
                self._socket = socket.fromfd(sock.fileno(), sock.family, sock.type)
                _WATCHDOG.watch(self)

    def answered(self, response: httpx.Response) -> None:
        """Watch the connection of an answer, if only the answer tells it."""
        version = response.extensions.get("http_version")
        if self._socket is None and not response.is_closed and version != b"HTTP/2":
            self.see(response.extensions.get("network_stream"))

    def dismiss(self) -> None:
        """Leave the connection alone; it can serve another call after this."""
        if self._socket is not None:
            _WATCHDOG.dismiss(self)
            self._socket = None

    def shut_down(self) -> None:
        """End what is being read and written."""
        assert self._socket is not None
        self.is_over = True
        with suppress(OSError):  # it is closed at the other end
            self._socket.shutdown(socket.SHUT_RDWR)

    def let_go(self) -> None:
        """Give the descriptor back."""
        assert self._socket is not None
        self._socket.close()

    def _trace(self, event: str, info: Mapping[str, object]) -> None:
        if event.endswith(("connect_tcp.complete", "connect_unix_socket.complete")):
            self.see(cast(NetworkStream, info["return_value"]))
        elif event.endswith("response_closed.started") or event.startswith("http2."):
            self.dismiss()  # next it can be another call's, or it is several calls' at once


class _Watchdog:
    """A thread that is started when it is first needed, and sleeps until the next deadline."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()
        self.forget()
        forget_after_fork(self)

    def forget(self) -> None:
        """Be what a fork leaves: without a thread, and with a lock that nobody holds."""
        for watch in self._watches:
            watch.let_go()
        self._watches.clear()
        self._changed = threading.Condition()
        self._is_running = False
        self._wakes_at = 0.0

    def watch(self, watch: Watch) -> None:
        """Take care of a deadline."""
        with self._changed:
            self._watches.add(watch)
            if not self._is_running:
                self._is_running = _is_started(self._run)
            elif watch.deadline < self._wakes_at:
                self._changed.notify()

    def dismiss(self, watch: Watch) -> None:
        """Forget a deadline; after this its connection is left alone."""
        with self._changed:
            self._watches.discard(watch)
            watch.let_go()

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for watch in [watch for watch in self._watches if watch.deadline <= now]:
                    watch.shut_down()
                    self._watches.remove(watch)
                deadlines = (watch.deadline for watch in self._watches)
                self._wakes_at = min(deadlines, default=now + _LONGEST_SLEEP)
                self._changed.wait(min(self._wakes_at - now, _LONGEST_SLEEP))


def _is_started(work: Callable[[], None]) -> bool:
    """Run a thread, unless there can be none, as while the interpreter ends."""
    with suppress(RuntimeError):
        threading.Thread(target=work, name="adclient-watchdog", daemon=True).start()
        return True
    return False


_WATCHDOG = _Watchdog()
