"""The fake service: one function from a request to its outcome, and what stands around it."""

import hashlib
from collections.abc import Mapping
from email.utils import format_datetime
from threading import RLock

import attrs

from adclient._async.client import AsyncAdClient
from adclient._core.reply import Outcome, Reply
from adclient._core.request import Request
from adclient._http import ServiceTransport
from adclient._sync.client import AdClient
from adclient.conventions import Conventions
from adclient.models import JSON
from adclient.options import RetryPolicy
from adclient.testing.accounts import Accounts
from adclient.testing.clock import FakeClock
from adclient.testing.cursors import CONTINUATIONS, Continuation, Cursors
from adclient.testing.dashboard import Dashboard
from adclient.testing.drafts import DraftBook, FakeDraft, on_the_wire
from adclient.testing.facts import Facts
from adclient.testing.faults import Fault, Faults
from adclient.testing.protocol import (
    Asked,
    Refusal,
    asked_by,
    json_reply,
    operation_of,
    refused,
)
from adclient.testing.reads import Reading, rows_of
from adclient.testing.recording import RecordedRequest, recorded
from adclient.testing.state import Account
from adclient.testing.world import world_of
from adclient.testing.writes import change_of
from adclient.transports import UniversalTransport

BASE_URL = "https://fake.adclient.test"


def _no_credentials(_: Request) -> Mapping[str, str]:
    """Keep a token of the environment away from the fake."""
    return {}


