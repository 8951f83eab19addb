# Generated from ../_async by tools/make_twin.py: change it there.
"""The client: its settings and its four namespaces."""

from collections.abc import Callable, Mapping
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypedDict, Unpack, cast

from adclient import options as settings
from adclient._sync.accounts import AccountReader
from adclient._sync.namespaces import Alpha, Beta, Delta, Gamma
from adclient._core.auth import Auth, TokenSource, Credentials
from adclient._show.records import Card, Shown, refuse_with
from adclient._show.signatures import deferred, public_in, with_advice
from adclient._show.tracebacks import bare
from adclient.conventions import Conventions
from adclient.errors import ConfigurationError
from adclient.options import RetryPolicy
from adclient.transports import HTTPClient, Transport

if TYPE_CHECKING:
    import ssl

    from adclient import extend as _extend, hooks as _hooks, ledger as _ledger, policy as _policy
    from adclient._sync.engine import Connections, Engine
    from adclient._http.network import Network
else:
    _hooks = deferred("adclient.Hooks")
    ssl = deferred("ssl.SSLContext")
    _extend = deferred("adclient.extend.Gate")
    _ledger = deferred("adclient.ledger.Ledger")
    _policy = deferred("adclient.policy.Policy")


P = ParamSpec("P")

_State = tuple[Mapping[str, object] | None, Mapping[str, object]]


class ClientSettings(TypedDict, total=False):
    """The arguments of a client by keyword, as in its constructor."""

    base_url: str | None
    token: TokenSource | None
    auth: Auth | None
    conventions: Conventions | None
    timeout: float | None
    max_retries: int | None
    retry: RetryPolicy | None
    headers: Mapping[str, str] | None
    hooks: "_hooks.Hooks | None"
    policy: "_policy.Policy | None"
    ledger: "_ledger.Ledger | None"
    actor: str | None
    gate: "_extend.Gate | None"
    max_concurrency: int | None
    proxy: str | None
    verify: "bool | str | PathLike[str] | ssl.SSLContext"
    http_client: HTTPClient | None
    transport: Transport | None


