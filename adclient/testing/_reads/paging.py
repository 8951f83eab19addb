"""One page of a listing, as it should be and as hostile services make it."""

from collections.abc import Callable
from typing import Literal

import attrs

from adclient.models import JSON

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
Body = dict[str, JSON]


@attrs.frozen
class Slice:
    """The part of a listing that one page shows."""

    rows: Rows
    start: int
    size: int
    continuation: Callable[[int], JSON]

    @property
    def next(self) -> JSON:
        """The continuation after this page; None if it is the last."""
        end = self.start + self.size
        return self.continuation(end) if end < len(self.rows) else None

    def data(self, shift: int = 0) -> list[JSON]:
        """The items; `shift` moves where they are taken from, on all pages but the first."""
        start = self.start + (shift if self.start else 0)
        return [row() for row in self.rows[start : start + self.size]]


def page_of(part: Slice) -> Body:
    """A page as the interface documents it."""
    return {"data": part.data(), "page": {"next": part.next}}


def hostile_page_of(part: Slice, fault: PagingFault) -> Body:
    """A page with something wrong."""
    return _HOSTILE[fault](part)


def _same_next(part: Slice) -> Body:
    return {"data": part.data(), "page": {"next": part.continuation(part.size)}}


def _empty_page(part: Slice) -> Body:
    return {"data": [], "page": {"next": part.next}}


def _foreign_next(part: Slice) -> Body:
    return {"data": part.data(), "page": {"next": "https://elsewhere.example/v1/all?cursor=1"}}


def _duplicates(part: Slice) -> Body:
    return {"data": part.data(-1), "page": {"next": part.next}}


def _shrinking_list(part: Slice) -> Body:
    return {"data": part.data(+1), "page": {"next": part.next}}


def _next_missing(part: Slice) -> Body:
    return {"data": part.data(), "page": {}}


def _page_missing(part: Slice) -> Body:
    return {"data": part.data()}


def _data_null(part: Slice) -> Body:
    return {"data": None, "page": {"next": part.next}}


_HOSTILE: dict[PagingFault, Callable[[Slice], Body]] = {
    "same_next": _same_next,
    "empty_page": _empty_page,
    "foreign_next": _foreign_next,
    "duplicates": _duplicates,
    "shrinking_list": _shrinking_list,
    "next_missing": _next_missing,
    "page_missing": _page_missing,
    "data_null": _data_null,
}
