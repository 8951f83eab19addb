"""The fake service: one function from a request to its outcome, and what surrounds it."""

import hashlib
import os
from base64 import b64encode
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from difflib import get_close_matches
from email.utils import format_datetime
from math import ceil
from pathlib import Path
from threading import RLock
from typing import Self, Unpack
from urllib.parse import urlsplit

import attrs

from adclient._async.client import AsyncAdClient, AsyncClientSettings
from adclient._core import jsontext
from adclient._core.operations import Operation
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome, RawResponse
from adclient._http.in_process import FAKE_HOST, at_address
from adclient._http.library import ServiceTransport
from adclient._service.reading import read_service
from adclient._sync.client import AdClient, ClientSettings
from adclient._values.json_values import copied_fields
from adclient.conventions import Conventions
from adclient.models import JSON, Result
from adclient.options import (
    ENV_BASE_URL,
    ENV_SERVICE,
    ENV_TOKEN,
    check_count,
    check_token,
    check_type,
)
from adclient.testing._accounts.account import FakeAccount
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._accounts.state import Account
from adclient.testing._approval.dashboard import Dashboard
from adclient.testing._approval.drafts import DraftStore, FakeDraft, draft_body
from adclient.testing._clock import START, FakeClock
from adclient.testing._faults.fault import Fault, received_within, with_fault
from adclient.testing._faults.faults import Faults
from adclient.testing._http.requests import ParsedRequest, operation_at, parsed
from adclient.testing._http.responses import HTTPError, error_response, http_error
from adclient.testing._like.service import accounts_like, secret_of
from adclient.testing._profile import ERROR_SHAPES, Profile, service_of
from adclient.testing._reads.pages import Pages, PagingFault
from adclient.testing._recording import RecordedRequest, recorded
from adclient.testing._writes.rules import check_read, check_write
from adclient.testing._writes.writes import WRITES
from adclient.transports import UniversalTransport

_MINUTE = timedelta(minutes=1)
ENVIRONMENT = (ENV_BASE_URL, ENV_SERVICE, ENV_TOKEN)
"""The variables that lead the clients of other code to a fake."""


