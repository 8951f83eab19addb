"""The pages of a listing, and the continuation values that lead from one to the next."""

import hashlib
import re
from collections.abc import Callable
from math import ceil
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import attrs

from adclient._core import jsontext
from adclient._service.model import Listing, Next, Service
from adclient._values.json_values import folded
from adclient.conventions import Conventions, EndOfListing, of_read
from adclient.models import JSON
from adclient.testing._clock import FakeClock
from adclient.testing._http.requests import ParsedRequest, next_of
from adclient.testing._http.responses import http_error
from adclient.testing._like.items import invented

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
_ENDS: dict[EndOfListing, Row] = {
    "null": {"next": None},
    "missing": {},
    "empty": {"next": ""},
    "false": {"next": False},
}
_MEANINGS = {
    "page": ("page", "pagenumber", "pageno", "pageindex", "currentpage", "p"),
    "offset": ("offset", "pageoffset", "skip", "start", "startindex", "from", "position"),
    "size": ("limit", "size", "pagesize", "pagelimit", "perpage", "count", "take", "maxresults"),
}


@attrs.frozen
class Pages:
    """Cuts listings into pages, and finds the page that a continuation leads to.

    A continuation is the number of a page or item where the name of its parameter says so, and
    otherwise a token: the time when it was issued, if it expires; the item at which the listing
    continues; and a signature of both and of the request.
    """

    seed: str
    service: Service
    life: float | None
    clock: FakeClock

    def page(self, request: ParsedRequest, rows: Rows, fault: PagingFault | None) -> Row:
        """The page that a request asks for, with something wrong if there is a fault."""
        listing = self.service.listings.get(request.operation.full_name) or Listing(account_id="")
        size = listing.page_size if listing.next and listing.page_size else max(1, len(rows))
        start = self._start(request, size)
        end = start + size
        is_last = end >= len(rows)
        shift = {"duplicates": -1, "shrinking_list": +1}.get(fault or "", 0) if start else 0
        items = [row() for row in rows[start + shift : end + shift]]
        data: JSON = None if fault == "data_null" else [] if fault == "empty_page" else [*items]
        page = _ENDS[self._conventions(request).end_of_listing].copy()
        if not is_last:
            page = {"next": self._continuation(request, end, size)}
        if fault == "same_next":
            page["next"] = self._continuation(request, size, size)
        elif fault == "foreign_next":
            page["next"] = "https://elsewhere.example/v1/all?cursor=1"
        elif fault == "next_missing":
            page.pop("next", None)
        page, extra = (
            own | invented(shapes, self.seed, len(rows), size, is_last=is_last)
            for own, shapes in ((page, listing.page), ({}, listing.extra))
        )
        if fault == "page_missing":
            return {"data": data, **extra}
        return {"data": data, "page": page, **extra}

    def _conventions(self, request: ParsedRequest) -> Conventions:
        return of_read(self.service.conventions, request.operation.full_name)

    def _continuation(self, request: ParsedRequest, offset: int, size: int) -> JSON:
        """The continuation of a listing at an item."""
        following = next_of(self.service, request.operation)
        issued_at = 0 if self.life is None else ceil(self._milliseconds)
        token = self._signed(request, issued_at << _OFFSET_BITS | offset)
        parameter = self._conventions(request).cursor_parameter
        values: Row = {"page": offset // size + 1, "offset": offset, "size": size}
        if following.form == "string":
            return token
        if following.form == "number":
            return values.get(_meaning(parameter) or "", int(token, 16))
        own = {each.name for each in request.operation.parameters}
        entries = {
            name: request.arguments.get(name, values.get(_meaning(name) or "", token))
            for name in following.parameters or (parameter,)
            if name not in own or name in request.arguments
        }
        if following.form == "object" and following.key is None:
            return entries
        texts = {
            name: value if isinstance(value, str) else jsontext.dumps(value, "next")
            for name, value in entries.items()
        }
        address = urlsplit(request.url)
        host = {"other": "http://ads.internal:8080", "relative": ""}.get(
            following.host or "", f"{address.scheme}://{address.netloc}"
        )
        url = f"{host}{address.path}?{urlencode(texts)}"
        return url if following.key is None else {following.key: url}

    def _start(self, request: ParsedRequest, size: int) -> int:
        """The item at which a request continues; 0 if it has no continuation."""
        following = next_of(self.service, request.operation)
        entries: Row = {k: value for k, value in request.continuation.items() if value is not None}
        if not entries:
            return 0
        if len(entries) == 1:
            cursor: JSON = next(iter(entries.values()))
            if following.form == "object" and isinstance(cursor, dict):
                entries = cursor
                cursor = cursor.get(following.key or "")
            if following.form in ("object", "URL") and "?" in str(cursor):
                entries = dict(parse_qsl(urlsplit(str(cursor)).query))
        own = {parameter.name for parameter in request.operation.parameters}
        for name, value in entries.items():
            meaning, text = _meaning(name), str(value)
            if meaning == "size" or name in own:
                continue
            if meaning is None or following.form == "string":
                return self._offset(request, following, text)
            if not re.fullmatch("[0-9]{1,9}", text) or (meaning == "page" and int(text) == 0):
                break
            return int(text) if meaning == "offset" else (int(text) - 1) * size
        raise http_error("invalid_page")

    def _offset(self, request: ParsedRequest, following: Next, token: str) -> int:
        """The item that a token leads to."""
        if following.form == "number" and token.isdecimal():
            token = f"{int(token[:30]):012x}"
        place = int(token[:-8], 16) if re.fullmatch("[0-9a-f]{12,24}", token) else 0
        if not place or token != self._signed(request, place):
            raise http_error("invalid_page")
        issued_at, offset = divmod(place, 1 << _OFFSET_BITS)
        if self.life is not None and self._milliseconds - issued_at >= self.life * 1000:
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


def _meaning(parameter: str) -> str | None:
    """What the name of a parameter says that its value is; None for a token."""
    plain = folded(parameter)
    return next((meaning for meaning, names in _MEANINGS.items() if plain in names), None)
