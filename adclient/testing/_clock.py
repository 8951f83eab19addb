"""The clock of the fake service, which stands still until it is advanced."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from math import inf
from threading import Lock, active_count

import attrs
from anyio.lowlevel import checkpoint

from adclient._http.clock import Clock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_NO_TIME = timedelta(0)
_ROUND, _QUIET_ROUNDS, _MOST_ROUNDS = 0.003, 8, 60


class FakeClock:
    """A clock that moves only when it is advanced.

    It starts at 09:00 UTC on 2 March 2026. The clients of the fake use it as well: instead of
    waiting between two attempts of a call, they advance it and continue at once. Waits that begin
    at the same time, in several threads or tasks, also end at the same time.

    Attributes:
        calls: The clock as the calls of clients see it; for the fake itself.

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
        self.calls: CallClock = CallClock(self._time)

    def __repr__(self) -> str:
        return f"<FakeClock {self.now():%Y-%m-%d %H:%M:%S} UTC>"

    @property
    def sleeps(self) -> tuple[float, ...]:
        """The length of each wait in seconds, oldest first."""
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
        with self._time.lock:
            self._time.advanced += step

    def monotonic(self) -> float:
        """Return the seconds since the clock started, in place of `time.monotonic`.

        Returns:
            Seconds.
        """
        return (self.now() - START).total_seconds()

    def sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `time.sleep`; waits that begin together end together.

        Other threads get a few milliseconds to begin their waits as well.

        Args:
            seconds: The length of the wait.

        Raises:
            ValueError: The wait is negative or not finite.

        Examples:
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> clock.sleep(60)
            >>> clock.now().isoformat()
            '2026-03-02T09:01:00+00:00'
        """
        end = self._time.begin_sleep(seconds, self._time.waited)
        wait_for_threads(lambda: len(self._time.sleeps))
        self._time.wake_at(end)

    async def async_sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `asyncio.sleep`; waits that begin together end together.

        Args:
            seconds: The length of the wait.

        Raises:
            ValueError: The wait is negative or not finite.

        Examples:
            >>> import asyncio
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> asyncio.run(clock.async_sleep(60))
            >>> clock.sleeps
            (60,)
        """
        end = self._time.begin_sleep(seconds, self._time.waited)
        await checkpoint()
        self._time.wake_at(end)


@attrs.define(eq=False)
class _Time:
    """The time, and the waits; overlapping waits do not add up."""

    advanced: timedelta = _NO_TIME
    waited: timedelta = _NO_TIME
    sleeps: list[float] = attrs.field(factory=list[float])
    lock: Lock = attrs.field(factory=Lock)

    def begin_sleep(self, seconds: float, begin: timedelta) -> timedelta:
        """Record a wait, and return when it ends."""
        if not 0 <= seconds < inf:
            raise ValueError("a wait must be 0 seconds or more, and finite")
        end = begin + timedelta(seconds=seconds)
        self.sleeps.append(seconds)
        return end

    def wake_at(self, end: timedelta) -> None:
        """End a wait, also for the call in which it happened."""
        with self.lock:
            self.waited = max(self.waited, end)
        call = _call.get()
        if call is not None and call.time is self:  # if it is over, this has no effect
            call.waited = max(call.waited, end)


@attrs.define(eq=False)
class _Call:
    """The time that a call has waited, and the calls that ended before it began."""

    time: _Time
    waited: timedelta


_call: ContextVar[_Call | None] = ContextVar("_call", default=None)


@attrs.frozen
class CallClock:
    """The time of the call in the current thread or task.

    Each call waits from its own time, so it is not late when another one, whose waits take no real
    time here, has already moved the clock.
    """

    _time: _Time

    def for_clients(self) -> Clock:
        """The clock that clients take."""
        return Clock(self._now, self._sleep, self._async_sleep, self._begin)

    def advance(self, seconds: float) -> None:
        """Let a response take time."""
        self._time.wake_at(self._waited() + timedelta(seconds=seconds))

    def _begin(self) -> None:
        _call.set(_Call(self._time, self._time.waited))

    def _now(self) -> float:
        return (self._time.advanced + self._waited()).total_seconds()

    def _sleep(self, seconds: float) -> None:
        self._time.wake_at(self._time.begin_sleep(seconds, self._waited()))

    async def _async_sleep(self, seconds: float) -> None:
        end = self._time.begin_sleep(seconds, self._waited())
        await checkpoint()
        self._time.wake_at(end)

    def _waited(self) -> timedelta:
        call = _call.get()
        return self._time.waited if call is None or call.time is not self._time else call.waited


def wait_for_threads(count: Callable[[], int]) -> None:
    """Give other threads real time to catch up, as long as they increase a count."""
    rounds, quiet, last = 0, 0, -1
    while rounds < _MOST_ROUNDS and quiet < _QUIET_ROUNDS and active_count() > 1:
        quiet, last = (quiet + 1, last) if count() == last else (0, count())
        rounds += 1
        time.sleep(_ROUND)
