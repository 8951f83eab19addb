"""Processes of a test, forked from one that has imported what they need."""

from collections.abc import Callable
from contextlib import ExitStack, contextmanager
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


def at_once(*works: tuple, longest: float = LONGEST_WAIT) -> list:
    """What processes send whose work begins when all of them have said that they are ready."""
    with ExitStack() as stack:
        connections = [stack.enter_context(started(*work))[1] for work in works]
        for connection in connections:
            assert received(connection) is None
            connection.send(None)
        return [received(connection, longest) for connection in connections]
