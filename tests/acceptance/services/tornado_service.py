"""A service in Tornado: over HTTPS, with absolute links and pages of HTML for errors."""

import asyncio
import hashlib
import json
import os
import ssl

from tornado.httpserver import HTTPServer
from tornado.httputil import url_concat
from tornado.web import Application, HTTPError, RequestHandler

ACCOUNT = "5f1c9a4e-7a55-4f3c-9d0e-0c6e3c1d9b11"
AD_FIELDS = ["spend", "video_views", "url"]
if not os.environ.get("CHANGED"):
    AD_FIELDS.append("impressions")


def _row(kind: str, n: int, name: str, status: str, **fields: object) -> dict:
    key = hashlib.sha1(f"{kind}{n}".encode()).hexdigest()[:10]
    return {"id": key, "name": name, "status": status, **fields}


def _ad(n: int) -> dict:
    values = {"spend": n * 12.5, "video_views": None, "impressions": n * 991, "url": f"//x/{n}"}
    fields = {name: values[name] for name in AD_FIELDS}
    return _row("ad", n, f"Реклама {n}", "ENABLED", **fields)


TABLES = {
    "campaigns": [
        _row("campaign", n, f"夏 {n}", "ENABLED" if n % 3 else "DELETED", budget=n * 100, tags=None)
        for n in range(110)
    ],
    "options": [_row("option", n, f"Age {n}", "ENABLED", min=n, max=n + 4) for n in range(16)],
    "fatigue": [_row("fatigue", n, f"Spot {n}", "WORN", days=n, lift=-0.1 * n) for n in range(21)],
    "ads": [_ad(n) for n in range(36)],
    "objectives": [_row("goal", n, f"Goal {n}", "ENABLED", help=[["a", n]]) for n in range(6)],
    "waste": [
        _row("waste", n, f"Query {n}", "WASTE", cost={"units": n, "nanos": 5 * 10**8}, dated="")
        for n in range(27)
    ],
    "profile": [_row("profile", n, f"Guess {n}", "OK", sure=n > 2) for n in range(7)],
}
# For each path: the method, the table (of a read) or the changed field, the page or what is needed.
OPERATIONS = {
    "/v1/beta-ads/list-beta-campaigns": ("GET", "campaigns", 45),
    "/v1/gamma-ads/search-gamma-targeting": ("GET", "options", 5),
    "/v1/beta-ads/detect-beta-creative-fatigue": ("GET", "fatigue", 10),
    "/v1/gamma-ads/list-gamma-ads": ("GET", "ads", 12),
    "/v1/alpha-ads/explain-alpha-objectives": ("GET", "objectives", 6),
    "/v1/delta-ads/analyze-wasted-spend": ("GET", "waste", 9),
    "/v1/delta-ads/infer-business-profile": ("GET", "profile", 9),
    "/v1/alpha-ads/update-alpha-campaign-targeting": ("POST", "targeting", "campaign_id"),
    "/v1/alpha-ads/update-alpha-campaign-budget": ("POST", "daily_budget", "campaign_id"),
    "/v1/beta-ads/create-beta-video-campaign": ("POST", "fields", "fields"),
    "/v1/alpha-ads/update-alpha-creative": ("POST", "fields", "account_id"),
    "/v1/gamma-ads/create-gamma-image-campaign": ("POST", "fields", "fields"),
    "/v1/delta-ads/update-keyword": ("POST", "keywords", "keywords"),
    "/v1/gamma-ads/create-gamma-dco-ad": ("POST", "fields", "fields"),
    "/v1/beta-ads/pause-beta-campaign": ("POST", "status", "campaign_id"),
    "/v1/delta-ads/remove-delta-auto-search-themes": ("DELETE", "search_themes", "account_id"),
}


class Operation(RequestHandler):
    """Any operation; parameters of a read are in the query or in a JSON body."""

    def initialize(self, operation: tuple) -> None:
        """Keep the row of the table."""
        self.operation = operation

    def prepare(self) -> None:
        """Check credentials, method and account."""
        if self.request.headers.get("Authorization") != "Basic dG9ybmFkbzpzZWNyZXQ=":
            self.set_header("WWW-Authenticate", 'Basic realm="ads"')
            raise HTTPError(401)
        if self.request.method != self.operation[0]:
            raise HTTPError(405)
        try:
            self.values = json.loads(self.request.body or "{}")
        except ValueError as error:
            raise HTTPError(400) from error
        if self.request.method == "GET":
            self.values |= {
                name: self.get_query_argument(name) for name in self.request.query_arguments
            }
        if "account_id" not in self.values:
            raise HTTPError(400, reason="account_id missing")
        if self.values["account_id"] != ACCOUNT:
            raise HTTPError(404)

    def get(self) -> None:
        """Answer a read."""
        rows, size = TABLES[self.operation[1]], self.operation[2]
        spec = self.values.get("targeting") or {}
        wanted = json.loads(spec) if isinstance(spec, str) else spec
        only = self.values.get("campaign_id") or self.values.get("creative_id")
        rows = [row for row in rows if only in (None, row["id"])]
        rows = [row for row in rows if all(row.get(key) == wanted[key] for key in wanted)]
        marks = [row["id"] for row in rows]
        marker = self.values.get("marker")
        if marker is not None and marker not in marks:
            raise HTTPError(400, reason="no such marker")
        start = marks.index(marker) if marker else 0
        link = None
        if start + size < len(rows):
            here = f"{self.request.protocol}://{self.request.host}{self.request.path}"
            kept = {name: self.get_query_argument(name) for name in self.request.query_arguments}
            link = url_concat(here, {**kept, "account_id": ACCOUNT, "marker": marks[start + size]})
        self.finish({"data": rows[start : start + size], "page": {"next": link}})

    def post(self) -> None:
        """Stage a draft."""
        _, field, needed = self.operation
        if needed not in self.values:
            raise HTTPError(400, reason=f"{needed} missing")
        before = {"daily_budget": 33.3, "search_themes": 4}.get(field)
        if field == "status":
            found = [row for row in TABLES["campaigns"] if row["id"] == self.values["campaign_id"]]
            before = found[0]["status"] if found else None
        after = {"status": "PAUSED", "search_themes": 0}.get(field, self.values.get(field))
        digest = hashlib.sha1(self.request.path.encode() + self.request.body).hexdigest()
        self.set_status(201)
        self.finish(
            {
                "draft_id": f"draft_{digest}",
                "status": "pending_approval",
                "diff": {"field": field, "before": before, "after": after},
                "requires": "human_two_step_approve",
            }
        )

    delete = post


async def main() -> None:
    """Serve until the process ends."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(os.environ["CERTIFICATE"])
    handlers = [(path, Operation, {"operation": row}) for path, row in OPERATIONS.items()]
    server = HTTPServer(Application(handlers), ssl_options=context)
    server.listen(int(os.environ["PORT"]), "127.0.0.1")
    await asyncio.Event().wait()


asyncio.run(main())
