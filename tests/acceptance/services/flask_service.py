"""A service in Flask: an opaque token, and strict about names."""

import base64
import binascii
import hashlib
import json
import os
from typing import NoReturn

from flask import Flask, Response, abort, g, jsonify, make_response, request

TOKEN_NAME = "pageToken" if os.environ.get("CHANGED") else "page_token"
ACCOUNTS = {"alpha": "A-1001", "beta": "B-2002", "gamma": "G-3003", "delta": "D-4004"}
BUDGETS = {f"al{n}": 40 + 2.5 * n for n in range(1, 9)}


def _campaign(n: int) -> dict:
    item = {
        "id": f"c{n:04d}",
        "name": f"Frühling {n} 🌷",
        "status": "PAUSED" if n % 5 == 0 else "ENABLED",
        "daily_budget_micros": 10_000_000 + 250_000 * n,
        "start_date": f"2026-{n % 12 + 1:02d}-01",
        "schedule": {"days": ["MON", "FRI"], "hours": {"from": 8, "to": 20}},
        "labels": [f"team-{n % 3}"] * (n % 3),
    }
    return item if n % 4 == 0 else {**item, "end_date": None if n % 3 else "2026-12-31"}


def _option(n: int) -> dict:
    kind = ("interest", "behaviour", "location")[n % 3]
    item = {"id": f"t-{n}", "name": f"Option {n}", "status": "AVAILABLE", "type": kind}
    return {**item, "audience": {"lower": 1000 * n, "upper": 1500 * n}, "path": ["All", kind]}


def _fatigue(n: int) -> dict:
    item = {"id": f"f{n:02d}", "name": f"Video {n}", "status": "FATIGUED" if n % 2 else "FRESH"}
    return {**item, "creative_id": f"v{n}", "frequency": 1.25 + n / 4, "is_fatigued": n % 2 == 1}


def _ad(n: int) -> dict:
    item = {"id": f"ad_{n}", "name": f"Ad {n}", "status": ("ENABLED", "REVIEW", "REJECTED")[n % 3]}
    return {
        **item,
        "spend": round(3.15 * n, 2),
        "created": f"2026-03-{n % 28 + 1:02d}T09:30:00+02:00",
        "creative": {"image": f"img{n}", "texts": [{"locale": "de", "text": f"Größe {n}"}]},
    }


def _objective(n: int) -> dict:
    item = {"id": f"OBJ_{n}", "name": f"Objective {n}", "status": "ENABLED"}
    return {**item, "explanation": "Zeigt Anzeigen vielen Leuten.", "bidding": ["CPC", "CPM"]}


def _waste(n: int) -> dict:
    item = {"id": f"w{n}", "name": f"gratis {n}", "status": "WASTED"}
    return {**item, "cost_micros": 1_230_000 * n, "conversions": 0, "match": None}


def _profile(n: int) -> dict:
    item = {"id": f"p{n}", "name": ("industry", "region", "size")[n % 3], "status": "INFERRED"}
    return {**item, "value": f"value {n}", "confidence": n / 8}


# For each read: the items, how many a page has, and the names of its own parameters.
READS = {
    "beta-ads/list-beta-campaigns": ([_campaign(n) for n in range(1, 98)], 20, "campaign_id"),
    "gamma-ads/search-gamma-targeting": ([_option(n) for n in range(1, 34)], 10, "targeting"),
    "beta-ads/detect-beta-creative-fatigue": (
        [_fatigue(n) for n in range(1, 13)],
        50,
        "creative_id",
    ),
    "gamma-ads/list-gamma-ads": ([_ad(n) for n in range(1, 131)], 25, "date_range"),
    "alpha-ads/explain-alpha-objectives": ([_objective(n) for n in range(1, 6)], 50, ""),
    "delta-ads/analyze-wasted-spend": ([_waste(n) for n in range(1, 19)], 5, ""),
    "delta-ads/infer-business-profile": ([_profile(n) for n in range(1, 7)], 50, ""),
}
# For each write: the field that its draft changes, and the parameters that it needs.
WRITES = {
    "alpha-ads/update-alpha-campaign-targeting": ("targeting", "campaign_id"),
    "alpha-ads/update-alpha-campaign-budget": ("daily_budget", "campaign_id"),
    "beta-ads/create-beta-video-campaign": ("fields", "fields"),
    "alpha-ads/update-alpha-creative": ("fields", ""),
    "gamma-ads/create-gamma-image-campaign": ("fields", "fields"),
    "delta-ads/update-keyword": ("keywords", "keywords"),
    "gamma-ads/create-gamma-dco-ad": ("fields", "fields"),
    "beta-ads/pause-beta-campaign": ("status", "campaign_id"),
    "delta-ads/remove-delta-auto-search-themes": ("themes", ""),
}

