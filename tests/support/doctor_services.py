"""Services for the doctor, each of any shape that the interface allows, and with old habits."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from urllib.parse import parse_qsl, quote, urlencode

import attrs
import httpx
from raw_server import RawServer, handling

from adclient import AdClient, RetryPolicy
from adclient._core.operations import READS
from adclient.doctor import Report, examine

URL = "https://ads.example.com"
ACCOUNT = "account_1"
OWN = {"account_id", "campaign_id", "creative_id", "date_range", "targeting"}
ENDS = ("null", "missing", "empty", "false")
# What `page.next` can be. Those with a colon name the parameter themselves.
BY_NAME = ("text", "object", "last", "following", "item number", "page", "offset", "foreign token")
FORMS = (*BY_NAME, "entries", "url", "path", "foreign", "foreign path", "other account", "href")
# What the number of a page size makes of the usual one.
SIZES: dict[str, Callable[[int, int], int]] = {
    "any": lambda number, usual: number,
    "steps": lambda number, usual: min(each for each in (2, 3, 5, 10, 25) if each >= number),
    "one less": lambda number, usual: max(1, number - 1),
    "one more": lambda number, usual: number + 1,
}
# These lose items, or fail.
OTHER_SIZES = ("filter", "start", "total", "cut", "crash")


@attrs.frozen(kw_only=True)
class Listing:
    """One read: where it takes its parameters, and how it continues and ends."""

    place: str = "query"
    name: str = "cursor"
    form: str = "text"
    end: str = "null"
    size: int = 4
    count: int = 10
    # Parameters that are read as well, and what each takes its value for.
    old: Mapping[str, str] = {}
    is_strict: bool = False
    hint: str = ""  # where the name is mentioned: "400", "link" or "page"
    total: int | None = None
    is_descending: bool = False
    extra: Mapping[str, object] = {}
    more: Mapping[str, object] = {}  # fields of each item
    sizes: Mapping[str, str] = {}  # further parameters, and what each takes its number for


@attrs.define(kw_only=True)
class Service:
    """Reads that differ from each other.

    `account` is what an unknown account gets: a status, `empty`, or the `same`.
    """

    listing: Listing = attrs.field(factory=Listing)
    others: Mapping[str, Listing] = attrs.field(factory=dict)
    account: str = "404"
    foreign: tuple[str, ...] = ()  # the platforms of which the account is none
    header: str | None = None
    secret: str = "sesame"
    tenant: str | None = None
    is_random: bool = False
    headers: Mapping[str, str] = attrs.field(factory=dict)
    faults: Callable[[int], httpx.Response | Exception | None] = lambda number: None
    # What the items and the continuation of a page become, and a response to a request.
    turn: Callable[[httpx.Request, list, object], tuple[list, object]] = lambda _, *page: page
    change: Callable[[httpx.Request, httpx.Response], httpx.Response] = lambda _, response: response
    # What is found by a targeting that is one text, or by the query in brackets.
    search: Callable[[str | None, str | None, list[dict]], list[dict]] | None = None
    # Items of a read that no `Listing` describes, and how those of an account, which must be
    # given, are cut into pages.
    rows: Callable[[str], list[dict]] | None = None
    pages: Callable[["Service", list[dict], Mapping], tuple[list, object]] | None = None
    requests: list[httpx.Request] = attrs.field(factory=list)

    def listing_of(self, read: str) -> Listing:
        return self.others.get(read, self.listing)

    def items(self, read: str, account: str = ACCOUNT) -> list[dict]:
        """The items of a read; another account has others."""
        listing = self.listing_of(read)
        numbers = range(21, 21 + listing.count)
        owner = "" if account == ACCOUNT else "x"
        if self.rows is not None:
            return [{**each, "id": f"{each['id']}{owner}"} for each in self.rows(read)]
        items = [
            {"id": f"item_{owner}{n}", "name": f"Name {n}", "status": "ENABLED", **listing.more}
            for n in numbers
        ]
        return items[::-1] if listing.is_descending else items

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert (request.method, request.url.host) == ("GET", "ads.example.com")
        fault = self.faults(len(self.requests))
        if isinstance(fault, Exception):
            raise fault
        return self.change(request, self.respond(request)) if fault is None else fault

    def respond(self, request: httpx.Request) -> httpx.Response:
        (read,) = [name for name, each in READS.items() if request.url.path.endswith(each.path)]
        listing = self.listing_of(read)
        if self.header and request.headers.get(self.header) != self.secret:
            return self.refusal(401, "who are you?")
        if self.tenant and request.headers.get("x-tenant") != self.tenant:
            return self.refusal(403, "which tenant?")
        given = dict(parse_qsl(request.url.query.decode(), keep_blank_values=True))
        if listing.place == "body":
            if listing.is_strict and given.keys() & OWN:
                return self.refusal(400, "the parameters are not here")
            given |= json.loads(request.content) if request.content else {}
            if "account_id" not in (json.loads(request.content) if request.content else {}):
                given["account_id"] = "account_default"
        elif listing.is_strict and request.content:
            return self.refusal(400, "no body")
        if listing.is_strict:
            names = {listing.name, *listing.old, *listing.sizes, *OWN}
            names |= {"region"} if listing.form == "entries" else set()
            unknown = {name for name in given if name not in names and name[:9] != "targeting"}
            if unknown:
                known = f"; known is {listing.name}" if listing.hint == "400" else ""
                return self.refusal(422, f"unknown parameter {min(unknown)}{known}")
        account = given.get("account_id", "account_default")
        if account == ACCOUNT and read.partition(".")[0] in self.foreign:
            return self.refusal(404, "no such account")
        if self.pages is not None and "account_id" not in given:
            return self.refusal(400, "no account")
        if account not in (ACCOUNT, "account_default"):
            if self.account.isdecimal():
                return self.refusal(int(self.account), "no such account")
            if self.account == "empty":
                return self.page(listing, [], None)
        if self.account == "same":
            account = ACCOUNT
        items = self.items(read, account)
        if self.is_random:
            random.Random(len(self.requests)).shuffle(items)
        if read == "gamma.search_targeting":
            items = self.searched(given, items)
        if self.pages is not None:
            try:
                return self.page(listing, *self.pages(self, items, given))
            except (ValueError, AssertionError):
                return self.refusal(400, "invalid continuation")
        most = listing.count
        for name, kind in listing.sizes.items():
            if not (text := str(given.get(name, 0))).isdecimal():
                return self.refusal(400, f"{name} must be a number")
            if (number := int(text)) and kind == "crash":
                return self.refusal(500, "no such page size")
            if number and kind == "filter":
                items = [item for item in items if int(item["id"][-2:]) % 10 == number]
            elif number and kind == "start":
                items = items[number:]
            elif number and kind == "total":
                items = items[:number]
            elif number and kind == "cut":
                most = number
            elif number:
                listing = attrs.evolve(listing, size=SIZES[kind](number, listing.size))
        start = start_of(listing, given, items)
        if start is None:
            return self.refusal(400, "invalid continuation")
        following = items[start : start + listing.size][:most]
        end = start + listing.size
        more = next_of(listing, request, items, end) if end < len(items) else None
        return self.page(listing, following, more)

    def searched(self, given: dict, items: list[dict]) -> list[dict]:
        """The items that the targeting finds."""
        if self.search is not None:
            return self.search(given.get("targeting"), given.get("targeting[query]"), items)
        text = given.get("targeting", "{}")
        query = (text if isinstance(text, dict) else json.loads(text)).get("query")
        return [item for item in items if query is None or item["name"] == query]

    def page(self, listing: Listing, items: list, more: object) -> httpx.Response:
        items, more = self.turn(self.requests[-1], items, more)
        page: dict = {"next": more}
        headers = {name: text.format(len(self.requests)) for name, text in self.headers.items()}
        if more is None:
            page = {"next": {"empty": "", "false": False}.get(listing.end)}
            if listing.end == "missing":
                del page["next"]
        else:
            if listing.hint == "link":
                link = f"{URL}/x?{quote(listing.name)}=1"
                headers["link"] = f'<{link}>; rel="next"'
            if listing.hint == "page":
                page[listing.name] = more
        if listing.total is not None:
            page["total"] = listing.total
        body = {"data": items, "page": page, **listing.extra}
        return httpx.Response(200, json=body, headers=headers)

    def refusal(self, status: int, message: str) -> httpx.Response:
        error = {"message": message, "code": "no", "of": ["x"]}
        body = {"error": error, "status": status, "ok": False}
        return httpx.Response(status, json=body, headers=self.headers)


def start_of(listing: Listing, given: dict, items: list[dict]) -> int | None:
    """The item at which a request continues; None if its value is invalid."""
    meanings = {**listing.old, listing.name: meaning_of(listing.form)}
    for name in (listing.name, *listing.old):
        if name in given:
            return position(meanings[name], given[name], listing, items, given)
    return 0


def meaning_of(form: str) -> str:
    own = ("object", "entries", "last", "following", "item number", "page", "offset")
    return form if form in own else "text"


def position(
    kind: str, value: object, listing: Listing, items: list[dict], given: dict
) -> int | None:
    """The place in the listing that a value means."""
    ids = [item["id"] for item in items]
    text = str(value)
    if kind == "object":
        value = value if isinstance(value, dict) else json.loads(text)
        return int(value["at"]) if isinstance(value, dict) else None
    if kind == "entries":
        return int(text) if given.get("region") == "eu" else 0
    if kind in ("last", "following"):
        return ids.index(text) + (kind == "last") if text in ids else None
    if kind == "ignored":
        return 0
    if kind in ("text", "overlap", "skip"):
        text = text.rpartition("at_")[2].removesuffix(".5")
    if not text.isdecimal():
        return None
    number = int(text)
    if kind == "item number":
        found = [index for index, each in enumerate(ids) if each.endswith(f"_{number}")]
        return found[0] + 1 if found else None
    if kind == "overlap":
        return number - 1
    if kind == "skip":
        return number + 1
    if kind == "circle":
        return {24: 8, 32: 16, 40: 24}.get(number, 8)
    if kind == "page":
        return (number - 1) * listing.size
    return number


def next_of(listing: Listing, request: httpx.Request, items: list[dict], end: int) -> object:
    """The continuation at an item."""
    last, token = items[end - 1]["id"], f"at_{end}"
    place = f"{request.url.path}?{urlencode({listing.name: token})}"
    values = {
        "offset": end, "fraction": end + 0.5, "page": end // listing.size + 1, "yes": True,
        "object": {"at": end}, "entries": {listing.name: end, "region": "eu"},
        "last": last, "following": items[end]["id"],
        "item number": int(last.rpartition("_")[2].strip("x")),
        "path": place,
        "url": f"{URL}{place}&account_id={ACCOUNT}",
        "foreign": f"http://internal:8080{place}&account_id={ACCOUNT}",
        "foreign path": f"/internal{place}",
        "other account": f"{URL}{place}&account_id=number_7",
        "href": {"href": f"http://internal{place}", "rel": "next"},
        "foreign token": f"https://internal.example/token/{token}",
    }  # fmt: skip
    return values.get(listing.form, token)


OPTIONS = ("account_id", "service", "targeting", "timeout", "most_requests", "progress")


def examined(service: Service, /, **options: object) -> Report:
    """The report on a service; options are those of `examine`, or of the client."""
    return examined_by(httpx.MockTransport(service.handle), **options)


def examined_by(transport: object, url: str = URL, **options: object) -> Report:
    given = {name: options.pop(name) for name in OPTIONS if name in options}
    retry = RetryPolicy(backoff_first=0)
    with AdClient(url, **{"transport": transport, "retry": retry, **options}) as client:
        return examine(client, **{"account_id": ACCOUNT, **given})


def check_that_a_client_reads_all(service: Service, report: Report) -> None:
    """A client with the conventions of a report reads the true items of every read."""
    transport = httpx.MockTransport(service.handle)
    with AdClient(URL, transport=transport, conventions=report.conventions()) as client:
        for read in READS:
            items = attrgetter(read)(client)(account_id=ACCOUNT)
            assert [item.id for item in items] == true_ids(service, read), read


def true_ids(service: Service, read: str) -> list[str]:
    return [item["id"] for item in service.items(read)]


@contextmanager
def served(service: Service) -> Iterator[str]:
    """Serve a service over HTTP, at the URL that this yields."""
    with RawServer(handling(service.handle, URL)) as server:
        yield server.url
