"""The trials, in order: each sends a few reads, compares what comes back, and notes it."""

from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from adclient.conventions import Conventions
from adclient.extend import Operation
from adclient.models import JSON
from adclient.survey.continuation import read_on, search
from adclient.survey.examination import Examination, Reading
from adclient.survey.observation import READS, Observation, Probe
from adclient.survey.page_size import find_page_size
from adclient.survey.session import StoppedError

SEARCH = "gamma.search_targeting"
NO_ACCOUNT = "adclient-doctor-no-such-account"
STYLES: tuple[Literal["json", "deep_object"], ...] = ("json", "deep_object")

_IN_QUERY, _IN_BODY = Conventions(), Conventions(read_parameters="body")
# Listings first: the others are less likely to have more than one page.
_FIRST_READS = (
    *("beta.list_campaigns", "gamma.list_ads", "alpha.explain_objectives"),
    "delta.analyze_wasted_spend",
)
_MOST_TO_FIND = 12
_OF_ONE = (500, 501)  # which may be about one read or account; other failures are of them all
_FOR_LISTING = 5  # requests
_FOR_PAGE_SIZE = 6


def run(found: Examination) -> None:
    """Find a read that is accepted; then vary it and the others, one thing at a time."""
    if found.base is None:
        _find(found)
    if found.base is None:
        return
    if found.has_credentials and not found.is_check:
        probe = found.base.first.probe
        anonymous = attrs.evolve(probe, purpose="without credentials", has_credentials=False)
        found.anonymous = found.ask(anonymous)
    for name, operation in READS.items():
        if name not in found.readings:
            found.readings[name] = _read(found, operation)
    if not found.is_check:
        _try_objects(found)
    listings = [each for each in found.accepted if each.is_listing and each.search is None]
    for number, reading in enumerate(listings, 1):
        _read_listing(found, reading, _FOR_LISTING * (len(listings) - number))
    for reading in listings:  # which another one may have explained
        if not reading.way and found.known and found.left() > _FOR_LISTING:
            _read_listing(found, reading, 0)
    try:
        if not found.is_check:
            find_page_size(found)
    except StoppedError as stop:  # the examination itself is complete
        found.no_page_size = str(stop)


def _read_listing(found: Examination, reading: Reading, reserve: int) -> None:
    search(found, reading, reserve)
    # Half of what is left, so that one long listing does not use up all of it.
    share = int(found.left() - reserve - _FOR_PAGE_SIZE) // (2 if reserve else 1)
    read_on(found, reading, share)


def _find(found: Examination) -> None:
    """Find a read that is accepted, with its parameters in the query or in the body."""
    unpromising = 0
    for probe in _first_probes(found.accounts):
        seen = found.ask(probe)
        if seen.page is not None:
            is_first, found.base = found.base is None, Reading(seen)
            try_account(found, found.base, NO_ACCOUNT if is_first else None)
            if found.base.place == "query" or not found.base.may_be_of_another:
                return
            continue
        response = seen.response
        if response is None or 300 <= response.status < 400:
            return
        # Other reads would fail as well, unless this one was refused for its arguments.
        is_of_one = (seen.is_refused and response.status != 401) or response.status in _OF_ONE
        unpromising = 0 if is_of_one else unpromising + 1
        if unpromising == 2 or len(found.observations) == _MOST_TO_FIND:
            return


def _first_probes(accounts: Sequence[str]) -> Iterator[Probe]:
    for name in _FIRST_READS:
        for account_id in accounts:
            is_last = account_id == accounts[-1]
            for conventions in (_IN_QUERY, _IN_BODY):
                yield _probe(READS[name], account_id, conventions, is_needed=is_last)


def _probe(
    operation: Operation, account_id: str, conventions: Conventions, *, is_needed: bool = True
) -> Probe:
    return Probe(
        purpose=f"the parameters in the {conventions.read_parameters}",
        operation=operation,
        arguments={"account_id": account_id},
        conventions=conventions,
        is_needed=is_needed,
        is_retried=is_needed,
    )


