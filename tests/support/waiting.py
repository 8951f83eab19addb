"""Wait for events with a bound, so that a test that would hang fails instead."""

import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import asynccontextmanager, closing, contextmanager

import anyio
import httpx
from clients import SYNC

LONG = 20.0  # seconds, for a machine under load


def stop_clock(patch) -> None:
    """Replace `time.monotonic` wherever adclient may name it, as freezegun does."""
    real = time.monotonic
    for name, module in [*sys.modules.items()]:
        if name == "time" or name.startswith("adclient"):
            for key in [key for key, value in vars(module).items() if value is real]:
                patch.setattr(module, key, lambda: 1.77e9)


async def until(fact: Callable[[], object]) -> None:
    """Wait until a condition holds, in a thread or in an event loop."""
    end = time.monotonic() + LONG
    while not fact():
        assert time.monotonic() < end, "it never happened"
        await pause(0.001)


async def pause(seconds: float) -> None:
    """Sleep in a thread or in an event loop."""
    try:
        anyio.get_current_task()
    except (anyio.NoEventLoopError, RuntimeError):
        time.sleep(seconds)
    else:
        await anyio.sleep(seconds)


@asynccontextmanager
async def beside(client_kind, work: Callable):
    """Run a coroutine function beside a block: in a thread for the sync client, or in a task."""
    if client_kind is SYNC:
        thread = threading.Thread(target=SYNC.run, args=(work,), daemon=True)
        thread.start()
        yield
        thread.join(LONG)
        assert not thread.is_alive()
    else:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            yield


@contextmanager
def locked_database(path, begin: str):
    """A block in which somebody else uses an SQLite database; who waits for it does not hang."""
    options = {"isolation_level": None, "check_same_thread": False}
    with closing(sqlite3.connect(path, **options)) as connection:
        connection.execute(begin)
        release = threading.Timer(LONG, connection.rollback)
        release.start()
        try:
            yield
        finally:
            release.cancel()


class HeldTransport(httpx.MockTransport):
    """Holds some responses back until it is opened."""

    def __init__(self, respond: Callable, is_held: Callable[[httpx.Request], bool]) -> None:
        super().__init__(respond)
        self.is_held = is_held
        self.opened = threading.Event()

    def handle_request(self, request):
        response = super().handle_request(request)
        assert not self.is_held(request) or self.opened.wait(LONG)
        return response

    async def handle_async_request(self, request):
        response = await super().handle_async_request(request)
        while self.is_held(request) and not self.opened.is_set():
            await anyio.sleep(0.001)
        return response