class FakeAdService:
    """An ad management service inside your process, for tests, demos and trying things out.

    It holds believable accounts of all four platforms and answers all sixteen operations from
    them. Writes stage drafts with true diffs and change nothing; only the two steps of its
    `dashboard` do. From one seed it always holds and answers the same. What the service's
    interface leaves open, such as item fields beyond id, name and status, the codes of errors,
    or what stands in `fields`, is this fake's own invention: the real service may differ.

    Args:
        seed: What names, ids and figures follow from.
        page_size: How many items a page holds.
        conventions: How the service speaks where its interface leaves it open; the clients made
            here speak the same.
        token: The bearer token that every request must carry; None for no credentials.
        continuation: The shape of `page.next`: a `"text"`, a `"number"`, a `"url"` of the same
            endpoint, or an `"object"`.

    Attributes:
        base_url: The address under which its clients call it.
        transport: The transport for clients that you build yourself, sync or async.
        clock: Its clock, which stands still until you turn it, or a client of it would wait.
        dashboard: Where a human approves drafts.
        faults: What shall go wrong with the next requests.

    Raises:
        ValueError: `page_size` or `continuation` is out of range.

    Example:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> with fake.client() as client:
        ...     draft = client.alpha.update_campaign_budget(
        ...         account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        ...     )
        >>> draft.diff.before, draft.diff.after
        (100, 120)
        >>> fake.requests[0].operation
        'alpha.update_campaign_budget'
        >>> fake.drafts[0].status
        'pending_approval'
    """

    def __init__(
        self,
        *,
        seed: str = "halden",
        page_size: int = 50,
        conventions: Conventions | None = None,
        token: str | None = None,
        continuation: Continuation = "text",
    ) -> None:
        if not isinstance(page_size, int) or page_size < 1:
            raise ValueError("page_size must be a whole number, 1 or more")
        if continuation not in CONTINUATIONS:
            raise ValueError(f"continuation must be one of {', '.join(CONTINUATIONS)}")
        self._seed = seed
        self._page_size = page_size
        self._conventions = conventions or Conventions()
        self._token = token
        self._follows_urls = continuation == "url"
        self._cursors = Cursors(seed, continuation, self._conventions.cursor_parameter)
        self._lock = RLock()
        self._accounts = Accounts(seed)
        self._facts = Facts(seed)
        self._answered = 0
        self._requests: list[RecordedRequest] = []
        self._keyed: dict[str, tuple[Request, FakeDraft]] = {}
        self.base_url: str = BASE_URL
        self.clock: FakeClock = FakeClock()
        self.faults: Faults = Faults()
        self._book = DraftBook(seed, self.clock)
        self.dashboard: Dashboard = Dashboard(self._book, self._accounts, self.clock, self._lock)
        world = world_of(self.clock)
        self.transport: UniversalTransport = ServiceTransport(self.handle, world)

    def __repr__(self) -> str:
        requests, drafts = len(self.requests), len(self.drafts)
        return f"<FakeAdService seed={self._seed!r}, {requests} requests, {drafts} drafts>"

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The requests that reached the service, oldest first."""
        with self._lock:
            return tuple(self._requests)

    @property
    def drafts(self) -> tuple[FakeDraft, ...]:
        """All drafts that were staged, oldest first, as they are by now."""
        with self._lock:
            return self._book.all()

    def client(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AdClient:
        """A client of this service, with its token and conventions.

        Args:
            timeout: Seconds for one whole call.
            max_retries: How many times a call is tried again.
            retry: The whole policy of trying again.
            headers: Headers for every request.

        Returns:
            A sync client that reaches this fake and nothing else.

        Raises:
            ConfigurationError: An argument cannot be used; the text names it.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client(max_retries=0)
            >>> page = client.beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].name
            'SPR26 · Prospecting · Trail Shoe Launch'
        """
        return AdClient(
            self.base_url,
            token=self._token,
            auth=None if self._token else _no_credentials,
            timeout=timeout,
            max_retries=max_retries,
            retry=retry,
            headers=headers,
            conventions=self._conventions,
            transport=self.transport,
        )

    def async_client(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncAdClient:
        """An async client of this service, with its token and conventions.

        Args:
            timeout: Seconds for one whole call.
            max_retries: How many times a call is tried again.
            retry: The whole policy of trying again.
            headers: Headers for every request.

        Returns:
            An async client that reaches this fake and nothing else.

        Raises:
            ConfigurationError: An argument cannot be used; the text names it.

        Example:
            >>> import asyncio
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> pausing = client.beta.pause_campaign(
            ...     account_id="account_b204", campaign_id="campaign_57a7"
            ... )
            >>> asyncio.run(pausing).diff.field
            'status'
        """
        return AsyncAdClient(
            self.base_url,
            token=self._token,
            auth=None if self._token else _no_credentials,
            timeout=timeout,
            max_retries=max_retries,
            retry=retry,
            headers=headers,
            conventions=self._conventions,
            transport=self.transport,
        )

    def handle(self, request: Request) -> Outcome:
        """The whole service as one function.

        Args:
            request: Any HTTP request.

        Returns:
            A `Reply` with status, headers and body, or a `Failure` if a fault says so.

        Example:
            >>> from adclient import Request
            >>> from adclient.testing import FakeAdService
            >>> FakeAdService().handle(Request(method="GET", url="/v2")).status
            404
        """
        with self._lock:
            fault = self.faults.take()
            if fault is not None and fault.is_refusal:
                return fault.outcome
            self._answered += 1
            outcome = self._with_fault(fault, request)
            self._requests.append(recorded(request, outcome))
            return outcome

    def _with_fault(self, fault: Fault | None, request: Request) -> Outcome:
        """The answer of the service, or what a fault makes of it."""
        if fault is None:
            return self._with_headers(self._answer(request))
        if fault.taken:
            self._answer(request)
        outcome = fault.outcome
        return self._with_headers(outcome) if isinstance(outcome, Reply) else outcome

    def _answer(self, request: Request) -> Reply:
        try:
            return self._accepted(request)
        except Refusal as refusal:
            return refused(refusal, self._request_id())

    def _with_headers(self, reply: Reply) -> Reply:
        """An answer with the headers that all have."""
        name = next(iter(self._conventions.request_id_headers), "x-request-id").lower()
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            name: self._request_id(),
        }
        return attrs.evolve(reply, headers={**headers, **reply.headers})

    def _request_id(self) -> str:
        name = f"{self._seed}:request:{self._answered}"
        return f"req_{hashlib.sha256(name.encode()).hexdigest()[:12]}"

    def _accepted(self, request: Request) -> Reply:
        expected = None if self._token is None else f"Bearer {self._token}"
        if expected is not None and request.headers.get("authorization") != expected:
            raise Refusal(401, "unauthenticated", "the token is missing or not valid")
        operation = operation_of(request)
        asked = asked_by(request, operation, self._conventions, url_cursor=self._follows_urls)
        account = self._account(asked)
        if operation.kind == "read":
            return json_reply(200, self._page(account, asked))
        return json_reply(201, on_the_wire(self._staged(account, asked, request)))

    def _account(self, asked: Asked) -> Account:
        """The account of a request, if it is open to what is asked."""
        operation, account_id = asked.operation, asked.text("account_id") or ""
        account = self._accounts.get(account_id)
        if account is None:
            raise Refusal(404, "account_not_found", f"no account {account_id} is connected")
        if account.access == "disconnected":
            raise Refusal(403, "account_disconnected", "this account must be connected again")
        if account.platform != operation.namespace:
            message = f"{account_id} is an account of {account.platform}"
            details = {"field": "account_id", "reason": "platform_mismatch"}
            raise Refusal(422, "platform_mismatch", message, details=details)
        if operation.kind == "write" and account.access == "read_only":
            raise Refusal(403, "account_read_only", "the plan of this account is used up")
        if operation.kind == "write" and account.access == "drafting_paused":
            headers = {"retry-after": "900"}
            raise Refusal(503, "drafting_paused", "nothing is staged for now", headers=headers)
        return account

    def _page(self, account: Account, asked: Asked) -> JSON:
        start = self._cursors.offset(asked)
        end = start + self._page_size
        rows = rows_of(Reading(account, asked, self._facts, self.clock.today()))
        more = self._cursors.made(asked, end) if end < len(rows) else None
        data: list[JSON] = [row() for row in rows[start:end]]
        return {"data": data, "page": {"next": more}}

    def _staged(self, account: Account, asked: Asked, request: Request) -> FakeDraft:
        """A new draft; or the one of before, if the same request comes with the same key."""
        header = self._conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._keyed:
            first, draft = self._keyed[key]
            if (first.url, first.body) != (request.url, request.body):
                raise Refusal(422, "idempotency_key_reused", "this key came with another request")
            return draft
        draft = self._book.stage(asked.operation.full_name, account.id, change_of(account, asked))
        if key is not None:
            self._keyed[key] = request, draft
        return draft
