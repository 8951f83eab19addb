"""A service in FastAPI: relative links, and refusals of Pydantic."""

import itertools
import json
import os
from typing import Annotated, Literal
from urllib.parse import urlencode

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, Json

CHANGED = bool(os.environ.get("CHANGED"))
ACCOUNTS = {
    "alpha": "alpha/main",
    "beta": "beta/main",
    "gamma": "gamma/main",
    "delta": "delta/main",
}
COUNTER = itertools.count(1)


class Reading(BaseModel, extra="forbid"):
    """The parameters of all reads."""

    account_id: str
    after_token: str | None = None
    campaign_id: str | None = None
    creative_id: str | None = None
    date_range: Literal["LAST_7_DAYS", "LAST_30_DAYS", "THIS_YEAR"] | None = None
    targeting: Json[dict[str, object]] | None = None


class Staging(BaseModel):
    """The parameters of all writes."""

    account_id: str
    campaign_id: str | None = None
    creative_id: str | None = None
    ad_id: str | None = None
    daily_budget: float | None = Field(None, gt=0)
    keywords: list[str] | None = None
    targeting: dict[str, object] | None = None
    fields: dict[str, object] | None = None


def _items(number: int, count: int, name: str, *statuses: str) -> list[dict]:
    start = f"{number:08d}-0000-4000-8000-"
    return [
        {"id": f"{start}{n:012d}", "name": f"{name} {n}", "status": statuses[n % len(statuses)]}
        for n in range(count)
    ]


CAMPAIGNS = _items(21, 55, "Été", "ENABLED", "ENDED")
OPTIONS = _items(31, 130, "Audience", "ENABLED")
FATIGUE = _items(22, 31, "Clip", "OK", "TIRED", "DEAD")
ADS = _items(32, 71, "Póster", "ENABLED", "IN_REVIEW")
OBJECTIVES = _items(11, 8, "Goal", "ENABLED")
WASTE = _items(41, 44, "free stuff", "HIGH", "LOW")
PROFILE = _items(42, 11, "Trait", "LIKELY")
for n, item in enumerate(CAMPAIGNS):
    item |= {"budget": {"amount_micros": str(n * 10**6), "delivery": "STANDARD"}, "roas": None}
