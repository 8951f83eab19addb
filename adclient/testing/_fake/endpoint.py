"""How requests reach a fake: its address, its transport, and clients that use them."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, Unpack
from urllib.parse import urlsplit

from adclient import AdClient, AsyncAdClient
from adclient._async.settings import AsyncClientSettings
from adclient._http.library import ServiceTransport
from adclient._sync.settings import ClientSettings
from adclient.errors import ConfigurationError
from adclient.extend import Outcome, Request
from adclient.options import ENV_BASE_URL, ENV_SERVICE, ENV_TOKEN
from adclient.testing._fake.fault import received_within
from adclient.testing._fake.responder import Responder
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


class Endpoint:
    """The place at which a server is reached, by its own clients and by those of other code."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._file: Path | None = None
        self.base_url: str = f"https://{FAKE_HOST}"
        # Waits advance the clock, by the middle of their range.
        clock = responder.clock.for_clients()
        self._transport = ServiceTransport(self.handle, clock, random=lambda: 0.5)
        self.transport: UniversalTransport = self._transport

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
