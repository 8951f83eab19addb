"""The responses of the service, as prepared bytes: the same content in the shape of each peer.

Every list item has an id and 14 more fields; a peer's own item class finds its fields among them.
"""

import json
import re
from functools import cache
from typing import Any, NamedTuple

# The holdings of each of many accounts; their items do not all have the same fields.
OF_ACCOUNTS = ("accounts", "nightly", "few-nightly")
# How many items stand on a page, and how many pages there are.
HOLDINGS = {
    "ten": (10, 1),
    "page": (500, 1),
    "ten-thousand": (10_000, 1),
    "pages": (500, 200),
    "few-pages": (500, 4),
    "many-pages": (10, 2_000),
    "slow-pages": (500, 20),
    "few-slow-pages": (500, 4),
    **dict.fromkeys(OF_ACCOUNTS, (50, 3)),
}
ACCOUNTS = [f"account_{number}" for number in range(2_000)]
# How many requests a token is good for, where the service wants one; then it is refused with 401.
LIVES = {"nightly": 4_000, "few-nightly": 40}
# Such a service also asks each n-th account to wait before each of its pages.
WAITS = 200
# How many seconds the service takes for a page.
DELAYS = {"slow-pages": 0.02, "few-slow-pages": 0.02}
MISSING = "missing"  # holds nothing: each call is answered with 404
MESSAGE = "There is no such account."

# Ids of items count from here; the last one of a page is the number of the page after it, because
# some peers go on from the last id.
_FIRST_ITEM, _FIRST_PAGE = 200_000, 100_000
_NEXT_PAGE = 999_999  # stands in a template for the number of the next page
_CONTINUATION = re.compile(r"[?&](?:cursor|starting_after|after|page)=(?:[a-z]+_)?(\d+)")

_FIELDS = {
    "status": "ENABLED",
    "objective": "conversions",
    "currency": "EUR",
    "daily_budget": 120.5,
    "spend": 3184.27,
    "impressions": 481223,
    "clicks": 9341,
    "ctr": 0.0194,
    "start_date": "2026-02-01",
    "end_date": None,
    "labels": ["spring", "prospecting"],
    "bid": {"strategy": "target_cost", "amount": 4.2},
    "is_shared": False,
}


class RawResponse(NamedTuple):
    """A response of the service."""

    status: int
    headers: dict[str, str]
    body: bytes


class Shape:
    """The documents of one kind of service."""

    draft_id: Any = "draft_7c2e"

    def draft(self) -> Any:
        return {
            "draft_id": self.draft_id,
            "status": "pending_approval",
            "diff": {"field": "daily_budget", "before": 100, "after": 120},
            "requires": "human_two_step_approve",
        }

    def error(self) -> Any:
        about = {"code": "not_found", "message": MESSAGE, "details": [], "request_id": "req_1"}
        return {"error": about}

    def id(self, number: int) -> Any:
        return f"campaign_{number}"

    def item(self, number: int) -> dict[str, Any]:
        return {"id": self.id(number), "name": "Spring offer, prospecting", **_FIELDS}

    def listing(self, items: list[dict[str, Any]], *, more: bool) -> Any:
        return {"data": items, "page": {"next": f"page_{_NEXT_PAGE}" if more else None}}

    def headers(self, *, more: bool) -> dict[str, str]:  # noqa: ARG002
        return {}


class OpenAI(Shape):
    draft_id = "chatcmpl-7c2e"

    def draft(self) -> Any:
        message = {"role": "assistant", "content": "pending_approval"}
        return {
            "id": self.draft_id,
            "object": "chat.completion",
            "created": 1770000000,
            "model": "gpt-4o",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
        }

    def item(self, number: int) -> dict[str, Any]:
        its_own = {"object": "model", "created": 1770000000, "owned_by": "halden"}
        return super().item(number) | its_own

    def listing(self, items: list[dict[str, Any]], *, more: bool) -> Any:
        return {"object": "list", "data": items, "has_more": more}


