"""Services for the doctor that contradict the defaults, or mislead whoever guesses."""

import json
import random
from urllib.parse import parse_qsl

import attrs
import httpx

from adclient.doctor import Report, examine

ACCOUNT = "account_1"
OWN = {"account_id", "campaign_id", "creative_id", "date_range", "targeting"}


@attrs.define(kw_only=True)
class Service:
    """A service with one account for all platforms; by default it follows our conventions."""

    place: str = "query"
    style: str = "json"
    name: str = "cursor"
    form: str = "text"
    size: int = 4
    count: int = 10
    is_strict: bool = False
    token_header: str | None = None
    token: str = "sesame"
    unknown_account: str = "404"
    headers: dict[str, str] = attrs.field(factory=dict)
    requests: list[httpx.Request] = attrs.field(factory=list)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert request.method == "GET"
        if self.token_header and request.headers.get(self.token_header) != self.token:
            return self.refusal(401, "who are you?")
        given = self.parameters(request)
        if given is None:
            return self.refusal(400, "the parameters are not here")
        known = {*OWN, self.name, *(["region"] if self.form == "entries" else [])}
        unknown = {name.partition("[")[0] for name in given} - known
        if self.is_strict and unknown:
            return self.refusal(422, f"unknown parameter {min(unknown)}")
        if given.get("account_id") != ACCOUNT and self.unknown_account != "same":
            if self.unknown_account == "empty":
                return self.page(request, [], None)
            return self.refusal(404, "no such account")
        return self.listing(request, given)

    def parameters(self, request: httpx.Request) -> dict | None:
        """The parameters of a request; None if they are in the wrong place."""
        query = dict(parse_qsl(request.url.query.decode()))
        if self.place == "query":
            return None if self.is_strict and request.content else query
        if not request.content:
            return None
        return {**query, **json.loads(request.content)}

    def listing(self, request: httpx.Request, given: dict) -> httpx.Response:
        items = self.items(request)
        if request.url.path.endswith("search-gamma-targeting"):
            found = self.searched(given, items)
            if isinstance(found, httpx.Response):
                return found
            items = found
        start = self.start(given)
        end = start + self.size
        following = self.next(request, end) if end < len(items) else None
        return self.page(request, items[start:end], following)

    def items(self, request: httpx.Request) -> list[dict]:
        return [
            {"id": f"item_{n}", "name": f"Name {n}", "status": "ENABLED"} for n in range(self.count)
        ]

    def searched(self, given: dict, items: list[dict]) -> list[dict] | httpx.Response:
        """The items that the targeting finds."""
        if self.style == "json":
            text = given.get("targeting", "{}")
            targeting = text if isinstance(text, dict) else json.loads(text)
            if self.is_strict and any("[" in name for name in given):
                return self.refusal(422, "brackets")
        else:
            if "targeting" in given and self.is_strict:
                return self.refusal(422, "targeting must be an object")
            prefix = "targeting["
            targeting = {
                name.removeprefix(prefix)[:-1]: value
                for name, value in given.items()
                if name.startswith(prefix)
            }
        query = targeting.get("query")
        return [item for item in items if query is None or item["name"] == query]

    def start(self, given: dict) -> int:
        """The item at which a request continues."""
        value = given.get(self.name)
        if value is None:
            return 0
        match self.form:
            case "object":
                value = value if isinstance(value, dict) else json.loads(value)
                return int(value["at"])
            case "entries":
                return int(value) if given.get("region") == "eu" else 0
            case "page":
                return (int(value) - 1) * self.size
            case "offset":
                return int(value)
            case _:
                return int(str(value).rpartition("_")[2])

    def next(self, request: httpx.Request, end: int) -> object:
        """The continuation at an item."""
        match self.form:
            case "object":
                return {"at": end}
            case "entries":
                return {self.name: end, "region": "eu"}
            case "page":
                return end // self.size + 1
            case "offset":
                return end
            case "path":
                return f"{request.url.path}?{self.name}=at_{end}"
            case "url":
                return (
                    f"{request.url.copy_with(query=None)}?account_id={ACCOUNT}&{self.name}=at_{end}"
                )
            case "of another account":
                return f"{request.url.copy_with(query=None)}?account_id=x&{self.name}=at_{end}"
            case "yes or no":
                return True
            case "relative":
                return f"?{self.name}=at_{end}"
            case "elsewhere":
                return f"https://other.example/v1/all?at_{end}"
            case "with a question mark":
                return f"to?ken_{end}"
            case _:
                return f"at_{end}"

    def page(self, request: httpx.Request, items: list, following: object) -> httpx.Response:
        body = {"data": items, "page": {"next": following}}
        return httpx.Response(200, json=body, headers=self.headers)

    def refusal(self, status: int, message: str) -> httpx.Response:
        return httpx.Response(status, json={"error": {"message": message}}, headers=self.headers)


