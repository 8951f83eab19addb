"""The fake service as tests use it: its address, its clients, and what tests may change."""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from threading import RLock
from typing import Self, Unpack
from urllib.parse import urlsplit

import attrs

from adclient import AdClient, AsyncAdClient
from adclient._async.client import AsyncClientSettings
from adclient._http.library import ServiceTransport
from adclient._service.file import read_service
from adclient._sync.client import ClientSettings
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.extend import Outcome, Request
from adclient.models import JSON
from adclient.options import (
    ENV_BASE_URL,
    ENV_SERVICE,
    ENV_TOKEN,
    check_count,
    check_token,
    check_type,
)
from adclient.testing._fake.accounts import (
    Accounts,
    FakeAccount,
    Kind,
    add_entity,
    copied_json,
    current,
)
from adclient.testing._fake.approval import Dashboard, FakeDraft
from adclient.testing._fake.clock import FakeClock
from adclient.testing._fake.faults import Faults
from adclient.testing._fake.like import accounts_like, secret_of
from adclient.testing._fake.profile import Profile, check_choice, describe_service, unknown
from adclient.testing._fake.requests import RecordedRequest
from adclient.testing._fake.responder import Responder
from adclient.testing._fake.responses import received_within
from adclient.transports import UniversalTransport, finders

FAKE_HOST = "fake.adclient.test"
"""The host of the fake, which no name server knows: `.test` is reserved."""

