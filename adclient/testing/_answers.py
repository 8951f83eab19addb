"""What the service answers to a request that reaches it."""

import hashlib
from collections import OrderedDict
from email.utils import format_datetime

import attrs

from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient.conventions import Conventions
from adclient.models import JSON
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._accounts.facts import Facts
from adclient.testing._accounts.state import Account
from adclient.testing._approval.draft_book import DraftBook
from adclient.testing._approval.drafts import FakeDraft, on_the_wire
from adclient.testing._clock import FakeClock
from adclient.testing._credentials import Credentials
from adclient.testing._faults.fault import Fault
from adclient.testing._limits import Limits
from adclient.testing._profile import Profile
from adclient.testing._reads.cursors import Cursors
from adclient.testing._reads.paging import PagingFault, Slice, hostile_page_of, page_of
from adclient.testing._reads.rows import Reading, rows_of
from adclient.testing._wire import extras
from adclient.testing._wire.error_bodies import refused
from adclient.testing._wire.protocol import Asked, Refusal, asked_by, json_reply, operation_of
from adclient.testing._writes.writes import change_of


@attrs.define(kw_only=True)
class Answers:
    """The service behind the wire: its accounts, its limits and its drafts."""

    seed: str
    page_size: int
    history: int
    conventions: Conventions
    profile: Profile
    credentials: Credentials
    clock: FakeClock
    accounts: Accounts
    book: DraftBook
    _answered: int = 0
    _facts: Facts = attrs.field(init=False)
    _limits: Limits = attrs.field(init=False)
    _cursors: Cursors = attrs.field(init=False)
    _keyed: OrderedDict[str, tuple[Request, FakeDraft]] = attrs.field(
        init=False, factory=OrderedDict[str, tuple[Request, FakeDraft]]
    )

    def __attrs_post_init__(self) -> None:
        parameter = self.conventions.cursor_parameter
        self._facts = Facts(self.seed)
        self._limits = Limits(self.profile, self.clock)
        self._cursors = Cursors(self.seed, self.profile, parameter, self.clock)

    def outcome(self, request: Request, fault: Fault) -> Outcome:
        """The answer to a request, or what a fault makes of it."""
        self._answered += 1
        outcome = fault.instead
        if fault.taken:
            answer = self._answer(request, fault.page)
            outcome = answer if outcome is None else outcome
        if isinstance(outcome, Failure):
            return outcome
        assert outcome is not None, "a fault that is not taken has an outcome of its own"
        return fault.spoil(self._written(outcome))

    def _answer(self, request: Request, hostile: PagingFault | None) -> RawResponse | Refusal:
        try:
            return self._accepted(request, hostile)
        except Refusal as refusal:
            return refusal

    def _written(self, answer: RawResponse | Refusal) -> RawResponse:
        """An answer with the headers that all have."""
        if isinstance(answer, Refusal):
            answer = refused(answer, self.profile.errors, self._request_id())
        name = next(iter(self.conventions.request_id_headers), "x-request-id").lower()
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            name: self._request_id(),
        }
        return attrs.evolve(answer, headers={**headers, **answer.headers})

    def _request_id(self) -> str:
        name = f"{self.seed}:request:{self._answered}"
        return f"req_{hashlib.sha256(name.encode()).hexdigest()[:12]}"

    def _accepted(self, request: Request, hostile: PagingFault | None) -> RawResponse:
        may_write = self.credentials.checked(request)
        self._limits.count_request()
        operation = operation_of(request)
        asked = asked_by(request, operation, self.conventions, self.profile)
        if operation.is_write and not may_write:
            raise Refusal(403, "insufficient_scope", "this token may read only")
        account = self._account(asked)
        if not operation.is_write:
            return json_reply(200, self._page(account, asked, hostile))
        draft = on_the_wire(self._staged(account, asked, request))
        return json_reply(201, extras.extra_draft(draft) if self.profile.extras else draft)

    def _account(self, asked: Asked) -> Account:
        """The account of a request, if it is open to what is asked."""
        operation, account_id = asked.operation, asked.text("account_id") or ""
        account = self.accounts.get(account_id)
        if account is None:
            raise Refusal(404, "account_not_found", f"no account {account_id} is connected")
        if account.access == "disconnected":
            raise Refusal(403, "account_disconnected", "this account must be connected again")
        if account.platform != operation.namespace:
            message = f"{account_id} is an account of {account.platform}"
            details = {"field": "account_id", "reason": "platform_mismatch"}
            raise Refusal(422, "platform_mismatch", message, details=details)
        if operation.is_write and account.access == "read_only":
            raise Refusal(403, "account_read_only", "the plan of this account is used up")
        if operation.is_write and account.access == "drafting_paused":
            headers = {"retry-after": "900"}
            raise Refusal(503, "drafting_paused", "nothing is staged for now", headers=headers)
        return account

    def _page(self, account: Account, asked: Asked, hostile: PagingFault | None) -> JSON:
        today = self.clock.today()
        rows = rows_of(Reading(account, asked, self._facts, today, self.profile))
        is_whole = self.profile.continuation == "none"

        def continuation(offset: int) -> JSON:
            return self._cursors.made(asked, offset)

        start = self._cursors.offset(asked)
        part = Slice(rows, start, max(1, len(rows)) if is_whole else self.page_size, continuation)
        page = page_of(part) if hostile is None else hostile_page_of(part, hostile)
        return extras.extra_page(page) if self.profile.extras else page

    def _staged(self, account: Account, asked: Asked, request: Request) -> FakeDraft:
        """A new draft; or the one of before, if the same request comes with the same key."""
        header = self.conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._keyed:
            first, draft = self._keyed[key]
            if (first.url, first.body) != (request.url, request.body):
                raise Refusal(422, "idempotency_key_reused", "this key came with another request")
            return draft
        draft = self._new_draft(account, asked)
        if key is not None:
            self._keyed[key] = request, draft
            if len(self._keyed) > self.history:
                self._keyed.popitem(last=False)
        return draft

    def _new_draft(self, account: Account, asked: Asked) -> FakeDraft:
        change = change_of(account, asked)
        same = self.book.same_as(account.id, change) if self.profile.dedupe else None
        if same is not None:
            return same
        self._limits.check_draft(account.id, self.book.open_in(account.id))
        self._limits.count_draft(account.id)
        return self.book.stage(asked.operation.full_name, account, change)
