"""No traceback of an interrupted call holds a credential: monitors record local variables."""

import signal
import threading
import time
import traceback
from collections.abc import Iterator

import anyio
import pytest
from clients import SYNC, Service, sync_and_async, sync_asyncio_trio, wait
from raw_server import Connection, RawServer
from test_secrets import IDS, TOKEN, assert_untold

CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"


def locals_of(error: BaseException) -> Iterator[str]:
    """The local variables that a monitor may record of an error and all that led to it."""
    chain: list[BaseException | None] = [error]
    for each in chain:
        if each is not None:
            chain += (link for link in (each.__cause__, each.__context__) if link not in chain)
            frames = [frame for frame, _ in traceback.walk_tb(each.__traceback__)]
            yield from (repr(f.f_locals) for f in frames if f.f_globals is not globals())


PROXY = "http://user:canary@proxy.test"
# Where a call waits when it is interrupted: the address, the proxy, and what the server sends.
PLAIN = {
    "for a response": ("http://ads.test", None, b""),
    "for the rest of a head": ("http://ads.test", None, b"HTTP/1.1 200 OK\r\n"),
}
# Here, the pools of httpx leave the socket to the garbage collector, which warns in another test.
OWN = {
    "for TLS": ("https://ads.test", None, b""),
    "for a proxy": ("http://ads.test", PROXY, b""),
    "for a tunnel": ("https://ads.test", PROXY, b""),
    "for TLS in a tunnel": ("https://ads.test", PROXY, CONNECTED),
    "for TLS of a proxy": ("http://ads.test", "https://user:canary@proxy.test", b""),
    "for SOCKS": ("http://ads.test", "socks5://user:canary@proxy.test", b"\x05\x02"),
}


@pytest.mark.parametrize(
    "where", [*PLAIN, *(pytest.param(name, marks=pytest.mark.own) for name in OWN)]
)
@sync_asyncio_trio
async def test_no_frame_of_an_interrupted_call_contains_a_secret(client_kind, where) -> None:
    url, proxy, answer = {**PLAIN, **OWN}[where]
    is_waiting = threading.Event()

    def serve(connection: Connection) -> None:
        connection.receive()
        connection.send(answer)
        is_waiting.set()
        connection.stay_silent()

    def interrupt() -> None:
        is_waiting.wait(10)
        time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    async def call() -> None:
        try:
            await wait(client.beta.pause_campaign(**IDS))
        except BaseException as error:
            seen.append(type(error).__name__)
            assert_untold(*locals_of(error))
            raise

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            while not is_waiting.is_set():
                await anyio.sleep(0.001)
            await anyio.sleep(0.02)
            group.cancel_scope.cancel()

    seen: list[str] = []
    with RawServer(serve) as server:
        port = server.url.rpartition(":")[2]
        if proxy is None:
            url = url.replace("ads.test", f"127.0.0.1:{port}")
        else:
            proxy = proxy.replace("proxy.test", f"127.0.0.1:{port}")
        options = {} if proxy is None else {"proxy": proxy}
        async with client_kind.open(url, token=TOKEN, **options) as client:
            if client_kind is not SYNC:
                await cancelled()
            else:
                before = signal.signal(signal.SIGINT, signal.default_int_handler)
                thread = threading.Thread(target=interrupt)
                thread.start()
                with pytest.raises(KeyboardInterrupt):
                    await call()
                thread.join()
                signal.signal(signal.SIGINT, before)
    names = {"sync": "KeyboardInterrupt", "asyncio": "CancelledError", "trio": "Cancelled"}
    assert seen == [names[client_kind.name]]


@sync_and_async
async def test_frames_of_the_callers_functions_stay_in_an_interrupt(client_kind) -> None:
    def token() -> str:
        raise KeyboardInterrupt

    async with client_kind.open(transport=Service().transport, token=token) as client:
        with pytest.raises(KeyboardInterrupt) as caught:
            await wait(client.beta.pause_campaign(**IDS))
    assert [frame.name for frame in caught.traceback][-1] == "token"
