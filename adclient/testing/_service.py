"""The fake service: one function from a request to its outcome, and what surrounds it."""

import os
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Self, TypedDict, Unpack

from adclient._async.client import AsyncAdClient
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._http.in_process import FAKE_HOST, at_fake_host
from adclient._http.library import ServiceTransport
from adclient._sync.client import AdClient
from adclient._values.json_values import copied
from adclient.conventions import Conventions
from adclient.hooks import Hooks
from adclient.ledger import Ledger
from adclient.models import JSON
from adclient.options import (
    ENV_BASE_URL,
    ENV_TOKEN,
    RetryPolicy,
    check_count,
    check_token,
    check_type,
)
from adclient.policy import Policy
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._approval.dashboard import Dashboard
from adclient.testing._approval.drafts import DraftStore, FakeDraft
from adclient.testing._clock import FakeClock
from adclient.testing._faults.fault import Fault, received_within
from adclient.testing._faults.faults import Faults
from adclient.testing._http.requests import operation_at
from adclient.testing._profile import Profile
from adclient.testing._reads.pages import Pages
from adclient.testing._recording import RecordedRequest, recorded
from adclient.testing._router import Router
from adclient.transports import UniversalTransport

ENVIRONMENT = (ENV_BASE_URL, ENV_TOKEN)
"""The variables that lead the clients of other code to a fake."""


class ClientOptions(TypedDict, total=False):
    """The options of a client that a fake does not set itself."""

    timeout: float | None
    max_retries: int | None
    retry: RetryPolicy | None
    headers: Mapping[str, str] | None
    hooks: Hooks | None
    policy: Policy | None
    ledger: Ledger | None