class Stripe(Shape):
    draft_id = "cus_7c2e"

    def draft(self) -> Any:
        return self.item(0) | {"id": self.draft_id}

    def error(self) -> Any:
        return {"error": {"type": "invalid_request_error", "message": MESSAGE}}

    def item(self, number: int) -> dict[str, Any]:
        return super().item(number) | {"object": "customer"}

    def listing(self, items: list[dict[str, Any]], *, more: bool) -> Any:
        return {"object": "list", "url": "/v1/customers", "has_more": more, "data": items}


class GitHub(Shape):
    draft_id = 208045946

    def draft(self) -> Any:
        return self.item(self.draft_id)

    def error(self) -> Any:
        return {"message": MESSAGE, "documentation_url": "https://example.com", "status": "404"}

    def id(self, number: int) -> Any:
        return number

    def item(self, number: int) -> dict[str, Any]:
        return super().item(number) | {
            "node_id": "MDU6TGFiZWwyMDgwNDU5NDY=",
            "url": "https://api.example.com/labels/bug",
            "description": "Something",
            "color": "f29513",
            "default": True,
            "archived_at": None,
            "archived_by": None,
        }

    def listing(self, items: list[dict[str, Any]], *, more: bool) -> Any:  # noqa: ARG002
        return items

    def headers(self, *, more: bool) -> dict[str, str]:
        next_page = f"</repos/halden/ads/labels?per_page=500&page={_NEXT_PAGE}>"
        return {"link": f'{next_page}; rel="next"'} if more else {}


SHAPES: dict[str, Shape] = {
    "ads": Shape(),
    "openai": OpenAI(),
    "stripe": Stripe(),
    "github": GitHub(),
}


def ids_of(shape: str, holding: str, page: int | None = None) -> list[Any]:
    """The ids on a page of a holding, the last by default."""
    size, pages = HOLDINGS[holding]
    numbers = [*range(_FIRST_ITEM, _FIRST_ITEM + size - 1), _FIRST_PAGE + (page or pages) + 1]
    return [SHAPES[shape].id(number) for number in numbers]


def reply_to(method: str, shape: str, holding: str, rest: str = "") -> RawResponse:
    """The response to a request; `rest` is the part of its target that selects the page."""
    if holding == MISSING:
        return single(shape, 404)
    if method != "GET":
        return single(shape, 201)
    found = _CONTINUATION.search(rest)
    page = int(found[1]) - _FIRST_PAGE if found else 1
    _, pages = HOLDINGS[holding]
    status, headers, body = _template(shape, holding, more=page < pages)
    was, now = str(_NEXT_PAGE), str(_FIRST_PAGE + page + 1)
    headers = {name: value.replace(was, now) for name, value in headers.items()}
    return RawResponse(status, headers, body.replace(was.encode(), now.encode()))


@cache
def single(shape: str, status: int) -> RawResponse:
    makes = SHAPES[shape]
    headers = {"retry-after": "1"} if status == 429 else {}
    return _json(status, headers, makes.error() if status >= 400 else makes.draft())


@cache
def _template(shape: str, holding: str, *, more: bool) -> RawResponse:
    makes, (size, _) = SHAPES[shape], HOLDINGS[holding]
    numbers = [*range(_FIRST_ITEM, _FIRST_ITEM + size - 1), _NEXT_PAGE]
    items = [makes.item(number) for number in numbers]
    if holding in OF_ACCOUNTS:
        for item in items[::3]:
            item["objective"] = None
        for item in items[::5]:
            del item["spend"]
    return _json(200, makes.headers(more=more), makes.listing(items, more=more))


def _json(status: int, headers: dict[str, str], document: Any) -> RawResponse:
    body = json.dumps(document, separators=(",", ":")).encode()
    headers = {"content-type": "application/json", "x-request-id": "req_1", **headers}
    return RawResponse(status, headers, body)
