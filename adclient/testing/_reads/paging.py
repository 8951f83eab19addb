"""One page of a listing, as documented or as hostile services make it."""

from collections.abc import Callable
from typing import Literal

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
"""Functions, so that only the rows of one page are computed."""


def page_of(
    rows: Rows, start: int, size: int, cursor_at: Callable[[int], JSON], fault: PagingFault | None
) -> Row:
    """The page that begins at a row, with something wrong if there is a fault."""
    end = start + size
    after: JSON = cursor_at(end) if end < len(rows) else None
    shift = {"duplicates": -1, "shrinking_list": +1}.get(fault or "", 0) if start else 0
    data: JSON = [row() for row in rows[start + shift : end + shift]]
    match fault:
        case "same_next":
            after = cursor_at(size)
        case "foreign_next":
            after = "https://elsewhere.example/v1/all?cursor=1"
        case "empty_page":
            data = []
        case "data_null":
            data = None
        case "next_missing":
            return {"data": data, "page": {}}
        case "page_missing":
            return {"data": data}
        case _:
            pass
    return {"data": data, "page": {"next": after}}
