"""`Lenient`: converts values of other types than the fields that `typed()` reads them into."""

from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo

import attrs

from adclient._show.signatures import public_in
from adclient._values.json_values import as_float
from adclient._values.jsontext import JSONError, loads

# Later times are in milliseconds, or in microseconds: of seconds, this is the year 5138.
_LATEST = 1e11


@public_in("adclient")
@attrs.frozen(kw_only=True)
class Lenient:
    """A function for `typed(cls, convert=…)` that reads what ad services often send.

    In a field of such a type, a text becomes a number, true or false, a time or a date, and a
    number becomes the time of so many seconds, milliseconds or microseconds since 1970. An empty
    text and `-` become None in a field that can be None. Anything else stays an error.

    Attributes:
        zone: The time zone of times that have none. Without it they stay without, and a number is
            a time in UTC.

    Examples:
        >>> import attrs
        >>> from datetime import datetime
        >>> from adclient import Campaign, Lenient, Page
        >>> @attrs.frozen(kw_only=True)
        ... class Spending(Campaign):
        ...     spend: float | None
        ...     changed: datetime
        >>> fields = {"spend": "-", "changed": 1772366400}
        >>> page = Page(data=[Campaign(id="a", name="A", status="ENABLED", extra=fields)])
        >>> campaign = page.typed(Spending, convert=Lenient()).data[0]
        >>> campaign.spend, str(campaign.changed)
        (None, '2026-03-01 12:00:00+00:00')
    """

    zone: tzinfo | None = None

    def __call__(self, value: object, cls: type) -> object:
        """Convert a value for a field; what cannot be converted is returned as it is.

        Args:
            value: The value as it was received.
            cls: The class of the field: `str`, `bool`, `int`, `float`, `Decimal`, `datetime` or
                `date`; first `NoneType`, if the field can be None.

        Returns:
            The value to read instead.

        Examples:
            >>> from adclient import Lenient
            >>> Lenient()("12.5", float), Lenient()("twelve", float)
            (12.5, 'twelve')
        """
        text = value.strip() if isinstance(value, str) else None
        if cls is type(None):
            return None if text in ("", "-") else value
        with suppress(ValueError, OverflowError, OSError, JSONError):
            if issubclass(cls, date):
                time = self._time(value if text is None else text)
                return time if cls is datetime else time.date()
            if text is not None and cls is not str:
                return loads(text.encode())
        return value

    def _time(self, value: object) -> datetime:
        # A text of eight digits is a date, such as 20260301.
        if isinstance(value, str) and not (value.isdecimal() and len(value) != 8):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=time.tzinfo or self.zone)
        seconds = as_float(int(value) if isinstance(value, str) else value)
        for _ in range(2):
            seconds = seconds / 1000 if abs(seconds) > _LATEST else seconds
        return datetime.fromtimestamp(seconds, self.zone or UTC)
