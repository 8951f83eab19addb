"""A service that issues tokens and revokes them, in threads of the standard library."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clients import DRAFT

from adclient import Token

PAGE = {"data": [], "page": {"next": None}}


class TokenServer:
    """Accepts the tokens that it has issued since they were last revoked.

    Attributes:
        requests: The token and the status of each request.
        staged: How many drafts were staged for each campaign.
        issued: How many tokens were issued.
        revokes_at: The number of the request before which all tokens are revoked.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, int]] = []
        self.staged: Counter[str] = Counter()
        self.issued = 0
        self.revokes_at: int | None = None
        self._valid: set[str] = set()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.tokens = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "TokenServer":
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def issue(self, **arguments) -> Token:
        with self._lock:
            self.issued += 1
            value = f"canary-{self.issued}"
            self._valid.add(value)
        return Token(value, **arguments)

    def revoke(self) -> None:
        self._valid.clear()

    def answer(self, token: str, campaign: str | None) -> tuple[int, object]:
        with self._lock:
            if len(self.requests) == self.revokes_at:
                self.revoke()
            status = 200 if token in self._valid else 401
            self.requests.append((token, status))
            if status == 200 and campaign is not None:
                self.staged[campaign] += 1
                return 201, DRAFT
        return status, PAGE if status == 200 else {"error": {"message": f"{token} has expired"}}

    @property
    def statuses(self) -> list[int]:
        return [status for _, status in self.requests]


class _Server(ThreadingHTTPServer):
    request_queue_size = 500
    tokens: TokenServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one segment

    def do_GET(self) -> None:
        self.respond(None)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.respond(body["campaign_id"])

    def respond(self, campaign: str | None) -> None:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        status, body = self.server.tokens.answer(token, campaign)
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
