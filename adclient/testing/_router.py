"""Routes a request to its operation, and writes the response."""

import hashlib
from collections import OrderedDict
from email.utils import format_datetime

import attrs

from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.conventions import Conventions
from adclient.models import JSON
from adclient.testing._access import Limits, Tokens
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._accounts.state import Account
from adclient.testing._approval.draft_store import DraftStore
from adclient.testing._approval.drafts import FakeDraft, draft_body
from adclient.testing._clock import FakeClock
from adclient.testing._faults.fault import Fault
from adclient.testing._http import responses
from adclient.testing._http.refusal import Refusal
from adclient.testing._http.requests import ParsedRequest, parsed
from adclient.testing._profile import Profile
from adclient.testing._reads.cursors import Cursors
from adclient.testing._reads.paging import PagingFault, page_of
from adclient.testing._reads.reads import ReadContext, rows_of
from adclient.testing._writes.writes import change_of


@attrs.define(kw_only=True)
class Router:
    """The service behind HTTP: its accounts, its limits and its drafts."""

    seed: str
    page_size: int
    history: int
    conventions: Conventions
    profile: Profile
    tokens: Tokens
    clock: FakeClock
    accounts: Accounts
    drafts: DraftStore
    _requests: int = 0
    _limits: Limits = attrs.field(init=False)
    _cursors: Cursors = attrs.field(init=False)
    _by_key: OrderedDict[str, tuple[Request, FakeDraft]] = attrs.field(
        init=False, factory=OrderedDict[str, tuple[Request, FakeDraft]]
    )

    def __attrs_post_init__(self) -> None:
        parameter = self.conventions.cursor_parameter
        self._limits = Limits(self.profile, self.clock)
        self._cursors = Cursors(self.seed, self.profile, parameter, self.clock)

    def outcome(self, request: Request, fault: Fault) -> Outcome:
        """The response to a request, or what a fault makes of it."""
        self._requests += 1
        outcome = fault.instead
        if fault.taken:
            try:
                response: RawResponse | Refusal = self._response(request, fault.page)
            except Refusal as refusal:
                response = refusal
            outcome = outcome or response
        if isinstance(outcome, Failure):
            return outcome
        assert outcome is not None, "a fault that is not taken has an outcome"
        return fault.corrupt(self._completed(outcome))

    def _completed(self, response: RawResponse | Refusal) -> RawResponse:
        """A response with the headers that all have."""
        digest = hashlib.sha256(f"{self.seed}:request:{self._requests}".encode()).hexdigest()
        request_id = f"req_{digest[:12]}"
        if isinstance(response, Refusal):
            response = responses.error_response(response, self.profile.errors, request_id)
        name = next(iter(self.conventions.request_id_headers), "x-request-id").lower()
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            name: request_id,
        }
        return attrs.evolve(response, headers={**headers, **response.headers})

    def _response(self, request: Request, fault: PagingFault | None) -> RawResponse:
        may_write = self.tokens.may_write(request)
        self._limits.count_request()
        asked = parsed(request, self.conventions, self.profile)
        is_read = not asked.operation.is_write
        if not is_read and not may_write:
            raise Refusal(403, "insufficient_scope", "this token may only read")
        account = self._account(asked)
        if is_read:
            return responses.json_response(200, self._page(account, asked, fault))
        draft = draft_body(self._staged(account, asked, request))
        draft = responses.with_extra_draft(draft) if self.profile.extras else draft
        return responses.json_response(201, draft)

    def _account(self, asked: ParsedRequest) -> Account:
        """The account of a request, if it accepts the operation."""
        operation, account_id = asked.operation, asked.text("account_id") or ""
        account = self.accounts.get(account_id)
        if account is None:
            raise Refusal(404, "account_not_found", f"no account {account_id} is connected")
        if account.access == "disconnected":
            raise Refusal(403, "account_disconnected", "this account must be connected again")
        if account.platform != operation.namespace:
            message = f"{account_id} is an account of {account.platform}"
            raise Refusal(422, "platform_mismatch", message, field="account_id")
        if operation.is_write and account.access == "read_only":
            raise Refusal(403, "account_read_only", "the plan of this account is used up")
        if operation.is_write and account.access == "drafting_paused":
            headers = {"retry-after": "900"}
            raise Refusal(503, "drafting_paused", "staging is paused for now", headers=headers)
        return account

    def _page(self, account: Account, asked: ParsedRequest, fault: PagingFault | None) -> JSON:
        rows = rows_of(ReadContext(account, asked, self.profile, self.clock.today()))
        start = self._cursors.read(asked)
        size = max(1, len(rows)) if self.profile.continuation == "none" else self.page_size

        def cursor_at(offset: int) -> JSON:
            return self._cursors.write(asked, offset)

        page = page_of(rows, start, size, cursor_at, fault)
        return responses.with_extra_page(page) if self.profile.extras else page

    def _staged(self, account: Account, asked: ParsedRequest, request: Request) -> FakeDraft:
        """A new draft, or an earlier one if the request repeats the idempotency key."""
        header = self.conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._by_key:
            first, draft = self._by_key[key]
            if (first.url, first.body) != (request.url, request.body):
                raise Refusal(422, "idempotency_key_reused", "another request had this key")
            return draft
        change = change_of(account, asked)
        same = self.drafts.find_same(account.id, change) if self.profile.dedupe else None
        if same is None:
            self._limits.count_draft(account.id, self.drafts.count_open(account.id))
        draft = same or self.drafts.stage(asked.operation.full_name, account, change)
        if key is not None:
            self._by_key[key] = request, draft
            if len(self._by_key) > self.history:
                self._by_key.popitem(last=False)
        return draft
