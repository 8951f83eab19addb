"""A connection to PostgreSQL on which no wait is longer than it may be."""

from collections.abc import Generator
from typing import Any

import psycopg
from psycopg import waiting

from adclient._tasks.clock import monotonic
from adclient.ledger.entry import WAIT_UNTIL

LONGEST_SILENCE = 60.0  # seconds; a server that sorts a long ledger sends nothing meanwhile
_INTERVAL = 0.05  # seconds after which psycopg resumes what waits


class TimedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose waits end at `WAIT_UNTIL`, and when the server was silent for too long.

    It cannot be used any more then.
    """

    @classmethod
    def _connect_gen(cls, *arguments: Any, **more: Any) -> Any:
        return _timed(super()._connect_gen(*arguments, **more))

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        """Execute one statement, which may have a `?` for each value, as in SQLite."""
        return super().execute(query.replace("?", "%s").encode(), params or None, **more)

    def wait(self, gen: Any, *_: Any, **__: Any) -> Any:
        """Wait for the server; unlike that of psycopg, not for a cancellation after Ctrl-C."""
        return waiting.wait(_timed(gen), self.pgconn.socket, _INTERVAL)


def _timed(waiting_for_server: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """What psycopg waits for, with an end."""
    ready, last_sign = None, monotonic()
    while True:
        try:
            awaited = waiting_for_server.send(ready)
        except StopIteration as done:
            return done.value
        # A bit later, so that the server can report that a lock took too long.
        if monotonic() > min(WAIT_UNTIL.get(), last_sign + LONGEST_SILENCE) + _INTERVAL:
            raise psycopg.OperationalError("the server did not respond in time")
        ready = yield awaited
        if ready:
            last_sign = monotonic()
