"""Routes a request to its operation, if its caller may use it, and writes the response."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime
from math import ceil
from threading import RLock

import attrs

from adclient._core import jsontext
from adclient._core.operations import Operation
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.conventions import Conventions
from adclient.models import Result
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._accounts.state import Account
from adclient.testing._approval.drafts import DraftStore, FakeDraft, draft_body
from adclient.testing._clock import START, FakeClock
from adclient.testing._faults.fault import Fault, with_fault
from adclient.testing._http.requests import ParsedRequest, parsed
from adclient.testing._http.responses import HTTPError, error_response, http_error
from adclient.testing._profile import Profile
from adclient.testing._reads.pages import Pages, PagingFault
from adclient.testing._reads.reads import rows_of
from adclient.testing._writes.writes import change_of

_MINUTE = timedelta(minutes=1)
MAX_BODY = 1024 * 1024
"""The most bytes that the body of a request may have."""


@attrs.define(kw_only=True)
class Router:
    """The service behind HTTP: its accounts and its drafts."""

    seed: str
    history: int
    conventions: Conventions
    profile: Profile
    token: str | None = attrs.field(repr=False)
    clock: FakeClock
    pages: Pages
    accounts: Accounts
    drafts: DraftStore
    lock: RLock
    received: int = 0
    _minute: datetime = START
    _in_minute: int = 0
    _by_key: OrderedDict[str, tuple[Request, FakeDraft]] = attrs.field(
        init=False, factory=OrderedDict[str, tuple[Request, FakeDraft]]
    )

    def auth(self, _: Request) -> Mapping[str, str]:
        """The headers with which a client authenticates; none if all may call."""
        if self.token is None:
            return {}
        if self.profile.key_header is not None:
            return {self.profile.key_header: self.token}
        return {"authorization": f"Bearer {self.token}"}

    def outcome(
        self, request: Request, operation: Operation[Result] | None, fault: Fault
    ) -> Outcome:
        """The response to a request, or what a fault makes of it.

        The lock is not held while JSON is read and written: a large request delays no others.
        """
        with self.lock:
            self.received += 1
            number = self.received
        outcome = fault.instead
        if fault.taken:
            try:
                response: RawResponse | HTTPError = self._response(request, operation, fault.page)
            except HTTPError as error:
                response = error
            outcome = outcome or response
        if isinstance(outcome, Failure):
            return outcome
        assert outcome is not None, "a fault that is not taken has an outcome"
        digest = hashlib.sha256(f"{self.seed}:request:{number}".encode()).hexdigest()
        request_id = f"req_{digest[:12]}"
        if isinstance(outcome, HTTPError):
            outcome = error_response(outcome, self.profile.errors, request_id)
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            next(iter(self.conventions.request_id_headers), "x-request-id").lower(): request_id,
        }
        return with_fault(attrs.evolve(outcome, headers={**headers, **outcome.headers}), fault)

    def _response(
        self, request: Request, operation: Operation[Result] | None, fault: PagingFault | None
    ) -> RawResponse:
        for name, value in self.auth(request).items():
            if request.headers.get(name.lower()) != value:
                raise http_error("unauthenticated")
        with self.lock:
            self._count_request()
        if len(request.body or b"") > MAX_BODY:
            raise http_error("request_too_large", limit=MAX_BODY)
        asked = parsed(request, operation, self.conventions, self.profile)
        with self.lock:
            account = self._account(asked)
            if asked.operation.is_write:
                draft = self._staged(account, asked, request)
                status, body = 201, draft_body(draft)
            else:
                rows = rows_of(account, asked, self.profile.unknown_date_ranges)
                status, body = 200, self.pages.page(asked, rows, fault)
        return RawResponse(status=status, body=jsontext.dumps(body, "response").encode())

    def _count_request(self) -> None:
        """Count a request of this minute, or refuse it."""
        now, most = self.clock.now(), self.profile.requests_a_minute
        if now - self._minute >= _MINUTE:
            self._minute, self._in_minute = now, 0
        if most is not None and self._in_minute >= most:
            wait = ceil((self._minute + _MINUTE - now).total_seconds())
            raise http_error("rate_limited", headers={"retry-after": str(wait)}, most=most)
        self._in_minute += 1

    def _account(self, asked: ParsedRequest) -> Account:
        """The account of a request, if it accepts the operation."""
        operation, account_id = asked.operation, asked.text("account_id") or ""
        account = self.accounts.get(account_id)
        if account is None:
            raise http_error("account_not_found", account_id=account_id)
        if account.access == "disconnected":
            raise http_error("account_disconnected")
        if account.platform != operation.namespace:
            platform = account.platform
            raise http_error("platform_mismatch", "account_id", id=account_id, platform=platform)
        if operation.is_write and account.access == "read_only":
            raise http_error("account_read_only")
        if operation.is_write and account.access == "drafting_paused":
            raise http_error("drafting_paused", headers={"retry-after": "900"})
        return account

    def _staged(self, account: Account, asked: ParsedRequest, request: Request) -> FakeDraft:
        """A new draft, or an earlier one if the request repeats the idempotency key."""
        header = self.conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._by_key:
            first, draft = self._by_key[key]
            if (first.url, first.body) != (request.url, request.body):
                raise http_error("idempotency_key_reused")
            return draft
        change = change_of(account, asked)
        draft = self.drafts.stage(asked.operation.full_name, account, change)
        if key is not None:
            self._by_key[key] = request, draft
            if len(self._by_key) > self.history:
                self._by_key.popitem(last=False)
        return draft
