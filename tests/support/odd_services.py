"""Services that are odd as those of real platforms are, and the exit code that fits each."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

import attrs
import httpx

from adclient.extend import READS

COUNTS = {"beta.list_campaigns": 57, "gamma.search_targeting": 46, "gamma.list_ads": 83}
ACCOUNT = "account_1"
Items, Given = list[dict], Mapping[str, str]


def rows_of(read: str, most: int = 100) -> Items:
    """The true items of a read; some share a time."""
    item = {"name": "Name 1", "status": "ON"}
    numbers = range(min(most, COUNTS.get(read, 7)))
    return [
        {"id": f"x{n * 7919 % 1000}-{n}", "at": 1_790_000_000 - n // 3, **item} for n in numbers
    ]


def by_id(read: str) -> Items:
    return sorted(rows_of(read), key=lambda item: item["id"])[::-1]


def by_day(read: str) -> Items:
    """Rows of each item for each day; the ids of a day come again with the next."""
    return [{**each, "day": day} for day in ("mon", "tue") for each in rows_of(read, 12)]


def days(read: str) -> Items:
    """A page of rows for each day, all with the same ids."""
    return [{**each, "day": day} for day in range(3) for each in rows_of(read, 7)]


@attrs.define(kw_only=True)
class Odd:
    """Reads whose pages are as `page` makes them of items and parameters, and what is true of them.

    `code` is the exit code of the doctor, `name` the parameter that it finds, and `problem` a word
    of what it reports.
    """

    page: Callable[["Odd", Items, Given], tuple[Items, object]]
    code: int = 0
    name: str = "marker"
    problem: str = ""
    rows: Callable[[str], Items] = rows_of
    size: int = 20
    unknown: int = 404
    locks_after: int = 99  # requests for accounts that do not exist
    headers: Mapping[str, str] = {}
    sent: int = 0
    strangers: int = 0

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        given = dict(parse_qsl(request.url.query.decode(), keep_blank_values=True))
        (read,) = [name for name, each in READS.items() if request.url.path == each.path]
        is_stranger = given.get("account_id", ACCOUNT) != ACCOUNT
        self.strangers += is_stranger
        status = self.unknown if is_stranger else 200
        if request.content or "account_id" not in given:
            status = 400
        if self.strangers > self.locks_after:
            status = 403
        items = self.rows(read)
        if "targeting" in given:
            items = [
                each for each in items if each["name"] == json.loads(given["targeting"])["query"]
            ]
        try:
            data, following = self.page(self, items, given)
        except (ValueError, AssertionError):
            status = 400
        if status != 200:
            return httpx.Response(status, json={"error": {"message": "no", "code": str(status)}})
        body = {"data": data, "page": {"next": following}}
        return httpx.Response(200, json=body, headers=self.headers)


def cut(odd: Odd, items: Items, at: int, following: Callable[[int], object]):
    end = at + odd.size
    return items[at:end], following(end) if end < len(items) else None


def by(name: str, start: Callable[[str], int], following: Callable[[int], object], old=""):
    """Pages that begin at the number that a parameter stands for; an old one counts items."""

    def page(odd: Odd, items: Items, given: Given):
        at = start(given[name]) if name in given else int(given.get(old, 0))
        return cut(odd, items, at, following)

    return page


def keyset(key: str, text: Callable = lambda value: value):
    """Items whose value of a key is before that of the last item."""

    def page(odd: Odd, items: Items, given: Given):
        size = int(given.get("limit", odd.size))
        last = given.get("before", "~")
        rest = [each for each in items if str(text(each[key])) < last]
        return rest[:size], text(rest[size - 1][key]) if len(rest) > size else None

    return page


def expiring(odd: Odd, items: Items, given: Given):
    """A new continuation for each request, good for five more."""
    number, _, start = given.get("marker", f"{odd.sent}-0").partition("-")
    assert odd.sent - int(number) <= 5
    return cut(odd, items, int(start, 16), lambda end: f"{odd.sent}-{end:x}")


def ends_early(odd: Odd, items: Items, given: Given):
    """An old `cursor`, which ends after three pages, beside `page_token`."""
    name = "page_token" if "page_token" in given else "cursor"
    items = items[:60] if name in given and name == "cursor" else items
    return cut(odd, items, int(given.get(name, "t0")[1:], 16), lambda end: f"t{end:x}")


def same_next(odd: Odd, items: Items, given: Given):
    """A keyset by time behind a token."""
    data, following = keyset("at")(odd, items, {**given, "before": given.get("marker", "~")[:10]})
    return data, following and f"{following}{'k' * 9}"


def until_empty(odd: Odd, items: Items, given: Given):
    """A page that is full has a next one, which may be empty."""
    at = hexadecimal(given.get("marker", "0"))
    data = items[at : at + odd.size]
    return data, f"q{at + odd.size:x}" if len(data) == odd.size else None


def until_empty_by_url(odd: Odd, items: Items, given: Given):
    data, following = until_empty(odd, items, given)
    return data, following and f"?account_id={ACCOUNT}&marker={following}"


def filtering(odd: Odd, items: Items, given: Given):
    """Another name is that of a field, which no item has."""
    unknown = given.keys() - {"account_id", "targeting", "marker"}
    return TOKEN(odd, [] if unknown else items, given)


def only_first(odd: Odd, items: Items, given: Given):
    return items[:20], None


def wrapped(write: Callable, read: Callable[[str], str] = str):
    """A keyset by time whose continuations are written in some way, in pages of one size."""

    def page(odd: Odd, items: Items, given: Given):
        before = {"before": read(given["before"])} if "before" in given else {}
        data, following = keyset("at")(odd, items, before)
        return data, following and write(following)

    return page


def iso(at: int) -> str:
    return f"2026-11-01T10:{at % 3600 // 60:02}:{at % 60:02}Z"


def hexadecimal(text: str) -> int:
    return int(text.removeprefix("q"), 16)


TOKEN = by("marker", hexadecimal, lambda end: f"q{end:x}")
SERVICES = {
    "times that items share": Odd(page=keyset("at"), code=1, problem="pages skip items"),
    "times at the ends of pages": Odd(page=keyset("at"), size=18, code=1, problem="others share"),
    "times as texts": Odd(page=keyset("at", iso), code=1, problem="pages skip items"),
    "times in URLs": Odd(
        page=wrapped(lambda at: f"?account_id={ACCOUNT}&limit=20&before={at}"),
        code=1,
        problem="`at` of an item",
    ),
    "times in objects": Odd(
        page=wrapped(lambda at: {"before": at}), code=1, problem="`at` of an item"
    ),
    "times in Base64": Odd(
        page=wrapped(
            lambda at: b64encode(b'{"t":%d}' % at).decode(),
            lambda text: str(json.loads(b64decode(text))["t"]),
        ),
        code=1,
        problem="`at` of an item",
    ),
    "times in a token": Odd(page=same_next, size=18, code=1, problem="lacks items"),
    "ids, descending": Odd(page=keyset("id"), rows=by_id, name="before"),
    "old name that ends early": Odd(page=ends_early, name="page_token"),
    "digits that count nothing": Odd(page=by("after", hexadecimal, "{:x}".format), name="after"),
    "offset as a text": Odd(page=by("offset", int, str), name="offset"),
    "pages from one": Odd(
        page=by("page", lambda text: 20 * int(text) - 20, lambda end: end // 20 + 1), name="page"
    ),
    "items from one": Odd(
        page=by("startIndex", lambda text: int(text) - 1, lambda end: end + 1, "offset"),
        name="startIndex",
    ),
    "offset that skips": Odd(
        page=by("offset", int, lambda end: end + 1), code=1, problem="`offset` loses items"
    ),
    "pages that overlap": Odd(
        page=by("cursor", hexadecimal, lambda end: f"q{end - 1:x}"), code=1, problem="overlap"
    ),
    "cursor that expires": Odd(page=expiring),
    "500 for a missing account": Odd(page=TOKEN, unknown=500),
    "lock after two strangers": Odd(page=TOKEN, locks_after=2),
    "any account": Odd(page=TOKEN, unknown=200),
    "empty last page": Odd(page=until_empty, rows=lambda read: rows_of(read)[:40]),
    "empty second page": Odd(
        page=until_empty, rows=lambda read: rows_of(read)[: 20 if "beta" in read else 50]
    ),
    "empty second pages": Odd(page=until_empty, rows=lambda read: rows_of(read, 20), code=4),
    "empty pages behind URLs": Odd(
        page=until_empty_by_url, rows=lambda read: rows_of(read, 20), name="cursor"
    ),
    "other names filter": Odd(page=filtering),
    "rows by day": Odd(page=TOKEN, rows=by_day, size=5),
    "pages of one day": Odd(
        page=TOKEN,
        rows=days,
        size=7,
        code=1,
        problem="the same 7 items as the page before",
    ),
    "link to more": Odd(
        page=only_first, headers={"link": "</?a=7>; rel=next"}, code=1, problem="Link"
    ),
    "cursor in a header": Odd(
        page=only_first, headers={"x-next-cursor": "b"}, code=1, problem="x-next"
    ),
    "three items": Odd(page=TOKEN, rows=lambda read: rows_of(read, 3), code=4),
}
