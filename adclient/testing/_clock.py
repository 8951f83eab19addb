"""The clock of the fake service, which stands still until a test turns it."""

from datetime import UTC, date, datetime, timedelta

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that moves only when told to.

    It starts at 09:00 UTC on 2 March 2026.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> fake.clock.advance(90)
        >>> fake.clock.now().isoformat()
        '2026-03-02T09:01:30+00:00'
    """

    def __init__(self) -> None:
        self._now = START

    def now(self) -> datetime:
        """The time of the fake service, in UTC."""
        return self._now

    def today(self) -> date:
        """The day of the fake service, in UTC."""
        return self._now.date()

    def advance(self, by: float | timedelta) -> None:
        """Turn the clock forward.

        Args:
            by: Seconds, or a `timedelta`.

        Raises:
            ValueError: The clock would go backwards.
        """
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if step < timedelta(0):
            raise ValueError("the clock goes forward only")
        self._now += step