def try_account(found: Examination, reading: Reading, other: str | None) -> None:
    """Find out whether the account is read where it is sent.

    A service may ignore it, and serve a default account: only one that treats another account, or
    none, differently reads it. An account that cannot exist is named for one read only, as a
    service may lock a token that asks for it often.
    """
    probe = reading.first.probe
    reading.unknown = _of_another(found, probe, other)
    reading.makes_difference = _differs(found, reading.first, reading.unknown)
    if not reading.makes_difference and other is not None:
        none = _of_another(found, probe, None)
        reading.makes_difference = _differs(found, reading.first, none)
    if reading.makes_difference:
        return
    elsewhere = _IN_QUERY if probe.conventions == _IN_BODY else _IN_BODY
    seen = found.ask(_probe(probe.operation, probe.account_id, elsewhere))
    reading.other_place = seen
    if seen.page is not None:
        unknown = _of_another(found, seen.probe, other)
        if _differs(found, seen, unknown):
            reading.first, reading.unknown, reading.pages = seen, unknown, [seen]
            reading.makes_difference = True


def _of_another(found: Examination, probe: Probe, account_id: str | None) -> Observation:
    what = "without an account" if account_id is None else "an account that cannot exist"
    arguments: dict[str, JSON] = {} if account_id is None else {"account_id": account_id}
    return found.ask(
        attrs.evolve(probe, purpose=what, arguments=arguments, is_needed=False, is_retried=False)
    )


def _differs(found: Examination, known: Observation, unknown: Observation) -> bool:
    """Whether another account, or none, has an effect: it is refused, or has other items."""
    page, other, response = known.page, unknown.page, unknown.response
    if page is None or response is None or 300 <= response.status < 400 or response.status == 429:
        return False
    if other is None and not unknown.is_temporary:
        return True
    if other is not None and (not page.ids or set(page.ids) & set(other.ids)):
        return False
    # It may fail, or have other items each time, for another reason.
    again = found.ask(attrs.evolve(known.probe, purpose="the account, again"))
    return again.page is not None and again.page.ids == page.ids


def _read(found: Examination, operation: Operation) -> Reading:
    """Send one of the seven reads, where the others are read, for an account that it accepts."""
    assert found.base is not None
    has_items = found.base.first.page is not None and found.base.first.page.ids
    if operation.full_name == found.base.name and (has_items or len(found.accounts) == 1):
        return found.base
    place = found.base.first.probe.conventions.read_parameters
    places = (_IN_QUERY, _IN_BODY) if place == "query" else (_IN_BODY, _IN_QUERY)
    refused: Observation | None = None
    served: Observation | None = None  # with items, if any account has some
    for conventions in places:
        accounts = _accounts(found, operation)
        for account_id in accounts:
            is_last = account_id == accounts[-1]
            seen = found.ask(_probe(operation, account_id, conventions, is_needed=is_last))
            if seen.page is None:
                refused = refused or seen
                if seen.is_refused or seen.status in _OF_ONE:
                    continue
                break
            if served is None or seen.page.ids:
                served = seen
            if seen.page.ids:
                break
        if served is not None:
            reading = Reading(served)
            try_account(found, reading, None)
            if refused is None or not reading.may_be_of_another:
                return reading
            served = None
    assert refused is not None
    return Reading(refused)


def _accounts(found: Examination, operation: Operation) -> list[str]:
    """The accounts to try, first those that serve no other platform; one if none fits."""
    probes = [each.first.probe for each in found.accepted if each.views[0].ids]
    known = {probe.operation.namespace: probe.account_id for probe in probes}
    if operation.namespace in known:
        return [known[operation.namespace]]
    accounts = sorted(found.accounts, key=lambda account: account in known.values())
    was_refused = operation.namespace in {name.partition(".")[0] for name in found.readings}
    return accounts[:1] if was_refused else accounts


def _try_objects(found: Examination) -> None:
    """Search in both styles: a style that changes nothing is ignored."""
    reading = found.readings[SEARCH]
    page = reading.first.page
    if page is None or reading.place == "body":
        return
    names = [item.get("name") for item in page.items if isinstance(item, dict)]
    name = next((name for name in reversed(names) if isinstance(name, str) and name), None)
    guess: JSON = None if name is None or len(page.ids) < 2 else {"query": name}
    targeting = found.targeting or guess
    if targeting is None:
        return
    probe = reading.first.probe
    again = attrs.evolve(probe, purpose="the search without an object, again")
    found.plain_again = found.ask(again)
    for style in STYLES:
        found.styled[style] = found.ask(
            attrs.evolve(
                probe,
                purpose=f"an object, written as {style}",
                arguments={**probe.arguments, "targeting": targeting},
                conventions=attrs.evolve(probe.conventions, object_style=style),
            )
        )
