"""The examination of a service, from code."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from adclient import AdClient
from adclient._service.file import read_service
from adclient._service.model import Service
from adclient._show.tracebacks import forget_frames
from adclient.extend import parts_of, validated
from adclient.models import JSON
from adclient.options import check_count, check_timeout, check_type
from adclient.survey.examination import Examination
from adclient.survey.observation import READS
from adclient.survey.report import Report
from adclient.survey.service import report_of
from adclient.survey.session import Session, StoppedError
from adclient.survey.trials import SEARCH, run
from adclient.survey.verify import verify

MOST_REQUESTS = 100
TIMEOUT = 120.0


class Interrupted(KeyboardInterrupt):  # not an error, as for every other interrupt
    """Ctrl-C was pressed during an examination; `examine` raises it in place of its base class.

    Attributes:
        report: What was observed until then.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.doctor import Interrupted, examine
        >>> def examined(client: AdClient) -> str:
        ...     try:
        ...         return str(examine(client, account_id="account_b204"))
        ...     except Interrupted as interrupted:
        ...         return str(interrupted.report)
    """

    @property
    def report(self) -> Report:
        """The observations until then."""
        report: Report = self.args[0]
        return report


def examine(
    client: AdClient,
    *,
    account_id: str | Sequence[str],
    service: str | PathLike[str] | None = None,
    targeting: Mapping[str, JSON] | None = None,
    timeout: float | None = None,
    most_requests: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Find out by reads what a service does where its interface leaves it open.

    At most a hundred requests are sent, one after the other, to this service alone. Each is one of
    the seven reads, sent as the client sends it, with its credentials, retries and policy; only
    the conventions differ. Redirects are not followed.

    Args:
        client: A client of the service; it stays open.
        account_id: An account, or several if each belongs to one platform. The more items they
            have, the more there is to observe.
        service: A service file to check: about ten reads show whether it still holds, and only what
            does not is searched for. None to find out everything.
        targeting: A search that the service understands and that finds some of the options, to
            find out how objects are encoded. None for a guess.
        timeout: Seconds for the whole examination; None for 120.
        most_requests: The limit of requests; None for 100.
        progress: A function that is called with a line of text before each request and wait.

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
        >>> report = examine(fake.client(), account_id="account_b204")
        >>> report.conventions().cursor_parameter
        'after'
        >>> report["continuation"].certainty
        'observed'
    """
    check_type("client", client, AdClient)
    parts = parts_of(client)
    parts.check_open()
    known = None if service is None else read_service(service)
    accounts = [account_id] if isinstance(account_id, str) else list(account_id)
    given = None if targeting is None else dict(targeting)
    for account in accounts or [""]:  # refused now, not when it is sent
        validated(READS[SEARCH], {"account_id": account, "targeting": given})
    most = MOST_REQUESTS if most_requests is None else most_requests
    session = Session(
        client=client,
        parts=parts,
        timeout=check_timeout(TIMEOUT if timeout is None else timeout),
        most_requests=check_count("most_requests", most, least=1),
        progress=progress,
    )
    examination = Examination(
        send=session.ask,
        left=session.left,
        base_url=parts.options.base_url,
        accounts=tuple(dict.fromkeys(accounts)),
        has_credentials=parts.credentials.kind != "none",
        targeting=given,
    )

    def report() -> Report:
        shown = Service(
            url=parts.options.base_url,
            accounts=tuple(examination.accounts),
            auth=session.auth,
            headers=parts.options.headers,
        )
        return report_of(
            examination,
            shown,
            session.redact,
            limited=session.limited,
            sent=session.sent,
        )

    try:
        if known is not None:
            verify(examination, known)
        if examination.stopped is None:
            run(examination)
    except StoppedError as stop:
        examination.stopped = str(stop)
    except KeyboardInterrupt as interrupt:
        forget_frames(interrupt)
        examination.stopped = "interrupted, so this report is partial; run the doctor again"
        raise Interrupted(report()) from interrupt
    return report()
