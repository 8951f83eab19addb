"""The pages of a listing, and the continuation values that lead from one to the next."""

import hashlib
import re
from collections.abc import Callable
from math import ceil
from typing import Literal
from urllib.parse import parse_qsl, quote, urlsplit

import attrs

from adclient._core import jsontext
from adclient.models import JSON
from adclient.testing._clock import FakeClock
from adclient.testing._http.requests import ParsedRequest
from adclient.testing._http.responses import refusal
from adclient.testing._profile import Profile

PagingFault = Literal[
    "same_next",
    "empty_page",
    "foreign_next",
    "duplicates",
    "shrinking_list",
    "next_missing",
    "page_missing",
    "data_null",
]
Row = dict[str, JSON]
Rows = list[Callable[[], Row]]
"""Functions, so that only the rows of one page are computed."""

_OFFSET_BITS, _SIGNATURE_BITS = 16, 32


@attrs.frozen
class Pages:
    """Cuts listings into pages, and finds the page that a continuation leads to.

    A continuation is one number: the time when it was made, if it expires, the item at which the
    listing continues, and a signature of both and of the request.
    """

    seed: str
    size: int
    profile: Profile
    parameter: str
    clock: FakeClock

    def page(self, request: ParsedRequest, rows: Rows, fault: PagingFault | None) -> Row:
        """The page that a request asks for, with something wrong if there is a fault."""
        start = self._start(request)
        size = max(1, len(rows)) if self.profile.continuation == "none" else self.size
        end = start + size
        after: JSON = self._continuation(request, end) if end < len(rows) else None
        shift = {"duplicates": -1, "shrinking_list": +1}.get(fault or "", 0) if start else 0
        items = [row() for row in rows[start + shift : end + shift]]
        if self.profile.extras:
            is_ad = request.operation.full_name == "gamma.list_ads"
            items = [_extended(item, is_ad, n) for n, item in enumerate(items, start + shift)]
        data: JSON = None if fault == "data_null" else [] if fault == "empty_page" else [*items]
        if fault == "same_next":
            after = self._continuation(request, size)
        elif fault == "foreign_next":
            after = "https://elsewhere.example/v1/all?cursor=1"
        page: Row = {} if fault == "next_missing" else {"next": after}
        listing: Row = {"data": data, "page": page}
        if self.profile.extras:
            listing = {"meta": {"took_ms": 12}, "page": {"total": None, **page}, "data": data}
        if fault == "page_missing":
            del listing["page"]
        return listing

    def _continuation(self, request: ParsedRequest, offset: int) -> JSON:
        """The continuation of a listing at an item."""
        made_at = 0 if self.profile.continuation_life is None else ceil(self._milliseconds)
        number = self._signed(request, made_at << _OFFSET_BITS | offset)
        text = f"{number:012x}"
        match self.profile.continuation:
            case "number":
                return number
            case "object":
                return {"cursor": text}
            case "url":
                return f"{urlsplit(request.url).path}?{quote(self.parameter)}={text}"
            case "absolute_url":
                return f"{request.url}?{quote(self.parameter)}={text}"
            case _:
                return text

    def _start(self, request: ParsedRequest) -> int:
        """The item at which a request continues; 0 if it has no continuation."""
        cursor, shape = request.cursor, self.profile.continuation
        life = self.profile.continuation_life
        if cursor is None:
            return 0
        if shape == "object" and isinstance(cursor, dict):
            cursor = cursor.get("cursor")
        elif shape in ("url", "absolute_url") and isinstance(cursor, str) and "?" in cursor:
            cursor = dict(parse_qsl(urlsplit(cursor).query)).get(self.parameter)
        form, base = ("[0-9]{1,30}", 10) if shape == "number" else ("[0-9a-f]{12,24}", 16)
        is_typed = isinstance(cursor, str) or shape == "number"
        is_valid = is_typed and re.fullmatch(form, str(cursor))
        number = int(str(cursor), base) if is_valid else 0
        place = number >> _SIGNATURE_BITS
        if place <= 0 or number != self._signed(request, place):
            raise refusal("invalid_page")
        made_at, offset = divmod(place, 1 << _OFFSET_BITS)
        if life is not None and self._milliseconds - made_at >= life * 1000:
            raise refusal("page_expired")
        return offset

    @property
    def _milliseconds(self) -> float:
        return self.clock.monotonic() * 1000

    def _signed(self, request: ParsedRequest, place: int) -> int:
        """A place with a signature that fits only this listing with these arguments."""
        name = f"{self.seed}:{request.operation.full_name}:{place}"
        content = name + jsontext.dumps(dict(sorted(request.arguments.items())), "arguments")
        signature = hashlib.sha256(content.encode()).hexdigest()[:8]
        return place << _SIGNATURE_BITS | int(signature, 16)


def _extended(item: Row, is_ad: bool, place: int) -> Row:
    """An item with an unknown key; every third has an unknown status, and the second ad no name."""
    extra = dict(reversed(item.items()))
    extra["x_labels"] = [{"text": "new", "weight": None}]
    if place % 3 == 2:
        extra["status"] = "UNDER_POLICY_REVIEW"
    if is_ad and place == 1:
        del extra["name"]
    return extra
