"""Continuation values: where a listing goes on, in one of several shapes."""

import hashlib
import re
from urllib.parse import parse_qsl, quote, urlsplit

from adclient._core import jsontext
from adclient.models import JSON
from adclient.testing._clock import START, FakeClock
from adclient.testing._profile import Profile
from adclient.testing._wire.protocol import Asked, Refusal

_OFFSET_BITS, _SIGNATURE_BITS = 16, 32
_DECIMAL, _HEXADECIMAL = re.compile("[0-9]{1,30}"), re.compile("[0-9a-f]{12,24}")


class Cursors:
    """Makes the continuations of listings, and reads them when they come back.

    A continuation is one number: the time when it was made, if it has an end, the item at which
    the listing goes on, and a signature of these and of what was asked.
    """

    def __init__(self, seed: str, profile: Profile, parameter: str, clock: FakeClock) -> None:
        self._seed = seed
        self._shape = profile.continuation
        self._life = profile.continuation_life
        self._parameter = parameter
        self._clock = clock

    def made(self, asked: Asked, offset: int) -> JSON:
        """The continuation of a listing at an item."""
        made_at = 0 if self._life is None else self._now()
        number = self._signed(asked, made_at << _OFFSET_BITS | offset)
        text = f"{number:012x}"
        if self._shape == "number":
            return number
        if self._shape == "object":
            return {"cursor": text}
        if self._shape in ("url", "absolute_url"):
            place = asked.url if self._shape == "absolute_url" else urlsplit(asked.url).path
            return f"{place}?{quote(self._parameter)}={text}"
        return text

    def offset(self, asked: Asked) -> int:
        """The item that a continuation stands for; the first if none came."""
        if asked.cursor is None:
            return 0
        number = self._read(asked.cursor)
        place = 0 if number is None else number >> _SIGNATURE_BITS
        if place <= 0 or number != self._signed(asked, place):
            message = "this continuation does not belong to this listing"
            raise Refusal(400, "invalid_page", message)
        made_at, offset = divmod(place, 1 << _OFFSET_BITS)
        if self._life is not None and self._now() - made_at >= self._life:
            raise Refusal(410, "page_expired", "this continuation is too old")
        return offset

    def _now(self) -> int:
        return int((self._clock.now() - START).total_seconds())

    def _signed(self, asked: Asked, place: int) -> int:
        """A place, signed so that it fits only this listing with these arguments."""
        name = f"{self._seed}:{asked.operation.full_name}:{place}"
        arguments = sorted(asked.arguments.items())
        content = name + jsontext.dumps(dict(arguments), "arguments")
        signature = hashlib.sha256(content.encode()).hexdigest()[:8]
        return place << _SIGNATURE_BITS | int(signature, 16)

    def _read(self, cursor: JSON) -> int | None:
        if self._shape == "number":
            return int(str(cursor)) if _DECIMAL.fullmatch(str(cursor)) else None
        text = self._text(cursor)
        return int(text, 16) if _HEXADECIMAL.fullmatch(text) else None

    def _text(self, cursor: JSON) -> str:
        if isinstance(cursor, dict):
            cursor = cursor.get("cursor") if self._shape == "object" else None
        if self._shape in ("url", "absolute_url") and isinstance(cursor, str) and "?" in cursor:
            cursor = dict(parse_qsl(urlsplit(cursor).query)).get(self._parameter)
        return cursor if isinstance(cursor, str) else ""
