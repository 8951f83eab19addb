"""A service in Django: below a path, with page numbers in links of its public host."""

import itertools
import json
import os
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.paginator import EmptyPage, PageNotAnInteger, Paginator
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

BUDGETS_ARE_TEXT = bool(os.environ.get("CHANGED"))
ACCOUNT = "448812"
PUBLIC = "https://ads.example.com"
NUMBERS = itertools.count(5001)


def _item(first: int, n: int, name: str, state: str, **more: object) -> dict:
    return {"id": str(first + n), "name": name, "status": state, **more}


def _campaign(n: int) -> dict:
    budget = round(12.3 + n / 10, 2)
    return _item(
        1000,
        n,
        f"Kampagne #{n}",
        "ENABLED" if n % 2 else "PAUSED",
        budget=f"{budget:.2f}" if BUDGETS_ARE_TEXT else budget,
        currency="EUR",
        owner={"id": n % 4, "email": f"owner{n % 4}@example.com"},
        archived=False,
        updated_at=f"2026-10-{n % 30 + 1:02d}T12:00:00Z",
    )


def _ad(n: int) -> dict:
    more = {"clicks": n * 3} if n % 6 else {}
    return _item(7000, n, f"Anzeige {n}", "ENABLED", ctr=n / 1000, placements=["feed"], **more)


READS = {
    "list-beta-campaigns": ([_campaign(n) for n in range(64)], 15),
    "search-gamma-targeting": (
        [
            _item(3000, n, f"Ort {n} 📍", "OK", kind="city" if n % 2 else "zip", reach=n * 10**6)
            for n in range(41)
        ],
        12,
    ),
    "detect-beta-creative-fatigue": (
        [_item(4000, n, f"Creative {n}", "HEALTHY", score=None, trend=[3, 2, n]) for n in range(9)],
        12,
    ),
    "list-gamma-ads": ([_ad(n) for n in range(88)], 40),
    "explain-alpha-objectives": (
        [_item(5000, n, f"Ziel {n}", "ENABLED", text="…", tips={"de": ["a"]}) for n in range(7)],
        100,
    ),
    "analyze-wasted-spend": (
        [_item(6000, n, f"Wort {n}", "REVIEW", lost=n * 1.05, since=None) for n in range(23)],
        6,
    ),
    "infer-business-profile": (
        [_item(8000, n, f"Fakt {n}", "GUESSED", weights={"a": n, "b": None}) for n in range(5)],
        100,
    ),
}
REQUIRED = {
    "update-alpha-campaign-targeting": ["campaign_id"],
    "update-alpha-campaign-budget": ["campaign_id"],
    "create-beta-video-campaign": ["fields"],
    "update-alpha-creative": [],
    "create-gamma-image-campaign": ["fields"],
    "update-keyword": ["keywords"],
    "create-gamma-dco-ad": ["fields"],
    "pause-beta-campaign": ["campaign_id"],
    "remove-delta-auto-search-themes": [],
}


def operation(request: HttpRequest, family: str, name: str) -> JsonResponse:
    """Answer any operation."""
    if request.headers.get("Authorization") != "Token django-token":
        detail = "Authentication credentials were not provided."
        return JsonResponse({"detail": detail}, status=401, headers={"WWW-Authenticate": "Token"})
    if f"-{family}-" not in name and name not in ("infer-business-profile", "update-keyword"):
        family = family if name == "analyze-wasted-spend" else ""
    if not family or name not in (READS if request.method == "GET" else REQUIRED):
        return JsonResponse({"detail": "Not found."}, status=404)
    if request.method == "GET":
        return _read(request, name, dict(request.GET.items()))
    if request.method != ("DELETE" if name.startswith("remove") else "POST"):
        return JsonResponse({"detail": "Method not allowed."}, status=405)
    return _stage(name, json.loads(request.body))


def _refused(values: dict, required: list[str]) -> JsonResponse | None:
    if missing := {key: ["This field is required."] for key in required if key not in values}:
        return JsonResponse(missing, status=400)
    if values["account_id"] != ACCOUNT:
        detail = "You do not have permission to perform this action."
        return JsonResponse({"detail": detail}, status=403)
    return None


def _read(request: HttpRequest, name: str, query: dict[str, str]) -> JsonResponse:
    if refused := _refused(query, ["account_id"]):
        return refused
    items, size = READS[name]
    wanted = json.loads(query.get("targeting", "{}"))
    if only := query.get("campaign_id") or query.get("creative_id"):
        wanted["id"] = only
    found = [item for item in items if all(item.get(key) == wanted[key] for key in wanted)]
    try:
        page = Paginator(found, size).page(query.get("page", 1))
    except (EmptyPage, PageNotAnInteger):
        return JsonResponse({"detail": "Invalid page."}, status=404)
    following = None
    if page.has_next():
        args = request.GET.copy()
        args["page"] = str(page.next_page_number())
        following = {"href": f"{PUBLIC}{request.path}?{args.urlencode()}"}
    total = {"total": len(found), "previous": None}
    return JsonResponse({"data": page.object_list, "page": {"next": following, **total}})


def _stage(name: str, body: dict) -> JsonResponse:
    if refused := _refused(body, ["account_id", *REQUIRED[name]]):
        return refused
    before, after, field = None, body.get("fields"), "fields"
    if name == "pause-beta-campaign":
        states = {item["id"]: item["status"] for item in READS["list-beta-campaigns"][0]}
        field, before, after = "status", states.get(body["campaign_id"]), "PAUSED"
    elif name == "update-alpha-campaign-budget":
        field, before, after = "daily_budget", 75, body.get("daily_budget")
    elif changed := [key for key in ("targeting", "keywords") if key in body]:
        field, after = changed[0], body[changed[0]]
    draft = {"draft_id": f"draft_{next(NUMBERS)}", "status": "pending_approval"}
    diff = {"field": field, "before": before, "after": after}
    return JsonResponse({**draft, "diff": diff, "requires": "human_two_step_approve"}, status=201)


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="not secret")
urlpatterns = [path("ads/api/v1/<slug:family>-ads/<slug:name>", operation)]
port = int(os.environ["PORT"])
make_server("127.0.0.1", port, get_wsgi_application(), handler_class=_Quiet).serve_forever()
