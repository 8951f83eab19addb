"""The clock of the fake service, which stands still until it is advanced."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from math import inf
from threading import Condition

import anyio.to_thread
import attrs
from anyio.lowlevel import checkpoint

from adclient._tasks.clock import Clock
from adclient._values.json_values import as_float

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_NO_TIME = timedelta(0)
_PATIENCE = 60.0
"""Real seconds after which a forgotten `advance`, or a sleeper that never comes, is an error."""


@attrs.define(eq=False)
class _Time:
    """The time of a clock; a restored clock has another, in which earlier calls do not count."""

    advanced: timedelta = _NO_TIME
    waited: timedelta = _NO_TIME
    sleeps: list[float] = attrs.field(factory=list[float])


@attrs.define(eq=False)
class _Call:
    """The time that a call has waited, with what others had waited before it began."""

    time: _Time
    waited: timedelta


_call: ContextVar[_Call | None] = ContextVar("_call", default=None)
# One for all clocks, because clocks are copied.
_changed = Condition()


# Clocks in a block of `held`, which is no part of a snapshot, and at which advanced time each of
# their sleepers may go on.
_held: "dict[FakeClock, list[timedelta]]" = {}


class FakeClock:
    """A clock that moves only when it is advanced.

    It starts at 09:00 UTC on 2 March 2026. The clients of the fake use it as well: instead of
    waiting between two attempts of a call, they advance it and continue at once. Each call waits
    from its own time, so the waits of concurrent calls overlap. To end waits yourself, use `held`.

    Examples:
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.clock.advance(90)
        >>> fake.clock.now().isoformat()
        '2026-03-02T09:01:30+00:00'
        >>> fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
        >>> fake.clock.sleeps
        (20.5,)
        >>> fake.clock.monotonic(), fake.clock.today().isoformat()
        (110.5, '2026-03-02')
    """

    def __init__(self) -> None:
        self._time = _Time()

    def __repr__(self) -> str:
        return f"<FakeClock {self.now():%Y-%m-%d %H:%M:%S} UTC>"

    @property
    def sleeps(self) -> tuple[float, ...]:
        """The length of each wait in seconds, in the order in which they began."""
        return tuple(self._time.sleeps)

    def now(self) -> datetime:
        """Return the time of the fake service.

        Returns:
            The time, in UTC.
        """
        return START + self._time.advanced + self._time.waited

    def today(self) -> date:
        """Return the day of the fake service.

        Returns:
            The day, in UTC.
        """
        return self.now().date()

    def monotonic(self) -> float:
        """Return the seconds since the clock started, in place of `time.monotonic`.

        Returns:
            Seconds.
        """
        return (self.now() - START).total_seconds()

    def advance(self, by: float | timedelta) -> None:
        """Move the clock forward.

        Args:
            by: Seconds, or a `timedelta`.

        Raises:
            ValueError: The time is negative.
        """
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if step < _NO_TIME:
            raise ValueError("the clock only goes forward")
        with _changed:
            self._time.advanced += step
            if self in _held:
                _held[self] = [end for end in _held[self] if end > self._time.advanced]
            _changed.notify_all()

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Let waits last until `advance` reaches their end, for code in other threads or tasks.

        Without this, a wait advances the clock and ends at once. Waits that are under way at the
        end of the block end then. Slow responses advance the clock in any case.

        Returns:
            A context manager.

        Examples:
            >>> from threading import Thread
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> with clock.held():
            ...     thread = Thread(target=clock.sleep, args=[60])
            ...     thread.start()
            ...     clock.wait_for_sleepers(1)
            ...     clock.advance(60)
            >>> thread.join()
            >>> clock.monotonic()
            60.0
        """
        _held.setdefault(self, [])
        try:
            yield
        finally:
            with _changed:
                _held.pop(self, None)
                _changed.notify_all()

    def wait_for_sleepers(self, count: int) -> None:
        """Return as soon as this many threads or tasks wait; for a clock that is `held`.

        Args:
            count: How many.

        Raises:
            TimeoutError: They do not after a minute of real time.

        Examples:
            >>> from threading import Thread
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> with clock.held():
            ...     threads = [Thread(target=clock.sleep, args=[60]) for _ in range(2)]
            ...     for thread in threads:
            ...         thread.start()
            ...     clock.wait_for_sleepers(2)
        """
        with _changed:
            if not _changed.wait_for(lambda: len(_held.get(self, ())) >= count, _PATIENCE):
                raise TimeoutError(f"{len(_held.get(self, ()))} of {count} threads or tasks wait")

    def sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `time.sleep`.

        Args:
            seconds: The length of the wait.

        Raises:
            ValueError: The wait is negative or not finite.
            TimeoutError: The clock is `held`, and was not advanced within a minute of real time.

        Examples:
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> clock.sleep(60)
            >>> clock.now().isoformat()
            '2026-03-02T09:01:00+00:00'
        """
        step = self._wait_while_held(self._begin_sleep(seconds))
        with _changed:
            self._wait_until(self._call_waited() + step)

    async def async_sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `asyncio.sleep`; waits that begin together end together.

        Args:
            seconds: The length of the wait.

        Raises:
            ValueError: The wait is negative or not finite.
            TimeoutError: The clock is `held`, and was not advanced within a minute of real time.

        Examples:
            >>> import asyncio
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> asyncio.run(clock.async_sleep(60))
            >>> clock.sleeps
            (60,)
        """
        begin, step = self._call_waited(), self._begin_sleep(seconds)
        if self in _held:
            held = self._wait_while_held
            step = await anyio.to_thread.run_sync(held, step, abandon_on_cancel=True)
        else:
            await checkpoint()  # other tasks begin their waits at the same time
        self._wait_until(begin + step)

    def for_clients(self) -> Clock:
        """Return the clock as clients of adclient use it: each call sees a time of its own.

        So a call is not late when another one, whose waits take no real time, moved the clock.

        Returns:
            The clock for the engine of a client.

        Examples:
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> clock.for_clients().sleep(5)
            >>> clock.monotonic()
            5.0
        """
        return Clock(
            self._call_now, self.sleep, self.async_sleep, self._begin_call, self._wall_time
        )

    def take(self, seconds: float) -> None:
        """Let the current call take time, as for a slow response.

        Args:
            seconds: How long it takes.

        Examples:
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> clock.take(2)
            >>> clock.monotonic(), clock.sleeps
            (2.0, ())
        """
        self._wait_until(self._call_waited() + timedelta(seconds=seconds))

    def _wall_time(self) -> float:
        return self.now().timestamp()

    def _begin_call(self) -> None:
        _call.set(_Call(self._time, self._time.waited))

    def _call_waited(self) -> timedelta:
        """The time that the current call has waited; outside of calls, that of all."""
        call = _call.get()
        return self._time.waited if call is None or call.time is not self._time else call.waited

    def _call_now(self) -> float:
        return (self._time.advanced + self._call_waited()).total_seconds()

    def _begin_sleep(self, seconds: float) -> timedelta:
        if not 0 <= as_float(seconds) < inf:
            raise ValueError("a wait must be 0 seconds or more, and finite")
        self._time.sleeps.append(seconds)
        return timedelta(seconds=seconds)

    def _wait_while_held(self, step: timedelta) -> timedelta:
        """Wait in real time until the clock was advanced; return what is left of the wait."""
        with _changed:
            if self not in _held:
                return step
            end = self._time.advanced + step
            _held[self].append(end)
            _changed.notify_all()
            if not _changed.wait_for(lambda: end not in _held.get(self, ()), _PATIENCE):
                _held[self].remove(end)
                raise TimeoutError("the clock is held, and nobody advances it")
            return max(_NO_TIME, end - self._time.advanced)

    def _wait_until(self, end: timedelta) -> None:
        """End a wait, also for the call in which it happened."""
        with _changed:
            self._time.waited = max(self._time.waited, end)
        call = _call.get()
        if call is not None and call.time is self._time:  # if it is over, this has no effect
            call.waited = max(call.waited, end)