# What changes in a fake itself, besides its parts.
_STATE = ("base_url", "_requests", "_received", "_minute", "_in_minute", "_by_key")


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
        accounts: Your own accounts; None for those above.
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
        accounts: Iterable[FakeAccount] | None = None,
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
        if token is not None:
            check_token(token)
        self._seed = seed
        self._conventions = conventions = conventions or Conventions()
        self._token = token
        self._profile = profile = profile or Profile()
        self._requests: deque[RecordedRequest] = deque(maxlen=history)
        self._received = self._in_minute = 0
        self._minute = START
        self._by_key: dict[str, tuple[Request, FakeDraft]] = {}
        self._lock = lock = RLock()
        self.base_url = f"https://{FAKE_HOST}"
        self.clock: FakeClock = FakeClock()
        self.faults: Faults = Faults(seed)
        self._accounts = Accounts(seed, has_story=accounts is None)
        for account in accounts or ():
            self._accounts.add(account)
        self._drafts = DraftStore(seed, self.clock, history)
        self._pages = Pages(seed, profile.continuation_life, self.clock)
        self._described = service_of(profile, conventions, page_size)
        self._file: Path | None = None
        self.dashboard: Dashboard = Dashboard(
            self._drafts, self._accounts, self.clock, lock, profile.two_reviewers
        )
        self._parts = self._accounts, self._drafts, self.faults, self.clock
        # Waits advance the clock, by the middle of their range.
        self._service = ServiceTransport(self.handle, self.clock.for_clients(), random=lambda: 0.5)
        self.transport: UniversalTransport = self._service

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        twin = object.__new__(type(self))
        memo |= {id(self): twin, id(self._lock): RLock()}
        with self._lock:
            vars(twin).update(deepcopy(vars(self), memo))
        return twin

    @classmethod
    def like(
        cls,
        path: str | os.PathLike[str],
        *,
        seed: str = "halden",
        token: str | None = None,
        profile: Profile | None = None,
        history: int = 10_000,
    ) -> Self:
        r"""Make a fake that behaves as a service file describes its service.

        Its accounts, conventions, continuations, page sizes, errors and credentials are those of
        the file, which `adclient doctor --save` writes. Its listings have as many items as the file
        says, with fields of the same types and ranges; texts that the file does not contain are
        invented. A listing that was not read to its end has one more page; one that was not read
        is empty. Drafts change campaigns and ads as in any fake.

        Args:
            path: The service file.
            seed: Determines what is invented.
            token: The secret that every request must have if the file says how one is sent; None
                for `fake-token`, or `fake:token` for the scheme `Basic`.
            profile: Limits, latency and more; the file's own shapes of errors and continuations,
                and its header for the secret, win over it.
            history: How many requests, closed drafts and lines of the audit trail are kept.

        Returns:
            The fake. Its clients have the conventions of the file.

        Raises:
            ConfigurationError: The file cannot be read, or something in it is unknown or invalid.
            ValueError: Another argument is invalid.

        Examples:
            >>> from pathlib import Path
            >>> from adclient.testing import FakeAdService
            >>> size = Path("service.toml").write_text('''
            ...     format = 1
            ...     url = "https://ads.example.com"
            ...     [listings."beta.list_campaigns"]
            ...     account_id = "account_7"
            ...     count = 3
            ...     is_complete = true
            ...     [listings."beta.list_campaigns".item]
            ...     name = { types = ["string"] }
            ...     cost_micros = { types = ["integer"], minimum = 5000000, maximum = 7000000 }
            ... ''')
            >>> client = FakeAdService.like("service.toml").client()
            >>> campaigns = client.beta.list_campaigns(account_id="account_7").data
            >>> campaigns[0].name, campaigns[0].extra["cost_micros"]
            ('Campaign 1', 5000000)
        """
        service = read_service(path)
        fake = cls(
            seed=seed,
            accounts=accounts_like(service, seed),
            conventions=service.conventions,
            token=secret_of(service.auth) if token is None else token,
            profile=profile,
            history=history,
        )
        fake._described = attrs.evolve(service, auth=service.auth or fake._described.auth)
        fake._file = Path(path).absolute()
        fake.base_url += urlsplit(service.url).path.rstrip("/")
        return fake

    def __repr__(self) -> str:
        counts = f"{self._received} requests, {self._drafts.staged} drafts"
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

    def client(self, **settings: Unpack[ClientSettings]) -> AdClient:
        """Make a client of this service, with its token and conventions.

        Args:
            **settings: Other arguments of `AdClient`, such as `policy`, or `timeout`, which is by
                the fake's clock.

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
        settings.setdefault("base_url", self.base_url)
        settings.setdefault("conventions", self._conventions)
        settings.setdefault("transport", self.transport)
        settings.setdefault("auth", None if settings.get("token") else self._auth)
        return AdClient(**settings)

    def async_client(self, **settings: Unpack[AsyncClientSettings]) -> AsyncAdClient:
        """Make an async client of this service, with its token and conventions.

        Args:
            **settings: Other arguments of `AsyncAdClient`, such as `policy`, or `timeout`, which is
                by the fake's clock.

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
        settings.setdefault("base_url", self.base_url)
        settings.setdefault("conventions", self._conventions)
        settings.setdefault("transport", self.transport)
        settings.setdefault("auth", None if settings.get("token") else self._auth)
        return AsyncAdClient(**settings)

    @contextmanager
    def as_environment(self) -> Generator[Self, None, None]:
        """Let code that calls `AdClient()` or `AsyncAdClient()` reach this fake, unchanged.

        Inside the block, `ADCLIENT_BASE_URL` and `ADCLIENT_TOKEN` are those of the fake, and
        `ADCLIENT_SERVICE` is not set. Clients
        with its address send to it, in this process and by its clock. Clients with another
        `base_url=`, or with `http_client=` or `transport=`, do not. A client that was made inside
        the block keeps its fake afterwards. With a fake `like` a service file, `ADCLIENT_SERVICE`
        is that file instead, its address is that of the fake, and the variable that it names for
        the secret is set.

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
        from unittest.mock import patch  # deferred: it loads much

        variables = dict.fromkeys(ENVIRONMENT, "")
        token, auth = self._token or "", self._described.auth
        if self._file is None:
            variables |= {ENV_BASE_URL: self.base_url, ENV_TOKEN: token}
        else:
            variables[ENV_SERVICE] = str(self._file)
            variables |= {} if auth is None or auth.env is None else {auth.env: token}
        with (
            patch.dict(os.environ, variables),
            at_address(self.base_url, self._service),
            at_address(self._described.url.rstrip("/"), self._service),
        ):
            yield self

    def add_account(self, account: FakeAccount) -> None:
        """Connect another account.

        Args:
            account: The account with its items, which are copied.

        Raises:
            ValueError: There is already an account with this id, or it is not valid; the message
                names the place.

        Examples:
            >>> from adclient.testing import FakeAccount, FakeAdService
            >>> fake = FakeAdService(accounts=[])
            >>> for number in range(300):
            ...     ad = {"name": f"Ad {number}", "labels": ["test"]}
            ...     fake.add_account(FakeAccount(f"account_{number}", platform="gamma", ads=[ad]))
            >>> ads = fake.client().gamma.list_ads(account_id="account_299")
            >>> ads.data[0].name, ads.data[0].status, ads.data[0].extra
            ('Ad 299', 'ENABLED', {'labels': ['test']})
        """
        with self._lock:
            self._accounts.add(account)

    def snapshot(self) -> Self:
        """Save the whole state: accounts, drafts, faults, the record of requests and the clock.

        Returns:
            An independent copy of this fake, as `copy.copy` makes it.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> saved = fake.snapshot()
            >>> fake.clock.advance(60)
            >>> saved.clock.monotonic()
            0.0
        """
        return deepcopy(self)

    __copy__ = snapshot

    def restore(self, saved: "FakeAdService") -> None:
        """Return to a saved state, any number of times. Clients that exist work on.

        Args:
            saved: What `snapshot` returned. No call may be under way.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> client, saved = fake.client(), fake.snapshot()
            >>> for _ in range(2):
            ...     draft = client.delta.remove_auto_search_themes(account_id="account_d118")
            ...     print(draft.draft_id, len(fake.drafts))
            ...     fake.restore(saved)
            draft_35ea 1
            draft_35ea 1
        """
        with self._lock, saved._lock:
            # What the saved parts share with each other, those of this fake share.
            memo = {id(part): own for part, own in zip(saved._parts, self._parts, strict=True)}
            for part, own in zip(saved._parts, self._parts, strict=True):
                vars(own).update(deepcopy(vars(part), memo))
            vars(self).update({name: deepcopy(vars(saved)[name], memo) for name in _STATE})

    def change_live(self, account_id: str, entity_id: str, **values: JSON) -> None:
        """Change the live data without a draft, as somebody does on the ad platform itself.

        Args:
            account_id: The id of the account.
            entity_id: The id of a campaign, creative, ad or other entity of the account.
            **values: The new values of fields that it has, as JSON values.

        Raises:
            ValueError: There is no such account or entity, or it has no such field.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> fake.change_live("account_b204", "campaign_57a7", daily_budget=500)
            >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].extra["daily_budget"]
            500
        """
        with self._lock:
            account = self._accounts.get(account_id)
            entities = [] if account is None else account.with_id(entity_id)
            if account is None or len(entities) != 1:
                none = "no single" if entities else "no"
                raise ValueError(f"there is {none} {entity_id} in an account {account_id}")
            [entity] = entities
            fields = entity.values.keys() - {"id"}
            for name in values.keys() - fields:
                near = get_close_matches(name, fields, 1) or sorted(fields)
                raise ValueError(f"{entity_id} has no {name!r}, but {', '.join(near)}")
            account.put(entity.changed(copied_fields(values), self.clock.today()))

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
        outcome = self._respond(request, operation, fault)
        return outcome, self._profile.latency + fault.latency

    def _recorded(self, request: Request, outcome: Outcome) -> Outcome:
        if isinstance(outcome, RawResponse) or outcome.sent:
            record = recorded(request, operation_at(request, self.base_url), outcome)
            with self._lock:
                self._requests.append(record)
        return outcome

    def _auth(self, _: Request) -> Mapping[str, str]:
        """The headers with which a client authenticates; none if all may call."""
        auth, secret = self._described.auth, self._token
        if auth is None or secret is None:
            return {}
        if auth.scheme.lower() == "basic" and ":" in secret:
            secret = b64encode(secret.encode()).decode()
        return {auth.header: f"{auth.scheme} {secret}".lstrip()}

    def _respond(
        self, request: Request, operation: Operation[Result] | None, fault: Fault
    ) -> Outcome:
        """The response to a request, or what a fault makes of it.

        The lock is not held while JSON is read and written: a large request delays no others.
        """
        with self._lock:
            self._received += 1
            number = self._received
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
        digest = hashlib.sha256(f"{self._seed}:request:{number}".encode()).hexdigest()
        request_id = f"req_{digest[:12]}"
        if isinstance(outcome, HTTPError):
            shape = self._described.errors or ERROR_SHAPES[self._profile.errors]
            outcome = error_response(outcome, shape, request_id)
        headers = {
            "content-type": "application/json",
            "date": format_datetime(self.clock.now(), usegmt=True),
            next(iter(self._conventions.request_id_headers), "x-request-id").lower(): request_id,
        }
        return with_fault(attrs.evolve(outcome, headers={**headers, **outcome.headers}), fault)

    def _response(
        self, request: Request, operation: Operation[Result] | None, fault: PagingFault | None
    ) -> RawResponse:
        for name, value in self._auth(request).items():
            if request.headers.get(name.lower()) != value:
                raise http_error("unauthenticated")
        with self._lock:
            self._count_request()
        asked = parsed(request, operation, self._described, self._profile.read_parameters)
        with self._lock:
            account = self._account(asked)
            if asked.operation.is_write:
                draft = self._staged(account, asked, request)
                status, body = 201, draft_body(draft)
            else:
                if self._profile.business_rules:
                    check_read(asked, self.clock.today())
                rows = account.reads[asked.operation.full_name](account, asked, self.clock.today())
                status, body = 200, self._pages.page(asked, rows, fault)
        return RawResponse(status=status, body=jsontext.dumps(body, "response").encode())

    def _count_request(self) -> None:
        """Count a request of this minute, or refuse it."""
        now, most = self.clock.now(), self._profile.requests_a_minute
        if now - self._minute >= _MINUTE:
            self._minute, self._in_minute = now, 0
        if most is not None and self._in_minute >= most:
            wait = ceil((self._minute + _MINUTE - now).total_seconds())
            raise http_error("rate_limited", headers={"retry-after": str(wait)}, most=most)
        self._in_minute += 1

    def _account(self, asked: ParsedRequest) -> Account:
        """The account of a request, if it accepts the operation."""
        operation, account_id = asked.operation, asked.text("account_id") or ""
        account = self._accounts.get(account_id)
        if account is None:
            raise http_error("account_not_found", account_id=account_id)
        if account.access == "disconnected":
            raise http_error("account_disconnected")
        if account.platform not in (None, operation.namespace):
            platform = account.platform
            raise http_error("platform_mismatch", "account_id", id=account_id, platform=platform)
        if operation.is_write and account.access == "read_only":
            raise http_error("account_read_only")
        if operation.is_write and account.access == "drafting_paused":
            raise http_error("drafting_paused", headers={"retry-after": "900"})
        return account

    def _staged(self, account: Account, asked: ParsedRequest, request: Request) -> FakeDraft:
        """A new draft, or an earlier one if the request repeats the idempotency key."""
        header = self._conventions.idempotency_header
        key = None if header is None else request.headers.get(header.lower())
        if key is not None and key in self._by_key:
            first, draft = self._by_key[key]
            if (first.url, first.body) != (request.url, request.body):
                raise http_error("idempotency_key_reused")
            return draft
        change = WRITES[asked.operation.full_name](account, asked)
        if self._profile.business_rules:
            check_write(account, asked, change, self.clock.today())
        draft = self._drafts.stage(asked.operation.full_name, account, change)
        if key is not None:
            self._by_key[key] = request, draft
        return draft