app = Flask(__name__)


def _fail(status: int, code: str, message: str) -> NoReturn:
    abort(make_response({"error": {"code": code, "message": message}}, status))


def _check_account(family: str, account: object) -> None:
    if not account:
        _fail(400, "missing_parameter", "account_id is required")
    if account != ACCOUNTS[family.removesuffix("-ads")]:
        _fail(404, "account_not_found", f"no account {account}")


@app.before_request
def _authenticate() -> None:
    g.request_id = hashlib.sha1(request.full_path.encode() + request.data).hexdigest()[:16]
    if request.headers.get("Authorization") != "Bearer flask-token":
        _fail(401, "unauthenticated", "send the header Authorization: Bearer …")


@app.after_request
def _name_request(response: Response) -> Response:
    response.headers["X-Request-Id"] = g.request_id
    return response


@app.get("/v1/<family>/<name>")
def read(family: str, name: str) -> Response:
    items, size, own = READS.get(f"{family}/{name}") or abort(404)
    args = request.args
    also = ["date_range"] if own == "campaign_id" else []
    if unknown := set(args) - {"account_id", TOKEN_NAME, own, *also}:
        message = f"unknown parameter {min(unknown)}; use {TOKEN_NAME} for the next page"
        _fail(400, "unknown_parameter", message)
    _check_account(family, args.get("account_id"))
    if args.get("date_range", "LAST_30_DAYS") not in ("LAST_7_DAYS", "LAST_30_DAYS"):
        _fail(400, "invalid_parameter", "date_range is LAST_7_DAYS or LAST_30_DAYS")
    if wanted := args.get("campaign_id"):
        items = [item for item in items if item["id"] == wanted]
    if wanted := args.get("creative_id"):
        items = [item for item in items if item["creative_id"] == wanted]
    try:
        spec = json.loads(args.get("targeting", "{}")).items()
        start = int(base64.urlsafe_b64decode(args.get(TOKEN_NAME, "c3RhcnQ6MA==")).split(b":")[1])
    except (ValueError, AttributeError, IndexError, binascii.Error):
        _fail(400, "invalid_parameter", "targeting or the token is malformed")
    items = [item for item in items if all(item.get(key) == value for key, value in spec)]
    end = start + size
    token = base64.urlsafe_b64encode(b"start:%d" % end).decode() if end < len(items) else None
    return jsonify(data=items[start:end], page={"next": token})


@app.route("/v1/<family>/<name>", methods=["POST", "DELETE"])
def stage(family: str, name: str) -> tuple[Response, int]:
    field, needed = WRITES.get(f"{family}/{name}") or abort(404)
    if (request.method == "DELETE") != name.startswith("remove"):
        _fail(405, "method_not_allowed", f"not {request.method}")
    body = request.get_json()
    _check_account(family, body.get("account_id"))
    if needed and needed not in body:
        _fail(400, "missing_parameter", f"{needed} is required")
    campaigns = {item["id"]: item["status"] for item in READS["beta-ads/list-beta-campaigns"][0]}
    stored = {"daily_budget": BUDGETS, "status": campaigns}.get(field, {})
    after = {"status": "PAUSED", "themes": []}.get(field, body.get(field))
    diff = {"field": field, "before": stored.get(body.get("campaign_id")), "after": after}
    draft = {"draft_id": f"draft_{g.request_id}", "status": "pending_approval", "diff": diff}
    return jsonify(**draft, requires="human_two_step_approve"), 201


app.run(port=int(os.environ["PORT"]), threaded=True)
