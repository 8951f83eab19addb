"""A run of all checks, from code."""

import math
from collections.abc import Callable, Mapping, Sequence

from adclient import AdClient
from adclient._display.tracebacks import forget_frames
from adclient._values.jsontext import JSONError, dumps
from adclient._values.redact import one_line
from adclient.errors import ConfigurationError
from adclient.extend import OPERATIONS, Operation, parts_of
from adclient.models import JSON
from adclient.options import check_timeout, check_type
from adclient.survey.checks import CHECKS, ConformResult
from adclient.survey.conform_report import ConformReport
from adclient.survey.reads import check_read
from adclient.survey.run import Run, UnsentError
from adclient.survey.session import Session, StoppedError
from adclient.survey.writes import check_write

TIMEOUT = 600.0


class ConformInterrupted(KeyboardInterrupt):  # not an error, as for every other interrupt
    """Ctrl-C was pressed during a run; `conform` raises it in place of its base class.

    Attributes:
        report: What was found until then.

    Examples:
        >>> from adclient import AdClient
        >>> from adclient.conform import ConformInterrupted, conform
        >>> def checked(client: AdClient) -> str:
        ...     try:
        ...         return str(conform(client, account_id="account_b204"))
        ...     except ConformInterrupted as interrupted:
        ...         return str(interrupted.report)
    """

    @property
    def report(self) -> ConformReport:
        """The results until then."""
        report: ConformReport = self.args[0]
        return report


def conform(
    client: AdClient,
    *,
    account_id: str | Sequence[str] = (),
    stage_drafts: str | Sequence[str] = (),
    arguments: Mapping[str, Mapping[str, JSON]] | None = None,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> ConformReport:
    """Check whether a service keeps to its interface.

    Only reads are sent, unless `stage_drafts` names accounts. Then each write stages two drafts in
    one of these accounts; reject them in the approval dashboard. What the interface leaves open,
    such as the status of an error, fails nothing.

    Args:
        client: A client of the service, whose settings are used; its ledger records the writes.
        account_id: An account, or several if each belongs to one platform. The more items they
            have, the more there is to check.
        stage_drafts: A test account, or one for each platform, in which drafts may be staged.
        arguments: Valid arguments of writes, by the name of the operation, such as
            `{"alpha.update_campaign_budget": {"campaign_id": "campaign_4c10"}}`. The others are
            guesses; no read shows a campaign of alpha, and nothing what `fields` can hold.
        timeout: Seconds for everything; None for 600. One attempt of a call may take the `timeout`
            of the client.
        progress: A function that is called with a line of text before each call.

    Returns:
        The result of every check.

    Raises:
        ConfigurationError: An argument cannot be used; the message names it.
        ConformInterrupted: Ctrl-C was pressed. It is a `KeyboardInterrupt` with a partial `report`.

    Examples:
        >>> from adclient.conform import conform
        >>> from adclient.testing import FakeAdService
        >>> accounts = ["account_a91f", "account_b204", "account_c3d8", "account_d118"]
        >>> report = conform(FakeAdService().client(), account_id=accounts)
        >>> report.failed, report.exit_code
        ((), 0)
    """
    check_type("client", client, AdClient)
    staging, others = _as_tuple(stage_drafts), _as_tuple(account_id)
    if not all(accounts := (*staging, *others) or ("",)):
        raise ConfigurationError("account_id is missing", argument="account_id")
    given = arguments or {}
    writes = {each.full_name: each for each in OPERATIONS if each.is_write}
    for name, values in given.items():
        if name not in writes:
            raise ConfigurationError(f"arguments: {name!r} is not a write", argument="arguments")
        for unknown in values.keys() - {each.name for each in writes[name].parameters}:
            problem = f"arguments: {name} has no parameter {unknown!r}"
            raise ConfigurationError(problem, argument="arguments")
        try:
            dumps(values, f"arguments: {name}")
        except JSONError as error:
            raise ConfigurationError(one_line(str(error)), argument="arguments") from None
    parts = parts_of(client)
    parts.check_open()
    session = Session(
        client=client,
        parts=parts,
        timeout=check_timeout(TIMEOUT if timeout is None else timeout),
        most_requests=math.inf,
        progress=progress,
        may_write=bool(staging),
    )
    run = Run(session, tuple(dict.fromkeys(accounts)), staging, given)
    stopped: str | None = None
    try:
        for operation in sorted(OPERATIONS, key=lambda each: each.is_write):
            _check(run, operation)
    except StoppedError as stop:
        stopped = str(stop)
    except KeyboardInterrupt as interrupt:
        forget_frames(interrupt)
        raise ConformInterrupted(_report(run, "interrupted")) from interrupt
    return _report(run, stopped)


def _as_tuple(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _check(run: Run, operation: Operation) -> None:
    if operation.is_write and not run.staging:
        run.reasons[operation.full_name] = "no write is sent without `stage_drafts`"
        return
    try:
        for found in (check_write if operation.is_write else check_read)(run, operation):
            run.note(operation, found)
    except UnsentError as error:
        run.reasons[operation.full_name] = str(error)


def _report(run: Run, stopped: str | None) -> ConformReport:
    platforms = {platform for platform, _ in run.accepted}
    hint = "" if platforms else "; `adclient doctor` finds out how the service is called"
    for operation, received in run.refused.items():
        if operation.namespace in platforms:
            run.note(operation, ("HTTP status", False, received.text))
        run.reasons[operation.full_name] = f"no account was accepted: {received.text}{hint}"
    results: list[ConformResult] = []
    for check in CHECKS:
        reason = run.reasons.get(check.operation, stopped or "what it is part of was not received")
        found = run.results.get((check.operation, check.name), ("not run", run.redact(reason)))
        results.append(ConformResult(check, *found))
    return ConformReport(
        base_url=run.session.parts.options.base_url,
        results=tuple(results),
        sent=run.session.sent,
        staged_in=run.staging,
        stopped=stopped,
    )
