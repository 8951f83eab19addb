"""No traceback of an interrupted call holds a credential: monitors record local variables."""

import json
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import httpx
import pytest
from clients import ASYNC, BASE_URL, SYNC, TRIO, Service, sync_and_async, wait
from memory_ledger import MemoryLedger
from plans import pause, plan_of
from raw_server import Connection, RawServer
from test_secrets import IDS, TOKEN, assert_untold

from adclient import AdClient, AdClientError, OutcomeUnknown
from adclient.doctor import examine

pytestmark = pytest.mark.filterwarnings("ignore:.*over plain http:UserWarning")
CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"


def locals_of(error: BaseException) -> Iterator[str]:
    """The local variables that a monitor may record of an error and all that led to it."""
    chain: list[BaseException | None] = [error]
    for each in chain:
        if each is not None:
            links = (each.__cause__, each.__context__, *getattr(each, "exceptions", ()))
            chain += (link for link in links if link not in chain)
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


each_wait = pytest.mark.parametrize(
    "where", [*PLAIN, *(pytest.param(name, marks=pytest.mark.own) for name in OWN)]
)


@contextmanager
def waiting(where: str) -> Iterator[tuple[str, dict[str, str], threading.Event]]:
    """The address and options of a client whose call will wait, and what is set when it does."""
    url, proxy, answer = {**PLAIN, **OWN}[where]
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
            await client.beta.pause_campaign(**IDS)
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
                client.beta.pause_campaign(**IDS)
            thread.join()
            signal.signal(signal.SIGINT, before)
            assert_untold(*locals_of(caught.value))

    with waiting(where) as (url, options, is_waiting):
        SYNC.run(call)


@sync_and_async
async def test_frames_of_the_callers_functions_and_below_stay(client_kind) -> None:
    def token() -> str:
        return json.loads("{")

    def interrupted() -> str:
        raise KeyboardInterrupt

    def failed() -> str:
        raise AdClientError("no token today")

    below_token = ["loads", "decode", "raw_decode"]
    for function, below in ((token, below_token), (interrupted, []), (failed, [])):
        service = Service()
        async with client_kind.open(transport=service.transport, token=function) as client:
            with pytest.raises((ValueError, KeyboardInterrupt, AdClientError)) as caught:
                await wait(client.beta.pause_campaign(**IDS))
        assert service.requests == []
        names = [frame.name for frame in caught.traceback]
        assert names[names.index(function.__name__) :][1:] == below
        assert "run" not in names


class Failing(httpx.BaseTransport):
    """A transport of the caller, which handles an error of httpx."""

    def __init__(self, *, is_interrupted: bool) -> None:
        self.is_interrupted = is_interrupted

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        errors = []
        proxy = "http://user:canary@127.0.0.1:1"
        try:
            return httpx.HTTPTransport(proxy=proxy).handle_request(request)
        except httpx.ConnectError as error:
            if self.is_interrupted:
                raise KeyboardInterrupt from None
            errors.append(error)
        raise ExceptionGroup("each attempt has failed", errors)


@pytest.mark.parametrize("is_interrupted", [True, False])
def test_no_frame_of_an_error_that_a_transport_handled_contains_a_secret(is_interrupted) -> None:
    transport = Failing(is_interrupted=is_interrupted)
    client = SYNC.client("http://ads.test", transport=transport, token=TOKEN)
    with pytest.raises((KeyboardInterrupt, ExceptionGroup)) as caught:
        client.beta.pause_campaign(**IDS)
    handled = caught.value.__context__ if is_interrupted else caught.value.exceptions[0]
    names = [frame.name for frame in traceback.extract_tb(handled.__traceback__)]
    assert names == ["handle_request"]
    assert_untold(*locals_of(caught.value))


@pytest.mark.parametrize("run", ["plan", "doctor"])
def test_plan_or_doctor_that_is_ended_shows_frames_of_the_caller_alone(run, tmp_path) -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        sys.exit("terminated")  # as a handler of SIGTERM does

    transport = httpx.MockTransport(respond)
    client = AdClient(BASE_URL, transport=transport, ledger=MemoryLedger())
    runs = {
        "plan": lambda: plan_of(tmp_path, pause()).stage(client),
        "doctor": lambda: examine(BASE_URL, account_id="account_b204", transport=transport),
    }
    with pytest.raises(SystemExit) as caught:
        runs[run]()
    functions = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert functions[1:] == ["<lambda>", "respond"]
