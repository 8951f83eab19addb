"""Services that are odd as those of real platforms are, and the exit code that fits each."""

import json
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

import attrs
import httpx

from adclient._survey.observation import READS

COUNTS = {"beta.list_campaigns": 57, "gamma.search_targeting": 46, "gamma.list_ads": 83}
ACCOUNT = "account_1"
Given = Mapping[str, str]


def rows_of(read: str, most: int = 100) -> list[dict]:
    """The true items of a read; some share a time."""
    return [
        {
            "id": f"x{n * 7919 % 1000}-{n}",
            "name": f"Name {n}",
            "status": "ON",
            "at": 1_790_000_000 - n // 3,
        }
        for n in range(min(most, COUNTS.get(read, 7)))
    ]


@attrs.define(kw_only=True)
class Odd:
    """A service whose reads have pages as `page` makes them, of items and parameters."""

    page: Callable[["Odd", list[dict], Given], tuple[list[dict], object] | int]
    rows: Callable[[str], list[dict]] = rows_of
    size: int = 20
    unknown: int = 404
    locks_after: int = 99  # requests for accounts that do not exist
    headers: Callable[[object], dict[str, str]] = lambda following: {}
    requests: list[httpx.Request] = attrs.field(factory=list)
    issued: dict[str, int] = attrs.field(factory=dict)
    strangers: int = 0

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        given = dict(parse_qsl(request.url.query.decode(), keep_blank_values=True))
        (read,) = [name for name, each in READS.items() if request.url.path == each.path]
        if given.get("account_id", "no") != ACCOUNT:
            self.strangers += "account_id" in given
            return self.refusal(self.unknown if "account_id" in given else 400)
        if self.strangers > self.locks_after:
            return self.refusal(403)
        if request.content:
            return self.refusal(400)
        items = self.rows(read)
        if "targeting" in given:
            query = json.loads(given["targeting"])["query"]
            items = [each for each in items if each["name"] == query]
        page = self.page(self, items, given)
        if isinstance(page, int):
            return self.refusal(page)
        body = {"data": page[0], "page": {"next": page[1]}}
        return httpx.Response(200, json=body, headers=self.headers(page[1]))

    def refusal(self, status: int) -> httpx.Response:
        return httpx.Response(status, json={"error": {"message": "no", "code": str(status)}})


def by_start(name: str, start: Callable[[str], int], following: Callable[[int], object], old=None):
    """Pages that begin at the number that a parameter stands for; `old` reads others."""

    def page(odd: Odd, items: list[dict], given: Given):
        try:
            at = start(given[name]) if name in given else (old or (lambda given: 0))(given)
        except ValueError:
            return 400
        end = at + odd.size
        return items[at:end], following(end) if end < len(items) else None

    return page


def keyset(key: str, name: str = "before", text: Callable[[object], object] = lambda it: it):
    """Items whose value of a key is below the one of the last item."""

    def page(odd: Odd, items: list[dict], given: Given):
        size = int(given.get("limit", odd.size))
        rest = [each for each in items if name not in given or str(text(each[key])) < given[name]]
        return rest[:size], text(rest[size - 1][key]) if len(rest) > size else None

    return page


def expiring(name: str, life: int):
    """A new continuation for each request, good for some requests."""

    def page(odd: Odd, items: list[dict], given: Given):
        at, now = 0, len(odd.requests)
        if name in given:
            number, _, start = given[name].partition("-")
            if not number.isdecimal() or now - int(number) > life:
                return 400
            at = int(start, 16)
        end = at + odd.size
        return items[at:end], f"{now}-{end:x}" if end < len(items) else None

    return page


def ends_early(odd: Odd, items: list[dict], given: Given):
    """An old `cursor`, which ends after three pages, beside `page_token`."""
    name = next((each for each in ("page_token", "cursor") if each in given), "")
    items = items[:60] if name == "cursor" else items
    at = int(given.get(name, "t0")[1:], 16)
    end = at + odd.size
    return items[at:end], f"t{end:x}" if end < len(items) else None


def by_day(read: str) -> list[dict]:
    """Rows of each item for each day; the ids of a day come again with the next."""
    ids = rows_of(read, 12)
    return [{**each, "day": day} for day in ("mon", "tue", "wed") for each in ids]


def iso(at: object) -> str:
    return f"2026-11-01T10:{int(str(at)) % 3600 // 60:02}:{int(str(at)) % 60:02}Z"


TOKEN = by_start("marker", lambda text: int(text.removeprefix("q"), 16), lambda end: f"q{end:x}")
# The exit codes, the parameter that is found, and what a problem says.
SERVICES: dict[str, tuple[Odd, int, str | None, str]] = {
    "times that items share": (Odd(page=keyset("at")), 1, None, "pages skip items"),
    "times as texts": (Odd(page=keyset("at", "until", iso)), 1, None, ""),
    "ids, descending": (
        Odd(
            page=keyset("id"),
            rows=lambda read: sorted(rows_of(read), key=lambda it: it["id"])[::-1],
        ),
        0,
        "before",
        "",
    ),
    "old name that ends early": (Odd(page=ends_early), 0, "page_token", ""),
    "digits that count nothing": (
        Odd(page=by_start("after", lambda text: int(text, 16), lambda end: f"{end:x}")),
        0,
        "after",
        "",
    ),
    "offset as a text": (Odd(page=by_start("offset", int, str)), 0, "offset", ""),
    "pages from one": (
        Odd(page=by_start("page", lambda text: (int(text) - 1) * 20, lambda end: end // 20 + 1)),
        0,
        "page",
        "",
    ),
    "items from one": (
        Odd(
            page=by_start(
                "startIndex",
                lambda text: int(text) - 1,
                lambda end: end + 1,
                lambda given: int(given.get("offset", 0)),
            )
        ),
        0,
        "startIndex",
        "",
    ),
    "offset that skips": (
        Odd(page=by_start("offset", int, lambda end: end + 1)),
        1,
        None,
        "offset",
    ),
    "cursor that expires": (Odd(page=expiring("marker", 5)), 0, "marker", ""),
    "500 for a missing account": (Odd(page=TOKEN, unknown=500), 0, "marker", ""),
    "lock after two strangers": (Odd(page=TOKEN, locks_after=2), 0, "marker", ""),
    "rows by day": (Odd(page=TOKEN, rows=by_day, size=5), 0, "marker", ""),
    "link to more": (
        Odd(
            page=lambda odd, items, given: (items[:20], None),
            headers=lambda following: {"link": '</x?after=7>; rel="next"'},
        ),
        1,
        None,
        "Link",
    ),
    "cursor in a header": (
        Odd(
            page=lambda odd, items, given: (items[:20], None),
            headers=lambda following: {"x-next-cursor": "b7"},
        ),
        1,
        None,
        "x-next-cursor",
    ),
    "three items": (Odd(page=TOKEN, rows=lambda read: rows_of(read, 3)), 4, None, ""),
}
