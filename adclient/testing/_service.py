"""The fake service: one function from a request to its outcome, and what stands around it."""

from collections import deque
from collections.abc import Mapping
from threading import RLock

from adclient._async.client import AsyncAdClient
from adclient._core import jsontext
from adclient._core.request import Request
from adclient._core.response import Failure, Outcome
from adclient._http.clock import Clock
from adclient._http.library import ServiceTransport
from adclient._sync.client import AdClient
from adclient.conventions import Conventions
from adclient.hooks import Hooks
from adclient.models import JSON
from adclient.options import RetryPolicy, check_count, check_token, check_type
from adclient.testing._accounts.accounts import Accounts
from adclient.testing._answers import Answers
from adclient.testing._approval.dashboard import Dashboard
from adclient.testing._approval.draft_book import DraftBook
from adclient.testing._approval.drafts import FakeDraft
from adclient.testing._clock import FakeClock
from adclient.testing._credentials import Credentials
from adclient.testing._faults.dripping import DrippingReply
from adclient.testing._faults.fault import Fault
from adclient.testing._faults.faults import Faults
from adclient.testing._profile import Profile
from adclient.testing._recording import RecordedRequest, recorded
from adclient.testing._wire.protocol import operation_at
from adclient.transports import UniversalTransport

BASE_URL = "https://fake.adclient.test"


_NO_FAULT = Fault()
_NO_ANSWER = Failure(reason="no response in time", sent=True, timed_out=True)


