"""A service in this process that issues tokens and revokes them."""

import json
import threading
from collections import Counter
from functools import partial

import anyio
import anyio.to_thread
import httpx
from clients import DRAFT

from adclient import Token

PAGE = {"data": [], "page": {"next": None}}


class TokenService:
    """Accepts the tokens that it has issued since they were last revoked.

    Attributes:
        requests: The token and the status of each request.
        staged: How many drafts were staged for each campaign.
        issued: How many tokens were issued.
        revokes_at: The number of requests that are under way when all tokens are revoked.
    """

    def __init__(self, *, is_async: bool, revokes_at: int = 0) -> None:
        self.requests: list[tuple[str, int]] = []
        self.staged: Counter[str] = Counter()
        self.issued = 0
        self._revoking = iter([threading.Barrier(revokes_at or 1, self.revoke)] * revokes_at)
        self._valid: set[str] = set()
        self._lock = threading.Lock()
        respond = partial(anyio.to_thread.run_sync, self._respond) if is_async else self._respond
        self.transport = httpx.MockTransport(respond)

    def issue(self, **arguments) -> Token:
        with self._lock:
            self.issued += 1
            value = f"canary-{self.issued}"
            self._valid.add(value)
        return Token(value, **arguments)

    def revoke(self) -> None:
        self._valid.clear()

    @property
    def statuses(self) -> list[int]:
        return [status for _, status in self.requests]

    def _respond(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            barrier = next(self._revoking, None)
        if barrier is not None:
            barrier.wait(10)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        with self._lock:
            status = 200 if token in self._valid else 401
            self.requests.append((token, status))
            if status == 401:
                return httpx.Response(401, json={"error": {"message": f"{token} has expired"}})
            if request.method == "GET":
                return httpx.Response(200, json=PAGE)
            self.staged[json.loads(request.content)["campaign_id"]] += 1
            return httpx.Response(201, json=DRAFT)
