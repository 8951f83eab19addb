"""A run of all checks, from code."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from adclient import AdClient
from adclient._values.jsontext import dumps
from adclient._values.redact import one_line
from adclient.errors import ConfigurationError
from adclient.extend import OPERATIONS, READS, Operation
from adclient.models import JSON
from adclient.survey.checks import (
    CHECKS,
    DATE_RANGE,
    OF_A_READ,
    OF_A_WRITE,
    ConformReport,
    ConformResult,
    Verdict,
    judged,
)
from adclient.survey.observation import Observation, Probe
from adclient.survey.session import Session, StoppedError

TIMEOUT = 600.0
MOST_PAGES = 100
UNKNOWN_ACCOUNT = "adclient-conform-unknown"

Arguments = Mapping[str, JSON]
# The name of a check, whether it passed or another verdict, and what was received.
Found = tuple[str, bool | Verdict, str]
Results = dict[tuple[str, str], tuple[Verdict, str]]

# The interface leaves the inside of `fields` and `targeting` open, so these may be refused.
_GUESSES: Arguments = {
    "fields": {"name": "adclient conform"},
    "daily_budget": 123,
    "keywords": ["adclient conform"],
    "targeting": {"locations": ["adclient conform"]},
}
_HOW_TO_CONTINUE = "`adclient doctor` finds out how `page.next` is passed back"
_OTHERS = ""  # in the place of a name: all checks of the operation that have no result
_SHOWN_BY = {"beta": READS["beta.list_campaigns"], "gamma": READS["gamma.list_ads"]}


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

    Examples:
        >>> from adclient.conform import conform
        >>> from adclient.testing import FakeAdService
        >>> accounts = ["account_a91f", "account_b204", "account_c3d8", "account_d118"]
        >>> report = conform(FakeAdService().client(), account_id=accounts)
        >>> report.failed, report.exit_code
        ((), 0)
    """
    staging, others = _as_tuple(stage_drafts), _as_tuple(account_id)
    if not all(accounts := (*staging, *others) or ("",)):
        raise ConfigurationError("account_id is missing", argument="account_id")
    given = arguments or {}
    writes = {each.full_name: each.names for each in OPERATIONS if each.is_write}
    for name, values in given.items():
        problem = "" if name in writes else f"arguments: {name!r} is not a write"
        for unknown in values.keys() - {*writes.get(name, values)}:
            problem = f"arguments: {name} has no parameter {unknown!r}"
        if problem:
            raise ConfigurationError(problem, argument="arguments")
    session = Session(
        client=client,
        timeout=TIMEOUT if timeout is None else timeout,
        most_requests=math.inf,
        progress=progress,
        may_write=bool(staging),
    )
    run = _Run(session, tuple(dict.fromkeys(accounts)), staging, given)
    stopped: str | None = None
    try:
        for operation in sorted(OPERATIONS, key=lambda each: each.is_write):
            check = _check_write if operation.is_write else _check_read
            for name, verdict, seen in check(run, operation):
                if isinstance(verdict, bool):
                    verdict = "passed" if verdict else "failed"
                run.results[operation.full_name, name] = verdict, run.redacted(seen)
    except StoppedError as stop:
        stopped = str(stop)
    platforms = {platform for platform, _ in run.accepted}
    results: list[ConformResult] = []
    for each in CHECKS:
        name, unknown = each.operation, stopped or "there was nothing to check"
        rest = run.results.get((name, _OTHERS), ("not run", unknown))
        result, seen = run.results.get((name, each.name), rest)
        is_read = each.name == "HTTP status" and name in READS
        if result == "open" and is_read and READS[name].namespace in platforms:
            result = "failed"  # as other reads of this platform accept an account
        if result == "failed" and not run.has_responded:
            result = "not run"
        results.append(ConformResult(each, result, seen))
    return ConformReport(
        base_url=session.parts.options.base_url,
        results=tuple(results),
        sent=session.sent,
        staged_in=staging,
        stopped=stopped,
    )


