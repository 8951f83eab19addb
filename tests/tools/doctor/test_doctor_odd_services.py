"""The doctor on services that are odd in ways that a careful human would see through."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs

from cases import each_case
from doctor_services import ACCOUNT, Listing, Service, check_that_a_client_reads_all, examined

COUNTS = {"beta.list_campaigns": 57, "gamma.search_targeting": 46, "gamma.list_ads": 83}
Items, Given = list[dict], Mapping[str, str]


def rows_of(read: str, most: int = 100) -> Items:
    """The true items of a read; some share a time."""
    item = {"name": "Name 1", "status": "ON"}
    numbers = range(min(most, COUNTS.get(read, 7)))
    return [
        {"id": f"x{n * 7919 % 1000}-{n}", "at": 1_790_000_000 - n // 3, **item} for n in numbers
    ]


def by_hour(read: str) -> Items:
    """Rows whose id is a time."""
    times = (f"2026-11-0{9 - n // 24}T{23 - n % 24:02}:00:00Z" for n in range(100))
    return [{**each, "id": time} for each, time in zip(rows_of(read), times, strict=False)]


def by_day(read: str) -> Items:
    """Rows of each item for each day; the ids of a day come again with the next."""
    return [{**each, "day": day} for day in ("mon", "tue") for each in rows_of(read, 12)]


def days(read: str) -> Items:
    """A page of rows for each day, all with the same ids."""
    return [{**each, "day": day} for day in range(3) for each in rows_of(read, 7)]


def in_order(read: str) -> Items:
    """Items in the order of their times, of which only those around the 40th share one."""
    items = rows_of(read)
    return [{**each, "at": 1_790_000_000 - n + (n > 39)} for n, each in enumerate(items)]


def unique(read: str) -> Items:
    """Items of which no two share a time."""
    return [{**each, "at": 1_790_000_000 - n} for n, each in enumerate(rows_of(read))]


def at_once(read: str) -> Items:
    """Items of which more than a page has share a time."""
    return [{**each, "at": 1_790_000_000 - n // 45} for n, each in enumerate(rows_of(read))]


def cut(odd: Service, items: Items, at: int, following: Callable[[int], object]):
    end = at + odd.listing.size
    return items[at:end], following(end) if end < len(items) else None


def by(name: str, start: Callable[[str], int], following: Callable[[int], object], old=""):
    """Pages that begin at the number that a parameter stands for; an old one counts items."""

    def page(odd: Service, items: Items, given: Given):
        at = start(given[name]) if name in given else int(given.get(old, 0))
        return cut(odd, items, at, following)

    return page


def keyset(key: str, text: Callable = lambda value: value):
    """Items whose value of a key is before that of the last item."""

    def page(odd: Service, items: Items, given: Given):
        size = int(given.get("limit", odd.listing.size))
        last = given.get("before", "~")
        rest = [each for each in items if str(text(each[key])) < last]
        return rest[:size], text(rest[size - 1][key]) if len(rest) > size else None

    return page


def expiring(odd: Service, items: Items, given: Given):
    """A new continuation for each request, good for the one after it."""
    sent = len(odd.requests)
    number, _, start = given.get("marker", f"{sent}-0").partition("-")
    assert sent - int(number) <= 1
    return cut(odd, items, int(start, 16), lambda end: f"{sent}-{end:x}")


def ends_early(odd: Service, items: Items, given: Given):
    """An old `cursor`, which ends after three pages, beside `page_token`."""
    name = "page_token" if "page_token" in given else "cursor"
    items = items[:60] if name in given and name == "cursor" else items
    return cut(odd, items, int(given.get(name, "t0")[1:], 16), lambda end: f"t{end:x}")


def same_next(odd: Service, items: Items, given: Given):
    """A keyset by time behind a token."""
    data, following = keyset("at")(odd, items, {**given, "before": given.get("marker", "~")[:10]})
    return data, following and f"{following}{'k' * 9}"


def until_empty(odd: Service, items: Items, given: Given):
    """A page that is full has a next one, which may be empty."""
    at = hexadecimal(given.get("marker", "0"))
    data = items[at : at + odd.listing.size]
    return data, f"q{at + odd.listing.size:x}" if len(data) == odd.listing.size else None


def until_empty_by_url(odd: Service, items: Items, given: Given):
    data, following = until_empty(odd, items, given)
    return data, following and f"?account_id={ACCOUNT}&marker={following}"


def filtering(odd: Service, items: Items, given: Given):
    """Another name is that of a field, which no item has."""
    unknown = given.keys() - {"account_id", "targeting", "marker"}
    return TOKEN(odd, [] if unknown else items, given)


def wrapped(write: Callable, read: Callable[[str], str] = str):
    """A keyset by time whose continuations are written in some way, in pages of one size."""

    def page(odd: Service, items: Items, given: Given):
        before = {"before": read(given["before"])} if "before" in given else {}
        data, following = keyset("at")(odd, items, before)
        return data, following and write(following)

    return page


def of_base64(text: str) -> str:
    return str(json.loads(b64decode(text))["t"])


def iso(at: int) -> str:
    return f"2026-11-01T10:{at % 3600 // 60:02}:{at % 60:02}Z"


def hexadecimal(text: str) -> int:
    return int(text.removeprefix("q"), 16)


BASE64 = wrapped(lambda at: b64encode(b'{"t":%d}' % at).decode(), of_base64)
TOKEN = by("marker", hexadecimal, lambda end: f"q{end:x}")


def odd(pages: Callable, rows: Callable[[str], Items] = rows_of, size=20, **others) -> Service:
    return Service(pages=pages, rows=rows, listing=Listing(size=size), **others)


@each_case(
    ("code", "found", "service"),
    # Reported, with this problem. Times that items share, also at the ends of pages alone:
    (1, "pages skip items", odd(keyset("at"))),
    (1, "a value beside `next` leads to one", odd(keyset("at"), in_order)),
    (1, "pages skip items", odd(keyset("at", iso))),
    (1, "pages skip items", odd(keyset("at", iso), lambda read: rows_of(read, 30))),
    (1, "pages skip items", odd(keyset("at", iso), at_once)),
    (1, "was tried for", odd(keyset("at", iso), unique, size=6)),
    (1, "`at` of an item", odd(wrapped(f"?account_id={ACCOUNT}&limit=20&before={{}}".format))),
    (1, "`at` of an item", odd(wrapped(lambda at: {"before": at}))),
    (1, "`at` of an item", odd(BASE64)),
    (1, "lacks items", odd(same_next, size=18)),
    (1, "`offset` loses items", odd(by("offset", int, lambda end: end + 1))),
    (1, "overlap", odd(by("cursor", hexadecimal, lambda end: f"q{end - 1:x}"))),
    (1, "the same 7 items as the page before", odd(TOKEN, days, size=7)),
    # Read as a whole, with this parameter.
    (0, "before", odd(keyset("id"), by_hour)),
    (0, "before", odd(keyset("at"), unique)),
    (0, "before", odd(keyset("at", iso), unique)),
    (0, "before", odd(keyset("at", lambda at: f"9999-12-31T23:59:59Z|{at}"), unique)),
    (0, "page_token", odd(ends_early)),
    (0, "after", odd(by("after", hexadecimal, "{:x}".format))),
    (0, "offset", odd(by("offset", int, str))),
    (0, "startIndex", odd(by("startIndex", lambda it: int(it) - 1, lambda end: end + 1, "offset"))),
    (0, "marker", odd(expiring)),
    (0, "marker", odd(TOKEN, account="500")),
    (0, "marker", odd(TOKEN, account="same")),
    (0, "marker", odd(filtering)),
    (0, "marker", odd(TOKEN, by_day, size=5)),
    (0, "NextToken", odd(by("NextToken", hexadecimal, lambda end: f"q{end:x}"))),
    # With an empty page at the end, or behind each first one.
    (0, "marker", odd(until_empty, lambda read: rows_of(read)[:40])),
    (0, "marker", odd(until_empty, lambda read: rows_of(read)[: 20 if "beta" in read else 50])),
    (0, "cursor", odd(until_empty_by_url, lambda read: rows_of(read, 20))),
    # Too short to tell.
    (4, "cursor", odd(until_empty, lambda read: rows_of(read, 20))),
)
def test_odd_service_is_read_as_a_whole_or_reported(code, found, service, tmp_path) -> None:
    report = examined(service, timeout=3600)
    assert report.exit_code == code, str(report)
    assert code != 1 or found in " ".join(report.problems), str(report)
    assert report.sent <= 100
    queries = [parse_qs(request.url.query.decode()) for request in service.requests]
    strangers = [query for query in queries if query.get("account_id", [ACCOUNT]) != [ACCOUNT]]
    assert len(strangers) <= 2  # else a service may lock the user out
    report.save(tmp_path / "service.toml", replace=True)
    checked = examined(service, timeout=3600, service=tmp_path / "service.toml")
    assert bool(checked.problems) is (code == 1)
    assert code == 1 or checked.sent <= 10
    assert checked.changes(tmp_path / "service.toml") == ()
    if code == 0:
        assert report.conventions().cursor_parameter == found
        check_that_a_client_reads_all(service, report)
