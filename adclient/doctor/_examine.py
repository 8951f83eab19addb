"""The examination of a service, from code."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from adclient import options as settings
from adclient._core.auth import Auth, TokenSource
from adclient._core.operations import READS
from adclient._display.signatures import deferred
from adclient._display.tracebacks import forget_frames
from adclient._http.network import build_network
from adclient._http.resolve import resolve_clock, resolve_sender, resolve_transport
from adclient._service.model import Service
from adclient.doctor._examination import Examination, StoppedError
from adclient.doctor._probe import Probe
from adclient.doctor._report import Report
from adclient.doctor._service import report_of
from adclient.doctor._session import TIMEOUT, Session
from adclient.doctor._text import quoted
from adclient.doctor._trials import run
from adclient.extend import Credentials
from adclient.models import JSON
from adclient.options import ENV_TOKEN
from adclient.transports import HTTPClient, Transport

if TYPE_CHECKING:
    import ssl
else:
    ssl = deferred("ssl.SSLContext")


MOST_REQUESTS = 100


class Interrupted(KeyboardInterrupt):  # not an error, as for every other interrupt
    """Ctrl-C was pressed during an examination; `examine` raises it in place of its base class.

    Attributes:
        report: What was observed until then.

    Examples:
        >>> from adclient.doctor import Interrupted, examine
        >>> def examined(base_url: str) -> str:
        ...     try:
        ...         return str(examine(base_url, account_id="account_b204"))
        ...     except Interrupted as interrupted:
        ...         return str(interrupted.report)
    """

    @property
    def report(self) -> Report:
        """The observations until then."""
        report: Report = self.args[0]
        return report


def examine(
    base_url: str | None = None,
    *,
    account_id: str | Sequence[str],
    token: TokenSource | None = None,
    auth: Auth | None = None,
    headers: Mapping[str, str] | None = None,
    targeting: Mapping[str, JSON] | None = None,
    timeout: float | None = None,
    most_requests: int | None = None,
    keep_texts: bool = False,
    progress: Callable[[str], None] | None = None,
    http_client: HTTPClient | None = None,
    transport: Transport | None = None,
    proxy: str | None = None,
    verify: bool | str | PathLike[str] | ssl.SSLContext = True,
) -> Report:
    """Find out by reads what a service does where its interface leaves it open.

    At most a hundred requests are sent, one after the other, to this service alone. Each is one of
    the seven reads. Redirects are not followed; a `Retry-After` is obeyed.

    Args:
        base_url: The address of the service, as for `AdClient`.
        account_id: An account, or several if each belongs to one platform. The more items they
            have, the more there is to observe.
        token: A bearer token, or a function that returns one, as for `AdClient`.
        auth: For other schemes than bearer tokens: a function that takes a `Request` and returns
            the headers to add to it.
        headers: Headers of every request that are no credentials, such as that of a tenant.
        targeting: A search that the service understands and that finds some of the options, to
            find out how objects are encoded. None for a guess.
        timeout: Seconds for the whole examination; None for 120.
        most_requests: The limit of requests; None for 100.
        keep_texts: Whether the service file of the report has the texts of items and errors, where
            these are few.
        progress: A function that is called with a line of text before each request and wait.
        http_client: Your own `httpx.Client` or `httpx2.Client` to send with.
        transport: Your own transport, or that of `adclient.testing`.
        proxy: The URL of a proxy, as for `AdClient`.
        verify: The verification of certificates, as for `AdClient`.

    Returns:
        What was observed, and what follows from it.

    Raises:
        ConfigurationError: An argument cannot be used; the message names it.
        InvalidRequest: An account is empty, or the targeting is not JSON.
        Interrupted: Ctrl-C was pressed. It is a `KeyboardInterrupt` with a partial `report`.

    Examples:
        >>> from adclient import Conventions
        >>> from adclient.doctor import examine
        >>> from adclient.testing import FakeAdService
        >>> fake = FakeAdService(page_size=5, conventions=Conventions(cursor_parameter="after"))
        >>> report = examine(fake.base_url, account_id="account_b204", transport=fake.transport)
        >>> report.conventions().cursor_parameter
        'after'
        >>> report["continuation"].certainty
        'observed'
    """
    options = settings.resolve(
        base_url=base_url,
        timeout=TIMEOUT if timeout is None else timeout,
        max_retries=None,
        retry=None,
        headers=headers,
        hooks=None,
        conventions=None,
    )
    settings.check_count(
        "most_requests", MOST_REQUESTS if most_requests is None else most_requests, least=1
    )
    accounts = [account_id] if isinstance(account_id, str) else list(account_id)
    given = None if targeting is None else dict(targeting)
    for account in accounts or [""]:  # refused now, not when it is sent
        Probe(
            purpose="",
            operation=READS["gamma.search_targeting"],
            account_id=account,
            targeting=given,
        ).call()
    network = build_network(
        base_url=options.base_url,
        proxy=proxy,
        verify=verify,
        has_sender=transport is not None or http_client is not None,
    )
    sent_by = resolve_transport(transport, http_client, options.base_url)
    clock, random = resolve_clock(sent_by)
    credentials = Credentials(token, auth).resolved()
    del token, auth  # tracebacks can show local variables
    session = Session(
        options=options,
        credentials=credentials,
        sender=resolve_sender(sent_by, http_client, network, 1),
        clock=clock,
        random=random,
        most_requests=most_requests or MOST_REQUESTS,
        progress=progress,
    )
    examination = Examination(
        send=session.ask,
        left=session.left,
        base_url=options.base_url,
        accounts=tuple(dict.fromkeys(accounts)),
        has_credentials=credentials.kind != "none",
        # A context may verify nothing, or no names.
        verifies_tls=sent_by is None
        and http_client is None
        and bool(getattr(verify, "check_hostname", verify)),
        targeting=given,
    )
    # In the code of the report; what no literal can say, or holds a secret, has its own name.
    arguments: dict[str, str] = {}
    if credentials.kind != "none":
        is_text = isinstance(credentials.token, str)
        arguments[credentials.kind] = f'os.environ["{ENV_TOKEN}"]' if is_text else credentials.kind
    if options.headers:
        pairs = [f"{quoted(name)}: {quoted(value)}" for name, value in options.headers.items()]
        arguments["headers"] = f"{{{', '.join(pairs)}}}"
    connection = {"http_client": http_client, "transport": transport, "proxy": proxy}
    for name, value in {**connection, "verify": network.verify}.items():
        if value is not None and value is not True:
            arguments[name] = name
            if isinstance(value, str | bool) and "@" not in str(value):
                arguments[name] = quoted(value)

    def report() -> Report:
        service = Service(
            url=options.base_url,
            accounts=tuple(examination.accounts),
            auth=session.auth,
            headers=options.headers,
            ca_file=network.verify if isinstance(network.verify, str) else None,
            proxy=None if proxy is None or "@" in proxy else proxy,
        )
        return report_of(
            examination,
            service,
            session.redact,
            limited=session.limited,
            keep_texts=keep_texts,
            sent=session.sent,
            arguments=arguments,
        )

    try:
        run(examination)
    except StoppedError as stop:
        examination.stopped = str(stop)
    except BaseException as interrupt:
        forget_frames(interrupt)
        if not isinstance(interrupt, KeyboardInterrupt):
            raise
        examination.stopped = "interrupted, so this report is partial; run the doctor again"
        raise Interrupted(report()) from interrupt
    finally:
        session.sender.close()
    return report()