@attrs.define(kw_only=True)
class Shuffled(Service):
    """Other items each time, whatever is asked."""

    seed: int = 0

    def items(self, request: httpx.Request) -> list[dict]:
        items = super().items(request)
        random.Random(1000 * self.seed + len(self.requests)).shuffle(items)
        return items


class Flickering(Service):
    """Finds nothing every second time."""

    def items(self, request: httpx.Request) -> list[dict]:
        return super().items(request) if len(self.requests) % 2 else []


class Seeded(Service):
    """Takes any unknown parameter for a wish for other items."""

    def start(self, given: dict) -> int:
        return self.size if given.keys() - OWN else 0


class Unsteady(Service):
    """Continues each time somewhere else."""

    def start(self, given: dict) -> int:
        start = super().start(given)
        return start and start + len(self.requests)


class Changeable(Service):
    """Has continuations of another form after a while."""

    def next(self, request: httpx.Request, end: int) -> object:
        return end if len(self.requests) > 11 else f"at_{end}"


class Rotating(Service):
    """The next page at each request, whatever is asked."""

    def start(self, given: dict) -> int:
        return len(self.requests) * self.size % self.count


class Deaf(Service):
    """Ignores the continuation."""

    def start(self, given: dict) -> int:
        return 0


class EqualPages(Service):
    """All pages have the same ids."""

    def page(self, request: httpx.Request, items: list, following: object) -> httpx.Response:
        same = [{**item, "id": f"item_{n}"} for n, item in enumerate(items)]
        return super().page(request, same, following)


class Standing(Service):
    """Has the continuation of the first page on every page."""

    def next(self, request: httpx.Request, end: int) -> object:
        return super().next(request, self.size)


class OneTime(Service):
    """A continuation can be used once."""

    used: set

    def start(self, given: dict) -> int:
        return super().start(given)

    def handle(self, request: httpx.Request) -> httpx.Response:
        value = dict(parse_qsl(request.url.query.decode())).get(self.name)
        before = [dict(parse_qsl(r.url.query.decode())).get(self.name) for r in self.requests]
        if value is not None and value in before:
            self.requests.append(request)
            return self.refusal(410, "used")
        return super().handle(request)


class Uneven(Service):
    """Has larger pages of ads than of campaigns."""

    def listing(self, request: httpx.Request, given: dict) -> httpx.Response:
        self.size = 3 if request.url.path.endswith("ads") else 2
        return super().listing(request, given)


class Both(Service):
    """Understands a page and an offset, of which `next` is only one."""

    def start(self, given: dict) -> int:
        if "page" in given:
            return (int(given["page"]) - 1) * self.size
        return int(given.get("offset", 0))


class Leaping(Both):
    """Has the same odd number as the continuation of each page."""

    def next(self, request: httpx.Request, end: int) -> object:
        return 7


class NoBodies(Service):
    """Serves the account of the token, and refuses a GET with a body."""

    def parameters(self, request: httpx.Request) -> dict | None:
        return None if request.content else {"account_id": ACCOUNT, **super().parameters(request)}


class DefaultAccount(Service):
    """Takes parameters from the body, and without them serves a default account."""

    def parameters(self, request: httpx.Request) -> dict | None:
        return super().parameters(request) or {"account_id": ACCOUNT}


class FreeText(Service):
    """Takes the whole `targeting` for words to search for, and ignores brackets."""

    def searched(self, given: dict, items: list[dict]) -> list[dict]:
        words = given.get("targeting")
        return [item for item in items if words is None or words in item["name"]]


class FuzzyText(Service):
    """The same, by every word; but it understands brackets."""

    def searched(self, given: dict, items: list[dict]) -> list[dict]:
        words = given.get("targeting")
        if words is None:
            return super().searched(given, items)
        return [item for item in items if item["name"].split()[1] in words] + items[:2]


class RefusesText(Service):
    """Refuses JSON, and ignores brackets of which it does not know the name."""

    def searched(self, given: dict, items: list[dict]) -> list[dict] | httpx.Response:
        return self.refusal(400, "targeting must be an object") if "targeting" in given else items


class IgnoresSearch(Service):
    """Ignores the targeting."""

    def searched(self, given: dict, items: list[dict]) -> list[dict]:
        return items


def examined(service: Service, **options: object) -> Report:
    transport = httpx.MockTransport(service.handle)
    return examine(
        "https://ads.example.com", **{"account_id": ACCOUNT, "transport": transport} | options
    )


def certainty(report: Report, *points: str) -> dict[str, str]:
    return {point: report[point].certainty for point in points}
