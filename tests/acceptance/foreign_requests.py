"""Plain requests of httpx to a foreign service, with what its row of the tables says by hand."""

import contextlib
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import httpx
from foreign_services import ForeignService, foreign_service

PATHS = {
    "beta.list_campaigns": "beta-ads/list-beta-campaigns",
    "gamma.search_targeting": "gamma-ads/search-gamma-targeting",
    "beta.detect_creative_fatigue": "beta-ads/detect-beta-creative-fatigue",
    "gamma.list_ads": "gamma-ads/list-gamma-ads",
    "alpha.explain_objectives": "alpha-ads/explain-alpha-objectives",
    "delta.analyze_wasted_spend": "delta-ads/analyze-wasted-spend",
    "delta.infer_business_profile": "delta-ads/infer-business-profile",
}
MISSING = "missing"


def _of_link(read: str, link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


def _as(name: str) -> Callable[[str, Any], dict[str, Any]]:
    return lambda read, value: {name: value}


def _of_php(read: str, value: object) -> dict[str, object]:
    names = {"beta.list_campaigns": "last_id", "beta.detect_creative_fatigue": "lastKey"}
    return {names.get(read, "page"): value}


@attrs.frozen
class Row:
    """A row of the tables in foreign_services.py."""

    following: Callable[[str, Any], Mapping[str, Any]]
    """The parameters of the next page, made of the read and of `page.next`."""
    end: object
    unknown_account: tuple[int, str]
    """The status, and the type of the content."""
    unknown_name: int
    request_id: str | None
    parameters: tuple[str, ...] = ("query",)
    brackets: bool = False


JSON = "application/json"
TABLE = {
    "flask": Row(_as("page_token"), None, (404, JSON), 400, "X-Request-Id"),
    "django": Row(lambda read, value: _of_link(read, value["href"]), None, (403, JSON), 200, None),
    "fastapi": Row(_of_link, None, (422, JSON), 422, "X-Correlation-ID"),
    "tornado": Row(_of_link, None, (404, "text/html"), 200, None, ("query", "body")),
    "node": Row(
        lambda read, value: value, MISSING, (400, JSON), 200, "X-Correlation-Id", ("body",)
    ),
    "go": Row(_as("exclusiveStartKey"), "", (401, "text/plain"), 400, "X-Trace-Id"),
    "ruby": Row(
        _as("page[after]"),
        MISSING,
        (422, "application/vnd.api+json"),
        200,
        "X-Request-Id",
        brackets=True,
    ),
    "php": Row(_of_php, False, (200, JSON), 200, None, brackets=True),
    "perl": Row(_of_link, "", (400, "application/xml"), 200, "X-Ads-Request", ("query", "body")),
    "java": Row(_as("before"), None, (403, "application/problem+json"), 200, "Request-Id"),
}
# Those whose changed version continues a listing in another way.
FOLLOWING_CHANGED = {"flask": _as("pageToken"), "ruby": _as("page[cursor]")}


@attrs.frozen
class PlainClient:
    """Sends plain requests to a service, as its row says."""

    service: ForeignService
    client: httpx.Client
    changed: bool = False

    @property
    def row(self) -> Row:
        return TABLE[self.service.name]

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request, again after a 429 or 503."""
        response = self.client.request(method, f"{self.service.url}/v1/{path}", **request)
        if response.status_code in (429, 503):
            time.sleep(int(response.headers.get("Retry-After", 0)))
            return self.send(method, path, **request)
        return response

    def read(self, read: str, where: str | None = None, **parameters: Any) -> httpx.Response:
        """Send a read of the account, unless the parameters name another."""
        parameters = {"account_id": self.service.accounts[read.split(".")[0]], **parameters}
        if (where or self.row.parameters[0]) == "body":
            return self.send("GET", PATHS[read], json=parameters)
        query: dict[str, object] = {}
        for name, value in parameters.items():
            if isinstance(value, dict) and self.row.brackets:
                query |= {f"{name}[{inner}]": one for inner, one in value.items()}
            else:
                query[name] = json.dumps(value) if isinstance(value, dict) else value
        return self.send("GET", PATHS[read], params=query)

    def pages(
        self, read: str, where: str | None = None, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """The pages of a listing."""
        following = self.row.following
        if self.changed:
            following = FOLLOWING_CHANGED.get(self.service.name, following)
        page = self.read(read, where, **parameters).json()
        yield page
        while last := page["page"].get("next"):
            more = following(read, last)
            page = self.read(read, where, **{**parameters, **more}).json()
            assert page["page"].get("next") != last, "the service did not see the parameter"
            yield page


@contextlib.contextmanager
def plain_client(name: str, *, changed: bool = False) -> Iterator[PlainClient]:
    """A service that nobody else uses, and a client of it."""
    with foreign_service(name, changed=changed) as service:
        context = ssl.create_default_context(cafile=service.ca) if service.ca else True
        with httpx.Client(headers=service.all_headers, verify=context, timeout=20) as client:
            yield PlainClient(service, client, changed)
