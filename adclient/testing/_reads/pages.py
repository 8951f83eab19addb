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
from adclient.testing._http.responses import http_error
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

_OFFSET_BITS = 16


@attrs.frozen
class Pages:
    """Cuts listings into pages, and finds the page that a continuation leads to.

    A continuation has the time when it was issued, if it expires; the item at which the listing
    continues; and a signature of both and of the request.
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
        data: JSON = None if fault == "data_null" else [] if fault == "empty_page" else [*items]
        if fault == "same_next":
            after = self._continuation(request, size)
        elif fault == "foreign_next":
            after = "https://elsewhere.example/v1/all?cursor=1"
        page: Row = {} if fault == "next_missing" else {"next": after}
        return {"data": data} if fault == "page_missing" else {"data": data, "page": page}

    def _continuation(self, request: ParsedRequest, offset: int) -> JSON:
        """The continuation of a listing at an item."""
        issued_at = 0 if self.profile.continuation_life is None else ceil(self._milliseconds)
        text = self._signed(request, issued_at << _OFFSET_BITS | offset)
        match self.profile.continuation:
            case "number":
                return int(text, 16)
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
        cursor, life = request.cursor, self.profile.continuation_life
        if cursor is None:
            return 0
        match self.profile.continuation:
            case "number" if str(cursor).isdecimal():
                text = f"{int(str(cursor)[:30]):012x}"
            case "object" if isinstance(cursor, dict):
                text = str(cursor.get("cursor"))
            case "url" | "absolute_url" if "?" in str(cursor):
                text = dict(parse_qsl(urlsplit(str(cursor)).query)).get(self.parameter, "")
            case _:
                text = str(cursor)
        place = int(text[:-8], 16) if re.fullmatch("[0-9a-f]{12,24}", text) else 0
        if not place or text != self._signed(request, place):
            raise http_error("invalid_page")
        issued_at, offset = divmod(place, 1 << _OFFSET_BITS)
        if life is not None and self._milliseconds - issued_at >= life * 1000:
            raise http_error("page_expired")
        return offset

    @property
    def _milliseconds(self) -> float:
        return self.clock.monotonic() * 1000

    def _signed(self, request: ParsedRequest, place: int) -> str:
        """A place with a signature that fits only this listing with these arguments."""
        arguments = jsontext.dumps(dict(sorted(request.arguments.items())), "arguments")
        content = f"{self.seed}:{request.operation.full_name}:{place}{arguments}"
        return f"{place:04x}{hashlib.sha256(content.encode()).hexdigest()[:8]}"