def _as_tuple(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


@attrs.define(eq=False, repr=False)
class _Run:
    """The accounts and the results of one run; `accepted` are platforms and accounts of reads.

    Until the service has responded, nothing is its fault.
    """

    session: Session
    accounts: tuple[str, ...]
    staging: tuple[str, ...]
    given: Mapping[str, Arguments]
    has_responded: bool = False
    accepted: set[tuple[str, str]] = attrs.Factory(set[tuple[str, str]])
    results: Results = attrs.Factory(Results)

    def ask(self, operation: Operation, arguments: Arguments, cursor: JSON = None) -> Observation:
        """Make a call with any arguments, as the client does."""
        probe = Probe(operation=operation, arguments=arguments, cursor=cursor, as_client=True)
        seen = self.session.ask(probe)
        self.has_responded |= seen.response is not None
        if seen.status == 429:
            raise StoppedError(f"{self.redacted(seen.text)}; run it again later")
        return seen

    def redacted(self, text: str) -> str:
        """A text without the credentials that were sent, as one line."""
        return one_line(self.session.redact(text))


def _check_read(run: _Run, operation: Operation) -> Iterator[Found]:
    """Run the checks of a read with the account that fits it best."""
    platform = operation.namespace
    responses: list[Observation] = []
    for each in sorted(run.accounts, key=lambda each: (platform, each) not in run.accepted):
        first = run.ask(operation, {"account_id": each})
        responses.append(first)
        if first.is_success:
            run.accepted.add((platform, each))
        if first.items:
            break
    # The response that says most, best with items.
    first = max(responses, key=lambda it: (bool(it.items), it.is_success - it.is_refused))
    account_id = first.probe.account_id
    if first.is_sent:
        yield "HTTP status", "open" if first.is_refused else first.status == 200, first.text
    if not first.is_success:
        hint = "no account was accepted; `adclient doctor` finds out how the service is called"
        yield _OTHERS, "not run", hint if first.is_sent else first.text
        return
    pages, is_last, seen = _read_listing(run, operation, account_id, first)
    yield "page.next", is_last, seen
    yield from judged(OF_A_READ, {f"page {n}": page.body for n, page in enumerate(pages, 1)})
    items = [item for page in pages for item in page.items or () if isinstance(item, dict)]
    ids = [item["id"] for item in items if item.get("id")]
    for most, times in Counter(map(str, ids)).most_common(1):
        rows = {dumps(item, "data", errors="backslashreplace") for item in items}
        # Other rows of one id may be those of other days.
        repeated: Verdict = "open" if len(rows) == len(items) else "failed"
        yield "distinct ids", times == 1 or repeated, f"{most}: {times} of {len(items)} items"
    if DATE_RANGE in operation.names:
        received = run.ask(operation, {"account_id": account_id, DATE_RANGE: "LAST_30_DAYS"})
        is_right = received.status == 200 and received.items is not None
        yield f"with {DATE_RANGE}", is_right, received.text
    for name, arguments in (("without", {}), ("unknown", {"account_id": UNKNOWN_ACCOUNT})):
        received = run.ask(operation, arguments)
        is_right = received.is_refused or (received.is_success and received.items == [])
        is_wrong = bool(received.items) if arguments else received.is_success
        # With which status it is refused is open.
        yield f"{name} account_id", not is_wrong and (is_right or "open"), received.text
    yield _OTHERS, "not run", "there are no items"


def _read_listing(
    run: _Run, operation: Operation, account_id: str, first: Observation
) -> tuple[list[Observation], bool | Verdict, str]:
    """The pages of a listing, as far as they lead, and what follows for `page.next`."""
    pages: list[Observation] = []
    cursors: list[JSON] = []
    received = first
    while True:
        number, page = len(pages) + 1, received.page
        is_again = bool(pages and page and page.ids and page.ids == first.view.ids)
        if is_again or not received.is_success:
            problem = "the first page again" if is_again else received.text
            is_open = is_again or received.is_refused or not received.is_sent
            return pages, is_open and "open", f"page {number}: {problem}; {_HOW_TO_CONTINUE}"
        pages.append(received)
        if page is None:
            return pages, "not run", f"page {number} has no array `data` or no object `page`"
        if page.end is not None:
            return pages, page.end == "null", page.end
        if page.next in cursors:
            return pages, False, f"page {number} leads back to an earlier page"
        if number == MOST_PAGES:
            return pages, "not run", f"not read to its end, but {number} pages"
        cursors.append(page.next)
        received = run.ask(operation, {"account_id": account_id}, page.next)


def _check_write(run: _Run, operation: Operation) -> Iterator[Found]:
    """Run the checks of a write, by two drafts in the first test account of its platform."""
    platform, name = operation.namespace, operation.full_name
    account_id = next((each for each in run.staging if (platform, each) in run.accepted), None)
    if account_id is None:
        yield _OTHERS, "not run", "`stage_drafts` names no account of its platform"
        return
    shown = _shown(run, platform, account_id)
    # As few as show a change, and those that are given.
    guesses = [each for each in operation.parameters if each.name in _GUESSES]
    chosen = [each for each in guesses if each.required] or guesses[:1]
    arguments = {each.name: _GUESSES[each.name] for each in chosen}
    if name == "beta.pause_campaign" and shown:
        arguments["campaign_id"] = min(shown, key=lambda each: shown[each][1] != "ENABLED")
    # The account is one of those that may be written to, whatever is given.
    arguments |= {**run.given.get(name, {}), "account_id": account_id}
    required = [each.name for each in operation.parameters if each.required]
    if missing := [each for each in required if each not in arguments]:
        yield _OTHERS, "not run", f"no read shows a {missing[0]}: pass one in `arguments`"
        return
    first = run.ask(operation, arguments)
    if not first.is_sent:
        yield _OTHERS, "not run", first.text
        return
    is_given = name in run.given and arguments.keys() <= {"account_id", *run.given[name]}
    is_guess = first.is_refused and first.status != 405 and not is_given
    hint = "; pass valid `arguments`" if is_guess else ""
    yield "HTTP status", "open" if is_guess else first.status == 201, f"{first.text}{hint}"
    if not first.is_success:
        return
    yield from judged(OF_A_WRITE, {"draft": first.body})
    second = run.ask(operation, arguments)
    now = None if shown is None else _shown(run, platform, account_id)
    diffs = [seen.fields.get("diff") for seen in (first, second)]
    befores = [diff["before"] for diff in diffs if isinstance(diff, dict) and "before" in diff]
    changed = ["the `before` of the next draft"] * (len(befores) == 2 and befores[0] != befores[1])
    if shown is not None and now is not None:
        changed += [each for each in {**shown, **now} if shown.get(each) != now.get(each)]
    if len(befores) == 2 or now is not None:
        yield "nothing live", not changed, f"changed: {', '.join(changed) or 'nothing'}"


def _shown(run: _Run, platform: str, account_id: str) -> dict[str, tuple[JSON, JSON]] | None:
    """The name and status of items that a draft could change, by id; None without all of them."""
    if (read := _SHOWN_BY.get(platform)) is None:
        return None
    pages, *_ = _read_listing(run, read, account_id, run.ask(read, {"account_id": account_id}))
    last = pages[-1].page if pages else None
    if last is None or last.end is None:
        return None
    items = [item for page in pages for item in page.items or () if isinstance(item, dict)]
    return {str(item.get("id")): (item.get("name"), item.get("status")) for item in items}