@public_in("adclient")
class AdClient(AccountReader, Shown):
    """A client of the ad management service.

    Its four namespaces hold the sixteen operations of the service. A write stages a draft and
    changes nothing else: the draft takes effect only when a human approves it, in two steps, in the
    approval dashboard. One client serves any number of threads. Close it, or use it in
    a `with` block.

    Most programs pass only some of the first arguments, which are grouped so:

    - the service: `base_url`, `token` or `auth`, and `conventions`
    - each call: `timeout`, `max_retries`, `retry`, `headers` and `hooks`
    - safety in a team: `policy`, `ledger`, `actor` and `gate`
    - connections: `max_concurrency`, `proxy` and `verify`, or your own `http_client` or `transport`

    Args:
        base_url: The address of the service, http or https, such as `https://ads.example.com`.
            None for that of `ADCLIENT_BASE_URL`, or for the service file that `ADCLIENT_SERVICE`
            names, as with `from_service`. A path in it precedes the path of each endpoint.
        token: A bearer token, or a function that returns one: a `str` for each request, or a
            `Token`, which is kept until it expires. After a 401, it is called once more.
            None for that of `ADCLIENT_TOKEN`; without it, and without `auth`, no credentials are
            sent. A service file replaces `ADCLIENT_TOKEN`.
            Sending it to another machine over plain http issues a `UserWarning`.
        auth: For other schemes than bearer tokens: a function that takes a `Request` and returns
            the headers to add to it.
        conventions: What to assume where the interface of the service leaves it open; None for
            `Conventions()`.
        timeout: Seconds for one whole call, including retries, waits and the response body. None
            for 30 seconds: there is no call without a time limit. A `token` or `auth` function that
            blocks, and hooks, can exceed it.
        max_retries: How many times a call is retried where that is safe; None for 2. It overrides
            that of `retry`.
        retry: The retry policy; None for `RetryPolicy()`.
        headers: Headers to add to every request.
        hooks: Your functions to call on requests, responses, retries and drafts.
        policy: What the client may do; other calls are refused before anything is sent. None
            allows everything.
        ledger: Where to record all writes, such as a `SQLiteLedger`; None for no record.
        actor: The name of the person or program that makes the calls, for the ledger, such as `kim`
            or `budget-bot`. None for that of `ADCLIENT_ACTOR`.
        gate: The rate limits that this client shares with others, such as a `SharedGate` for those
            in other processes as well; None for a client that shares none.
        max_concurrency: How many requests may run at once; None for 100.
            Waiting for a free slot counts against `timeout`.
        proxy: The URL of a proxy; None for that of the environment, except for loopback addresses.
        verify: False for no TLS verification, the path of a CA bundle or of a directory of hashed
            certificates, or an `ssl.SSLContext`. True trusts the certificates of `SSL_CERT_FILE` or
            `SSL_CERT_DIR`, or else those of certifi. Files are read again when they change. It also
            applies to an `https://` proxy.
        http_client: Your own `httpx.Client` or `httpx2.Client` to send with. Its `auth`
            and event hooks are used; its default headers, cookies and redirects are not. The client
            never closes it.
        transport: Your own transport of either library to send with, or that of
            `adclient.testing`. The client never closes it.

    Attributes:
        alpha: The operations on alpha accounts.
        beta: The operations on beta accounts.
        gamma: The operations on gamma accounts.
        delta: The operations on delta accounts.

    Raises:
        ConfigurationError: An argument cannot be used; the message names it.
        TypeError: `http_client` or `transport` is of the wrong kind.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService()
        >>> with AdClient("https://ads.example.com", transport=fake.transport) as client:
        ...     draft = client.beta.pause_campaign(
        ...         account_id="account_b204", campaign_id="campaign_57a7"
        ...     )
        >>> draft.status
        'pending_approval'
    """

    __slots__ = ("__weakref__", "_engine", "alpha", "beta", "delta", "gamma")

    alpha: Alpha
    beta: Beta
    gamma: Gamma
    delta: Delta

    @with_advice
    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: TokenSource | None = None,
        auth: Auth | None = None,
        conventions: Conventions | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        hooks: _hooks.Hooks | None = None,
        policy: _policy.Policy | None = None,
        ledger: _ledger.Ledger | None = None,
        actor: str | None = None,
        gate: _extend.Gate | None = None,
        max_concurrency: int | None = None,
        proxy: str | None = None,
        verify: bool | str | PathLike[str] | ssl.SSLContext = True,
        http_client: HTTPClient | None = None,
        transport: Transport | None = None,
    ) -> None:
        try:
            if base_url is None and settings.names_service():
                given = dict(locals())
                del given["self"]
                AdClient.__init__(self, **_with_service(None, given))
                return
            # The HTTP library and OpenTelemetry are loaded by the first client, not by the import.
            from adclient import _telemetry
            from adclient._sync.engine import Engine
            from adclient._core.events import write_log_to_stderr
            from adclient._http.network import build_network, warn_if_exposed
            from adclient._http.slots import CapacityLimiter

            options = settings.resolve(
                base_url=base_url,
                timeout=timeout,
                max_retries=max_retries,
                retry=retry,
                headers=headers,
                hooks=hooks,
                conventions=conventions,
                actor=actor,
            )
            network = build_network(
                options.base_url,
                proxy=proxy,
                verify=verify,
                transport=transport,
                http_client=http_client,
            )
            guard = at_close = None
            if policy is not None or ledger is not None:
                from adclient.policy.guard import resolve_guard

                guard = resolve_guard(policy, ledger)
                at_close = None if ledger is None else guard.kept_open.close
            settings.check_methods("gate", gate, "SharedGate", "ask", "pause")
            slots = settings.MAX_CONCURRENCY
            if max_concurrency is not None:
                slots = settings.check_count("max_concurrency", max_concurrency, least=1)
            credentials = Credentials(token, auth).resolved()
            warn_if_exposed(credentials, network)
            connections = _connections(network, slots)
            write_log_to_stderr()
            self._use(
                Engine(
                    options=options,
                    credentials=credentials,
                    sender=connections,
                    connections=connections,
                    limiter=CapacityLimiter(slots),
                    clock=network.clock,
                    random=network.random,
                    tracer=_telemetry.tracer(),
                    gate=gate,
                    guard=guard,
                    at_close=at_close,
                )
            )
        except (ConfigurationError, TypeError) as refused:
            raise bare(refused) from None
        finally:
            del base_url, token, auth, headers, proxy  # tracebacks can show local variables

    @classmethod
    def from_service(
        cls, path: str | PathLike[str] | None = None, **settings: Unpack[ClientSettings]
    ) -> Self:
        r"""Make a client with the settings of a service file, which `adclient doctor` can write.

        A setting that the file calls only likely issues a `UserWarning`, and so does a file of a
        doctor that saw no second page of any listing.

        Args:
            path: The file. None for the one that `ADCLIENT_SERVICE` names. Paths in it are relative
                to its folder.
            **settings: Arguments of the client; they win over those of the file. Headers are added.

        Returns:
            A client of the service.

        Raises:
            ConfigurationError: The file cannot be read or has an unknown or invalid key, the
                variable or file that it names for the secret is missing, or an argument cannot be
                used.

        Examples:
            >>> from pathlib import Path
            >>> from adclient import AdClient
            >>> size = Path("service.toml").write_text(
            ...     'format = 2\nurl = "https://ads.example.com"\n'
            ...     '[conventions]\ncursor_parameter = "page_token"\n'
            ... )
            >>> AdClient.from_service("service.toml", timeout=10)
            <AdClient https://ads.example.com, credentials: none, timeout 10 s, max_retries 2>
        """
        return cls(**_with_service(path, cast(dict[str, Any], settings)))

    def _use(self, engine: "Engine") -> None:
        self._engine = engine
        self.alpha = Alpha(engine)
        self.beta = Beta(engine)
        self.gamma = Gamma(engine)
        self.delta = Delta(engine)

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        hooks: _hooks.Hooks | None = None,
        actor: str | None = None,
    ) -> Self:
        """Copy the client with other options, such as for a single call.

        The copy is cheap and shares the connections. Closing it leaves them open; closing this
        client closes them. An argument of None keeps the option of this client.

        Args:
            timeout: Seconds for one whole call, including retries, waits and the response body.
            max_retries: How many times a call is retried where that is safe.
            retry: The retry policy.
            headers: Headers to add to those of this client.
            hooks: Hooks to call after those of this client.
            actor: The name of the person or program that makes the calls, for the ledger.

        Returns:
            A client with these options, and otherwise those of this one.

        Raises:
            ConfigurationError: An argument cannot be used; the message names it.

        Examples:
            >>> from adclient.testing import FakeAdService
            >>> client = FakeAdService().client()
            >>> patient = client.with_options(timeout=120, max_retries=5)
            >>> page = patient.delta.analyze_wasted_spend(account_id="account_d118")
        """
        copy = object.__new__(type(self))
        attributes, slots = cast(_State, object.__getstate__(self))
        for name, value in {**(attributes or {}), **slots}.items():  # including those of a subclass
            object.__setattr__(copy, name, value)
        try:
            options = self._engine.options.merged(
                timeout=timeout,
                max_retries=max_retries,
                retry=retry,
                headers=headers,
                hooks=hooks,
                actor=actor,
            )
            copy._use(self._engine.with_parts(options=options))
        except ConfigurationError as refused:
            raise bare(refused) from None
        finally:
            del headers  # tracebacks can show local variables
        return copy

    def preview(self, method: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> str:
        r"""Show the request of a call as a command for `curl`, without sending it.

        The command has no secret: it takes a token from `ADCLIENT_TOKEN`, and has `…` for the
        values of the headers of this client and of a cursor, which may be a signed URL. The
        policy is not applied.

        Args:
            method: The method of the call, such as `client.beta.pause_campaign`.
            *args: As for the method, which takes none by position.
            **kwargs: The arguments of the call.

        Returns:
            The command.

        Raises:
            InvalidRequest: An argument has the wrong type.
            TypeError: `method` is another function, or does not take these arguments.

        Examples:
            >>> from adclient import AdClient
            >>> client = AdClient("https://ads.example.com", token="t0ken")
            >>> print(client.preview(client.gamma.list_ads, account_id="c3d8"))
            curl -X GET 'https://ads.example.com/v1/gamma-ads/list-gamma-ads?account_id=c3d8' \
              -H "authorization: Bearer $ADCLIENT_TOKEN" \
              -H 'accept: application/json'
        """
        from adclient._core.request import call_of, curl_of

        call, engine = call_of(method, args, kwargs), self._engine
        return curl_of(call, engine.requests, engine.options.headers, engine.credentials.kind)

    @property
    def __engine__(self) -> "Engine":  # for `adclient.extend`
        return self._engine

    def close(self) -> None:
        """Close the connections; later calls raise `ConfigurationError`.

        Closing a client again does nothing.

        Examples:
            >>> from adclient import AdClient
            >>> client = AdClient("https://ads.example.com")
            >>> client.close()
            >>> "closed" in repr(client)
            True
        """
        self._engine.close()

    def __enter__(self) -> Self:
        self._engine.check_open()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    if not TYPE_CHECKING:  # pragma: no branch  (type checkers find the mistake themselves)
        __aenter__ = __aexit__ = refuse_with

    def __repr__(self) -> str:
        if not hasattr(self, "_engine"):  # in a traceback of the constructor
            return "<AdClient that could not be made>"
        options, kind = self._engine.options, self._engine.credentials.kind
        guard = "".join(f", {name} {value}" for name, value in self._engine.guarded.items())
        return (
            f"<AdClient {options.base_url}, credentials: {kind}, "
            f"timeout {options.timeout:g} s, max_retries {options.retry.max_retries}"
            f"{guard}{', closed' * self._engine.is_closed}>"
        )

    def _show(self) -> Card:
        options = self._engine.options
        rows = [
            ("base_url", options.base_url),
            ("credentials", self._engine.credentials.kind),
            ("timeout", f"{options.timeout:g} s"),
            ("max_retries", options.retry.max_retries),
            *self._engine.guarded.items(),
        ]
        return Card("AdClient", rows, state="closed" * self._engine.is_closed)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a client holds connections and cannot be pickled or copied; make another")


def _with_service(path: str | PathLike[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are given, which are moved, and those of a service file."""
    from adclient._service.arguments import HiddenArguments, client_arguments

    try:
        return client_arguments(path, HiddenArguments(given))
    except ConfigurationError as refused:
        raise bare(refused) from None
    finally:
        given.clear()


def _connections(network: "Network", max_concurrency: int) -> "Connections":
    """What sends the requests of a client; each kind loads its library when it is needed."""
    from adclient._http.network import InProcessSender, InProcess

    transport, http_client = network.transport, network.http_client
    if isinstance(transport, InProcess):
        return InProcessSender(transport)
    if transport is None and http_client is None:
        from adclient._sync.connections import ConnectionPool

        return ConnectionPool(network)
    from adclient._http.library import LibrarySender

    return LibrarySender(
        transport,
        http_client,
    )
