"""Processes that read from a service through a gate."""

from functools import partial
from multiprocessing.connection import Connection

import anyio
import anyio.to_thread
from processes import at_once

from adclient import AdClient, AdClientError, AsyncAdClient
from adclient.gate import SharedGate
from adclient.ledger import open_ledger


def read_all(url: str, where: str, **work) -> list[str]:
    """Let two processes with threads and two with tasks read, and return the names of errors."""
    reading = [(partial(read, **work), url, where, is_async) for is_async in (False, True) * 2]
    return [error for errors in at_once(*reading) for error in errors]


def read(
    url: str,
    where: str,
    is_async: bool,
    done: Connection,
    *,
    threads: int,
    calls: int,
    per_second: float | None = None,
) -> None:
    """Make calls in each thread or task, and send the names of the errors."""
    gate = SharedGate(open_ledger(where), per_second=per_second)
    client = (AsyncAdClient if is_async else AdClient)(url, gate=gate)
    explain = partial(client.alpha.explain_objectives, account_id="a")
    errors: list[str] = []

    async def repeat() -> None:
        for _ in range(calls):
            try:
                await (explain() if is_async else anyio.to_thread.run_sync(explain))
            except AdClientError as error:
                errors.append(type(error).__name__)

    async def read_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(threads):
                tasks.start_soon(repeat)

    done.send(None)
    done.recv()
    anyio.run(read_at_once)
    done.send(errors)
