"""Processes of a test, forked from one that has imported what they need."""

from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

LONGEST_WAIT = 30.0  # seconds, for what takes milliseconds
PRELOADED = ["adclient.testing", "adclient.ledger.sqlite", "adclient.gate"]
PRELOADED += ["adclient._sync.engine", "adclient._async.engine"]
PRELOADED += ["adclient._sync.connections", "adclient._async.connections", "adclient.policy.guard"]


@contextmanager
def started(work: Callable, *arguments):
    """A process that does work with a connection, and the other end of it; killed in the end."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    here, there = context.Pipe()
    process: BaseProcess = context.Process(target=work, args=(*arguments, there))
    process.start()
    there.close()
    try:
        yield process, here
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()


def received(connection: Connection, longest: float = LONGEST_WAIT) -> object:
    """What a process sends; an error if it ends without that, or hangs."""
    assert connection.poll(longest), "a process hangs"
    return connection.recv()
