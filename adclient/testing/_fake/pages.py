"""The pages of a listing, and the continuation values that lead from one to the next."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import attrs

from adclient._values import jsontext
from adclient._values.json_values import folded
from adclient.models import JSON
from adclient.testing._fake.accounts import Values
from adclient.testing._fake.clock import FakeClock
from adclient.testing._fake.like import beside_items
from adclient.testing._fake.requests import ParsedRequest
from adclient.testing._fake.responses import http_error

PagingFault = Literal[
    "same_next",
    "empty_page",
    "foreign_next",
    "duplicates",
    "shrinking_list",
    "next_missing",
    "page_missing",
    "data_missing",
]
_OFFSET_BITS = 32
_ENDS: Values = {"empty": "", "false": False}
_COUNTED = re.compile(
    "(?P<page>p|page|(page|current)(page|no|number|index))"
    "|(?P<offset>(page)?offset|skip|start(index)?|from|position)"
    "|(?P<size>(page)?(limit|size)|perpage|count|take|maxresults)"
)
"""Names of parameters, without case and punctuation, that say what they count."""


@attrs.frozen
class Pages:
    """Cuts listings into pages, and finds the page that a continuation leads to.

    A continuation is the number of a page or item where the name of its parameter says so, and
    otherwise a token: the time when it was issued, if it expires; the item at which the listing
    continues; and a signature of both and of the request.
    """

    seed: str
    life: float | None
    clock: FakeClock

    def page(
        self, request: ParsedRequest, items: Sequence[Values], fault: PagingFault | None
    ) -> Mapping[str, object]:
        """The page that a request asks for, with something wrong if there is a fault."""
        listing = request.listing
        size = max(1, len(items))
        if listing.next and listing.page_size:
            size = request.page_size or listing.page_size
        start = self._start(request, size)
        end = start + size
        is_last = end >= len(items)
        shift = {"duplicates": -1, "shrinking_list": +1}.get(fault or "", 0) if start else 0
        data: Sequence[Values] = [] if fault == "empty_page" else items[start + shift : end + shift]
        convention = request.conventions.end_of_listing
        page: dict[str, JSON] = {"next": _ENDS.get(convention)}
        if not is_last:
            page["next"] = self._continuation(request, end, size)
        elif convention == "missing":
            del page["next"]
        if fault == "same_next":
            page["next"] = self._continuation(request, size, size)
        elif fault == "foreign_next":
            page["next"] = "https://elsewhere.example/v1/all?cursor=1"
        elif fault == "next_missing":
            page.pop("next", None)
        beside = beside_items(listing.pages, len(items), size, is_last=is_last)
        further = beside.pop("page", {})
        page |= {**further, **page} if isinstance(further, dict) else {}
        whole: dict[str, object] = {**beside, "data": data, "page": page}
        if fault in ("data_missing", "page_missing"):
            del whole[fault.removesuffix("_missing")]
        return whole

    def _continuation(self, request: ParsedRequest, offset: int, size: int) -> JSON:
        """The continuation of a listing at an item."""
        following = request.next
        issued_at = 0 if self.life is None else ceil(self._milliseconds)
        token = self._signed(request, issued_at << _OFFSET_BITS | offset)
        if following.form == "string":
            return token
        values: Values = {"page": offset // size + 1, "offset": offset, "size": size}
        parameter = request.conventions.cursor_parameter
        if following.form == "number":
            return values.get(_meaning(parameter), int(token, 16))
        own = {each.name for each in request.operation.parameters}
        entries: dict[str, JSON] = {
            name: request.text(name) or values.get(_meaning(name), token)
            for name in following.parameters or (parameter,)
            if name not in own or request.text(name)
        }
        if following.form == "object" and following.key is None:
            return entries
        path = urlsplit(request.url).path
        places = {"relative": path, "other": f"http://ads.internal:8080{path}"}
        url = f"{places.get(following.host or '', request.url)}?{urlencode(entries)}"
        return url if following.key is None else {following.key: url}

    def _start(self, request: ParsedRequest, size: int) -> int:
        """The item at which a request continues; 0 if it has no continuation."""
        sent = request.continuation.items()
        entries: Values = {key: value for key, value in sent if value is not None}
        if not entries:
            return 0
        if request.conventions.continuation is None:  # an object or URL comes back whole
            cursor = next(iter(entries.values()))
            if isinstance(cursor, dict):
                entries, cursor = cursor, next(iter(cursor.values()), None)
            if "?" in str(cursor):
                entries = dict(parse_qsl(urlsplit(str(cursor)).query))
        for name, value in entries.items():
            start = self._position(request, _meaning(name), str(value), size)
            if start is not None:
                return start
        raise http_error("invalid_page")

    def _position(self, request: ParsedRequest, meaning: str, text: str, size: int) -> int | None:
        """The item that a part of a continuation names; None if it names none."""
        if meaning in ("page", "offset") and re.fullmatch("0*[1-9][0-9]{,8}", text):
            return int(text) if meaning == "offset" else (int(text) - 1) * size
        if request.next.form == "number" and text.isdecimal():
            text = f"{int(text[:40]):012x}"
        place = int(text[:-8], 16) if re.fullmatch("[0-9a-f]{12,32}", text) else 0
        if not place or text != self._signed(request, place):
            return None
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


def _meaning(parameter: str) -> str:
    """What the name of a parameter says that its value is; empty for a token."""
    match = _COUNTED.fullmatch(folded(parameter))
    return (match and match.lastgroup) or ""
