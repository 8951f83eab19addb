"""The examination of a service: each trial sends a read that varies one thing, and compares."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Literal, cast

import attrs

from adclient import AdClient
from adclient._service.file import read_service
from adclient._service.model import Certainty, Service
from adclient._show.tracebacks import forget_frames
from adclient.conventions import Conventions, ReadConventions, of_read
from adclient.extend import READS, Operation, validated
from adclient.models import JSON
from adclient.options import check_count
from adclient.survey.candidates import WRONG_NAME, next_of
from adclient.survey.continuation import follow, read_on, search
from adclient.survey.losses import compare_sizes, try_later_pages
from adclient.survey.observation import Observation, Probe
from adclient.survey.reading import (
    NO_ACCOUNT,
    Candidate,
    Chain,
    Examination,
    Finding,
    Reading,
    not_observed,
)
from adclient.survey.report import Report
from adclient.survey.service import report_of
from adclient.survey.session import Session, StoppedError

MOST_REQUESTS = 100
TIMEOUT = 120.0

_SEARCH = "gamma.search_targeting"
_MOST_STRANGERS = 2  # requests for it: a service may lock a token that asks for it often
_STYLES: tuple[Literal["json", "deep_object"], ...] = ("json", "deep_object")
_PLACES = (Conventions(), Conventions(read_parameters="body"))
# Listings first: the others are less likely to have more than one page.
_FIRST_READS = (
    *("beta.list_campaigns", "gamma.list_ads", "alpha.explain_objectives"),
    "delta.analyze_wasted_spend",
)
_OF_ONE = (500, 501)  # which may be about one read or account; other failures are of them all
_FOR_LISTING = 5  # requests
_FOR_SIZES = 6


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
            does not is searched for. A file that was saved with problems is not relied on. None to
            find out everything.
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
    known = None if service is None else read_service(service)
    accounts = [account_id] if isinstance(account_id, str) else list(account_id)
    given = None if targeting is None else dict(targeting)
    for account in accounts or [""]:  # refused now, not when it is sent
        validated(READS[_SEARCH], {"account_id": account, "targeting": given})
    most = MOST_REQUESTS if most_requests is None else most_requests
    session = Session(
        client=client,
        timeout=TIMEOUT if timeout is None else timeout,
        most_requests=check_count("most_requests", most, least=1),
        progress=progress,
    )
    known_accounts = () if known is None else known.accounts
    found = Examination(session, tuple(dict.fromkeys(accounts)), given, known_accounts)
    try:
        if known is not None and known.problems == 0:
            _verify(found, known)
        if found.stopped is None:
            _run(found)
    except StoppedError as stop:
        found.stopped = str(stop)
    except KeyboardInterrupt as interrupt:
        forget_frames(interrupt)
        found.stopped = "interrupted, so this report is partial; run the doctor again"
        raise Interrupted(report_of(found)) from interrupt
    return report_of(found)


def _verify(found: Examination, service: Service) -> None:
    """Read what a file describes; what does not hold stays to be searched for."""
    found.is_check = bool(service.listings)  # or there is nothing that could hold
    ways: set[str] = set()
    failed = 0
    for name, listing in service.listings.items():
        conventions = attrs.evolve(of_read(service.conventions, name), page_size=None)
        seen = found.ask(_probe(READS[name], listing.account_id, conventions))
        if seen.page is None:
            failed += seen.is_temporary
            is_dead = seen.response is None or seen.status == 401 or failed == 2
            if found.base is None and is_dead:
                found.stopped = f"{seen}; nothing was compared"
                return
            continue
        reading = Reading(seen)
        if reading.is_listing:
            reading.form = next_of(seen.view.next, found.options.base_url)
            names = ("cursor_parameter", "follow_next_urls", "continuation")
            settings = {each: getattr(conventions, each) for each in names}
            way = Candidate("as the file says", cast("ReadConventions", settings))
            if str(way) not in ways or reading.form != listing.next:
                effect, reading.pages = follow(found, reading, reading.pages, way, 2)
                if effect not in ("continues", "no items"):
                    continue
            ways.add(str(way))
            reading.chosen, reading.certainty = way, "observed"
        if found.base is None:
            reading.difference = _difference(found, seen)
            found.base = reading
        found.readings[name] = reading


def _run(found: Examination) -> None:
    """Find a read that is accepted; then vary it and the others, one thing at a time."""
    # Best one whose items depend on the account.
    for name in () if found.base else _FIRST_READS:
        reading = _read(found, READS[name])
        if reading.difference:
            found.base = reading
        if reading.difference or not (reading.pages or _is_of_one(reading.first)):
            break
    if found.base is None:
        return
    found.readings.setdefault(found.base.name, found.base)
    if found.has_credentials and not found.is_check:
        probe, what = found.base.first.probe, "without credentials"
        found.anonymous = found.ask(probe, purpose=what, has_credentials=False)
    for name, operation in READS.items():
        if name not in found.readings:
            found.readings[name] = _read(found, operation)
    if not found.is_check:
        found.objects = _objects(found, found.readings[_SEARCH])
    continued = (each for each in found.accepted if each.is_listing and not each.trouble)
    listings = [each for each in continued if each.chosen is None]
    for number, reading in enumerate(listings, 1):
        _read_listing(found, reading, _FOR_LISTING * (len(listings) - number))
    for reading in listings:  # which another one may have explained
        is_open = reading.chosen is None or reading.certainty == "not observed"
        if is_open and found.known and found.session.left() > _FOR_LISTING:
            _read_listing(found, reading, 0)
    for reading in sorted(listings, key=lambda each: -len(each.views[0].ids)):
        if len(reading.views[0].ids) < 3 or not (reading.trouble or compare_sizes(found, reading)):
            break


def _read_listing(found: Examination, reading: Reading, reserve: int) -> None:
    search(found, reading, reserve)
    # Half of what is left, so that one long listing does not use up all of it.
    share = int(found.session.left() - reserve - _FOR_SIZES) // (2 if reserve else 1)
    read_on(found, reading, share)
    if not reading.trouble:
        try_later_pages(found, reading, reserve + _FOR_SIZES)


def _is_of_one(seen: Observation) -> bool:
    """Whether another read or account may be accepted, or the parameters elsewhere."""
    return (seen.is_refused and seen.status != 401) or seen.status in _OF_ONE


def _read(found: Examination, operation: Operation) -> Reading:
    """Send one of the seven reads, in the place where it reads the account.

    A service may ignore it elsewhere, and serve a default account.
    """
    result: Reading | None = None
    refused: Observation | None = None
    body_first = found.base is not None and found.base.place == "body"
    for conventions in _PLACES[:: -1 if body_first else 1]:
        reading = Reading(_first_page(found, operation, conventions))
        if reading.pages:
            found.base = found.base or reading
            reading.difference = _difference(found, reading.first)
        elif reading.first.is_refused:
            refused = reading.first
        if result is None or reading.difference or not (found.readings or result.pages):
            result = reading
        if reading.difference or not (reading.pages or _is_of_one(reading.first)):
            break
    assert result is not None
    if result.pages and not result.difference and refused is not None:
        # It may also refuse any parameter there, as one that reads them elsewhere.
        what = "another name in the place of `account_id`"
        seen = found.ask(refused.probe, purpose=what, arguments={WRONG_NAME: "1"}, is_needed=False)
        if seen.page is not None:
            place = refused.probe.conventions.read_parameters
            result.trouble = f"the account is refused in the {place}: {refused}"
            result.step = f"pass an account of {operation.namespace} with `--account`"
    return result


def _first_page(found: Examination, operation: Operation, conventions: Conventions) -> Observation:
    """The first page of an account that has items, if any has; else what came first.

    Of several accounts, those that serve no other platform come first; one is tried if none fits.
    """
    pages: Chain = []
    probes = [each.first.probe for each in found.accepted if each.views[0].ids]
    known = {probe.operation.namespace: probe.account_id for probe in probes}
    accounts = sorted(found.accounts, key=lambda account: account in known.values())
    if operation.namespace in known:
        accounts = [known[operation.namespace]]
    elif operation.namespace in {name.partition(".")[0] for name in found.readings}:
        accounts = accounts[:1]  # none was accepted before
    for account_id in accounts:
        probe, is_last = _probe(operation, account_id, conventions), account_id == accounts[-1]
        seen = found.ask(probe, is_needed=is_last, is_retried=is_last)
        pages.append(seen)
        if seen.ids or not (seen.page or _is_of_one(seen)):
            break
    return max(pages, key=lambda each: (each.page is not None) + bool(each.ids))


def _probe(operation: Operation, account_id: str, conventions: Conventions) -> Probe:
    return Probe(
        purpose=f"the parameters in the {conventions.read_parameters}",
        operation=operation,
        arguments={"account_id": account_id},
        conventions=conventions,
    )


def _difference(found: Examination, known: Observation) -> Observation | None:
    """The response to an account that cannot exist, or to none, if it differs."""
    # Other reads follow the one that showed what happens to an account that cannot exist.
    is_first = not found.readings and len(found.strangers) < _MOST_STRANGERS
    others: list[dict[str, JSON]] = [{"account_id": NO_ACCOUNT}, {}]
    for arguments in others[not is_first :]:
        what = "an account that cannot exist" if arguments else "without an account"
        seen = found.ask(
            known.probe, purpose=what, arguments=arguments, is_needed=False, is_retried=False
        )
        effect = seen.effect(known)
        if effect == "refused":
            return seen
        if known.ids and effect in ("continues", "no items"):
            # It may have other items each time, for another reason.
            again = found.ask(known.probe, purpose="the account, again")
            return seen if again.ids == known.ids else None
    return None


def _objects(found: Examination, reading: Reading) -> Finding:
    """Search in both styles: a style that changes nothing is ignored."""
    point, first = "objects", reading.first
    if first.page is None:
        return not_observed(point, "unknown: no search was accepted")
    if reading.place == "body":
        return not_observed(point, "the body is JSON")
    names = [item.get("name") for item in first.page.items if isinstance(item, dict)]
    name = next((name for name in reversed(names) if isinstance(name, str) and name), None)
    guess: JSON = None if name is None or len(first.page.ids) < 2 else {"query": name}
    targeting = found.targeting or guess
    if targeting is None:
        return not_observed(point, "unknown: the search has too few items to tell")
    again = found.ask(first.probe, purpose="the search without an object, again")
    pages: dict[str, Observation] = {}
    effects: dict[str, str] = {}
    for style in _STYLES:
        seen = pages[style] = found.ask(
            first.probe,
            purpose=f"an object, written as {style}",
            arguments={**first.probe.arguments, "targeting": targeting},
            conventions=attrs.evolve(first.probe.conventions, object_style=style),
        )
        effects[style] = seen.effect(first)
        # A guess is for an item that was there without it.
        is_fitting = found.targeting is not None or set(seen.ids or ()) < set(first.page.ids)
        if seen.ids and seen.ids != first.page.ids and is_fitting:
            effects[style] = "understood"
    if again.ids != first.ids:
        return not_observed(point, "unknown: a search changes from request to request")
    observed = ", ".join(f"{style}: {effect}" for style, effect in effects.items())
    understood = [style for style, effect in effects.items() if effect == "understood"]
    if not understood or len({pages[style].ids for style in understood}) > 1:
        count = "none" if not understood else "more than one"
        return not_observed(point, f"unknown: {count} of the styles has an effect", observed)
    conclusion = "one JSON value" if understood[0] == "json" else "brackets"
    # A search that finds nothing may have been understood.
    is_sure = {*effects.values()} <= {"understood", "same items", "refused"}
    certainty: Certainty = "observed" if is_sure else "likely"
    return Finding(point, conclusion, observed, certainty, {"object_style": understood[0]})