for n, item in enumerate(OPTIONS):
    item |= {"size": n * 1000, "ancestors": [{"id": n // 10, "level": 1}], "premium": n % 9 == 0}
for n, item in enumerate(FATIGUE):
    item |= {"ctr_by_week": [0.031, 0.02 - n / 10_000], "first_seen": f"2026-05-{n % 31 + 1:02d}"}
for n, item in enumerate(ADS):
    item |= {"link": f"https://shop.example/?ad={n}&x=ü", "metrics": {"cpm": 4.5, "vtr": None}}
for n, item in enumerate(OBJECTIVES):
    item |= {"since_version": 2.5, "deprecated": n > 5, "requires": [] if n else ["pixel"]}
for n, item in enumerate(WASTE):
    item |= {} if n % 5 == 4 else {"spend": n * 1.1}
for n, item in enumerate(PROFILE):
    item |= {"evidence": [{"url": "https://shop.example", "weight": n}], "value": [n, "x"][n % 2]}

# The platform, the items, the size of a page.
READS = {
    "/v1/beta-ads/list-beta-campaigns": ("beta", CAMPAIGNS, 10),
    "/v1/gamma-ads/search-gamma-targeting": ("gamma", OPTIONS, 50),
    "/v1/beta-ads/detect-beta-creative-fatigue": ("beta", FATIGUE, 30),
    "/v1/gamma-ads/list-gamma-ads": ("gamma", ADS, 7),
    "/v1/alpha-ads/explain-alpha-objectives": ("alpha", OBJECTIVES, 8),
    "/v1/delta-ads/analyze-wasted-spend": ("delta", WASTE, 100),
    "/v1/delta-ads/infer-business-profile": ("delta", PROFILE, 4),
}
# The platform, and what is required besides the account.
WRITES = {
    "/v1/alpha-ads/update-alpha-campaign-targeting": ("alpha", "campaign_id"),
    "/v1/alpha-ads/update-alpha-campaign-budget": ("alpha", "campaign_id"),
    "/v1/beta-ads/create-beta-video-campaign": ("beta", "fields"),
    "/v1/alpha-ads/update-alpha-creative": ("alpha", None),
    "/v1/gamma-ads/create-gamma-image-campaign": ("gamma", "fields"),
    "/v1/delta-ads/update-keyword": ("delta", "keywords"),
    "/v1/gamma-ads/create-gamma-dco-ad": ("gamma", "fields"),
    "/v1/beta-ads/pause-beta-campaign": ("beta", "campaign_id"),
    "/v1/delta-ads/remove-delta-auto-search-themes": ("delta", None),
}


def _authenticate(x_api_key: Annotated[str | None, Header()] = None) -> None:
    if x_api_key != "fastapi-key":
        raise HTTPException(401, "Invalid API key")


app = FastAPI(dependencies=[Depends(_authenticate)])


def _unprocessable(kind: str, where: str, name: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"type": kind, "loc": (where, name), "msg": message}])


def _check_account(where: str, platform: str, account: str) -> None:
    if account != ACCOUNTS[platform]:
        raise _unprocessable("value_error", where, "account_id", "Value error, unknown account")


@app.exception_handler(RequestValidationError)
async def refuse(request: Request, error: RequestValidationError) -> JSONResponse:
    """Describe what is wrong with the parameters."""
    if CHANGED:
        return JSONResponse({"title": "Bad request", "errors": len(error.errors())}, 400)
    detail = [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()]
    return JSONResponse({"detail": detail}, 422)


@app.middleware("http")
async def correlate(request: Request, call_next) -> Response:
    """Number the responses."""
    response = await call_next(request)
    response.headers["X-Correlation-ID"] = f"00-{next(COUNTER):08x}"
    return response


@app.get("/v1/{family}/{name}")
async def read(request: Request, query: Annotated[Reading, Query()]) -> dict:
    """Answer a read."""
    if request.url.path not in READS:
        raise HTTPException(404, "Not Found")
    platform, items, size = READS[request.url.path]
    _check_account("query", platform, query.account_id)
    wanted = dict(query.targeting or {})
    if only := query.campaign_id or query.creative_id:
        wanted["id"] = only
    items = [item for item in items if all(item.get(key) == wanted[key] for key in wanted)]
    tokens = {item["id"][::-1]: place for place, item in enumerate(items)}
    if query.after_token not in (None, *tokens):
        raise _unprocessable("value_error", "query", "after_token", "Value error, expired")
    start = tokens[query.after_token] + 1 if query.after_token else 0
    link = None
    if start + size < len(items):
        last = items[start + size - 1]["id"][::-1]
        link = f"{request.url.path}?{urlencode({**request.query_params, 'after_token': last})}"
    return {"data": items[start : start + size], "page": {"next": link, "size": size}}


@app.post("/v1/{family}/{name}", status_code=201)
@app.delete("/v1/{family}/{name}", status_code=201)
async def stage(request: Request, body: Staging) -> dict:
    """Stage a draft."""
    if request.url.path not in WRITES:
        raise HTTPException(404, "Not Found")
    if (request.method == "DELETE") != ("/remove-" in request.url.path):
        raise HTTPException(405, "Method Not Allowed")
    platform, needed = WRITES[request.url.path]
    if needed and getattr(body, needed) is None:
        raise _unprocessable("missing", "body", needed, "Field required")
    _check_account("body", platform, body.account_id)
    diff = {"field": "all", "before": None, "after": json.loads(body.model_dump_json())}
    if body.daily_budget is not None:
        diff = {"field": "daily_budget", "before": 99.95, "after": body.daily_budget}
    if "pause" in request.url.path:
        old = [item["status"] for item in CAMPAIGNS if item["id"] == body.campaign_id]
        diff = {"field": "status", "before": (old or [None])[0], "after": "PAUSED"}
    draft = {"draft_id": f"draft_{next(COUNTER)}", "status": "pending_approval", "diff": diff}
    return {**draft, "requires": "human_two_step_approve"}


uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
