"""Continuation values: where a listing continues, in one of several shapes."""

import hashlib
import re
from urllib.parse import parse_qsl, quote, urlsplit

from adclient._core import jsontext
from adclient.models import JSON
from adclient.testing._clock import FakeClock
from adclient.testing._http.refusal import Refusal
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._profile import Profile

_OFFSET_BITS, _SIGNATURE_BITS = 16, 32
_DECIMAL, _HEXADECIMAL = re.compile("[0-9]{1,30}"), re.compile("[0-9a-f]{12,24}")


class Cursors:
    """Writes the continuations of listings, and reads them when they come back.

    A continuation is one number: the time when it was made, if it expires, the item at which the
    listing continues, and a signature of both and of the request.
    """

    def __init__(self, seed: str, profile: Profile, parameter: str, clock: FakeClock) -> None:
        self._seed = seed
        self._shape = profile.continuation
        self._life = profile.continuation_life
        self._parameter = parameter
        self._clock = clock

    def write(self, request: ParsedRequest, offset: int) -> JSON:
        """The continuation of a listing at an item."""
        made_at = 0 if self._life is None else self._now()
        number = self._signed(request, made_at << _OFFSET_BITS | offset)
        text = f"{number:012x}"
        match self._shape:
            case "number":
                return number
            case "object":
                return {"cursor": text}
            case "url" | "absolute_url":
                is_absolute = self._shape == "absolute_url"
                url = request.url if is_absolute else urlsplit(request.url).path
                return f"{url}?{quote(self._parameter)}={text}"
            case _:
                return text

    def read(self, request: ParsedRequest) -> int:
        """The item at which a request continues; 0 if it has no continuation."""
        if request.cursor is None:
            return 0
        number = self._number(request.cursor)
        place = number >> _SIGNATURE_BITS
        if place <= 0 or number != self._signed(request, place):
            message = "this continuation does not belong to this listing"
            raise Refusal(400, "invalid_page", message)
        made_at, offset = divmod(place, 1 << _OFFSET_BITS)
        if self._life is not None and self._now() - made_at >= self._life:
            raise Refusal(410, "page_expired", "this continuation is too old")
        return offset

    def _now(self) -> int:
        return int(self._clock.monotonic())

    def _signed(self, request: ParsedRequest, place: int) -> int:
        """A place with a signature that fits only this listing with these arguments."""
        name = f"{self._seed}:{request.operation.full_name}:{place}"
        content = name + jsontext.dumps(dict(sorted(request.arguments.items())), "arguments")
        signature = hashlib.sha256(content.encode()).hexdigest()[:8]
        return place << _SIGNATURE_BITS | int(signature, 16)

    def _number(self, cursor: JSON) -> int:
        """The number in a continuation; 0 if it is malformed."""
        if self._shape == "number":
            return int(str(cursor)) if _DECIMAL.fullmatch(str(cursor)) else 0
        if isinstance(cursor, dict):
            cursor = cursor.get("cursor") if self._shape == "object" else None
        if self._shape in ("url", "absolute_url") and isinstance(cursor, str) and "?" in cursor:
            cursor = dict(parse_qsl(urlsplit(cursor).query)).get(self._parameter)
        is_valid = isinstance(cursor, str) and _HEXADECIMAL.fullmatch(cursor)
        return int(str(cursor), 16) if is_valid else 0
