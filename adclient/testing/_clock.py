"""The clock of the fake service, which stands still until it is advanced."""

from datetime import UTC, date, datetime, timedelta
from threading import Lock

from anyio.lowlevel import checkpoint

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that moves only when it is advanced.

    It starts at 09:00 UTC on 2 March 2026. Clients of the fake use it, too: instead of waiting
    between two attempts of a call, they advance it and continue at once.

    Example:
        >>> from adclient.testing import FakeAdService, Fault
        >>> fake = FakeAdService()
        >>> fake.clock.advance(90)
        >>> fake.clock.now().isoformat()
        '2026-03-02T09:01:30+00:00'
        >>> fake.faults.add(Fault.status(429, headers={"Retry-After": "20"}))
        >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
        >>> fake.clock.sleeps
        (20.5,)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._now = START
        self._sleeps: list[float] = []

    def __repr__(self) -> str:
        return f"<FakeClock {self._now:%Y-%m-%d %H:%M:%S} UTC>"

    @property
    def sleeps(self) -> tuple[float, ...]:
        """How long each wait was, in seconds, oldest first."""
        with self._lock:
            return tuple(self._sleeps)

    def now(self) -> datetime:
        """The time of the fake service, in UTC."""
        return self._now

    def today(self) -> date:
        """The day of the fake service, in UTC."""
        return self._now.date()

    def advance(self, by: float | timedelta) -> None:
        """Move the clock forward.

        Args:
            by: Seconds, or a `timedelta`.

        Raises:
            ValueError: The time is negative.
        """
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if step < timedelta(0):
            raise ValueError("the clock only goes forward")
        with self._lock:
            self._now += step

    def monotonic(self) -> float:
        """Seconds since the clock started, in place of `time.monotonic`."""
        return (self._now - START).total_seconds()

    def sleep(self, seconds: float) -> None:
        """Advance the clock instead of waiting, in place of `time.sleep`.

        Args:
            seconds: How long the wait is.

        Raises:
            ValueError: The wait is negative.

        Example:
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> clock.sleep(60)
            >>> clock.now().isoformat()
            '2026-03-02T09:01:00+00:00'
        """
        self._wake_at(self._begin_sleep(seconds))

    async def async_sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `asyncio.sleep`; waits that begin together end together.

        Args:
            seconds: How long the wait is.

        Raises:
            ValueError: The wait is negative.

        Example:
            >>> import asyncio
            >>> from adclient.testing import FakeClock
            >>> clock = FakeClock()
            >>> asyncio.run(clock.async_sleep(60))
            >>> clock.sleeps
            (60,)
        """
        wake = self._begin_sleep(seconds)
        await checkpoint()
        self._wake_at(wake)

    def _begin_sleep(self, seconds: float) -> datetime:
        if seconds < 0:
            raise ValueError("a wait must be 0 seconds or more")
        with self._lock:
            self._sleeps.append(seconds)
            return self._now + timedelta(seconds=seconds)

    def _wake_at(self, moment: datetime) -> None:
        with self._lock:
            self._now = max(self._now, moment)