class FakeAdService:
    """An ad management service inside your process, for tests, demos and trying things out.

    It holds believable accounts of all four platforms and answers all sixteen operations from
    them. Writes stage drafts with true diffs and change nothing; only the two steps of its
    `dashboard` do. From one seed it always holds and answers the same. What the service's
    interface leaves open, such as item fields beyond id, name and status, the codes of errors,
    or what stands in `fields`, is this fake's own invention: the real service may differ.

    The accounts that hold the most are `account_a91f` (alpha), `account_b204` (beta),
    `account_c3d8` (gamma) and `account_d118` (delta); nine more are for special cases, from an
    empty one to one that is disconnected.

    Args:
        seed: What names, ids and figures follow from.
        page_size: How many items a page holds.
        conventions: How the service speaks where its interface leaves it open; the clients made
            here speak the same.
        token: The token that every request must carry; None for no credentials.
        profile: What kind of service it is: the shape of its errors and continuations, its
            limits, and more.
        history: How many requests, closed drafts and lines of the audit trail are kept.

    Attributes:
        base_url: The address under which its clients call it.
        transport: The transport for clients that you build yourself, sync or async.
        clock: Its clock, which stands still until you turn it, or a client of it would wait.
        dashboard: Where a human approves drafts.
        faults: What shall go wrong with the next requests.

    Raises:
        ValueError: `page_size` or `history` is less than 1, `token` is one that no client can
            send, `profile` or `conventions` is something else, or the profile has a token that may
            read only and there is no other.

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
        if token is None and profile.read_only_token is not None:
            raise ValueError("profile: read_only_token needs a token beside it")
        self._seed = seed
        self._conventions = conventions or Conventions()
        self._credentials = Credentials(token, profile.read_only_token, profile.key_header)
        self._latency = profile.latency
        self._lock = RLock()
        self._received = 0
        self._requests: deque[RecordedRequest] = deque(maxlen=history)
        self.base_url: str = BASE_URL
        self.clock: FakeClock = FakeClock()
        self.faults: Faults = Faults(seed)
        self._accounts = Accounts(seed, self.clock)
        self._book = DraftBook(seed, self.clock, history)
        self._answers = Answers(
            seed=seed,
            page_size=page_size,
            history=history,
            conventions=self._conventions,
            profile=profile,
            credentials=self._credentials,
            clock=self.clock,
            accounts=self._accounts,
            book=self._book,
        )
        self.dashboard: Dashboard = Dashboard(self._book, self._accounts, self.clock, self._lock)
        self.transport: UniversalTransport = ServiceTransport(
            self.handle,
            Clock(self.clock.monotonic, self.clock.sleep, self.clock.async_sleep),
            random=lambda: 0.5,  # so that waits are known
        )

    def __repr__(self) -> str:
        counts = f"{self._received} requests, {self._book.staged} drafts"
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
            return self._book.all()

    def client(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        hooks: Hooks | None = None,
    ) -> AdClient:
        """A client of this service, with its token and conventions.

        Args:
            timeout: Seconds for one whole call.
            max_retries: How many times a call is tried again.
            retry: The whole policy of trying again.
            headers: Headers for every request.
            hooks: Functions that are told of requests, responses, retries and drafts.

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
            auth=self._credentials.headers,
            timeout=timeout,
            max_retries=max_retries,
            retry=retry,
            headers=headers,
            hooks=hooks,
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
        hooks: Hooks | None = None,
    ) -> AsyncAdClient:
        """An async client of this service, with its token and conventions.

        Args:
            timeout: Seconds for one whole call.
            max_retries: How many times a call is tried again.
            retry: The whole policy of trying again.
            headers: Headers for every request.
            hooks: Functions that are told of requests, responses, retries and drafts.

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
            auth=self._credentials.headers,
            timeout=timeout,
            max_retries=max_retries,
            retry=retry,
            headers=headers,
            hooks=hooks,
            conventions=self._conventions,
            transport=self.transport,
        )

    def change_live(self, account_id: str, entity_id: str, **values: JSON) -> None:
        """Change the live data past all drafts, as somebody does on the ad platform itself.

        Args:
            account_id: The account.
            entity_id: A campaign, creative, ad or whatever else it holds.
            values: What its values shall be.

        Raises:
            ValueError: There is no such account or entity, or a value is none that JSON has.

        Example:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> fake.change_live("account_b204", "campaign_57a7", daily_budget=500)
            >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].extra["daily_budget"]
            500
        """
        with self._lock:
            account = self._accounts.get(account_id)
            entity = None if account is None else account.named(entity_id)
            if account is None or entity is None:
                raise ValueError(f"there is no {entity_id} in an account {account_id}")
            entity.change(_as_json(values), self.clock.today())

    def handle(self, request: Request, time_left: float | None = None) -> Outcome:
        """The whole service as one function.

        Args:
            request: Any HTTP request.
            time_left: Seconds, by the fake's clock, after which the client no longer waits.

        Returns:
            A `RawResponse` with status, headers and body, or a `Failure` if a fault says so.

        Example:
            >>> from adclient import Request
            >>> from adclient.testing import FakeAdService
            >>> FakeAdService().handle(Request(method="GET", url="/v2")).status
            404
        """
        with self._lock:
            outcome, latency = self._outcome(request)
            return self._recorded(request, self._in_time(outcome, latency, time_left))

    def handle_untimed(self, request: Request) -> tuple[Outcome, float]:
        """The same for a server, which lets its clients wait by itself; the clock stays.

        Args:
            request: Any HTTP request.

        Returns:
            What comes of it, and the seconds after which the client shall see that.

        Example:
            >>> from adclient import Request
            >>> from adclient.testing import FakeAdService, Fault
            >>> fake = FakeAdService()
            >>> fake.faults.add(Fault.slow(2))
            >>> outcome, latency = fake.handle_untimed(Request(method="GET", url="/v2"))
            >>> latency
            2.0
        """
        with self._lock:
            outcome, latency = self._outcome(request)
            return self._recorded(request, outcome), latency

    def _outcome(self, request: Request) -> tuple[Outcome, float]:
        """What comes of a request, and after how many seconds."""
        operation = operation_at(request)
        name = None if operation is None else operation.full_name
        fault = self.faults.take(name) or _NO_FAULT
        if isinstance(fault.instead, Failure) and not fault.instead.sent:
            return fault.instead, 0
        return self._answers.outcome(request, fault), self._latency + fault.latency

    def _recorded(self, request: Request, outcome: Outcome) -> Outcome:
        """An outcome, noted if the request reached the service."""
        if not isinstance(outcome, Failure) or outcome.sent:
            self._received += 1
            self._requests.append(recorded(request, outcome))
        return outcome

    def _in_time(self, outcome: Outcome, latency: float, time_left: float | None) -> Outcome:
        """What the client gets of an outcome after a latency, while the clock goes on."""
        if time_left is not None and latency >= time_left:
            self.clock.advance(time_left)
            return _NO_ANSWER
        if isinstance(outcome, DrippingReply):
            outcome = outcome.within(None if time_left is None else time_left - latency)
            latency += outcome.seconds
        if time_left is not None and _never_ends(outcome):
            latency = time_left
        self.clock.advance(latency)
        return outcome


def _as_json(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """A copy of values, as they would come over the wire."""
    try:
        return {
            name: jsontext.loads(jsontext.dumps(value, name).encode())
            for name, value in values.items()
        }
    except jsontext.JSONError as error:
        raise ValueError(str(error)) from None


def _never_ends(outcome: Outcome) -> bool:
    """Whether a client waits for the rest of an outcome until its time is over."""
    failure = outcome if isinstance(outcome, Failure) else outcome.broken
    return failure is not None and failure.timed_out
