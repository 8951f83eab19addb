"""The service behind a fake: from a request to its outcome."""

import hashlib
from collections import deque
from copy import deepcopy
from datetime import datetime, timedelta
from email.utils import format_datetime
from math import ceil
from threading import RLock

import attrs

from adclient._core.auth import SecretHeader
from adclient._service.model import Service
from adclient._values import jsontext
from adclient.extend import Failure, Outcome, RawResponse, Request
from adclient.testing._fake.accounts import Account, Accounts, FakeAccount, build_account
from adclient.testing._fake.approval import Dashboard, DraftStore, FakeDraft, draft_body
from adclient.testing._fake.clock import START, FakeClock
from adclient.testing._fake.faults import Fault, Faults, with_fault
from adclient.testing._fake.pages import Pages, PagingFault
from adclient.testing._fake.profile import ERROR_SHAPES, Profile
from adclient.testing._fake.reads import check_read, listed
from adclient.testing._fake.requests import (
    ParsedRequest,
    RecordedRequest,
    operation_at,
    parsed,
    recorded,
)
from adclient.testing._fake.responses import HTTPError, error_response, http_error
from adclient.testing._fake.writes import WRITES, check_write

_MINUTE = timedelta(minutes=1)


@attrs.define(slots=False, eq=False)
class Responder:
    """Responds to requests, and holds all that they change.

    `service` describes the service that it is like; `profile` is the rest of its behaviour. Who
    uses its parts from outside holds `lock` meanwhile.
    """

    seed: str
    token: str | None
    profile: Profile
    service: Service
    accounts: Accounts
    history: int
    lock: RLock = attrs.field(factory=RLock)
    received: int = 0
    _minute: datetime = START
    _in_minute: int = 0

    def __attrs_post_init__(self) -> None:
        self.clock: FakeClock = FakeClock()
        self.faults: Faults = Faults(self.seed)
        self.drafts: DraftStore = DraftStore(self.seed, self.clock, self.history)
        self.dashboard: Dashboard = Dashboard(
            self.drafts, self.accounts, self.clock, self.lock, self.profile.two_reviewers
        )
        self._by_key: dict[str, tuple[Request, FakeDraft]] = {}
        self.requests: deque[RecordedRequest] = deque(maxlen=self.history)

    def restore(self, saved: "Responder") -> None:
        """Return to the state of a copy; the parts, which others hold, stay the same objects."""
        with self.lock, saved.lock:
            pairs = list(zip(saved._parts, self._parts, strict=True))
            # What the saved parts share with each other, those of this server share.
            memo = {id(saved.lock): self.lock, **{id(part): own for part, own in pairs}}
            for part, own in pairs:
                vars(own).update(deepcopy(vars(part), memo))

    @property
    def _parts(self) -> tuple[object, ...]:
        return self, self.accounts, self.drafts, self.dashboard, self.faults, self.clock

    def outcome(self, request: Request, base_url: str) -> tuple[RecordedRequest, Outcome, float]:
        """The outcome for a client that waits for any time, and the seconds until it begins."""
        record = recorded(request, operation_at(request, base_url))
        with self.lock:
            fault = self.faults.take(record) or Fault()
        if isinstance(fault.instead, Failure) and not fault.instead.sent:
            return record, fault.instead, 0
        return record, self._respond(request, base_url, fault), self.profile.latency + fault.latency

    def record(self, request: RecordedRequest, outcome: Outcome) -> Outcome:
        """Record what a client receives for a request, if that reached the server."""
        if isinstance(outcome, RawResponse):
            request = attrs.evolve(request, status=outcome.status)
        if isinstance(outcome, RawResponse) or outcome.sent:
            with self.lock:
                self.requests.append(request)
        return outcome

    def auth_headers(self, request: Request) -> dict[str, str]:
        """The headers with which a client authenticates; none if all may call."""
        auth, secret = self.service.auth, self.token
        if auth is None or secret is None:
            return {}
        return SecretHeader(auth.header, auth.scheme, secret)(request)

    def _respond(self, request: Request, base_url: str, fault: Fault) -> Outcome:
        """The response to a request, or what a fault makes of it.

        The lock is not held while JSON is read and written: a large request delays no others.
        """
        with self.lock:
            self.received += 1
            number = self.received
        outcome = fault.instead
        if fault.taken:
            try:
                response: RawResponse | HTTPError = self._response(request, base_url, fault.page)
            except HTTPError as error:
                response = error
            outcome = outcome or response
        if isinstance(outcome, Failure):
            return outcome
        assert outcome is not None, "a fault that is not taken has an outcome"
        digest = hashlib.sha256(f"{self.seed}:request:{number}".encode()).hexdigest()
        request_id = f"req_{digest[:12]}"
        if isinstance(outcome, HTTPError):
            shape = self.service.errors or ERROR_SHAPES[self.profile.errors]
            outcome = error_response(outcome, shape, request_id)
        id_headers = self.service.conventions.request_id_headers
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            next(iter(id_headers), "x-request-id").lower(): request_id,
        }
        return with_fault(attrs.evolve(outcome, headers={**headers, **outcome.headers}), fault)

    def _response(self, request: Request, base_url: str, fault: PagingFault | None) -> RawResponse:
        for name, value in self.auth_headers(request).items():
            if request.headers.get(name.lower()) != value:
                raise http_error("unauthenticated")
        with self.lock:
            self._count_request()
        asked = parsed(request, base_url, self.service, self.profile)
        with self.lock:
            account = self._account(asked)
            if asked.operation.is_write:
                status, body = 201, draft_body(self._staged(account, asked, request))
            else:
                if self.profile.business_rules:
                    check_read(account, asked)
                pages = Pages(self.seed, self.profile.continuation_life, self.clock)
                status, body = 200, pages.page(asked, listed(account, asked), fault)
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
            errors = self.service.errors
            if operation.is_write or not errors or errors.statuses.get("unknown_account") != 200:
                raise http_error("account_not_found", account_id=account_id)
            return build_account(FakeAccount(account_id))  # whose listings are empty
        if account.given.access == "disconnected":
            raise http_error("account_disconnected")
        platform = account.given.platform
        if platform not in (None, operation.namespace):
            raise http_error("platform_mismatch", "account_id", id=account_id, platform=platform)
        if operation.is_write and account.given.access == "read_only":
            raise http_error("account_read_only")
        if operation.is_write and account.given.access == "drafting_paused":
            raise http_error("drafting_paused", headers={"retry-after": "900"})
        return account

    def _staged(self, account: Account, asked: ParsedRequest, request: Request) -> FakeDraft:
        """A new draft, or an earlier one if the request repeats the idempotency key."""
        header = self.service.conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._by_key:
            first, draft = self._by_key[key]
            if (first.url, first.body) != (request.url, request.body):
                raise http_error("idempotency_key_reused")
            return draft
        change = WRITES[asked.operation.full_name](account, asked)
        if self.profile.business_rules:
            check_write(account, asked, change, self.clock.today())
        draft = self.drafts.stage(asked.operation.full_name, account, change)
        if key is not None:
            self._by_key[key] = request, draft
        return draft