class FakeAdService:
    """An ad management service inside your process, for tests and demos.

    It has realistic accounts of all four platforms and serves all sixteen operations. Writes
    stage drafts with correct diffs and change nothing; only the two approval steps of its
    `dashboard` do. The same seed always gives the same data and responses. What the interface of
    the service leaves open, such as further fields of items, error codes, or the keys of `fields`,
    is an invention of this fake: the real service may differ.

    The largest accounts are `account_a91f` (alpha), `account_b204` (beta), `account_c3d8` (gamma)
    and `account_d118` (delta); nine more are for special cases, such as an empty account.

    Args:
        seed: Determines names, ids and metrics.
        page_size: How many items a page has at most.
        conventions: What the service expects where its interface leaves it open; `client()` and
            `async_client()` follow it. None for `Conventions()`.
        token: The bearer token that every request must have; None for no authentication.
        profile: The shape of errors and continuations, limits, and more; None for `Profile()`.
        history: How many requests, closed drafts and lines of the audit trail are kept.

    Attributes:
        base_url: The URL of the fake, which is no real address. You may set another, such as one
            with a path; requests to other paths get a 404.
        transport: The transport for clients that you make yourself, sync or async.
        clock: The clock, which moves when you advance it, and instead of a client's waits.
        dashboard: Where a human approves drafts.
        faults: What goes wrong with the next requests.

    Raises:
        ValueError: An argument is invalid.

    Examples:
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> with fake.client() as client:
        ...     draft = client.alpha.update_campaign_budget(
        ...         account_id="account_a91f", campaign_id="campaign_4c10", daily_budget=120
        ...     )
        >>> draft.diff.before, draft.diff.after
        (100, 120)
        >>> fake.drafts[0].status, fake.requests[0].status
        ('pending_approval', 201)
    """

    def __init__(
        self,
        *,
        seed: str = "halden",
        page_size: int = 50,
        conventions: Conventions | None = None,
        token: str | None = None,
        profile: Profile | None = None,
        history: int = 10_000,
    ) -> None:
        check_type("seed", seed, str)
        check_count("page_size", page_size, least=1)
        check_count("history", history, least=1)
        check_type("conventions", conventions, Conventions)
        check_type("profile", profile, Profile)
        profile = profile or Profile()
        if token is not None:
            check_token(token)
        self._seed = seed
        self._conventions = conventions or Conventions()
        self._latency = profile.latency
        self._requests: deque[RecordedRequest] = deque(maxlen=history)
        self._lock = lock = RLock()
        self.base_url = f"https://{FAKE_HOST}"
        self.clock: FakeClock = FakeClock()
        self.faults: Faults = Faults(seed)
        accounts = Accounts(seed, self.clock)
        self._router = Router(
            seed=seed,
            history=history,
            conventions=self._conventions,
            profile=profile,
            token=token,
            clock=self.clock,
            pages=Pages(seed, page_size, profile, self._conventions.cursor_parameter, self.clock),
            accounts=accounts,
            drafts=DraftStore(seed, self.clock, history),
            lock=lock,
        )
        self._drafts = self._router.drafts
        self.dashboard: Dashboard = Dashboard(
            self._drafts, accounts, self.clock, lock, profile.two_reviewers
        )
        # Waits advance the clock, by the middle of their range.
        self._service = ServiceTransport(self.handle, self.clock.for_clients(), random=lambda: 0.5)
        self.transport: UniversalTransport = self._service

    def __repr__(self) -> str:
        counts = f"{self._router.received} requests, {self._drafts.staged} drafts"
        return f"<FakeAdService seed={self._seed!r}, {counts}>"

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The latest requests that reached the service, oldest first."""
        with self._lock:
            return tuple(self._requests)

    @property
    def drafts(self) -> tuple[FakeDraft, ...]:
        """The drafts that were staged, oldest first, as they are now."""
        with self._lock:
            return self._drafts.all()

    def client(self, **options: Unpack[ClientOptions]) -> AdClient:
        """Make a client of this service, with its token and conventions.

        Args:
            **options: Options of `AdClient`, as usual: `timeout`, by the fake's clock,
                `max_retries`, `retry`, `headers`, `hooks`, `policy` and `ledger`.

        Returns:
            A sync client that reaches this fake and nothing else.

        Raises:
            ConfigurationError: An argument is invalid; the message names it.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client(max_retries=0)
            >>> page = client.beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].name
            'SPR26 · Prospecting · Trail Shoe Launch'
        """
        auth, conventions = self._router.auth, self._conventions
        return AdClient(
            self.base_url, auth=auth, conventions=conventions, transport=self.transport, **options
        )

    def async_client(self, **options: Unpack[ClientOptions]) -> AsyncAdClient:
        """Make an async client of this service, with its token and conventions.

        Args:
            **options: Options of `AsyncAdClient`: the same as for `client`.

        Returns:
            An async client that reaches this fake and nothing else.

        Raises:
            ConfigurationError: An argument is invalid; the message names it.

        Examples:
            >>> import asyncio
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().async_client()
            >>> removing = client.delta.remove_auto_search_themes(account_id="account_d118")
            >>> asyncio.run(removing).status
            'pending_approval'
        """
        auth, conventions = self._router.auth, self._conventions
        return AsyncAdClient(
            self.base_url, auth=auth, conventions=conventions, transport=self.transport, **options
        )

    @contextmanager
    def as_environment(self) -> Generator[Self, None, None]:
        """Let code that calls `AdClient()` or `AsyncAdClient()` reach this fake, unchanged.

        Inside the block, `ADCLIENT_BASE_URL` and `ADCLIENT_TOKEN` are those of the fake. Clients
        with its address send to it, in this process and by its clock. Clients with another
        `base_url=`, or with `http_client=` or `transport=`, do not. A client that was made inside
        the block keeps its fake afterwards.

        Blocks can be nested; the innermost one applies. The environment belongs to the whole
        process, with all its threads, and is restored at the end of the block. So do not enter
        blocks in several threads at once; in pytest, use the fixture `ad_environment`.

        Returns:
            A context manager whose value is the fake.

        Examples:
            >>> from adclient import AdClient
            >>> from adclient.testing import FakeAdService
            >>> def pause(campaign_id: str) -> str:  # code to be tested
            ...     with AdClient() as client:
            ...         draft = client.beta.pause_campaign(
            ...             account_id="account_b204", campaign_id=campaign_id
            ...         )
            ...     return draft.draft_id
            >>> with FakeAdService().as_environment() as fake:
            ...     draft_id = pause("campaign_57a7")
            >>> fake.drafts[0].draft_id == draft_id
            True
        """
        before = {name: os.environ.get(name) for name in ENVIRONMENT}
        values = (self.base_url, self._router.token)
        _set_environment(dict(zip(ENVIRONMENT, values, strict=True)))
        try:
            with at_fake_host(self._service):
                yield self
        finally:
            _set_environment(before)

    def change_live(self, account_id: str, entity_id: str, **values: JSON) -> None:
        """Change the live data without a draft, as somebody does on the ad platform itself.

        Args:
            account_id: The id of the account.
            entity_id: The id of a campaign, creative, ad or other entity of the account.
            **values: The new values of its fields, as JSON values.

        Raises:
            ValueError: There is no such account or entity.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> fake.change_live("account_b204", "campaign_57a7", daily_budget=500)
            >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].extra["daily_budget"]
            500
        """
        with self._lock:
            account = self._router.accounts.get(account_id)
            entity = None if account is None else account.find_any(entity_id)
            if entity is None:
                raise ValueError(f"there is no {entity_id} in an account {account_id}")
            changes = {name: copied(value) for name, value in values.items()}
            entity.change(changes, self.clock.today())

    def handle(self, request: Request, time_left: float | None = None) -> Outcome:
        """Handle one request; the clock moves by the time that it takes.

        Args:
            request: Any HTTP request.
            time_left: Seconds, by the fake's clock, that the client waits; None for any time.

        Returns:
            A `RawResponse` with status, headers and body, or the `Failure` of a fault.

        Examples:
            >>> from adclient import Request
            >>> from adclient.testing import FakeAdService
            >>> FakeAdService().handle(Request(method="GET", url="/v2")).status
            404
        """
        outcome, seconds = received_within(time_left, *self._outcome(request))
        self.clock.take(seconds)
        return self._recorded(request, outcome)

    def handle_untimed(self, request: Request) -> tuple[Outcome, float]:
        """Handle one request for a server that waits in real time; the clock does not move.

        Args:
            request: Any HTTP request.

        Returns:
            The outcome, and the seconds until the client receives it.

        Examples:
            >>> from adclient import Request
            >>> from adclient.testing import FakeAdService, Profile
            >>> fake = FakeAdService(profile=Profile(latency=2))
            >>> fake.handle_untimed(Request(method="GET", url="/v2"))[1]
            2.0
        """
        outcome, seconds = self._outcome(request)
        return self._recorded(request, outcome), seconds

    def _outcome(self, request: Request) -> tuple[Outcome, float]:
        """The outcome for a client that waits for any time, and the seconds until it begins."""
        operation = operation_at(request, self.base_url)
        with self._lock:
            fault = self.faults.take(None if operation is None else operation.full_name) or Fault()
        if isinstance(fault.instead, Failure) and not fault.instead.sent:
            return fault.instead, 0
        outcome = self._router.outcome(request, operation, fault)
        return outcome, self._latency + fault.latency

    def _recorded(self, request: Request, outcome: Outcome) -> Outcome:
        if isinstance(outcome, RawResponse) or outcome.sent:
            record = recorded(request, operation_at(request, self.base_url), outcome)
            with self._lock:
                self._requests.append(record)
        return outcome


def _set_environment(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
