"""No traceback of an interrupted call holds a credential: monitors record local variables."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest
from clients import ASYNC, SYNC, TRIO, write
from raw_server import Connection, RawServer
from secret_texts import TOKEN, assert_untold, locals_of

from adclient import OutcomeUnknown

pytestmark = pytest.mark.filterwarnings("ignore:.*over plain http:UserWarning")
CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"

PROXY = "http://user:canary@proxy.test"
# Where a call waits when it is interrupted: the address, the proxy, and what the server sends.
WAITS = {
    "for a response": ("http://ads.test", None, b""),
    "for the rest of a head": ("http://ads.test", None, b"HTTP/1.1 200 OK\r\n"),
    # Here, the pools of httpx leave the socket to the garbage collector, which warns in another
    # test, so these are for our own connections.
    "for TLS": ("https://ads.test", None, b""),
    "for a proxy": ("http://ads.test", PROXY, b""),
    "for a tunnel": ("https://ads.test", PROXY, b""),
    "for TLS in a tunnel": ("https://ads.test", PROXY, CONNECTED),
    "for TLS of a proxy": ("http://ads.test", "https://user:canary@proxy.test", b""),
    "for SOCKS": ("http://ads.test", "socks5://user:canary@proxy.test", b"\x05\x02"),
}
OWN = [pytest.param(name, marks=pytest.mark.own) for name in [*WAITS][2:]]
each_wait = pytest.mark.parametrize("where", [*[*WAITS][:2], *OWN])


@contextmanager
def waiting(where: str) -> Iterator[tuple[str, dict[str, str], threading.Event]]:
    """The address and options of a client whose call will wait, and what is set when it does."""
    url, proxy, answer = WAITS[where]
    is_waiting = threading.Event()

    def serve(connection: Connection) -> None:
        connection.receive()
        connection.send(answer)
        is_waiting.set()
        connection.stay_silent()

    with RawServer(serve) as server:
        address = server.url.removeprefix("http://")
        options = {} if proxy is None else {"proxy": proxy.replace("proxy.test", address)}
        if proxy is None:
            url = url.replace("ads.test", address)
        yield url, options, is_waiting


@each_wait
@pytest.mark.parametrize("client_kind", [ASYNC, TRIO], ids=str)
def test_no_frame_of_a_cancelled_call_contains_a_secret(client_kind, where) -> None:
    async def call(client) -> None:
        try:
            await write(client)
        except BaseException as error:
            seen.append(type(error))
            assert_untold(*locals_of(error))
            raise

    async def scenario() -> None:
        async with (
            client_kind.open(url, token=TOKEN, **options) as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(call, client)
            while not is_waiting.is_set():
                await anyio.sleep(0.001)
            await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        assert seen == [anyio.get_cancelled_exc_class()]

    seen: list[type] = []
    with waiting(where) as (url, options, is_waiting):
        client_kind.run(scenario)


class TimeLimitExceeded(Exception):
    """What a queue of tasks raises from a handler of signals."""


def raise_time_limit(*_: object) -> None:
    raise TimeLimitExceeded


# Of a write that was sent, an error that is no interrupt becomes the cause of `OutcomeUnknown`.
HANDLERS = [
    (signal.default_int_handler, KeyboardInterrupt),
    (raise_time_limit, (TimeLimitExceeded, OutcomeUnknown)),
]


@each_wait
@pytest.mark.parametrize(("handler", "expected"), HANDLERS)
def test_no_frame_of_a_call_that_a_signal_ended_contains_a_secret(where, handler, expected) -> None:
    def interrupt() -> None:
        is_waiting.wait(10)
        time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    async def call() -> None:
        async with SYNC.open(url, token=TOKEN, **options) as client:
            before = signal.signal(signal.SIGINT, handler)
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(expected) as caught:
                write(client)
            thread.join()
            signal.signal(signal.SIGINT, before)
            assert_untold(*locals_of(caught.value))

    with waiting(where) as (url, options, is_waiting):
        SYNC.run(call)