ENVIRONMENT = (ENV_BASE_URL, ENV_SERVICE, ENV_TOKEN)
"""The variables that lead the clients of other code to a fake."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
# The transports of the blocks in which the environment is that of a fake.
_by_address: dict[object, UniversalTransport] = {}


def _find(base_url: str) -> UniversalTransport | None:
    """The transport at an address; None if there is none."""
    address = _address(base_url)
    found = _by_address.get(address)
    if found is None and address == FAKE_HOST:
        raise ConfigurationError(
            f"base_url: {FAKE_HOST} is the fake of adclient.testing, which has no real address; "
            "use fake.client(), transport=fake.transport or `with fake.as_environment():`",
            argument="base_url",
        )
    return found


finders.append(_find)


def _address(base_url: str) -> object:
    """What is equal for all spellings of an address, and for all addresses of fakes."""
    parts = urlsplit(base_url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    is_fake = parts.hostname == FAKE_HOST
    return FAKE_HOST if is_fake else (parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


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
        seed: Determines the ids of drafts and requests, continuations, and what happens at random.
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
        page_size = check_count("page_size", page_size, least=1)
        history = check_count("history", history, least=1)
        check_type("conventions", conventions, Conventions)
        check_type("profile", profile, Profile)
        if token is not None:
            check_token(token)
        profile = profile or Profile()
        service = describe_service(profile, conventions or Conventions(), page_size)
        connected = Accounts(has_story=accounts is None)
        check_type("accounts", accounts, Iterable)
        for account in () if accounts is None else accounts:
            connected.add(account)
        self._responder = Responder(seed, token, profile, service, connected, history)
        self._file: Path | None = None
        self.base_url: str = f"https://{FAKE_HOST}"
        self.clock: FakeClock = self._responder.clock
        self.dashboard: Dashboard = self._responder.dashboard
        self.faults: Faults = self._responder.faults
        # Waits advance the clock, by the middle of their range.
        clock = self.clock.for_clients()
        self._transport = ServiceTransport(self.handle, clock, random=lambda: 0.5)
        self.transport: UniversalTransport = self._transport

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        twin = object.__new__(type(self))
        memo |= {id(self): twin, id(self._responder.lock): RLock()}
        with self._responder.lock:
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
        the file, which `adclient doctor --save` writes. Its listings repeat the rows of the file
        until they have as many items as the service had, up to 10,000; repeated ones have ids of
        their own. A listing that was not read to its end has one more page; one that was not read
        is empty, as is one of an unknown account where the status of that is 200. Drafts change
        campaigns and ads as in any fake.

        Args:
            path: The service file.
            seed: Determines the ids of drafts, and the like.
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
            ...     format = 2
            ...     url = "https://ads.example.com"
            ...     [listings."beta.list_campaigns"]
            ...     account_id = "account_7"
            ...     count = 3
            ...     is_complete = true
            ...     rows = ['{"id": "c1", "name": "Campaign 1", "cost_micros": 5000000}']
            ... ''')
            >>> client = FakeAdService.like("service.toml").client()
            >>> campaigns = client.beta.list_campaigns(account_id="account_7").data
            >>> [campaign.id for campaign in campaigns], campaigns[2].extra["cost_micros"]
            (['c1', 'c2', 'c3'], 5000000)
        """
        service = read_service(path)
        fake = cls(
            seed=seed,
            accounts=accounts_like(service),
            conventions=service.conventions,
            token=secret_of(service.auth) if token is None else token,
            profile=profile,
            history=history,
        )
        server = fake._responder
        server.service = attrs.evolve(service, auth=service.auth or server.service.auth)
        fake._file = Path(path).absolute()
        fake.base_url += urlsplit(service.url).path.rstrip("/")
        return fake

    def client(self, **settings: Unpack[ClientSettings]) -> AdClient:
        """Make a client of this service, with its token and conventions.

        Args:
            **settings: Other arguments of `AdClient`, such as `policy`, or `timeout`, which is by
                the fake's clock.

        Returns:
            A sync client that reaches this fake, or what a `transport=` or `http_client=` of your
                own reaches.

        Raises:
            ConfigurationError: An argument is invalid; the message names it.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client(max_retries=0)
            >>> page = client.beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].name
            'SPR26 · Prospecting · Trail Shoe Launch'
        """
        self._complete(settings)
        return AdClient(**settings)

    def async_client(self, **settings: Unpack[AsyncClientSettings]) -> AsyncAdClient:
        """Make an async client of this service, with its token and conventions.

        Args:
            **settings: Other arguments of `AsyncAdClient`, such as `policy`, or `timeout`, which is
                by the fake's clock.

        Returns:
            An async client that reaches this fake, or what a `transport=` or `http_client=` of your
                own reaches.

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
        self._complete(settings)
        return AsyncAdClient(**settings)

    def _complete(self, settings: ClientSettings | AsyncClientSettings) -> None:
        """Set the arguments that are not given; None would be taken from the environment."""
        if settings.get("base_url") is None:
            settings["base_url"] = self.base_url
        if settings.get("conventions") is None:
            settings["conventions"] = self._responder.service.conventions
        if settings.get("transport") is None and settings.get("http_client") is None:
            settings["transport"] = self.transport
        if settings.get("token") is None and settings.get("auth") is None:
            settings["auth"] = self._responder.auth_headers

    @contextmanager
    def as_environment(self) -> Generator[Self, None, None]:
        """Let code that calls `AdClient()` or `AsyncAdClient()` reach this fake, unchanged.

        Inside the block, `ADCLIENT_BASE_URL` and `ADCLIENT_TOKEN` are those of the fake, and
        `ADCLIENT_SERVICE` is not set. Clients with its address send to it, in this process and by
        its clock. Clients with another `base_url=`, or with `http_client=` or `transport=`, do not.
        A client that was made inside the block keeps its fake afterwards. With a fake `like` a
        service file, `ADCLIENT_SERVICE` is that file instead of `ADCLIENT_BASE_URL`, its address is
        that of the fake, and the variable that it names for the secret is set, too. Other fakes are
        not reached by `AdClient.from_service`, whose file has an address of its own.

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

        token, service = self._responder.token or "", self._responder.service
        variables = {**dict.fromkeys(ENVIRONMENT, ""), ENV_TOKEN: token}
        if self._file is None:
            variables[ENV_BASE_URL] = self.base_url
        else:
            variables[ENV_SERVICE] = str(self._file)
            if service.auth is not None and service.auth.env is not None:
                variables[service.auth.env] = token
        # That of the file as well; a fake that is like none has only one address.
        addresses = map(_address, (self.base_url, service.url or self.base_url))
        found = dict.fromkeys(addresses, self._transport)
        with patch.dict(os.environ, variables), patch.dict(_by_address, found):
            yield self

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
        record, outcome, seconds = self._responder.outcome(request, self.base_url)
        outcome, seconds = received_within(time_left, outcome, seconds)
        self._responder.clock.take(seconds)
        return self._responder.record(record, outcome)

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
        record, outcome, seconds = self._responder.outcome(request, self.base_url)
        return self._responder.record(record, outcome), seconds

    def __repr__(self) -> str:
        server = self._responder
        counts = f"{server.received} requests, {server.drafts.staged} drafts"
        return f"<FakeAdService seed={server.seed!r}, {counts}>"

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The latest requests that reached the service, oldest first."""
        with self._responder.lock:
            return tuple(self._responder.requests)

    @property
    def drafts(self) -> tuple[FakeDraft, ...]:
        """The drafts that were staged, oldest first, as they are now."""
        with self._responder.lock:
            return self._responder.drafts.all()

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
        with self._responder.lock:
            self._responder.accounts.add(account)

    def account(self, account_id: str) -> FakeAccount:
        """Return the live state of an account, to look at or to give to another fake.

        Args:
            account_id: The id of the account.

        Returns:
            A copy of the account, as it is now.

        Raises:
            ValueError: There is no such account.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> draft = fake.client().delta.update_keyword(
            ...     account_id="account_d118", keywords=["walking shoes"]
            ... )
            >>> len(fake.account("account_d118").keywords)
            3
            >>> applied = fake.dashboard.approve(draft)
            >>> fake.account("account_d118").keywords[-1]["text"]
            'walking shoes'
        """
        with self._responder.lock:
            return current(self._responder.accounts.live(account_id))

    def remove_account(self, account_id: str) -> None:
        """Disconnect an account: every call to it is refused, and none of its drafts is applied.

        Args:
            account_id: The id of the account.

        Raises:
            ValueError: There is no such account.

        Examples:
            >>> from adclient import NotFound
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> fake.remove_account("account_b204")
            >>> try:
            ...     fake.client().beta.list_campaigns(account_id="account_b204")
            ... except NotFound as error:
            ...     print(error.code)
            account_not_found
        """
        with self._responder.lock:
            self._responder.accounts.remove(account_id)

    def add_item(self, account_id: str, kind: Kind, /, **values: JSON) -> str:
        """Add an item to the live data without a draft, as somebody does on the ad platform itself.

        Args:
            account_id: The id of the account.
            kind: `campaign`, `ad`, `creative`, `keyword` or `asset_group`.
            **values: Its fields, as JSON values. An `id`, `name` or `status` that is missing is
                made up, as in a `FakeAccount`.

        Returns:
            The id of the item.

        Raises:
            ValueError: There is no such account or kind, another item has the id, or a value is not
                JSON.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService(page_size=50)
            >>> client = fake.client()
            >>> first = client.beta.list_campaigns(account_id="account_b204")
            >>> fake.add_item("account_b204", "campaign", id="late", name="Summer")
            'late'
            >>> list(first)[-1].id
            'late'
        """
        check_choice("kind", kind, Kind)
        with self._responder.lock:
            account = self._responder.accounts.live(account_id)
            return add_entity(account, kind, copied_json(values, kind), kind)

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

        Raises:
            ValueError: It is no fake.

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
        if not isinstance(saved, FakeAdService):
            raise ValueError(f"expected a snapshot of a fake, not {type(saved).__name__}")
        self._responder.restore(saved._responder)
        self.base_url = saved.base_url
        self._file = saved._file

    def change_live(self, account_id: str, entity_id: str, **values: JSON) -> None:
        """Change the live data without a draft, as somebody does on the ad platform itself.

        Args:
            account_id: The id of the account.
            entity_id: The id of a campaign, creative, ad or other entity of the account.
            **values: The new values of fields that it has, as JSON values.

        Raises:
            ValueError: There is no such account or entity, it has no such field, or a value is not
                JSON.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> fake = FakeAdService()
            >>> fake.change_live("account_b204", "campaign_57a7", daily_budget=500)
            >>> page = fake.client().beta.list_campaigns(account_id="account_b204")
            >>> page.data[0].extra["daily_budget"]
            500
        """
        with self._responder.lock:
            account = self._responder.accounts.live(account_id)
            entities = account.with_id(entity_id)
            if len(entities) != 1:
                none = "no single" if entities else "no"
                raise ValueError(f"there is {none} {entity_id} in {account_id}")
            [entity] = entities
            fields = entity.values.keys() - {"id"}
            for name in values.keys() - fields:
                raise ValueError(unknown(f"field of {entity_id}", name, fields))
            account.put(entity.changed(copied_json(values, entity_id)))
